"""Parts of a HAR entry that are decoded on demand: headers, cookies, status and time stamp."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from pytest_webeval.recordings.network.events import Pairs

MAX_NUMBER = 2**63
_LONGEST_STAMP = 64  # characters; no time stamp has as many
LONGEST_DURATION = 86_400_000  # milliseconds; no request takes a day
NOTHING = msgspec.Raw(b"null")


# As of entries, there are thousands of these, and none is part of a cycle.
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
    """Who asked for a request."""

    type: str


_INITIATOR = msgspec.json.Decoder(Initiator)
_TEXT = msgspec.json.Decoder(str)
_NUMBER = msgspec.json.Decoder(float)
_PAIRS = msgspec.json.Decoder(list[Pair])
_OPEN_PAIRS = msgspec.json.Decoder(list[OpenPair])
_OPEN_COOKIES = msgspec.json.Decoder(list[OpenCookie])


def parse_headers(raw: msgspec.Raw) -> tuple[Pairs, bool]:
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


def parse_cookies(raw: msgspec.Raw) -> Pairs:
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


def _parse_pairs(raw: msgspec.Raw) -> Pairs:
    return tuple((pair.name, pair.value) for pair in _PAIRS.decode(raw))


def _is_empty(raw: msgspec.Raw) -> bool:
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


def parse_seconds(raw: msgspec.Raw) -> float | None:
    """The moment that a time stamp names, in seconds since 1970; None for one that cannot be read."""
    try:
        return parse_timestamp(_TEXT.decode(raw))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def parse_duration(raw: msgspec.Raw) -> float | None:
    """The seconds of a number of milliseconds; None for one that cannot be read, or for -1, which means unknown."""
    try:
        milliseconds = _NUMBER.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return milliseconds / 1_000 if 0 <= milliseconds <= LONGEST_DURATION else None


def parse_initiator(raw: msgspec.Raw) -> str | None:
    """What asked for a request, in the words of Chrome; None for one that cannot be read."""
    try:
        return _INITIATOR.decode(raw).type
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def is_set(raw: msgspec.Raw) -> bool:
    """Whether a member is there and is more than null, false or an empty text."""
    return bytes(raw) not in (b"null", b"false", b'""', b"")


def parse_byte_count(raw: msgspec.Raw) -> int | None:
    """A number of bytes; None for one that cannot be read, or for -1, which means unknown."""
    try:
        size = _NUMBER.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return int(size) if 0 <= size <= MAX_NUMBER else None


def parse_text(raw: msgspec.Raw) -> str:
    """A text; empty where there is none."""
    try:
        return _TEXT.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""


def parse_resource_type(raw: str | None) -> str | None:
    """A resource type in the letters that this package uses: the protocol of Chromium begins it with a capital."""
    return None if raw is None else raw.lower()


def parse_status(raw: float | str) -> int:
    """The status as an integer. Raises `ValueError`."""
    if isinstance(raw, int):
        return int(raw)
    number = float(raw)
    if not number.is_integer() or abs(number) > MAX_NUMBER:
        raise ValueError(f"status {raw!r} is not an integer")
    return int(number)
