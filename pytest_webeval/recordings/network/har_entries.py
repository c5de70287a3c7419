"""HAR entries, the common form of all traces, decoded to the fields that evaluation reads."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import msgspec

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.network.bodies import BodySource, lacks_body, parse_content_size
from pytest_webeval.recordings.network.entry_fields import (
    NOTHING,
    is_set,
    parse_byte_count,
    parse_cookies,
    parse_duration,
    parse_headers,
    parse_initiator,
    parse_resource_type,
    parse_seconds,
    parse_status,
    parse_text,
)
from pytest_webeval.recordings.network.events import RECORD_AGAIN, Body, NetworkEvent, NetworkTrace, Pairs
from pytest_webeval.safety.limits import Limits

FETCHED = "fetch"  # the type of what a program sent through Playwright's `request`


# None of these structs is part of a cycle, and a recording has thousands: the garbage collector need not visit them.
class Request(msgspec.Struct, gc=False):
    """What was sent; headers and body stay undecoded."""

    method: str
    url: str
    headers: msgspec.Raw = msgspec.Raw(b"")
    post: msgspec.Raw = msgspec.field(default=NOTHING, name="postData")
    size: msgspec.Raw = msgspec.field(default=NOTHING, name="bodySize")


class Response(msgspec.Struct, gc=False):
    """What came back; headers, cookies and content stay undecoded."""

    status: int | float | str | bool
    headers: msgspec.Raw = msgspec.Raw(b"[]")
    cookies: msgspec.Raw = msgspec.Raw(b"[]")
    content: msgspec.Raw = NOTHING
    redirect: msgspec.Raw = msgspec.field(default=NOTHING, name="redirectURL")
    failure: msgspec.Raw = msgspec.field(default=NOTHING, name="_failureText")  # of Playwright
    error: msgspec.Raw = msgspec.field(default=NOTHING, name="_error")  # of Chromium's tools


class Entry(msgspec.Struct, gc=False):
    """One entry of a HAR."""

    request: Request
    response: Response
    resource_type: str | None = msgspec.field(default=None, name="_resourceType")
    page: str | None = msgspec.field(default=None, name="pageref")
    frame: str | None = msgspec.field(default=None, name="_frameref")
    started: msgspec.Raw = msgspec.field(default=NOTHING, name="startedDateTime")
    time: msgspec.Raw = NOTHING
    from_cache: msgspec.Raw = msgspec.field(default=NOTHING, name="_fromCache")
    initiator: msgspec.Raw = msgspec.field(default=NOTHING, name="_initiator")
    api: msgspec.Raw = msgspec.field(default=NOTHING, name="_apiRequest")
    api_context: msgspec.Raw = msgspec.field(default=NOTHING, name="_apiRequestRef")


class RecordedEvent(NetworkEvent):
    """An event whose entry has the shape that it should have."""

    __slots__ = ("_bodies", "_entry", "_has_null_header", "_headers")

    def __init__(self, index: int, entry: Entry, bodies: BodySource) -> None:
        self.index, self._entry, self._bodies = index, entry, bodies
        self._headers: Pairs | None = None
        self._has_null_header = False

    @property
    def url(self) -> str:
        return self._entry.request.url

    @property
    def method(self) -> str:
        return self._entry.request.method

    @property
    def status(self) -> int:
        try:
            return parse_status(self._entry.response.status)
        except ValueError:
            raise self.damaged("status") from None

    @property
    def headers(self) -> Pairs:
        if self._headers is None:
            try:
                self._headers, self._has_null_header = parse_headers(self._entry.request.headers)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
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
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise self.damaged("cookies") from None

    @property
    def response_headers(self) -> Pairs:
        try:
            return parse_headers(self._entry.response.headers)[0]
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise self.damaged("response headers") from None

    @property
    def resource_type(self) -> str | None:
        is_of_program = is_set(self._entry.api) or is_set(self._entry.api_context)  # no page, whatever it accepts
        return parse_resource_type(self._entry.resource_type) or (FETCHED if is_of_program else None)

    @property
    def page(self) -> str | None:
        return self._entry.page

    @property
    def frame(self) -> str | None:
        return self._entry.frame

    @property
    def initiator(self) -> str | None:
        return parse_initiator(self._entry.initiator)

    @property
    def is_failed(self) -> bool:
        return is_set(self._entry.response.failure) or is_set(self._entry.response.error)

    @property
    def stamp(self) -> msgspec.Raw:
        """The time stamp of the request, undecoded."""
        return self._entry.started

    @property
    def started(self) -> float | None:
        return parse_seconds(self._entry.started)

    @property
    def duration(self) -> float | None:
        return parse_duration(self._entry.time)

    @property
    def is_from_cache(self) -> bool:
        return is_set(self._entry.from_cache)

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
        return parse_text(self._entry.response.redirect)

    def read_post(self) -> Body | None:
        return self._bodies.read_post(self._entry.request.post)

    def read_content(self) -> Body | None:
        return self._bodies.read_content(self._entry.response.content)


class TooManyEntries(RecordingError):
    """A trace with more entries than are read."""


def too_many_entries(where: str, limits: Limits) -> TooManyEntries:
    """The error for a trace with more entries than are read."""
    return TooManyEntries(f"{where} has more than {limits.entries:,} entries; {limits.describe('entries')}")


def build_trace(
    entries: Sequence[msgspec.Raw | Entry],
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


def _order_by_time(events: Sequence[NetworkEvent]) -> tuple[int, ...]:
    """The indices of events by the time at which each began; empty where that is their order.

    Events of the same time keep their order, and one without a time stays behind its predecessor.
    """
    stamps = [bytes(event.stamp) for event in events if isinstance(event, RecordedEvent)]
    is_uniform = len(stamps) == len(events) and len({(len(stamp), stamp[-2:]) for stamp in stamps}) <= 1
    if is_uniform and stamps[:1] and stamps[0][-2:] == b'Z"' and stamps == sorted(stamps):
        return ()  # as nearly all recordings are, which saves parsing
    last, times = -inf, []
    for event in events:
        last = last if (time := event.started) is None else time
        times.append(last)
    order = sorted(range(len(events)), key=times.__getitem__)
    return () if order == list(range(len(events))) else tuple(order)


def _build_event(index: int, raw: msgspec.Raw | Entry, bodies: BodySource) -> NetworkEvent:
    if isinstance(raw, Entry):
        return RecordedEvent(index, raw, bodies)
    try:
        return RecordedEvent(index, _ENTRY.decode(raw), bodies)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        from pytest_webeval.recordings.network.damaged_entries import DamagedEvent  # recordings are seldom damaged

        return DamagedEvent(index, raw, bodies)


_ENTRY = msgspec.json.Decoder(Entry)
