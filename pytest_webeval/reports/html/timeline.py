"""A trajectory as the step viewer of a report has it: what the agent saw, thought and did, step by step."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, groupby, zip_longest
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from pytest_webeval.diagnostics.difference import truncate_json
from pytest_webeval.errors import EvaluationError, WebEvalError
from pytest_webeval.recordings.action_trace import ActionTrace
from pytest_webeval.recordings.network.entries import parse_timestamp
from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.trace_actions import TYPED
from pytest_webeval.recordings.trajectory.step import Screenshot, Step, Target
from pytest_webeval.reports.html.screenshots import MOST_STEPS, Picture, ScreenshotSource
from pytest_webeval.safety.text import truncate_words

if TYPE_CHECKING:
    from pytest_webeval.recordings.network.events import NetworkEvent

LONGEST_TEXT = 4_000  # characters
_ZONE = 900  # seconds; clocks of two time zones are so many apart, or a multiple of that
_FARTHEST = 14 * 3600  # seconds that a clock on this earth is ahead of another that shows UTC
_LONGEST_STEP = _ZONE / 2  # in which the last step still makes events; less than any two zones differ
Range = tuple[int, int]


def step_timeline(
    run: Run, pictures: ScreenshotSource | None, actions: ActionTrace | None = None
) -> list[dict[str, Any]] | None:
    """The steps of a trajectory or of a trace, at most the last `MOST_STEPS`. None of a run that has neither.

    Of a trajectory whose log cannot be read, or holds no action, the screenshots alone are shown.
    """
    trajectory = run.trajectory
    if trajectory is None and actions is None:
        return None
    steps: Sequence[Step] = ()
    if actions is not None:
        latest = actions.steps[-MOST_STEPS:]
        steps = [replace(step, arguments=truncate_json(step.arguments, LONGEST_TEXT)) for step in latest]
    elif trajectory is not None:
        with suppress(WebEvalError):
            steps = trajectory.steps
    if trajectory is not None and not steps:
        empty = dict.fromkeys(("observation", "url", "before", "size", "target", "events"))
        shots = enumerate(trajectory.screenshots[-MOST_STEPS:], 1)
        taken = [(number, _picture(shot, pictures)) for number, shot in shots]
        return [
            {"index": number, "action": "", "arguments": {}, "thought": "", "after": picture.url}
            | {"problem": picture.problem, **empty}
            for number, picture in taken
        ]
    last_steps = list(zip_longest(steps, _ranges(run, steps)))[-MOST_STEPS:]
    return [_step_to_json(step, events, pictures) for step, events in last_steps]


def list_agent_values(run: Run, steps: Sequence[Mapping[str, Any]] | None) -> Any:
    """What the agent wrote of the steps, which may repeat secrets of the recording: of a trace what it typed."""
    if run.trajectory is not None or not steps:
        return steps
    return [step["arguments"][name] for step in steps for name in sorted(TYPED.intersection(step["arguments"]))]


def _ranges(run: Run, steps: Sequence[Step]) -> Sequence[Range | None]:
    """The events that the browser made during each step, where there is a recording of them."""
    try:
        return align_events(steps, run.trace.all_events) if run.has_trace else ()  # ranges of indices
    except WebEvalError:
        return ()


def _step_to_json(step: Step, events: Range | None, pictures: ScreenshotSource | None) -> dict[str, Any]:
    before, after = (_picture(shot, pictures) for shot in (step.before, step.after))
    return {
        "index": step.index,
        "action": step.action,
        "arguments": _truncate(step.arguments),
        "thought": _truncate(step.thought),
        "observation": _truncate(step.observation),
        "url": _truncate(step.url),
        "before": before.url,
        "after": after.url,
        "problem": before.problem or after.problem,
        "size": before.size and list(before.size),
        "target": _target_to_json(step.target, before),
        "events": events and list(events),
    }


def _picture(shot: Screenshot | None, pictures: ScreenshotSource | None) -> Picture:
    return pictures(shot) if shot is not None and pictures is not None else Picture()


def _target_to_json(target: Target | None, before: Picture) -> list[float] | None:
    """Left, top, width and height in pixels of the screenshot; None without one that is shown."""
    if target is None or before.url is None:
        return None
    place = target.in_pixels(before.size)
    return [round(number, 1) for number in (place.x, place.y, place.width, place.height)]


def _truncate(tree: Any) -> Any:
    """The same JSON with shortened texts."""
    if isinstance(tree, str):
        return truncate_words(tree, LONGEST_TEXT)
    if isinstance(tree, Mapping):
        return {str(name): _truncate(value) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_truncate(element) for element in tree]
    return tree


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
    first_time = next((event.started for event in events if event.started is not None), None)
    if not step_times or first_time is None:
        return None
    # Times that never go back; an event without one was made with the one before.
    event_times = list(accumulate((first_time if event.started is None else event.started for event in events), max))
    moments = list(accumulate((started for _, started in step_times), max))
    shift = _shift(moments, event_times)
    if shift is None:
        return None
    starts = [bisect_left(event_times, moment + shift) for moment in moments]
    ranges: list[Range | None] = [None] * len(steps)
    for (index, _), first, end in zip(step_times, starts, [*starts[1:], len(event_times)], strict=True):
        ranges[index] = (first, end - 1) if first < end else None
    return ranges


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
    for index, event in enumerate(events):
        with suppress(EvaluationError):
            if event.is_document or event.is_navigation:
                events_by_url.setdefault(_strip_url(event.url), []).append(index)
    arrivals: list[int | None] = []
    first_allowed = 0
    for url in urls:
        positions = events_by_url.get(url, [])
        position = bisect_left(positions, first_allowed)
        arrivals.append(positions[position] if position < len(positions) else None)
        first_allowed = first_allowed if position == len(positions) else positions[position] + 1
    return arrivals


def _strip_url(url: str | None) -> str:
    """A URL without its fragment, which no server receives, and without its last slash."""
    return (url or "").partition("#")[0].rstrip("/")
