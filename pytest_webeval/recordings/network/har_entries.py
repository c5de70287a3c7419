"""HAR entries, the common form of all traces, decoded to the fields that evaluation reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import inf
from typing import Any, NoReturn, TypeVar

import msgspec
from msgspec import Raw, field, structs

from pytest_webeval.errors import EvaluationError, RecordingError
from pytest_webeval.recordings.inputs import UNDECODABLE, try_decode
from pytest_webeval.recordings.network.bodies import (
    MAX_NUMBER,
    NOTHING,
    BodySource,
    lacks_body,
    parse_byte_count,
    parse_content_size,
)
from pytest_webeval.recordings.network.events import RECORD_AGAIN, Body, NetworkEvent, NetworkTrace, Pairs
from pytest_webeval.safety.limits import Limits

FETCHED = "fetch"  # the type of what a program sent through Playwright's `request`
LONGEST_DURATION = 86_400_000  # milliseconds; no request takes a day
_LONGEST_STAMP = 64  # characters; no time stamp has as many
_NO_LIST = Raw(b"[]")
T = TypeVar("T")


# None of these structs is part of a cycle, and a recording has thousands: the garbage collector need not visit them.
class Request(msgspec.Struct, gc=False):
    """What was sent; headers and body stay undecoded."""

    method: str
    url: str
    headers: Raw = Raw(b"")
    post: Raw = field(default=NOTHING, name="postData")
    size: Raw = field(default=NOTHING, name="bodySize")


class Response(msgspec.Struct, gc=False):
    """What came back; headers, cookies and content stay undecoded."""

    status: int | float | str | bool
    headers: Raw = _NO_LIST
    cookies: Raw = _NO_LIST
    content: Raw = NOTHING
    redirect: Raw = field(default=NOTHING, name="redirectURL")
    failure: Raw = field(default=NOTHING, name="_failureText")  # of Playwright
    error: Raw = field(default=NOTHING, name="_error")  # of Chromium's tools


class Entry(msgspec.Struct, gc=False):
    """One entry of a HAR."""

    request: Request
    response: Response
    resource_type: str | None = field(default=None, name="_resourceType")
    page: str | None = field(default=None, name="pageref")
    frame: str | None = field(default=None, name="_frameref")
    started: Raw = field(default=NOTHING, name="startedDateTime")
    time: Raw = NOTHING
    from_cache: Raw = field(default=NOTHING, name="_fromCache")
    initiator: Raw = field(default=NOTHING, name="_initiator")
    api: Raw = field(default=NOTHING, name="_apiRequest")
    api_context: Raw = field(default=NOTHING, name="_apiRequestRef")


class Pair(msgspec.Struct, gc=False):
    """A header or a cookie."""

    name: str
    value: str


class OpenPair(msgspec.Struct, gc=False):
    """A header that may have no value."""

    name: str
    value: str | None


class OpenCookie(msgspec.Struct, gc=False):
    """A cookie that may lack its value, and whose name may be something that names no cookie."""

    name: str | int | float | bool | None
    value: str = ""


class Initiator(msgspec.Struct, gc=False):
    """Who asked for a request, in the words of Chrome."""

    type: str


class InvalidMethod:
    """A method that is not a string. It does not equal GET, and comparing it with another method raises."""

    def __init__(self, raw: object) -> None:
        self.raw = raw

    def __str__(self) -> str:
        return repr(self.raw)

    def upper(self) -> NoReturn:
        """Raise `EvaluationError`."""
        raise EvaluationError(f"invalid method of an event of the trace: {self.raw!r}; re-record the run")


class RecordedEvent(NetworkEvent):
    """An event of a HAR entry, in which a member that cannot be read is None."""

    __slots__ = ("_bodies", "_entry", "_has_null_header", "_headers", "_is_pending")

    def __init__(self, index: int, entry: Entry, bodies: BodySource, *, is_pending: bool = False) -> None:
        self.index, self._entry, self._bodies, self._is_pending = index, entry, bodies, is_pending
        self._headers: Pairs | None = None
        self._has_null_header = False

    @property
    def url(self) -> str:
        return self._require("url", self._entry.request.url)

    @property
    def method(self) -> str:
        return self._require("method", self._entry.request.method)

    def _require(self, name: str, value: T | None) -> T:
        if value is None:
            raise self.damaged(name)
        return value

    @property
    def status(self) -> int:
        try:
            return parse_status(self._entry.response.status)
        except (TypeError, ValueError):  # the first if it is None
            raise self.damaged("status") from None

    @property
    def headers(self) -> Pairs:
        if self._headers is None:
            try:
                self._headers, self._has_null_header = parse_headers(self._entry.request.headers)
            except UNDECODABLE:
                raise self.damaged("headers") from None
        return self._headers

    @property
    def has_null_header(self) -> bool:
        if self._headers is None:
            _ = self.headers
        return self._has_null_header

    @property
    def cookies(self) -> Pairs:
        try:
            return parse_cookies(self._entry.response.cookies)
        except UNDECODABLE:
            raise self.damaged("cookies") from None

    @property
    def response_headers(self) -> Pairs:
        try:
            return parse_headers(self._entry.response.headers)[0]
        except UNDECODABLE:
            raise self.damaged("response headers") from None

    @property
    def resource_type(self) -> str | None:
        kind = self._entry.resource_type
        if kind:
            return kind.lower()  # the protocol of Chromium begins it with a capital
        is_of_program = is_set(self._entry.api) or is_set(self._entry.api_context)  # no page, whatever it accepts
        return FETCHED if is_of_program else None

    @property
    def page(self) -> str | None:
        return self._entry.page

    @property
    def frame(self) -> str | None:
        return self._entry.frame

    @property
    def initiator(self) -> str | None:
        initiator = try_decode(_INITIATOR, self._entry.initiator)
        return None if initiator is None else initiator.type

    @property
    def is_failed(self) -> bool:
        return is_set(self._entry.response.failure) or is_set(self._entry.response.error)

    @property
    def stamp(self) -> Raw:
        """The time stamp of the request, undecoded."""
        return self._entry.started

    @property
    def started(self) -> float | None:
        return parse_seconds(self._entry.started)

    @property
    def duration(self) -> float | None:
        milliseconds = try_decode(_NUMBER, self._entry.time)  # -1 means unknown
        is_known = milliseconds is not None and 0 <= milliseconds <= LONGEST_DURATION
        return milliseconds / 1_000 if milliseconds is not None and is_known else None

    @property
    def is_from_cache(self) -> bool:
        return is_set(self._entry.from_cache)

    @property
    def is_pending(self) -> bool:
        return self._is_pending

    @property
    def lacks_content(self) -> bool:
        return lacks_body(self._entry.response.content)

    @property
    def post_size(self) -> int | None:
        return parse_byte_count(self._entry.request.size)

    @property
    def content_size(self) -> int | None:
        return parse_content_size(self._entry.response.content)

    @property
    def redirect_url(self) -> str:
        return try_decode(_TEXT, self._entry.response.redirect) or ""

    def read_post(self) -> Body | None:
        return self._bodies.read_post(self._entry.request.post)

    def read_content(self) -> Body | None:
        return self._bodies.read_content(self._entry.response.content)


def parse_headers(raw: Raw) -> tuple[Pairs, bool]:
    """Names and values of headers, and whether there were others with null for a value, which are ignored.

    Raises `MsgspecError`, and `UnicodeDecodeError` for what is no UTF-8.
    """
    try:
        return _parse_pairs(raw), False
    except msgspec.ValidationError:
        if _is_empty(raw):
            return (), False
        headers = _OPEN_PAIRS.decode(raw)
        return tuple((header.name, header.value) for header in headers if header.value is not None), True


def parse_cookies(raw: Raw) -> Pairs:
    """Names and values of cookies. One without a value is empty, one whose name is no text has no name to ask for.

    Raises `MsgspecError`, and `UnicodeDecodeError` for what is no UTF-8.
    """
    try:
        return _parse_pairs(raw)
    except msgspec.ValidationError:
        if _is_empty(raw):
            return ()
        cookies = _OPEN_COOKIES.decode(raw)
        return tuple((cookie.name, cookie.value) for cookie in cookies if isinstance(cookie.name, str))


def _parse_pairs(raw: Raw) -> Pairs:
    return tuple((pair.name, pair.value) for pair in _PAIRS.decode(raw))


def _is_empty(raw: Raw) -> bool:
    """Whether there is an empty object or text, in which the reference finds as much as in an empty list."""
    return msgspec.json.decode(raw) in ({}, "")


def parse_timestamp(stamp: str | None) -> float | None:
    """The seconds since 1970 of an ISO 8601 time stamp, in UTC where it names no zone; None for an invalid stamp."""
    if stamp is None or len(stamp) > _LONGEST_STAMP:
        return None
    try:
        moment = datetime.fromisoformat(stamp.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def parse_seconds(raw: Raw) -> float | None:
    """The moment that a time stamp names, in seconds since 1970; None for one that cannot be read."""
    return parse_timestamp(try_decode(_TEXT, raw))


def is_set(raw: Raw) -> bool:
    """Whether a member is there and is more than null, false or an empty text."""
    return bytes(raw) not in (b"null", b"false", b'""', b"")


def parse_status(raw: float | str) -> int:
    """The status as an integer. Raises `ValueError`."""
    if isinstance(raw, int):
        return int(raw)
    number = float(raw)
    if not number.is_integer() or abs(number) > MAX_NUMBER:
        raise ValueError(f"status {raw!r} is not an integer")
    return int(number)


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


def _order_by_time(events: Sequence[RecordedEvent]) -> tuple[int, ...]:
    """The indices of events by the time at which each began; empty where that is their order.

    Events of the same time keep their order, and one without a time stays behind its predecessor.
    """
    stamps = [bytes(event.stamp) for event in events]
    is_uniform = len({(len(stamp), stamp[-2:]) for stamp in stamps}) <= 1
    if is_uniform and stamps[:1] and stamps[0][-2:] == b'Z"' and stamps == sorted(stamps):
        return ()  # as nearly all recordings are, which saves parsing
    last, times = -inf, []
    for event in events:
        last = last if (time := event.started) is None else time
        times.append(last)
    order = sorted(range(len(events)), key=times.__getitem__)
    return () if order == list(range(len(events))) else tuple(order)


def _build_event(index: int, raw: Raw | Entry, bodies: BodySource) -> RecordedEvent:
    if isinstance(raw, Entry):
        return RecordedEvent(index, raw, bodies)
    entry = try_decode(_ENTRY, raw)
    if entry is not None:
        return RecordedEvent(index, entry, bodies)
    if not bytes(raw).lstrip().startswith((b"{", b'"')):  # the reference fails on a string only when it is read
        raise RecordingError(f"an entry of the trace is not an object: {bytes(raw)[:40]!r}; re-record the run")
    members = _parse_members(raw)
    is_pending = bytes(members.get("request", b"")) == b"null"
    return RecordedEvent(index, _read_damaged(members), bodies, is_pending=is_pending)


def _read_damaged(members: Mapping[str, Raw]) -> Entry:
    """An entry with damaged members, which are None in it, or as good as missing: each is decoded on its own."""
    request, response = (_parse_members(members.get(name, NOTHING)) for name in ("request", "response"))
    method = try_decode(_ANY, request["method"]) if "method" in request else None
    is_null = bytes(request.get("method", b"")) == b"null"
    sent = {
        "url": try_decode(_TEXT, request.get("url", NOTHING)),
        "method": InvalidMethod(method) if is_null or not isinstance(method, str | None) else method,
    }
    labels = {
        "resource_type": try_decode(_TEXT, members.get("_resourceType", NOTHING)),
        "page": try_decode(_TEXT, members.get("pageref", NOTHING)),
        "frame": try_decode(_TEXT, members.get("_frameref", NOTHING)),
    }
    return _build_struct(
        Entry,
        members,
        request=_build_struct(Request, request, **sent),
        response=_build_struct(Response, response, status=try_decode(_STATUS, response.get("status", NOTHING))),
        **labels,
    )


def _build_struct(kind: type[T], members: Mapping[str, Raw], **decoded: Any) -> T:
    names = {each.encode_name: each.name for each in structs.fields(kind)}  # type: ignore[arg-type]
    return kind(**({names[name]: raw for name, raw in members.items() if name in names} | decoded))


def _parse_members(raw: Raw) -> Mapping[str, Raw]:
    return try_decode(_MEMBERS, raw) or {}


_ANY: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
_ENTRY = msgspec.json.Decoder(Entry)
_INITIATOR = msgspec.json.Decoder(Initiator)
_MEMBERS = msgspec.json.Decoder(dict[str, Raw])
_NUMBER = msgspec.json.Decoder(float)
_OPEN_COOKIES = msgspec.json.Decoder(list[OpenCookie])
_OPEN_PAIRS = msgspec.json.Decoder(list[OpenPair])
_PAIRS = msgspec.json.Decoder(list[Pair])
_STATUS: msgspec.json.Decoder[float | str] = msgspec.json.Decoder(int | float | str | bool)
_TEXT = msgspec.json.Decoder(str)
