"""Entries of HAR files, the common form of all traces, and how each of their fields is read: on demand."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NoReturn, TypeVar

import msgspec
from msgspec import Raw, field
from msgspec import structs as msgspec_structs

from pytest_webeval.errors import EvaluationError
from pytest_webeval.recordings.inputs import try_decode
from pytest_webeval.recordings.network.bodies import MAX_NUMBER, NOTHING

Pairs = tuple[tuple[str, str], ...]
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


def build_entry(url: str | None = "", method: str | None = "", resource_type: str | None = None) -> Entry:
    """An entry in which nothing else was recorded; what is None cannot be read."""
    return Entry(Request(method, url), Response(0), resource_type)  # type: ignore[arg-type]


NO_ENTRY = build_entry()


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
        raise EvaluationError(f"invalid method of an event of the trace: {self.raw!r}; re-record the run")


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
    return parse_timestamp(try_decode(TEXT, raw))


def parse_milliseconds(raw: Raw) -> float | None:
    """A duration in seconds; None for -1, which means unknown, and for what is no number or too long."""
    milliseconds = try_decode(_NUMBER, raw)
    is_known = milliseconds is not None and 0 <= milliseconds <= LONGEST_DURATION
    return milliseconds / 1_000 if milliseconds is not None and is_known else None


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


def read_entry(raw: Raw) -> Entry | None:
    return try_decode(_ENTRY, raw)


def read_damaged(members: Mapping[str, Raw]) -> Entry:
    """An entry with damaged members, which are None in it, or as good as missing: each is decoded on its own."""
    request, response = (parse_members(members.get(name, NOTHING)) for name in ("request", "response"))
    method = try_decode(_ANY, request["method"]) if "method" in request else None
    is_null = bytes(request.get("method", b"")) == b"null"
    sent = {
        "url": try_decode(TEXT, request.get("url", NOTHING)),
        "method": InvalidMethod(method) if is_null or not isinstance(method, str | None) else method,
    }
    labels = {
        "resource_type": try_decode(TEXT, members.get("_resourceType", NOTHING)),
        "page": try_decode(TEXT, members.get("pageref", NOTHING)),
        "frame": try_decode(TEXT, members.get("_frameref", NOTHING)),
    }
    return _build_struct(
        Entry,
        members,
        request=_build_struct(Request, request, **sent),
        response=_build_struct(Response, response, status=try_decode(_STATUS, response.get("status", NOTHING))),
        **labels,
    )


def _build_struct(kind: type[T], members: Mapping[str, Raw], **decoded: Any) -> T:
    names = {each.encode_name: each.name for each in msgspec_structs.fields(kind)}  # type: ignore[arg-type]
    return kind(**({names[name]: raw for name, raw in members.items() if name in names} | decoded))


def parse_members(raw: Raw) -> Mapping[str, Raw]:
    return try_decode(_MEMBERS, raw) or {}


_ANY: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
_ENTRY = msgspec.json.Decoder(Entry)
INITIATOR = msgspec.json.Decoder(Initiator)
_MEMBERS = msgspec.json.Decoder(dict[str, Raw])
_NUMBER = msgspec.json.Decoder(float)
_OPEN_COOKIES = msgspec.json.Decoder(list[OpenCookie])
_OPEN_PAIRS = msgspec.json.Decoder(list[OpenPair])
_PAIRS = msgspec.json.Decoder(list[Pair])
_STATUS: msgspec.json.Decoder[float | str] = msgspec.json.Decoder(int | float | str | bool)
TEXT = msgspec.json.Decoder(str)
