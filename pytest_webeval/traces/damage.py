"""What can still be read of an entry that is damaged: each field on its own."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any
from typing import NoReturn

import msgspec

from pytest_webeval.errors import EvaluationError
from pytest_webeval.errors import RecordingError
from pytest_webeval.traces.base import BodySource
from pytest_webeval.traces.base import Entry
from pytest_webeval.traces.base import Pair
from pytest_webeval.traces.base import pairs
from pytest_webeval.traces.base import whole_status

Members = Mapping[str, msgspec.Raw]
_NULL = msgspec.Raw(b"null")
_NONE = msgspec.Raw(b"[]")


def readable_fields(raw: msgspec.Raw | Entry, bodies: BodySource) -> dict[str, Any]:
    """The fields of a `NetworkEvent` that an entry of any shape allows."""
    entry = _object(msgspec.json.encode(raw) if isinstance(raw, Entry) else raw)
    request, response = _members(entry.get("request", _NULL)), _members(entry.get("response", _NULL))
    readers: dict[str, Callable[[], Any]] = {
        "url": lambda: msgspec.json.decode(request["url"], type=str),
        "method": lambda: _method(msgspec.json.decode(request["method"])),
        "headers": lambda: pairs(msgspec.json.decode(request["headers"], type=list[Pair])),
        "status": lambda: whole_status(msgspec.json.decode(response["status"], type=int | float | str | bool)),
        "cookies": lambda: pairs(msgspec.json.decode(response.get("cookies", _NONE), type=list[Pair])),
        "resource_type": lambda: msgspec.json.decode(entry.get("_resourceType", _NULL), type=str | None),
        "page": lambda: msgspec.json.decode(entry.get("pageref", _NULL), type=str | None),
        "frame": lambda: msgspec.json.decode(entry.get("_frameref", _NULL), type=str | None),
    }
    found: dict[str, Any] = {
        **dict.fromkeys(("resource_type", "page", "frame")),
        "read_post": partial(bodies.read_post, request.get("postData", _NULL)),
        "read_content": partial(bodies.read_content, response.get("content", _NULL)),
    }
    for name, read in readers.items():
        with suppress(msgspec.MsgspecError, UnicodeDecodeError, ValueError, OverflowError, KeyError):
            found[name] = read()
    return found


class NoMethod:
    """A method that is no text. It is no GET, and whoever compares it with another is told."""

    def __init__(self, raw: object) -> None:
        self.raw = raw

    def upper(self) -> NoReturn:
        """Raise `EvaluationError`."""
        raise EvaluationError(f"an event of the trace has the method {self.raw!r}; record the run again")


def _method(raw: object) -> object:
    return raw if isinstance(raw, str) else NoMethod(raw)


def _object(raw: msgspec.Raw | bytes) -> Members:
    if not bytes(raw).lstrip().startswith((b"{", b'"')):  # of a text the reference finds out when it is asked
        raise RecordingError(f"an entry of the trace is no object but {bytes(raw)[:40]!r}; record the run again")
    return _members(raw)


def _members(raw: msgspec.Raw | bytes) -> Members:
    try:
        return msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}
