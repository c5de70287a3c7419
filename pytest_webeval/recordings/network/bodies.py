"""Bodies as recordings store them: in the entry, encoded, or in a side file that is read on demand."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from pytest_webeval.errors import EvaluationError, RecordingError
from pytest_webeval.recordings.inputs import UNDECODABLE, RunInputs, try_decode
from pytest_webeval.safety.archives import Archive, build_body_reader
from pytest_webeval.safety.limits import INI, USUAL, Limits

# MIME types of the bodies whose fields can be read, in the order in which they are looked for.
BODY_TYPES = ("application/x-www-form-urlencoded", "application/json", "multipart/form-data")
NOTHING = msgspec.Raw(b"null")
MAX_NUMBER = 2**63
_MULTIPART = "multipart/form-data"  # in which the reference looks for a boundary, and fails where it is no text
_NO_TEXT = (b"null", b'""')
_TEXT_MEMBERS = ("encoding", "_encoding", "_file", "_sha1")
Attachment = Callable[[str], bytes]
RESOURCES = "resources"
PEEKED = 2**20  # bytes of a side file that is read for a report
_PEEKED_BASE64 = 2**18  # characters of a base64 body that are decoded for a report; groups of four are not split
_TOTAL_FACTOR = 2  # times the limit of one body that those in side files of one run may come to
# Playwright names side files from the root of its trace since version 10, by their bare hash before.
_PLAIN_NAME = re.compile(rf"(?:{RESOURCES}/)?[\w-][\w.-]*")


class Param(Struct, frozen=True, rename="camel", gc=False):
    """A field of a form as HAR names it. A file may lack its value."""

    name: str
    value: str | None = None
    file_name: str | None = None


class Body(Struct, frozen=True):
    """A request's posted data or a response's content.

    `load_text` reads what the trace does not hold as plain text, because it is in a side file or in base64 (Q19). It
    raises `EvaluationError` where that cannot be had. `parsed` is JSON: the value that the recorder read in the
    body, where it keeps that and not the text. `load_uncounted` reads the same as `load_text`, but the text neither
    stays in memory nor counts for the limit of all side files: a report must not use up what evaluators may read.
    `params` are the fields of a form as the recorder read them. A body `is_emptied` if its text is recorded as empty,
    and `is_typeless` if its type is recorded as null.
    """

    mime: str
    text: str
    load_text: Callable[[], str] | None = None
    parsed: str | None = None
    load_uncounted: Callable[[], str] | None = None
    params: tuple[Param, ...] = ()
    is_emptied: bool = False
    is_typeless: bool = False

    def read_uncounted(self) -> str:
        """The text for a report, or the value where only that is kept. Raises `EvaluationError`."""
        load = self.load_uncounted or self.load_text
        if load is not None and self.parsed is not None:
            return self.parsed
        return self.text if load is None else load()


class StoredBody(msgspec.Struct, gc=False):
    """A body, in the trace or by reference (`_file` in a HAR, `_sha1` in a Playwright trace)."""

    mime: str = msgspec.field(default="", name="mimeType")
    text: str | None = None
    encoding: str | None = None
    file: str | None = msgspec.field(default=None, name="_file")
    sha1: str | None = msgspec.field(default=None, name="_sha1")
    own_encoding: str | None = msgspec.field(default=None, name="_encoding")
    params: msgspec.Raw = NOTHING


class TypelessBody(StoredBody, gc=False):
    """A body with a text, whose type is null: the reference refuses the whole trace."""


class Undecodable(Struct, frozen=True):
    """A body in bytes for which the reference refuses the whole trace: reading it is an error."""

    reason: Exception

    def refuse(self) -> str:
        """Raise `EvaluationError`."""
        raise _damage_error(self.reason) from self.reason


class _BodySize(msgspec.Struct, gc=False):
    """The fields of a body that show whether it is stored, without its text."""

    size: msgspec.Raw = msgspec.Raw(b"-1")
    text: msgspec.Raw = msgspec.Raw(b"null")
    file: msgspec.Raw = msgspec.field(default=msgspec.Raw(b"null"), name="_file")
    sha1: msgspec.Raw = msgspec.field(default=msgspec.Raw(b"null"), name="_sha1")


class BodySource(Struct, frozen=True):
    """How bodies are found: in the trace, or with `attachment` in side files, each read once, all of bounded size.

    `peek` reads a side file for a report, where that must differ.
    """

    attachment: Attachment
    limits: Limits = USUAL
    peek: Attachment | None = None
    _texts: dict[str, str] = field(default_factory=dict)

    def read_post(self, raw: msgspec.Raw) -> Body | None:
        """What was posted, or None. Raises `EvaluationError` for what the reference cannot read either."""
        stored = _decode_stored(raw)
        body = self._build_body(stored)
        if body is None or not isinstance(stored, StoredBody):
            return body
        if stored.text and "base64" in (stored.encoding, stored.own_encoding):
            # The reference takes it as it stands, unlike the base64 of a response.
            body = replace(self._decode_later(stored), text=body.text)
        return replace(body, params=try_decode(_PARAMS, stored.params) or ())

    def read_content(self, raw: msgspec.Raw) -> Body | None:
        """What came back, or None. Raises `EvaluationError` for what the reference cannot read either."""
        stored = _decode_stored(raw)
        if isinstance(stored, StoredBody) and stored.text and stored.encoding == "base64":
            return self._decode_later(stored)
        return self._build_body(stored)

    def _decode_later(self, stored: StoredBody) -> Body:
        text = stored.text or ""
        start = partial(_decode_base64, text[:_PEEKED_BASE64], self.limits)
        load = partial(_decode_base64, text, self.limits)
        return Body(stored.mime, "", load, load_uncounted=start, is_typeless=isinstance(stored, TypelessBody))

    def _build_body(self, stored: StoredBody | Undecodable | None) -> Body | None:
        if stored is None:
            return None
        if isinstance(stored, Undecodable):
            return Body("", "", stored.refuse)
        reference = stored.file or stored.sha1
        if stored.text or not reference:
            is_typeless = isinstance(stored, TypelessBody)
            return Body(stored.mime, stored.text or "", is_emptied=stored.text == "", is_typeless=is_typeless)
        load, peek = partial(self._fetch, reference), partial(self._fetch_uncounted, reference)
        return Body(stored.mime, "", load, load_uncounted=peek)

    def _fetch_uncounted(self, reference: str) -> str:
        text = self._texts.get(reference)
        return _read_side_file(self.peek or self.attachment, reference) if text is None else text

    def _fetch(self, reference: str) -> str:
        if reference not in self._texts:
            self._texts[reference] = _read_side_file(self.attachment, reference)
            most = _TOTAL_FACTOR * self.limits.body_size
            if (total := sum(map(len, self._texts.values()))) > most:
                del self._texts[reference]
                hint = f"the limit is {most:,}; see body_size in {INI}"
                raise EvaluationError(f"the bodies in side files have {total:,} characters; {hint}")
        return self._texts[reference]


def _read_side_file(read: Attachment, reference: str) -> str:
    if not _PLAIN_NAME.fullmatch(reference):
        raise EvaluationError(f"invalid name of a body file in the trace: {reference[:80]!r}; re-record the run")
    return read(reference).decode("utf-8", "replace")


def _decode_stored(raw: msgspec.Raw) -> StoredBody | Undecodable | None:
    try:
        return _STORED.decode(raw)
    except msgspec.ValidationError as error:
        return _decode_loosely(raw, error)
    except UNDECODABLE as error:
        return Undecodable(error)


def _decode_loosely(raw: msgspec.Raw, reason: Exception) -> StoredBody | None:
    """A body with members of wrong types, as the reference takes it: without a text there is nothing to read.

    Raises `EvaluationError` where the reference cannot go on.
    """
    try:
        members = msgspec.json.decode(raw)
    except UNDECODABLE as error:
        raise _damage_error(error) from error
    if not members:
        return None
    if not isinstance(members, dict):
        raise _damage_error(reason) from reason
    text, mime = members.get("text"), members.get("mimeType", "")
    names = {name: value for name in _TEXT_MEMBERS if isinstance(value := members.get(name), str)}
    if not text:
        stored = msgspec.convert({**names, "mimeType": mime if isinstance(mime, str) else ""}, StoredBody)
        stored.text = None if text is None else ""
        stored.params = msgspec.Raw(msgspec.json.encode(members.get("params")))
        return stored
    if mime is None and isinstance(text, str):
        return msgspec.convert({**names, "text": text}, TypelessBody)
    if not isinstance(mime, str | list | dict):
        raise _damage_error(reason) from reason
    body_type = next((candidate for candidate in BODY_TYPES if candidate in mime), "")
    if isinstance(text, str) and (isinstance(mime, str) or body_type != _MULTIPART):
        return msgspec.convert(
            {**names, "mimeType": mime if isinstance(mime, str) else body_type, "text": text}, StoredBody
        )
    if body_type:
        raise _damage_error(reason) from reason
    return None


def _damage_error(reason: Exception) -> EvaluationError:
    return EvaluationError(f"a body in the trace is damaged: {reason}; re-record the run")


def lacks_body(raw: msgspec.Raw) -> bool:
    """Whether a body has a recorded size but is not stored. False for a damaged one."""
    body = try_decode(_BODY_SIZE, raw)
    size = None if body is None else try_decode(_SIZE, body.size)
    if body is None or size is None or size <= 0:
        return False
    return all(bytes(source) in _NO_TEXT for source in (body.text, body.file, body.sha1))


def parse_content_size(raw: msgspec.Raw) -> int | None:
    """The size that a body says it has; None where it says none, or cannot be read."""
    body = try_decode(_BODY_SIZE, raw)
    return None if body is None else parse_byte_count(body.size)


def parse_byte_count(raw: msgspec.Raw) -> int | None:
    """A number of bytes; None for one that cannot be read, or for -1, which means unknown."""
    size = try_decode(_NUMBER, raw)
    return int(size) if size is not None and 0 <= size <= MAX_NUMBER else None


def _decode_base64(text: str, limits: Limits) -> str:
    if (size := len(text) * 3 // 4) > limits.body_size:
        raise EvaluationError(f"a base64 body in the trace has about {size:,} bytes; {limits.describe('body_size')}")
    try:
        return base64.b64decode(text).decode("utf-8", "replace")
    except (binascii.Error, ValueError) as error:
        raise EvaluationError(f"a base64 body in the trace is damaged: {error}; re-record the run") from error


def build_folder_source(inputs: RunInputs, folder: str, prefix: str = "") -> BodySource:
    """Bodies in side files of a folder of the run directory, whose references may begin with the prefix."""
    size = inputs.limits.body_size
    attachment = _build_reader(inputs.read, size, folder, prefix)
    return BodySource(attachment, inputs.limits, _build_reader(inputs.peek, min(size, PEEKED), folder, prefix))


def build_archive_source(archive: Archive, where: str, folder: str = "") -> BodySource:
    """Bodies in an archive; those of a trace lie in a folder of it."""
    peek = build_body_reader(archive, where, folder, PEEKED)
    return BodySource(build_body_reader(archive, where, folder), archive.limits, peek)


def _build_reader(read: Callable[[str, int, str], bytes], size: int, folder: str, prefix: str) -> Attachment:
    def fetch(reference: str) -> bytes:
        try:
            return read(str(Path(folder) / reference.removeprefix(prefix)), size, "body_size")
        except RecordingError as error:
            raise EvaluationError(f"cannot read the side file of a body: {error}") from error

    return fetch


_STORED: msgspec.json.Decoder[StoredBody | None] = msgspec.json.Decoder(StoredBody | None)
_BODY_SIZE: msgspec.json.Decoder[_BodySize | None] = msgspec.json.Decoder(_BodySize | None)
_PARAMS: msgspec.json.Decoder[tuple[Param, ...] | None] = msgspec.json.Decoder(tuple[Param, ...] | None)
_SIZE: msgspec.json.Decoder[int | float] = msgspec.json.Decoder(int | float)
_NUMBER = msgspec.json.Decoder(float)
