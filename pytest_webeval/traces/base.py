"""HAR entries, the common form of all traces, decoded to the fields that evaluation reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from pytest_webeval.errors import RecordingError
from pytest_webeval.files import Inputs
from pytest_webeval.limits import Limits
from pytest_webeval.network import RECORD_AGAIN
from pytest_webeval.network import Body
from pytest_webeval.network import NetworkEvent
from pytest_webeval.network import NetworkTrace
from pytest_webeval.network import Pairs
from pytest_webeval.time_stamps import seconds_of
from pytest_webeval.traces.stored_bodies import BodySource
from pytest_webeval.traces.stored_bodies import lacks_body

MAX_STATUS = 2**63
NOTHING = msgspec.Raw(b"null")


# None of these structs is part of a cycle, and a recording has thousands: the garbage collector need not visit them.
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


class Request(msgspec.Struct, gc=False):
    """What was sent; headers and body stay undecoded."""

    method: str
    url: str
    headers: msgspec.Raw = msgspec.Raw(b"")
    post: msgspec.Raw = msgspec.field(default=msgspec.Raw(b"null"), name="postData")


class Response(msgspec.Struct, gc=False):
    """What came back; cookies and content stay undecoded."""

    status: int | float | str | bool
    cookies: msgspec.Raw = msgspec.Raw(b"[]")
    content: msgspec.Raw = msgspec.Raw(b"null")


class Entry(msgspec.Struct, gc=False):
    """One entry of a HAR."""

    request: Request
    response: Response
    resource_type: str | None = msgspec.field(default=None, name="_resourceType")
    page: str | None = msgspec.field(default=None, name="pageref")
    frame: str | None = msgspec.field(default=None, name="_frameref")
    started: msgspec.Raw = msgspec.field(default=NOTHING, name="startedDateTime")
    from_cache: msgspec.Raw = msgspec.field(default=NOTHING, name="_fromCache")


class TraceReader(Protocol):
    """What a kind of trace must offer."""

    def reads(self, name: str, *, is_folder: bool) -> bool:
        """Whether a file or folder of that name is of this kind."""
        ...

    def load(self, inputs: Inputs, name: str) -> NetworkTrace:
        """The events of the file or folder. Raises `RecordingError`."""
        ...


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
            return whole_status(self._entry.response.status)
        except ValueError:
            raise self.damaged("status") from None

    @property
    def headers(self) -> Pairs:
        if self._headers is None:
            try:
                self._headers, self._has_null_header = header_pairs(self._entry.request.headers)
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
            return cookie_pairs(self._entry.response.cookies)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise self.damaged("cookies") from None

    @property
    def resource_type(self) -> str | None:
        return self._entry.resource_type

    @property
    def page(self) -> str | None:
        return self._entry.page

    @property
    def frame(self) -> str | None:
        return self._entry.frame

    @property
    def started(self) -> float | None:
        return seconds_in(self._entry.started)

    @property
    def is_from_cache(self) -> bool:
        return says_something(self._entry.from_cache)

    @property
    def lacks_content(self) -> bool:
        return lacks_body(self._entry.response.content)

    def read_post(self) -> Body | None:
        return self._bodies.read_post(self._entry.request.post)

    def read_content(self) -> Body | None:
        return self._bodies.read_content(self._entry.response.content)


class TooManyEntries(RecordingError):
    """A trace with more entries than are read."""


def too_many(where: str, limits: Limits) -> TooManyEntries:
    """The error for a trace with more entries than are read."""
    return TooManyEntries(f"{where} has more than {limits.entries:,} entries; {limits.told('entries')}")


def build_trace(
    entries: Sequence[msgspec.Raw | Entry], bodies: BodySource, mended: str | None = None, advice: str = RECORD_AGAIN
) -> NetworkTrace:
    """The trace with these entries, in which a damaged entry costs only what is damaged in it.

    Raises `RecordingError` for an entry that is no object at all.
    """
    return NetworkTrace(tuple(_event(index, raw, bodies) for index, raw in enumerate(entries)), mended, advice)


def _event(index: int, raw: msgspec.Raw | Entry, bodies: BodySource) -> NetworkEvent:
    if isinstance(raw, Entry):
        return RecordedEvent(index, raw, bodies)
    try:
        return RecordedEvent(index, _ENTRY.decode(raw), bodies)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        from pytest_webeval.traces.damage import DamagedEvent  # recordings are seldom damaged

        return DamagedEvent(index, raw, bodies)


_ENTRY = msgspec.json.Decoder(Entry)
_STAMP = msgspec.json.Decoder(str)
_PAIRS = msgspec.json.Decoder(list[Pair])
_OPEN_PAIRS = msgspec.json.Decoder(list[OpenPair])
_OPEN_COOKIES = msgspec.json.Decoder(list[OpenCookie])


def header_pairs(raw: msgspec.Raw) -> tuple[Pairs, bool]:
    """Names and values of headers, and whether there were others with null for a value, which are left out.

    Raises `MsgspecError`, and `UnicodeDecodeError` for what is no UTF-8.
    """
    try:
        return _pairs(raw), False
    except msgspec.ValidationError:
        if _is_empty(raw):
            return (), False
        headers = _OPEN_PAIRS.decode(raw)
        return tuple((header.name, header.value) for header in headers if header.value is not None), True


def cookie_pairs(raw: msgspec.Raw) -> Pairs:
    """Names and values of cookies. One without a value is empty, one whose name is no text has no name to ask for.

    Raises `MsgspecError`, and `UnicodeDecodeError` for what is no UTF-8.
    """
    try:
        return _pairs(raw)
    except msgspec.ValidationError:
        if _is_empty(raw):
            return ()
        cookies = _OPEN_COOKIES.decode(raw)
        return tuple((cookie.name, cookie.value) for cookie in cookies if isinstance(cookie.name, str))


def _pairs(raw: msgspec.Raw) -> Pairs:
    return tuple((pair.name, pair.value) for pair in _PAIRS.decode(raw))


def _is_empty(raw: msgspec.Raw) -> bool:
    """Whether there is an empty object or text, in which the reference finds as much as in an empty list."""
    return msgspec.json.decode(raw) in ({}, "")


def seconds_in(raw: msgspec.Raw) -> float | None:
    """The moment that a time stamp names, in seconds since 1970; None for one that cannot be read."""
    try:
        return seconds_of(_STAMP.decode(raw))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def says_something(raw: msgspec.Raw) -> bool:
    """Whether a member is there and is more than null, false or an empty text."""
    return bytes(raw) not in (b"null", b"false", b'""', b"")


def whole_status(raw: float | str) -> int:
    """The status as a whole number. Raises `ValueError`."""
    if isinstance(raw, int):
        return int(raw)
    number = float(raw)
    if not number.is_integer() or abs(number) > MAX_STATUS:
        raise ValueError(f"status {raw!r} is not a whole number")
    return int(number)
