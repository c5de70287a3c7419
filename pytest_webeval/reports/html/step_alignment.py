"""Which events the browser made during which step of a trajectory."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from pytest_webeval.errors import EvaluationError
from pytest_webeval.recordings.network.har_entries import parse_timestamp

if TYPE_CHECKING:
    from pytest_webeval.recordings.network.events import NetworkEvent
    from pytest_webeval.recordings.trajectory.step import Step


Range = tuple[int, int]
_ZONE = 900  # seconds; clocks of two time zones are so many apart, or a multiple of that
_FARTHEST = 14 * 3600  # seconds that a clock on this earth is ahead of another that shows UTC
_LONGEST_STEP = _ZONE / 2  # in which the last step still makes events; less than any two zones differ


def align_events(steps: Sequence[Step], events: Sequence[NetworkEvent]) -> list[Range | None]:
    """For each step the first and the last event that the browser made during it; None where there are none.

    By time where steps and events have times that overlap, otherwise by the pages that steps saw. The time of a step
    is that of its beginning. Where that cannot be known, a step has None. Never raises.
    """
    return _by_time(steps, events) or _by_page(steps, events)


def _by_time(steps: Sequence[Step], events: Sequence[NetworkEvent]) -> list[Range | None] | None:
    step_times = [
        (index, started) for index, step in enumerate(steps) if (started := parse_timestamp(step.timestamp)) is not None
    ]
    event_times = _in_order([event.started for event in events])
    if not step_times or event_times is None:
        return None
    moments = list(accumulate((started for _, started in step_times), max))
    shift = _shift(moments, event_times)
    if shift is None:
        return None
    starts = [bisect_left(event_times, moment + shift) for moment in moments]
    ranges: list[Range | None] = [None] * len(steps)
    for (index, _), first, end in zip(step_times, starts, [*starts[1:], len(event_times)], strict=True):
        ranges[index] = (first, end - 1) if first < end else None
    return ranges


def _in_order(started: Sequence[float | None]) -> list[float] | None:
    """Times that never go back; an event without one was made with the one before. None where no event has one."""
    first_time = next((time for time in started if time is not None), None)
    if first_time is None:
        return None
    return list(accumulate((first_time if time is None else time for time in started), max))


def _shift(moments: Sequence[float], event_times: Sequence[float]) -> float | None:
    """What to add to the times of steps, which logs write without their zone; None where no zone makes them meet."""
    zones = round((event_times[0] - moments[0]) / _ZONE) * _ZONE
    for shift in (0.0, float(zones) if abs(zones) <= _FARTHEST else 0.0):
        if moments[0] + shift <= event_times[-1] and event_times[0] <= moments[-1] + shift + _LONGEST_STEP:
            return shift
    return None


def _by_page(steps: Sequence[Step], events: Sequence[NetworkEvent]) -> list[Range | None]:
    """The last of the steps that saw a page led to the next page, and to all until the page after that."""
    visits = [
        (url, list(group)) for url, group in groupby(range(len(steps)), key=lambda index: _strip_url(steps[index].url))
    ]
    arrivals = _arrivals([url for url, _ in visits], events)
    arrived = [arrival for arrival in arrivals if arrival is not None]
    ends = dict(zip(arrived, [*arrived[1:], len(events)], strict=False))
    ranges: list[Range | None] = [None] * len(steps)
    for (_, group), arrival in zip(visits, arrivals[1:], strict=False):
        if arrival is not None:
            ranges[group[-1]] = (arrival, ends[arrival] - 1)
    return ranges


def _arrivals(urls: Sequence[str], events: Sequence[NetworkEvent]) -> list[int | None]:
    """Where each page came, in order: none before the one in front of it."""
    events_by_url: dict[str, list[int]] = {}
    for index, url in _pages(events):
        events_by_url.setdefault(url, []).append(index)
    arrivals: list[int | None] = []
    first_allowed = 0
    for url in urls:
        positions = events_by_url.get(url, [])
        position = bisect_left(positions, first_allowed)
        arrivals.append(positions[position] if position < len(positions) else None)
        first_allowed = first_allowed if position == len(positions) else positions[position] + 1
    return arrivals


def _pages(events: Sequence[NetworkEvent]) -> Iterator[tuple[int, str]]:
    for index, event in enumerate(events):
        with suppress(EvaluationError):
            if event.is_document or event.is_navigation:
                yield index, _strip_url(event.url)


def _strip_url(url: str | None) -> str:
    """A URL without its fragment, which no server receives, and without its last slash."""
    return (url or "").partition("#")[0].rstrip("/")
