"""Playwright traces: `trace.zip`, its unpacked folder, and the `.network` line file alone."""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pytest_webeval.errors import EvaluationError
from pytest_webeval.errors import RecordingError
from pytest_webeval.files import MAX_BYTES
from pytest_webeval.files import Inputs
from pytest_webeval.traces.base import RESOURCES
from pytest_webeval.traces.base import BodySource
from pytest_webeval.traces.base import beside
from pytest_webeval.traces.base import build_trace

if TYPE_CHECKING:
    from pytest_webeval.network import NetworkTrace
    from pytest_webeval.rules import Rules

NETWORK = "trace.network"
# RuntimeError: an encrypted member, or (its child) a compression that nobody knows.
_BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, KeyError, ValueError, RuntimeError, EOFError, OSError)


class _Line(msgspec.Struct):
    type: str
    snapshot: msgspec.Raw = msgspec.Raw(b"null")


def line_entries(content: bytes, where: str) -> list[msgspec.Raw]:
    """The HAR entries in the resource-snapshot lines of a file. Raises `RecordingError` with the line's number."""
    entries = []
    for number, text in enumerate(content.rstrip().split(b"\n") if content.strip() else (), 1):
        try:
            line = msgspec.json.decode(text, type=_Line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise RecordingError(f"{where} is no Playwright trace: {error} @ line {number}; record it again") from error
        if line.type == "resource-snapshot":
            entries.append(line.snapshot)
    return entries


class ZipTrace:
    """`trace.zip` as Playwright writes it; bodies lie under `resources/` in it."""

    def reads(self, name: str, *, is_folder: bool) -> bool:
        """Whether the name ends in `.zip`."""
        return not is_folder and name.endswith(".zip")

    def load(self, inputs: Inputs, name: str, rules: Rules) -> NetworkTrace:
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

        return build_trace(line_entries(content, where), BodySource(resource, rules.side_bodies))


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

    def load(self, inputs: Inputs, name: str, rules: Rules) -> NetworkTrace:
        """The events of the folder. Raises `RecordingError`."""
        return _load_lines(inputs, str(Path(name) / NETWORK), rules)


class LineTrace:
    """A line file alone, under any other name."""

    def reads(self, name: str, *, is_folder: bool) -> bool:  # noqa: ARG002  (what nothing else reads)
        """Always: this one comes last."""
        return not is_folder

    def load(self, inputs: Inputs, name: str, rules: Rules) -> NetworkTrace:
        """The events of the file. Raises `RecordingError`."""
        return _load_lines(inputs, name, rules)


def _load_lines(inputs: Inputs, name: str, rules: Rules) -> NetworkTrace:
    content = inputs.read(name)
    where = str(inputs.directory / name)
    if not content.strip() and not rules.empty_trace:
        raise RecordingError(f"{where} is empty; stop tracing before the browser closes")
    fetch = beside(inputs, str(Path(name).parent / RESOURCES))
    bodies = BodySource(lambda reference: fetch(reference.removeprefix(f"{RESOURCES}/")), rules.side_bodies)
    return build_trace(line_entries(content, where), bodies)
