"""Traces of HAR entries, in which a damaged entry costs only what is damaged in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from msgspec import Raw

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.network.bodies import BodySource
from pytest_webeval.recordings.network.entries import Entry, parse_members, read_damaged, read_entry
from pytest_webeval.recordings.network.events import RECORD_AGAIN, NetworkEvent, NetworkTrace
from pytest_webeval.safety.limits import Limits


class TooManyEntries(RecordingError):
    """A trace with more entries than are read."""


def too_many_entries(where: str, limits: Limits) -> TooManyEntries:
    """The error for a trace with more entries than are read."""
    return TooManyEntries(f"{where} has more than {limits.entries:,} entries; {limits.describe('entries')}")


def build_trace(
    entries: Sequence[Raw | Entry],
    bodies: BodySource,
    repairs: str | None = None,
    advice: str = RECORD_AGAIN,
    earlier: frozenset[int] = frozenset(),
) -> NetworkTrace:
    """The trace with these entries, in which a damaged entry costs only what is damaged in it.

    `earlier` are the indices of those from before the run. Raises `RecordingError` for an entry that is not an object.
    """
    events = tuple(_build_event(index, raw, bodies) for index, raw in enumerate(entries))
    return NetworkTrace(events, repairs, advice, earlier=earlier, by_time=_order_by_time(events))


def carry_times(times: Iterable[float | None]) -> list[float]:
    """The same times, where an unknown one is that of its predecessor, so that sorting leaves it behind that."""
    last, carried = -inf, []
    for time in times:
        last = last if time is None else time
        carried.append(last)
    return carried


def _order_by_time(events: Sequence[NetworkEvent]) -> tuple[int, ...]:
    """The indices of events by the time at which each began; empty where that is their order.

    Events of the same time keep their order, and one without a time stays behind its predecessor.
    """
    stamps = [bytes(event.stamp) for event in events]
    is_uniform = len({(len(stamp), stamp[-2:]) for stamp in stamps}) <= 1
    if is_uniform and stamps[:1] and stamps[0][-2:] == b'Z"' and stamps == sorted(stamps):
        return ()  # as nearly all recordings are, which saves parsing
    times = carry_times(event.started for event in events)
    order = sorted(range(len(events)), key=times.__getitem__)
    return () if order == list(range(len(events))) else tuple(order)


def _build_event(index: int, raw: Raw | Entry, bodies: BodySource) -> NetworkEvent:
    if isinstance(raw, Entry):
        return NetworkEvent(index, raw, bodies)
    entry = read_entry(raw)
    if entry is not None:
        return NetworkEvent(index, entry, bodies)
    if not bytes(raw).lstrip().startswith((b"{", b'"')):  # the reference fails on a string only when it is read
        raise RecordingError(f"an entry of the trace is not an object: {bytes(raw)[:40]!r}; re-record the run")
    members = parse_members(raw)
    is_pending = bytes(members.get("request", b"")) == b"null"
    return NetworkEvent(index, read_damaged(members), bodies, is_pending=is_pending)
