"""What can still be read of an entry that is damaged: each field on its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NoReturn, TypeVar, cast

import msgspec

from pytest_webeval.errors import EvaluationError, RecordingError
from pytest_webeval.recordings.network.bodies import BodySource, lacks_body, parse_content_size
from pytest_webeval.recordings.network.entry_fields import (
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
from pytest_webeval.recordings.network.events import Body, NetworkEvent, Pairs

Members = Mapping[str, msgspec.Raw]
_NULL = msgspec.Raw(b"null")
_NONE = msgspec.Raw(b"[]")
_TEXT = msgspec.json.Decoder(str)
_LABEL: msgspec.json.Decoder[str | None] = msgspec.json.Decoder(str | None)
_STATUS = msgspec.json.Decoder(int | float | str | bool)
T = TypeVar("T")


class DamagedEvent(NetworkEvent):
    """An event of which only some fields can be read. Raises `RecordingError` for an entry that is not an object."""

    __slots__ = ("_bodies", "_entry", "_request", "_response")

    def __init__(self, index: int, raw: msgspec.Raw, bodies: BodySource) -> None:
        super().__init__(index)
        self._bodies, self._entry = bodies, _parse_object(raw)
        self._request = _parse_members(self._entry.get("request", _NULL))
        self._response = _parse_members(self._entry.get("response", _NULL))

    def _decode_field(self, name: str, decode: Callable[[], T]) -> T:
        try:
            return decode()
        except (msgspec.MsgspecError, ValueError, KeyError):  # of bytes that are no UTF-8 a ValueError too
            raise self.damaged(name) from None

    @property
    def is_pending(self) -> bool:
        return bytes(self._entry.get("request", b"")) == b"null"

    @property
    def url(self) -> str:
        return self._decode_field("url", lambda: _TEXT.decode(self._request["url"]))

    @property
    def method(self) -> str:
        return cast(
            "str", self._decode_field("method", lambda: _parse_method(msgspec.json.decode(self._request["method"])))
        )

    @property
    def status(self) -> int:
        return self._decode_field("status", lambda: parse_status(_STATUS.decode(self._response["status"])))

    @property
    def headers(self) -> Pairs:
        return self._read_headers()[0]

    @property
    def has_null_header(self) -> bool:
        return self._read_headers()[1]

    def _read_headers(self) -> tuple[Pairs, bool]:
        return self._decode_field("headers", lambda: parse_headers(self._request["headers"]))

    @property
    def cookies(self) -> Pairs:
        return self._decode_field("cookies", lambda: parse_cookies(self._response.get("cookies", _NONE)))

    @property
    def response_headers(self) -> Pairs:
        return self._decode_field("response headers", lambda: parse_headers(self._response.get("headers", _NONE))[0])

    @property
    def resource_type(self) -> str | None:
        return parse_resource_type(self._decode_label("_resourceType"))

    @property
    def page(self) -> str | None:
        return self._decode_label("pageref")

    @property
    def frame(self) -> str | None:
        return self._decode_label("_frameref")

    def _decode_label(self, name: str) -> str | None:
        """A text that says where an event belongs; one that cannot be read is as good as none."""
        try:
            return _LABEL.decode(self._entry.get(name, _NULL))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return None

    @property
    def initiator(self) -> str | None:
        return parse_initiator(self._entry.get("_initiator", _NULL))

    @property
    def is_failed(self) -> bool:
        return any(is_set(self._response.get(name, _NULL)) for name in ("_failureText", "_error"))

    @property
    def started(self) -> float | None:
        return parse_seconds(self._entry.get("startedDateTime", _NULL))

    @property
    def duration(self) -> float | None:
        return parse_duration(self._entry.get("time", _NULL))

    @property
    def is_from_cache(self) -> bool:
        return is_set(self._entry.get("_fromCache", _NULL))

    @property
    def lacks_content(self) -> bool:
        return lacks_body(self._response.get("content", _NULL))

    @property
    def post_size(self) -> int | None:
        return parse_byte_count(self._request.get("bodySize", _NULL))

    @property
    def content_size(self) -> int | None:
        return parse_content_size(self._response.get("content", _NULL))

    @property
    def redirect_url(self) -> str:
        return parse_text(self._response.get("redirectURL", _NULL))

    def read_post(self) -> Body | None:
        return self._bodies.read_post(self._request.get("postData", _NULL))

    def read_content(self) -> Body | None:
        return self._bodies.read_content(self._response.get("content", _NULL))


class InvalidMethod:
    """A method that is not a string. It does not equal GET, and comparing it with another method raises."""

    def __init__(self, raw: object) -> None:
        self.raw = raw

    def __str__(self) -> str:
        return repr(self.raw)

    def upper(self) -> NoReturn:
        """Raise `EvaluationError`."""
        raise EvaluationError(f"invalid method of an event of the trace: {self.raw!r}; re-record the run")


def _parse_method(raw: object) -> object:
    return raw if isinstance(raw, str) else InvalidMethod(raw)


def _parse_object(raw: msgspec.Raw | bytes) -> Members:
    if not bytes(raw).lstrip().startswith((b"{", b'"')):  # the reference fails on a string only when it is read
        raise RecordingError(f"an entry of the trace is not an object: {bytes(raw)[:40]!r}; re-record the run")
    return _parse_members(raw)


def _parse_members(raw: msgspec.Raw | bytes) -> Members:
    try:
        return msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}
