"""The table of requests on a task's page, and the roles of events in the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_webeval.errors import EvaluationError, WebEvalError
from pytest_webeval.recordings.network.events import NetworkEvent
from pytest_webeval.recordings.run import Run
from pytest_webeval.reports.html.event_details import CANDIDATE, FORBIDDEN, MATCH, NEAREST
from pytest_webeval.results import EXTRA, EvaluatorResult, Explanation, Status
from pytest_webeval.safety.text import truncate

MOST_EVENTS = 2_000
LONGEST_TEXT = 2_000  # characters of a text in the table
_MANY = 500  # events, of more than which the texts are shorter
_LONGEST_OF_MANY = 500
_UNREADABLE = "(cannot be read)"


def network_table(run: Run, marks: Mapping[int, str]) -> dict[str, Any] | None:
    """The requests without static assets, and the number of omitted ones; None without a readable trace.

    Of more than `MOST_EVENTS` those that are marked stay, and the last ones. Times count from the earliest event, which
    is not always the first: so none is negative.
    """
    try:
        events = run.trace.events if run.has_trace else ()
    except WebEvalError:
        return None
    if not events:
        return None
    requests = [event for event in events if not _is_asset(event)]
    retained = _limit_events(requests, marks)
    first = min((at for event in events if (at := event.started) is not None), default=None)
    longest = LONGEST_TEXT if len(retained) <= _MANY else _LONGEST_OF_MANY
    return {
        "total": len(events),
        "assets": len(events) - len(requests),
        "left_out": len(requests) - len(retained),
        "events": [_row(event, marks.get(event.index, ""), first, longest) for event in retained],
    }


def _is_asset(event: NetworkEvent) -> bool:
    try:
        return event.is_asset
    except EvaluationError:
        return False


def _limit_events(events: Sequence[NetworkEvent], marks: Mapping[int, str]) -> Sequence[NetworkEvent]:
    if len(events) <= MOST_EVENTS:
        return events
    marked = [event for event in events if event.index in marks][:MOST_EVENTS]
    free = MOST_EVENTS - len(marked)
    unmarked = [event for event in events if event.index not in marks][-free:] if free else []
    return sorted([*marked, *unmarked], key=lambda event: event.index)


def _row(event: NetworkEvent, mark: str, first: float | None, longest: int) -> list[Any]:
    """The cells of an event; the last one is how long it took, where the recording says so."""
    started, duration = event.started, event.duration
    seconds = None if started is None or first is None else round(started - first, 3)
    method, url, status, kind = (_read(event, name, longest) for name in ("method", "url", "status", "resource_type"))
    row = [event.index, method, url, status, kind, seconds, mark]
    return row if duration is None else [*row, round(duration, 3)]


def _read(event: NetworkEvent, name: str, longest: int) -> str | int | None:
    """A field as it is shown; of a damaged event it may be anything."""
    try:
        value = getattr(event, name)
    except EvaluationError:
        return _UNREADABLE
    if isinstance(value, str):
        return truncate(value, longest, is_marker_extra=True)
    return value if value is None or isinstance(value, int) else _UNREADABLE


def marks_of(results: Sequence[EvaluatorResult]) -> dict[int, str]:
    """The role of events in the verdicts, by index: match, nearest miss, forbidden event or candidate."""
    marks: dict[int, str] = {}
    for result in results:
        explanation = result.explanation or Explanation([])
        marks |= {index: CANDIDATE for index in explanation.candidates if index not in marks}
        if explanation.nearest is not None:
            missed = FORBIDDEN if _is_forbidden(explanation) else NEAREST
            marks[explanation.nearest.index] = MATCH if result.status is Status.SUCCESS else missed
    return marks


def _is_forbidden(explanation: Explanation) -> bool:
    """Whether it is the event itself that should not be there."""
    return any((found.path, found.kind) == ("network_event", EXTRA) for found in explanation.differences)
