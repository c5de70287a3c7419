"""Playwright traces: `trace.zip`, its unpacked folder, and the `.network` line file alone."""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pytest_webeval.errors import EvaluationError
from pytest_webeval.errors import RecordingError
from pytest_webeval.files import MAX_BYTES
from pytest_webeval.files import Inputs
from pytest_webeval.traces.base import build_trace
from pytest_webeval.traces.stored_bodies import RESOURCES
from pytest_webeval.traces.stored_bodies import BodySource
from pytest_webeval.traces.stored_bodies import beside

if TYPE_CHECKING:
    from pytest_webeval.network import NetworkTrace

NETWORK = "trace.network"
# RuntimeError: an encrypted member, or (its child) a compression that nobody knows.
_BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, KeyError, ValueError, RuntimeError, EOFError, OSError)


class _Line(msgspec.Struct):
    type: msgspec.Raw
    snapshot: msgspec.Raw = msgspec.Raw(b"")


@dataclass(frozen=True, slots=True)
class Lines:
    """The HAR entries of a line file. `mended` says what the reference would have refused (Q43)."""

    entries: list[msgspec.Raw]
    mended: str | None = None


def line_entries(content: bytes, where: str) -> Lines:
    """The HAR entries in the resource-snapshot lines of a file. Raises `RecordingError` with the line's number."""
    try:
        return Lines(_entries(content.decode().splitlines()))
    except (_BadLine, UnicodeDecodeError) as error:
        return Lines(_whole_lines(content, where), f"{where}: {error}")


class _BadLine(Exception):
    """A line that holds no JSON with a type, or no snapshot where its type promises one."""


def _entries(lines: Sequence[str | bytes]) -> list[msgspec.Raw]:
    """The snapshots in some lines. Raises `_BadLine`."""
    entries = []
    for number, text in enumerate(lines, 1):
        try:
            line = msgspec.json.decode(text, type=_Line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise _BadLine(f"{error} @ line {number}") from error
        if bytes(line.type) == b'"resource-snapshot"':
            if not bytes(line.snapshot):
                raise _BadLine(f"no snapshot @ line {number}")
            entries.append(line.snapshot)
    return entries


def _whole_lines(content: bytes, where: str) -> list[msgspec.Raw]:
    """As Playwright wrote them: line feeds alone end a line, and a blank line says nothing."""
    try:
        return _entries([line if line.strip() else b'{"type": ""}' for line in content.split(b"\n")])
    except _BadLine as error:
        raise RecordingError(f"{where} is no Playwright trace: {error}; record it again") from error


class ZipTrace:
    """`trace.zip` as Playwright writes it; bodies lie under `resources/` in it."""

    def reads(self, name: str, *, is_folder: bool) -> bool:
        """Whether the name ends in `.zip`."""
        return not is_folder and name.endswith(".zip")

    def load(self, inputs: Inputs, name: str) -> NetworkTrace:
        """The events of the archive, which is read in place. Raises `RecordingError`."""
        where = str(inputs.directory / name)
        try:
            archive = zipfile.ZipFile(io.BytesIO(inputs.read(name)))
            content = _member(archive, NETWORK)
        except _BROKEN_ZIP as error:
            raise RecordingError(
                f"{where} is no Playwright trace with a {NETWORK}: {error}; record it again"
            ) from error

        def resource(reference: str) -> bytes:
            try:
                return _member(archive, f"{RESOURCES}/{reference.removeprefix(f'{RESOURCES}/')}")
            except _BROKEN_ZIP as error:
                raise EvaluationError(f"{where} lacks the body {reference}: {error}; record it again") from error

        lines = line_entries(content, where)
        return build_trace(lines.entries, BodySource(resource), lines.mended)


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    info = archive.getinfo(name)
    if info.file_size > MAX_BYTES:
        raise zipfile.BadZipFile(f"{name} unpacks to {info.file_size:,} bytes; at most {MAX_BYTES:,} are read")
    return archive.read(info)


class FolderTrace:
    """An unpacked trace: `trace.network` in a folder, bodies in its `resources`."""

    def reads(self, name: str, *, is_folder: bool) -> bool:  # noqa: ARG002  (the name of a folder says nothing)
        """Whether it is a folder."""
        return is_folder

    def load(self, inputs: Inputs, name: str) -> NetworkTrace:
        """The events of the folder. Raises `RecordingError`."""
        return _load_lines(inputs, str(Path(name) / NETWORK))


class LineTrace:
    """A line file alone, under any other name."""

    def reads(self, name: str, *, is_folder: bool) -> bool:  # noqa: ARG002  (what nothing else reads)
        """Always: this one comes last."""
        return not is_folder

    def load(self, inputs: Inputs, name: str) -> NetworkTrace:
        """The events of the file. Raises `RecordingError`."""
        return _load_lines(inputs, name)


def _load_lines(inputs: Inputs, name: str) -> NetworkTrace:
    content = inputs.read(name).decode("utf-8", "ignore").encode()  # spec §3.1: undecodable bytes are dropped
    where = str(inputs.directory / name)
    fetch = beside(inputs, str(Path(name).parent / RESOURCES))
    bodies = BodySource(lambda reference: fetch(reference.removeprefix(f"{RESOURCES}/")))
    lines = line_entries(content, where)
    return build_trace(lines.entries, bodies, lines.mended)
