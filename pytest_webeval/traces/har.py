"""HAR files (`network.har`), and Playwright line files that somebody called so."""

from __future__ import annotations

import codecs
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from pytest_webeval.errors import RecordingError
from pytest_webeval.files import Inputs
from pytest_webeval.traces.base import Entry
from pytest_webeval.traces.base import build_trace
from pytest_webeval.traces.playwright import Lines
from pytest_webeval.traces.playwright import line_entries
from pytest_webeval.traces.stored_bodies import BodySource
from pytest_webeval.traces.stored_bodies import beside

if TYPE_CHECKING:
    from pytest_webeval.network import NetworkTrace


class _Log(msgspec.Struct, gc=False):
    entries: list[Entry]


class _Har(msgspec.Struct, gc=False):
    log: _Log


class _LooseLog(msgspec.Struct, gc=False):
    entries: msgspec.Raw


class _LooseHar(msgspec.Struct, gc=False):
    log: _LooseLog


_HAR = msgspec.json.Decoder(_Har)
_PIECE = 1500  # bytes; bigger texts, made and dropped by the hundred, would leave the memory of a session in pieces


class HarTrace:
    """A HAR, or a line file under the name of one (spec §3.1)."""

    def reads(self, name: str, *, is_folder: bool) -> bool:
        """Whether the name ends in `.har` or `.json`."""
        return not is_folder and name.endswith((".har", ".json"))

    def load(self, inputs: Inputs, name: str) -> NetworkTrace:
        """The events of the file. Raises `RecordingError`."""
        content = inputs.read(name)
        where = inputs.directory / name
        bodies = BodySource(beside(inputs, "."))
        try:
            entries = _entries(content)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            lines = _as_lines(content, str(where), error)
            return build_trace(lines.entries, bodies, lines.mended)
        if not entries:
            raise RecordingError(f"{where} has no entries; record the run again")
        return build_trace(entries, bodies, None if _is_utf8(content) else f"{where} is not UTF-8 throughout")


def _entries(content: bytes) -> Sequence[Entry | msgspec.Raw]:
    try:
        return _HAR.decode(content).log.entries
    except msgspec.DecodeError:  # one odd entry must not cost the others: take them one by one
        return _loose_entries(content)


def _loose_entries(content: bytes) -> list[msgspec.Raw]:
    try:
        found = msgspec.json.decode(content, type=_LooseHar).log.entries
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        found = msgspec.json.decode(_as_strict_json(content, error), type=_LooseHar).log.entries
    if bytes(found)[:1] in {b"{", b'"'}:  # each member or character stands for an entry of which nothing can be read
        return [msgspec.Raw(b"{}")] * len(msgspec.json.decode(found, type=dict | str))
    return msgspec.json.decode(found, type=list[msgspec.Raw])


def _as_strict_json(content: bytes, reason: msgspec.DecodeError) -> bytes:
    """What Python takes for JSON though the standard does not: NaN, infinities and halves of surrogate pairs."""
    try:
        found = json.loads(content.decode(), parse_constant=lambda _: None)
        return json.dumps(found, ensure_ascii=False).encode("utf-8", "ignore")
    except (ValueError, RecursionError):
        raise reason from None


def _is_utf8(content: bytes) -> bool:
    """Whether the bytes are UTF-8 throughout, found out without a copy of them."""
    start = 0
    try:
        while piece := content[start : start + _PIECE]:
            is_last = start + len(piece) == len(content)
            start += len(piece) if piece.isascii() else codecs.utf_8_decode(piece, "strict", is_last)[1]
    except UnicodeDecodeError:
        return False
    return True


def _as_lines(content: bytes, where: str, reason: Exception) -> Lines:
    try:
        return line_entries(content, where)
    except RecordingError:
        text = f"{where} is no readable HAR: {reason}; record the run again, closing its browser context"
        raise RecordingError(text) from reason
