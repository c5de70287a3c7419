"""What the browser sent and received, as the table of a report: requests with what they were for a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from pytest_webeval.errors import EvaluationError
from pytest_webeval.errors import WebEvalError
from pytest_webeval.network import NetworkEvent
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import Status
from pytest_webeval.runs import Run

MOST_EVENTS = 500
LONGEST_TEXT = 2_000  # characters
MATCH, NEAREST, CANDIDATE = "match", "nearest", "candidate"
_UNREADABLE = "(cannot be read)"


def network_table(run: Run, marks: Mapping[int, str]) -> dict[str, Any] | None:
    """The requests but for static assets, and how many were left out; None where no trace can be read.

    Of more than `MOST_EVENTS` those that are marked stay, and the last ones.
    """
    try:
        events = run.trace.events if run.has_trace else ()
    except WebEvalError:
        return None
    if not events:
        return None
    listed = [event for event in events if not _is_asset(event)]
    kept = _kept(listed, marks)
    first = min((at for event in events if (at := event.started) is not None), default=None)  # not always of the first
    return {
        "total": len(events),
        "assets": len(events) - len(listed),
        "left_out": len(listed) - len(kept),
        "events": [_row(event, marks.get(event.index, ""), first) for event in kept],
    }


def _is_asset(event: NetworkEvent) -> bool:
    try:
        return event.is_asset
    except EvaluationError:
        return False


def _kept(events: Sequence[NetworkEvent], marks: Mapping[int, str]) -> Sequence[NetworkEvent]:
    if len(events) <= MOST_EVENTS:
        return events
    marked = [event for event in events if event.index in marks][:MOST_EVENTS]
    free = MOST_EVENTS - len(marked)
    others = [event for event in events if event.index not in marks][-free:] if free else []
    return sorted([*marked, *others], key=lambda event: event.index)


def _row(event: NetworkEvent, mark: str, first: float | None) -> list[Any]:
    started = event.started
    seconds = None if started is None or first is None else round(started - first, 3)
    method, url, status, kind = (_read(event, name) for name in ("method", "url", "status", "resource_type"))
    return [event.index, method, url, status, kind, seconds, mark]


def _read(event: NetworkEvent, name: str) -> str | int | None:
    """A field as it is shown; of a damaged event it may be anything."""
    try:
        found = getattr(event, name)
    except EvaluationError:
        return _UNREADABLE
    if isinstance(found, str):
        return found if len(found) <= LONGEST_TEXT else f"{found[:LONGEST_TEXT]}…"
    return found if found is None or isinstance(found, int) else _UNREADABLE


def marks_of(results: Sequence[EvaluatorResult], explained: Sequence[Mapping[str, Any] | None]) -> dict[int, str]:
    """What events were for the verdicts, by their index: the match, the nearest miss, or another candidate."""
    marks: dict[int, str] = {}
    for result, one in zip(results, explained, strict=False):
        told = one or {}
        marks |= {index: CANDIDATE for index in told.get("candidates") or () if index not in marks}
        nearest = told.get("nearest")
        if nearest:
            marks[nearest["index"]] = MATCH if result.status is Status.SUCCESS else NEAREST
    return marks
