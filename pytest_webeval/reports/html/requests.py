"""The requests of a run on its page: the table, the role of each in the verdict, and the details below its row.

Of details, events with a role in the verdict come first, then those that may have changed something, then the last
ones. A success has only the first kind and the last few of the second: few people open it, and a session has many. All
texts are bounded: each value, each event, and all events of a task together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from pytest_webeval.errors import EvaluationError, WebEvalError
from pytest_webeval.recordings.network.entries import Pairs
from pytest_webeval.recordings.network.events import NetworkEvent
from pytest_webeval.recordings.run import Run
from pytest_webeval.redaction.names import is_secret
from pytest_webeval.reports.html.event_bodies import (
    LONGEST_BODY,
    LONGEST_VALUE,
    HeaderPool,
    Room,
    describe_body,
    list_pairs,
    trim_body,
)
from pytest_webeval.results import EXTRA, EvaluatorResult, Explanation, Status
from pytest_webeval.safety.text import truncate

POSTED, CONTENT = "post_data", "response_content"  # as the redaction knows them
MATCH, NEAREST, FORBIDDEN, CANDIDATE = "match", "nearest", "forbidden", "candidate"
MOST_DETAILED = 100  # events of a task without a role in its verdict
MOST_OF_SUCCESS = 3
MOST_PARAMETERS = 500
MOST_CHARACTERS = 300_000  # of all events without a role
LONGEST_URL = 20_000  # characters of which parameters are listed
_LENGTHS = {MATCH: 40_000, NEAREST: 40_000, FORBIDDEN: 40_000}  # of one event
_LENGTH = 12_000
LONGEST_OTHER_BODY = 2_000  # of an event without a role, as of any other value
_MOST_OTHERS = 2_000  # events that are searched for secrets only
MOST_EVENTS = 2_000  # in the table
LONGEST_TEXT = 2_000  # characters of a text in the table
_MANY = 500  # events, of more than which the texts are shorter
_LONGEST_OF_MANY = 500
_UNREADABLE = "(cannot be read)"
_CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})


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
    requests = [event for event in events if not _read_or_none(event, "is_asset")]
    retained = _limit_events(requests, marks)
    first = min((at for event in events if (at := event.started) is not None), default=None)
    longest = LONGEST_TEXT if len(retained) <= _MANY else _LONGEST_OF_MANY
    return {
        "total": len(events),
        "assets": len(events) - len(requests),
        "left_out": len(requests) - len(retained),
        "events": [_row(event, marks.get(event.index, ""), first, longest) for event in retained],
    }


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
            is_forbidden = any((each.path, each.kind) == ("network_event", EXTRA) for each in explanation.differences)
            missed = FORBIDDEN if is_forbidden else NEAREST
            marks[explanation.nearest.index] = MATCH if result.status is Status.SUCCESS else missed
    return marks


class EventDetails(NamedTuple):
    """Events in the order of the recording, not yet redacted. Their headers are positions in the list of all."""

    events: list[dict[str, Any]]
    headers: list[dict[str, str]]


def describe_events(
    run: Run, marks: Mapping[int, str], listed: Collection[int], *, is_success: bool = False, is_strict: bool = False
) -> EventDetails:
    """The details of events; `listed` are those of the table. `is_strict` is whether the redaction is."""
    events = [run.trace.all_events[index] for index in listed]
    if is_success:
        changing = [event for event in events if event.index not in marks and _may_change(event)]
        events = [event for event in events if event.index in marks] + changing[-MOST_OF_SUCCESS:]
    described: list[dict[str, Any]] = []
    headers = HeaderPool()
    unmarked, left = 0, MOST_CHARACTERS

    def rank(event: NetworkEvent) -> tuple[bool, bool, bool, int]:
        mark = marks.get(event.index, "")
        return not mark, mark == CANDIDATE, not _may_change(event), -event.index

    for event in sorted(events, key=rank):
        mark = marks.get(event.index, "")
        unmarked += not mark
        if not mark and (unmarked > MOST_DETAILED or left <= 0):
            break
        room = Room(_LENGTHS.get(mark, _LENGTH), LONGEST_BODY if mark else LONGEST_OTHER_BODY, is_strict)
        start = room.left
        described.append(_describe(event, room, headers))
        left -= 0 if mark else start - room.left
    return EventDetails(sorted(described, key=lambda details: details["index"]), headers.entries)


def _may_change(event: NetworkEvent) -> bool:
    """Whether its method is one that changes something at a site, as far as it can be read."""
    return str(_read_or_none(event, "method")).upper() in _CHANGING


def _describe(event: NetworkEvent, room: Room, pool: HeaderPool) -> dict[str, Any]:
    """One event. The names are those that the redaction knows; see `redaction.json`."""
    headers, response_headers = _read_or_none(event, "headers"), _read_or_none(event, "response_headers")
    return {
        "index": event.index,
        "request": {
            "query_params": _list_pairs(_parse_query(event), room),
            "headers": None if headers is None else pool.add(headers, room),
            "body": describe_body(event.read_post, POSTED, room),
        },
        "response": {
            "response_cookies": _list_pairs(_read_or_none(event, "cookies"), room),
            "headers": None if response_headers is None else pool.add(response_headers, room),
            "body": describe_body(event.read_content, CONTENT, room),
            "lacks_body": event.lacks_content,
        },
    }


def _parse_query(event: NetworkEvent) -> Pairs | None:
    with suppress(EvaluationError, ValueError):
        query = urlsplit(event.url[:LONGEST_URL]).query
        return tuple(parse_qsl("&".join(query.split("&", MOST_PARAMETERS)[:MOST_PARAMETERS]), keep_blank_values=True))
    return None


def _list_pairs(pairs: Pairs | None, room: Room) -> list[dict[str, str]] | None:
    """Names and values; None for those that cannot be read."""
    return None if pairs is None else list_pairs(pairs, room)


def _read_or_none(event: NetworkEvent, name: str) -> Any:
    """A field of an event; None where it cannot be read."""
    with suppress(EvaluationError):
        return getattr(event, name)
    return None


def trim_bodies(described: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same details after the redaction, without what only the redaction needed."""
    return [
        {
            "index": details["index"],
            "request": {**details["request"], "body": trim_body(details["request"]["body"], POSTED)},
            "response": {**details["response"], "body": trim_body(details["response"]["body"], CONTENT)},
        }
        for details in described
    ]


def list_other_secrets(run: Run, described: Iterable[Mapping[str, Any]], listed: Iterable[int]) -> dict[str, Any]:
    """Headers with secret names, and cookies, of the events without details: bodies of others may repeat them."""
    indices = {details["index"] for details in described}
    others = [run.trace.all_events[index] for index in listed if index not in indices][:_MOST_OTHERS]
    pairs: list[tuple[str, str]] = []
    cookies: set[tuple[str, str]] = set()
    for event in others:
        pairs += _read_or_none(event, "headers") or ()
        pairs += _read_or_none(event, "response_headers") or ()
        cookies.update(_read_or_none(event, "cookies") or ())
    names = set(filter(is_secret, {name for name, _ in pairs}))
    headers = {pair for pair in pairs if pair[0] in names}
    return {"headers": _to_json(headers), "response_cookies": _to_json(cookies)}


def _to_json(pairs: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value[:LONGEST_VALUE]} for name, value in sorted(pairs)]
