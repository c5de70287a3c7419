"""Playwright traces: `trace.zip`, its unpacked folder, and the `.network` line file alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pytest_webeval.errors import EvaluationError
from pytest_webeval.errors import RecordingError
from pytest_webeval.files import Inputs
from pytest_webeval.limits import Limits
from pytest_webeval.traces.archives import BROKEN_ZIP
from pytest_webeval.traces.archives import Archive
from pytest_webeval.traces.base import build_trace
from pytest_webeval.traces.base import too_many
from pytest_webeval.traces.stored_bodies import RESOURCES
from pytest_webeval.traces.stored_bodies import BodySource
from pytest_webeval.traces.stored_bodies import beside
from pytest_webeval.traces.strict_json import as_strict_json

if TYPE_CHECKING:
    from pytest_webeval.network import NetworkTrace

NETWORK = "trace.network"
_LARGE = 4 * 2**20  # bytes; fewer cannot hold lines enough to matter
_LINES = 5  # times the entries of a trace that its lines may be
_BREAKS = tuple(one.encode() for one in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")


class _Line(msgspec.Struct):
    type: msgspec.Raw
    snapshot: msgspec.Raw = msgspec.Raw(b"")


@dataclass(frozen=True, slots=True)
class Lines:
    """The HAR entries of a line file. `mended` says what the reference would have refused (Q43)."""

    entries: list[msgspec.Raw]
    mended: str | None = None


def line_entries(content: bytes, where: str, limits: Limits) -> Lines:
    """The HAR entries in the resource-snapshot lines of a file. Raises `RecordingError` with the line's number."""
    if len(content) > _LARGE and sum(map(content.count, _BREAKS)) > _LINES * limits.entries:
        told = f"{where} has more than {_LINES * limits.entries:,} lines, {_LINES} for each entry that is read"
        raise RecordingError(f"{told}; {limits.told('entries')}")
    try:
        found = Lines(_entries(content.decode().splitlines(), limits))
    except (_BadLine, UnicodeDecodeError) as error:
        found = Lines(_whole_lines(content, where, limits), f"{where}: {error}")
    if len(found.entries) > limits.entries:
        raise too_many(where, limits)
    return found


class _BadLine(Exception):
    """A line that holds no JSON with a type, or no snapshot where its type promises one."""


def _entries(lines: Sequence[str | bytes], limits: Limits) -> list[msgspec.Raw]:
    """The snapshots in some lines. Raises `_BadLine`."""
    entries = []
    for number, text in enumerate(lines, 1):
        try:
            line = _line(text, limits)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise _BadLine(f"{error} @ line {number}") from error
        if bytes(line.type) == b'"resource-snapshot"':
            if not bytes(line.snapshot):
                raise _BadLine(f"no snapshot @ line {number}")
            entries.append(line.snapshot)
    return entries


def _line(text: str | bytes, limits: Limits) -> _Line:
    """One line, which may hold what Python writes and reads though the standard does not know it."""
    try:
        return msgspec.json.decode(text, type=_Line)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        strict = as_strict_json(text.encode("utf-8", "replace") if isinstance(text, str) else text, limits)
        if strict is None:
            raise
        return msgspec.json.decode(strict, type=_Line)


def _whole_lines(content: bytes, where: str, limits: Limits) -> list[msgspec.Raw]:
    """As Playwright wrote them: line feeds alone end a line, and a blank line says nothing."""
    try:
        return _entries([line if line.strip() else b'{"type": ""}' for line in content.split(b"\n")], limits)
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
            archive = Archive(inputs.read(name), inputs.limits)
            content = archive.read(NETWORK, inputs.limits.file_size)
        except BROKEN_ZIP as error:
            raise RecordingError(
                f"{where} is no Playwright trace with a {NETWORK}: {error}; record it again"
            ) from error

        def resource(reference: str) -> bytes:
            try:
                inside = f"{RESOURCES}/{reference.removeprefix(f'{RESOURCES}/')}"
                return archive.read(inside, inputs.limits.body_size)
            except BROKEN_ZIP as error:
                raise EvaluationError(f"{where} lacks the body {reference}: {error}; record it again") from error

        lines = line_entries(content, where, inputs.limits)
        return build_trace(lines.entries, BodySource(resource, inputs.limits), lines.mended)


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
    bodies = BodySource(lambda reference: fetch(reference.removeprefix(f"{RESOURCES}/")), inputs.limits)
    lines = line_entries(content, where, inputs.limits)
    return build_trace(lines.entries, bodies, lines.mended)
