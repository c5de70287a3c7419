"""HAR entries, the common form of all traces, decoded to the fields that evaluation reads."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
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
from pytest_webeval.rules import Rules

Attachment = Callable[[str], bytes]
RESOURCES = "resources"
# Playwright names side files from the root of its trace since version 10, by their bare hash before.
_PLAIN_NAME = re.compile(rf"(?:{RESOURCES}/)?[\w-][\w.-]*")


class Pair(msgspec.Struct):
    """A header or a cookie."""

    name: str
    value: str


class Stored(msgspec.Struct):
    """A body, in the trace or by reference (`_file` in a HAR, `_sha1` in a Playwright trace)."""

    mime: str = msgspec.field(default="", name="mimeType")
    text: str | None = None
    encoding: str | None = None
    file: str | None = msgspec.field(default=None, name="_file")
    sha1: str | None = msgspec.field(default=None, name="_sha1")


class Request(msgspec.Struct):
    """What was sent; the body stays undecoded."""

    method: str
    url: str
    headers: list[Pair]
    post: msgspec.Raw = msgspec.field(default=msgspec.Raw(b"null"), name="postData")


class Response(msgspec.Struct):
    """What came back; the content stays undecoded."""

    status: int | float | str
    cookies: list[Pair] = []
    content: msgspec.Raw = msgspec.Raw(b"null")


class Entry(msgspec.Struct):
    """One entry of a HAR."""

    request: Request
    response: Response


@dataclass(frozen=True, slots=True)
class BodySource:
    """How bodies are found: embedded, or with `attachment` from side files where the rules say so."""

    attachment: Attachment
    side_files: bool

    def read(self, raw: msgspec.Raw) -> Body | None:
        """The body, or None where there is none. Raises `EvaluationError` for one that is damaged."""
        try:
            stored = msgspec.json.decode(raw, type=Stored | None)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise EvaluationError(f"a body in the trace is damaged: {error}; record the run again") from error
        if stored is None:
            return None
        reference = stored.file or stored.sha1
        if not stored.text and reference and self.side_files:
            return Body(stored.mime, self._fetched(reference), reference)
        return Body(stored.mime, self._embedded(stored))

    def _fetched(self, reference: str) -> str:
        if not _PLAIN_NAME.fullmatch(reference):
            raise EvaluationError(f"the trace keeps a body in {reference[:80]!r}, which is no plain file name")
        return self.attachment(reference).decode("utf-8", "replace")

    def _embedded(self, stored: Stored) -> str:
        if stored.encoding != "base64":
            return stored.text or ""
        if not self.side_files:  # rules that read a recording as the reference does see no such body (Q19)
            return ""
        try:
            return base64.b64decode(stored.text or "").decode("utf-8", "replace")
        except binascii.Error as error:
            raise EvaluationError(f"a base64 body in the trace is damaged: {error}; record the run again") from error


class TraceReader(Protocol):
    """What a kind of trace must offer."""

    def reads(self, name: str, *, is_folder: bool) -> bool:
        """Whether a file or folder of that name is of this kind."""
        ...

    def load(self, inputs: Inputs, name: str, rules: Rules) -> NetworkTrace:
        """The events of the file or folder. Raises `RecordingError`."""
        ...


def build_trace(entries: Sequence[msgspec.Raw | Entry], bodies: BodySource) -> NetworkTrace:
    """The trace with these entries; those that cannot be read are told apart, not dropped in silence."""
    events, damaged = [], []
    for index, raw in enumerate(entries):
        try:
            entry = raw if isinstance(raw, Entry) else msgspec.json.decode(raw, type=Entry)
            events.append(_event(index, entry, bodies))
        except (msgspec.MsgspecError, ValueError, OverflowError) as error:
            damaged.append(f"entry {index} of the trace is damaged: {error}")
    return NetworkTrace(tuple(events), tuple(damaged))


def _event(index: int, entry: Entry, bodies: BodySource) -> NetworkEvent:
    request, response = entry.request, entry.response
    return NetworkEvent(
        index=index,
        url=request.url,
        method=request.method,
        status=int(response.status),
        headers=tuple((pair.name, pair.value) for pair in request.headers),
        cookies=tuple((pair.name, pair.value) for pair in response.cookies),
        read_post=partial(bodies.read, request.post),
        read_content=partial(bodies.read, response.content),
    )


def beside(inputs: Inputs, folder: str) -> Attachment:
    """Side files in a folder of the run directory. A missing one is an `EvaluationError` when it is asked for."""

    def fetch(reference: str) -> bytes:
        try:
            return inputs.read(str(Path(folder) / reference))
        except RecordingError as error:
            raise EvaluationError(f"a body is kept in a side file that cannot be had: {error}") from error

    return fetch
