"""The requests of a run on its page: the table, the role of each in the verdict, and the details below its row.

Of details, events with a role in the verdict come first, then those that may have changed something, then the last
ones. A success has only the first kind and the last few of the second: few people open it, and a session has many. All
texts are bounded: each value, each event, and all events of a task together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import msgspec
from msgspec import Struct, field

from pytest_webeval.errors import EvaluationError, WebEvalError
from pytest_webeval.recordings.network.bodies import Body
from pytest_webeval.recordings.network.entries import Pairs
from pytest_webeval.recordings.network.events import NetworkEvent
from pytest_webeval.recordings.network.form_fields import list_fields
from pytest_webeval.recordings.run import Run
from pytest_webeval.redaction.json import is_plain_text
from pytest_webeval.redaction.names import is_secret
from pytest_webeval.results import EXTRA, EvaluatorResult, Explanation, Status
from pytest_webeval.safety.json import load_bounded, may_nest_deeper
from pytest_webeval.safety.limits import Limits
from pytest_webeval.safety.text import ELLIPSIS, truncate

LONGEST_BODY = 20_000  # characters of a body, as of all lengths here
LONGEST_VALUE = 2_000
MARGIN = 1_000  # of a longer body that are redacted and not shown: secrets are known by what stands around them
_LONGEST_TYPE = 100
_LONGEST_FORM = 200_000  # of a longer form only the beginning is read
# What is searched as it was meant, not as it was escaped, and numbers that a page may take for infinite.
_UNUSUAL = re.compile(r"\\|\d{200}|[eE][+-]?\d{2}")
_OVERHEAD = 20  # of a name with its value in JSON
_TEXT_TYPES = ("text/", "json", "xml", "javascript", "x-www-form-urlencoded", "multipart/form-data")
_LIMITS = Limits(values=10_000, nesting=50)
FIELDS, JSON, TEXT, BINARY, UNREADABLE = "fields", "json", "text", "binary", "unreadable"


class Room(Struct):
    """How many characters an event may still take, and each of its bodies.

    `is_strict` says that any name in JSON may be that of a secret.
    """

    left: int
    longest_body: int = LONGEST_BODY
    is_strict: bool = False

    def cut(self, text: str, longest: int) -> str:
        """The beginning of a text that there is room for."""
        limit = min(longest, max(self.left, 0))
        if len(text) > limit:
            text = truncate(text, limit, is_marker_extra=True)
        self.left -= len(text) + _OVERHEAD
        return text


def describe_body(read: Callable[[], Body | None], name: str, room: Room) -> dict[str, Any] | None:
    """The beginning of a body below a name that the redaction knows; None without a body.

    `form` says how it is shown: `fields`, `json` and `text`; `binary` and `unreadable` are not. JSON is a tree, or the
    text itself where that has no marks of secrets: then the page reads it. A long text has `MARGIN` more characters
    than are shown: `trim_body` removes them after the redaction.
    """
    try:
        body = read()
        if body is None:
            return None
        is_text = not body.mime or any(text_type in body.mime.lower() for text_type in _TEXT_TYPES)
        text = body.read_uncounted() if is_text else ""
    except EvaluationError:
        return {"form": UNREADABLE}
    described = {"type": room.cut(body.mime, _LONGEST_TYPE)}
    if not is_text:
        return described | {"form": BINARY}
    mime = body.mime if "boundary" in body.mime else body.mime.lower()  # a boundary has its own case
    return described | {"length": len(text)} | _describe_text(Body(mime, text), name, room) if text else None


def _describe_text(body: Body, name: str, room: Room) -> dict[str, Any]:
    if fields := list_fields(Body(body.mime, body.text[:_LONGEST_FORM])):
        return {"form": FIELDS, name: list_pairs(fields, room)}
    longest = min(room.longest_body, max(room.left, 0))
    is_cut = len(body.text) > longest
    room.left -= min(len(body.text), longest)
    if "json" in body.mime and not is_cut:
        if not room.is_strict and _is_plain_json(body.text):
            return {"form": JSON, name: body.text}
        with suppress(ValueError, EvaluationError):
            tree = load_bounded(body.text, _LIMITS, "a body", as_sent=True)
            if isinstance(tree, dict | list):
                return {"form": JSON, name: tree}
    cut = {"cut": True} if is_cut else {}
    return {"form": TEXT, name: {"text": body.text[: longest + MARGIN] if is_cut else body.text}} | cut


def list_pairs(pairs: Sequence[tuple[str, str]], room: Room) -> list[dict[str, str]]:
    """The first names and values that there is room for, and how many more there are."""
    listed: list[dict[str, str]] = []
    for name, value in pairs:
        if room.left <= 0:
            break
        listed.append({"name": room.cut(name, LONGEST_VALUE), "value": room.cut(value, LONGEST_VALUE)})
    omitted = len(pairs) - len(listed)
    return [*listed, {"name": f"{ELLIPSIS} and {omitted:,} more", "value": ""}] if omitted else listed


def _is_plain_json(text: str) -> bool:
    """Whether JSON stays a text: an object or a list that does not nest deep, without escapes or marks of secrets."""
    is_tree = text.lstrip()[:1] in ("{", "[") and not may_nest_deeper(text, _LIMITS.nesting)
    return is_tree and not _UNUSUAL.search(text) and is_plain_text(text) and _is_json(text)


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text.encode(), type=msgspec.Raw)
    except (ValueError, RecursionError):
        return False
    return True


class HeaderPool(Struct, frozen=True):
    """Headers of the requests of one task, each once: most requests have most of them in common."""

    entries: list[dict[str, str]] = field(default_factory=list)
    _indices: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, pairs: Sequence[tuple[str, str]], room: Room) -> list[int]:
        """The positions in the pool of those that there is room for; a last entry says how many were left out."""
        indices = []
        for entry in list_pairs(pairs, room):
            index = self._indices.setdefault((entry["name"], entry["value"]), len(self.entries))
            if index == len(self.entries):
                self.entries.append(entry)
            indices.append(index)
        return indices


def trim_body(body: Mapping[str, Any] | None, name: str) -> dict[str, Any] | None:
    """The same body after the redaction, without the margin. JSON that a replacement made invalid is a text."""
    if body is None:
        return None
    if body.get("form") == JSON and isinstance(body[name], str) and not _is_json(body[name]):
        return {**body, "form": TEXT, name: {"text": body[name]}}
    if not body.get("cut"):
        return dict(body)
    text = body[name]["text"]
    return {**body, name: {"text": text if len(text) <= MARGIN else f"{text[:-MARGIN]}{ELLIPSIS}"}}


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
CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})


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
    retained = requests
    if len(requests) > MOST_EVENTS:
        marked = [event for event in requests if event.index in marks][:MOST_EVENTS]
        free = MOST_EVENTS - len(marked)
        unmarked = [event for event in requests if event.index not in marks][-free:] if free else []
        retained = sorted([*marked, *unmarked], key=lambda event: event.index)
    first = min((at for event in events if (at := event.started) is not None), default=None)
    longest = LONGEST_TEXT if len(retained) <= _MANY else _LONGEST_OF_MANY
    return {
        "total": len(events),
        "assets": len(events) - len(requests),
        "left_out": len(requests) - len(retained),
        "events": [_list_cells(event, marks.get(event.index, ""), first, longest) for event in retained],
    }


def _list_cells(event: NetworkEvent, mark: str, first: float | None, longest: int) -> list[Any]:
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
    return str(_read_or_none(event, "method")).upper() in CHANGING


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
