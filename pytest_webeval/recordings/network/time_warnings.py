"""What a result says of times in a recording: requests from before the run, and those that are not in order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_webeval.recordings.network.events import NetworkEvent, NetworkTrace, event_number
from pytest_webeval.safety.text import pluralize

if TYPE_CHECKING:
    from pytest_webeval.rules import Rules


def list_warnings(trace: NetworkTrace, rules: Rules) -> Iterator[str]:
    """What these rules leave out of a recording, and where its order is not that of time."""
    total = len(trace.all_events)
    if trace.earlier and rules.own_requests:
        problem = f"{pluralize(len(trace.earlier), 'request')} from before the trace chunk began excluded"
        yield f"{problem}, the last is event {event_number(max(trace.earlier))} of {total}"
    # Rules that repair no recording take it as it is, and do not warn of it.
    if not rules.repaired_traces or (pair := find_late_event(trace)) is None:
        return
    late, earlier = pair
    problem = f"{late.name} of {total} began before {earlier.name}"
    if rules.time_order:
        yield f"requests sorted by time: {problem}"
    else:
        yield f"requests are not in the order of time: {problem}; --webeval-rules=strict sorts them"


def find_late_event(trace: NetworkTrace) -> tuple[NetworkEvent, NetworkEvent] | None:
    """The first request that began before its predecessor in the recording, and that; None where all are in order.

    Only events that evaluators check count, and none from before the run.
    """
    if not trace.by_time:
        return None
    places = {index: place for place, index in enumerate(trace.by_time)}
    events = [event for event in trace.all_events if event.index not in trace.earlier and event.is_significant]
    pairs = ((late, event) for event, late in pairwise(events) if places[late.index] < places[event.index])
    return next(pairs, None)
