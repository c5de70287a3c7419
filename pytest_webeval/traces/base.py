"""HAR entries, the common form of all traces, decoded to the fields that evaluation reads."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec

from pytest_webeval.errors import EvaluationError
from pytest_webeval.errors import RecordingError
from pytest_webeval.files import Inputs
from pytest_webeval.network import Body
from pytest_webeval.network import NetworkEvent
from pytest_webeval.network import NetworkTrace
from pytest_webeval.network import Pairs

_NOTHING = (b"[]", b'""', b"0", b"false")
Attachment = Callable[[str], bytes]
RESOURCES = "resources"
MAX_STATUS = 2**63
MAX_ASIDE = 128 * 2**20  # characters in side files of one run
# Playwright names side files from the root of its trace since version 10, by their bare hash before.
_PLAIN_NAME = re.compile(rf"(?:{RESOURCES}/)?[\w-][\w.-]*")


# None of these structs is part of a cycle, and a recording has thousands: the garbage collector need not visit them.
class Pair(msgspec.Struct, gc=False):
    """A header or a cookie."""

    name: str
    value: str


class Stored(msgspec.Struct, gc=False):
    """A body, in the trace or by reference (`_file` in a HAR, `_sha1` in a Playwright trace)."""

    mime: str = msgspec.field(default="", name="mimeType")
    text: str | None = None
    encoding: str | None = None
    file: str | None = msgspec.field(default=None, name="_file")
    sha1: str | None = msgspec.field(default=None, name="_sha1")


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


@dataclass(frozen=True, slots=True)
class BodySource:
    """How bodies are found: in the trace, or with `attachment` in side files, each read once, all of bounded size."""

    attachment: Attachment
    _kept: dict[str, str] = field(default_factory=dict)

    def read_post(self, raw: msgspec.Raw) -> Body | None:
        """What was posted, or None. Raises `EvaluationError` for what is damaged."""
        return self._read(_stored(raw))

    def read_content(self, raw: msgspec.Raw) -> Body | None:
        """What came back, or None. Raises `EvaluationError` for what is damaged."""
        stored = _stored(raw)
        if stored is not None and stored.text and stored.encoding == "base64":
            return Body(stored.mime, "", partial(_decoded, stored.text))
        return self._read(stored)

    def _read(self, stored: Stored | None) -> Body | None:
        if stored is None:
            return None
        reference = stored.file or stored.sha1
        if stored.text or not reference:
            return Body(stored.mime, stored.text or "")
        return Body(stored.mime, "", partial(self._fetched, reference))

    def _fetched(self, reference: str) -> str:
        if not _PLAIN_NAME.fullmatch(reference):
            raise EvaluationError(f"the trace keeps a body in {reference[:80]!r}, which is no plain file name")
        if reference not in self._kept:
            self._kept[reference] = self.attachment(reference).decode("utf-8", "replace")
            if (total := sum(map(len, self._kept.values()))) > MAX_ASIDE:
                del self._kept[reference]
                raise EvaluationError(
                    f"bodies in side files come to {total:,} characters; at most {MAX_ASIDE:,} are read"
                )
        return self._kept[reference]


def _stored(raw: msgspec.Raw) -> Stored | None:
    try:
        return msgspec.json.decode(raw, type=Stored | None)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        if bytes(raw) in _NOTHING:
            return None
        raise EvaluationError(f"a body in the trace is damaged: {error}; record the run again") from error


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text).decode("utf-8", "replace")
    except (binascii.Error, ValueError) as error:
        raise EvaluationError(f"a base64 body in the trace is damaged: {error}; record the run again") from error


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

    __slots__ = ("_bodies", "_entry", "_headers")

    def __init__(self, index: int, entry: Entry, bodies: BodySource) -> None:
        self.index, self._entry, self._bodies = index, entry, bodies
        self._headers: Pairs | None = None

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
        except (ValueError, OverflowError):
            raise self.damaged("status") from None

    @property
    def headers(self) -> Pairs:
        if self._headers is None:
            self._headers = self._pairs(self._entry.request.headers, "headers")
        return self._headers

    @property
    def cookies(self) -> Pairs:
        return self._pairs(self._entry.response.cookies, "cookies")

    def _pairs(self, raw: msgspec.Raw, name: str) -> Pairs:
        try:
            return pairs(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise self.damaged(name) from None

    @property
    def resource_type(self) -> str | None:
        return self._entry.resource_type

    @property
    def page(self) -> str | None:
        return self._entry.page

    @property
    def frame(self) -> str | None:
        return self._entry.frame

    def read_post(self) -> Body | None:
        return self._bodies.read_post(self._entry.request.post)

    def read_content(self) -> Body | None:
        return self._bodies.read_content(self._entry.response.content)


def build_trace(entries: Sequence[msgspec.Raw | Entry], bodies: BodySource, mended: str | None = None) -> NetworkTrace:
    """The trace with these entries, in which a damaged entry costs only what is damaged in it.

    Raises `RecordingError` for an entry that is no object at all.
    """
    return NetworkTrace(tuple(_event(index, raw, bodies) for index, raw in enumerate(entries)), mended)


def _event(index: int, raw: msgspec.Raw | Entry, bodies: BodySource) -> NetworkEvent:
    if isinstance(raw, Entry):
        return RecordedEvent(index, raw, bodies)
    try:
        return RecordedEvent(index, _ENTRY.decode(raw), bodies)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        from pytest_webeval.traces.damage import DamagedEvent  # recordings are seldom damaged

        return DamagedEvent(index, raw, bodies)


_ENTRY = msgspec.json.Decoder(Entry)
_PAIRS = msgspec.json.Decoder(list[Pair])


def pairs(raw: msgspec.Raw) -> Pairs:
    """Names and values, as events have them. Raises `MsgspecError`, `UnicodeDecodeError`."""
    return tuple((pair.name, pair.value) for pair in _PAIRS.decode(raw))


def whole_status(raw: float | str) -> int:
    """The status as a whole number. Raises `ValueError`, `OverflowError`."""
    if isinstance(raw, int):
        return int(raw)
    number = float(raw)
    if not number.is_integer() or abs(number) > MAX_STATUS:
        raise ValueError(f"status {raw!r} is not a whole number")
    return int(number)


def beside(inputs: Inputs, folder: str) -> Attachment:
    """Side files in a folder of the run directory. A missing one is an `EvaluationError` when it is asked for."""

    def fetch(reference: str) -> bytes:
        try:
            return inputs.read(str(Path(folder) / reference))
        except RecordingError as error:
            raise EvaluationError(f"a body is kept in a side file that cannot be had: {error}") from error

    return fetch
