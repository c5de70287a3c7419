"""Playwright traces: `trace.zip`, its unpacked folder, and the `.network` line file alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from itertools import islice
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Any

import msgspec
from msgspec import Struct

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.network.bodies import RESOURCES
from pytest_webeval.recordings.network.bodies import BodySource
from pytest_webeval.recordings.network.bodies import build_archive_source
from pytest_webeval.recordings.network.bodies import build_folder_source
from pytest_webeval.recordings.network.entry_fields import NOTHING
from pytest_webeval.recordings.network.entry_fields import parse_seconds
from pytest_webeval.recordings.network.har_entries import build_trace
from pytest_webeval.recordings.network.har_entries import too_many_entries
from pytest_webeval.safety.archives import BROKEN_ZIP
from pytest_webeval.safety.archives import Archive
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.safety.json import to_strict_json
from pytest_webeval.safety.limits import Limits

if TYPE_CHECKING:
    from pytest_webeval.recordings.network.events import NetworkTrace


NETWORK = "trace.network"
_ADVICE = "re-record the run with context.tracing.start(snapshots=True), and stop tracing before the context closes"
_LOG = re.compile(r"[\w.-]{0,80}trace\.network", re.ASCII)
_MAX_NAMED = 5  # logs in a message
_LARGE = 4 * 2**20  # bytes; fewer cannot hold lines enough to matter
_LINES = 5  # times the entries of a trace that its lines may be
_BREAKS = tuple(character.encode() for character in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")


class _Line(msgspec.Struct):
    type: msgspec.Raw
    snapshot: msgspec.Raw = msgspec.Raw(b"")


class _Times(msgspec.Struct, gc=False):
    started: msgspec.Raw = msgspec.field(default=NOTHING, name="startedDateTime")
    monotonic: Any = msgspec.field(default=None, name="_monotonicTime")


class LineEntries(Struct, frozen=True):
    """The HAR entries of a line file. `repairs` says what the reference would have refused (Q43)."""

    entries: list[msgspec.Raw]
    repairs: str | None = None


def read_line_entries(content: bytes, where: str, limits: Limits) -> LineEntries:
    """The HAR entries in the resource-snapshot lines of a file. Raises `RecordingError` with the line's number."""
    if len(content) > _LARGE and sum(map(content.count, _BREAKS)) > _LINES * limits.entries:
        problem = f"{where} has more than {_LINES * limits.entries:,} lines, {_LINES} per entry"
        raise RecordingError(f"{problem}; {limits.describe('entries')}")
    try:
        result = LineEntries(_decode_entries(content.decode().splitlines(), limits))
    except (_BadLine, UnicodeDecodeError) as error:
        result = LineEntries(_decode_line_feed_lines(content, where, limits), f"{where}: {error}")
    if len(result.entries) > limits.entries:
        raise too_many_entries(where, limits)
    return result


class _BadLine(Exception):
    """A line that holds no JSON with a type, or no snapshot where its type promises one."""


def _decode_entries(lines: Sequence[str | bytes], limits: Limits) -> list[msgspec.Raw]:
    """The snapshots in some lines. Raises `_BadLine`."""
    entries = []
    for number, text in enumerate(lines, 1):
        try:
            line = _decode_line(text, limits)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise _BadLine(f"{error} @ line {number}") from error
        if bytes(line.type) == b'"resource-snapshot"':
            if not bytes(line.snapshot):
                raise _BadLine(f"no snapshot @ line {number}")
            entries.append(line.snapshot)
    return entries


def _decode_line(text: str | bytes, limits: Limits) -> _Line:
    """One line, which may hold what Python writes and reads though the standard does not know it."""
    try:
        return msgspec.json.decode(text, type=_Line)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        strict = to_strict_json(text.encode("utf-8", "replace") if isinstance(text, str) else text, limits)
        if strict is None:
            raise
        return msgspec.json.decode(strict, type=_Line)


def _decode_line_feed_lines(content: bytes, where: str, limits: Limits) -> list[msgspec.Raw]:
    """As Playwright wrote them: line feeds alone end a line, and a blank line says nothing."""
    try:
        return _decode_entries([line if line.strip() else b'{"type": ""}' for line in content.split(b"\n")], limits)
    except _BadLine as error:
        raise RecordingError(f"cannot parse {where} as a Playwright trace: {error}; re-record the run") from error


class ZipTrace:
    """`trace.zip` as Playwright writes it; bodies lie under `resources/` in it."""

    def reads(self, name: str, *, is_folder: bool) -> bool:
        """Whether the name ends in `.zip`."""
        return not is_folder and name.endswith(".zip")

    def load(self, inputs: RunInputs, name: str) -> NetworkTrace:
        """The events of the archive, which is read in place. Raises `RecordingError`."""
        where = str(inputs.directory / name)
        try:
            archive = Archive(inputs.read(name), inputs.limits)
            names = [NETWORK] if NETWORK in archive else list_network_logs(archive.names)
            logs = _read_logs(inputs.limits.file_size, names, archive.read)
        except BROKEN_ZIP as error:
            raise RecordingError(
                f"cannot read {where} as a Playwright trace with a {NETWORK}: {error}; re-record the run"
            ) from error
        return _build_log_trace(logs, where, build_archive_source(archive, where, f"{RESOURCES}/"))


class FolderTrace:
    """An unpacked trace: `trace.network` in a folder, bodies in its `resources`."""

    def reads(self, name: str, *, is_folder: bool) -> bool:  # noqa: ARG002  (the name of a folder says nothing)
        """Whether it is a folder."""
        return is_folder

    def load(self, inputs: RunInputs, name: str) -> NetworkTrace:
        """The events of the folder. Raises `RecordingError`."""
        where, folder = inputs.directory / name, Path(name)
        try:
            return _load_lines(inputs, str(folder / NETWORK))
        except RecordingError:
            if exists_no_follow(where / NETWORK):
                raise
        logs = _read_logs(
            inputs.limits.file_size,
            list_network_logs(_list_names(where)),
            lambda log, most: _drop_undecodable(inputs.read(str(folder / log), most)),
        )
        return _build_log_trace(logs, str(where), _build_body_source(inputs, folder))


class LineTrace:
    """A line file alone, under any other name."""

    def reads(self, name: str, *, is_folder: bool) -> bool:  # noqa: ARG002  (what nothing else reads)
        """Always: this one comes last."""
        return not is_folder

    def load(self, inputs: RunInputs, name: str) -> NetworkTrace:
        """The events of the file. Raises `RecordingError`."""
        return _load_lines(inputs, name)


def _load_lines(inputs: RunInputs, name: str) -> NetworkTrace:
    content = _drop_undecodable(inputs.read(name))
    lines = read_line_entries(content, str(inputs.directory / name), inputs.limits)
    return build_trace(lines.entries, _build_body_source(inputs, Path(name).parent), lines.repairs, _ADVICE)


def _drop_undecodable(content: bytes) -> bytes:
    return content.decode("utf-8", "ignore").encode()  # spec §3.1: undecodable bytes are dropped


def _build_body_source(inputs: RunInputs, folder: Path) -> BodySource:
    return build_folder_source(inputs, str(folder / RESOURCES), f"{RESOURCES}/")


def list_network_logs(names: Iterable[str]) -> list[str]:
    """The network logs that Playwright Test puts into one trace, one for each browser context: `0-trace.network`."""
    return sorted((name for name in names if _LOG.fullmatch(name)), key=lambda name: (len(name), name))


def _list_names(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except OSError as error:
        raise RecordingError(f"cannot list {folder}: {error.strerror}; make it readable") from error


def _read_logs(size: int, names: Sequence[str], read: Callable[[str, int], bytes]) -> dict[str, bytes]:
    """The content of some logs, which together are as big as one file may be."""
    contents: dict[str, bytes] = {}
    for name in names:
        contents[name] = read(name, size)
        size -= len(contents[name])
    return contents


def _build_log_trace(logs: Mapping[str, bytes], where: str, bodies: BodySource) -> NetworkTrace:
    """The events of one log as they stand there, of several in the order of time."""
    if not logs:
        raise RecordingError(f"{where} has no {NETWORK}; {_ADVICE}")
    limits = bodies.limits
    parts = [read_line_entries(content, f"{where}/{name}", limits) for name, content in logs.items()]
    if list(logs) == [NETWORK]:
        return build_trace(parts[0].entries, bodies, parts[0].repairs, _ADVICE)
    entries = sort_by_time([part.entries for part in parts])
    if len(entries) > limits.entries:
        raise too_many_entries(where, limits)
    repairs = f"{where} has {', '.join(islice(logs, _MAX_NAMED))} instead of one {NETWORK}"
    return build_trace(entries, bodies, repairs, _ADVICE)


def sort_by_time(logs: Sequence[Sequence[msgspec.Raw]]) -> list[msgspec.Raw]:
    """The entries of several logs by the time at which each began. One without a time stays behind its predecessor."""
    moments = [[_start_times(entry) for entry in log] for log in logs]
    clock = 0 if any(wall is not None for log in moments for wall, _ in log) else 1
    timed = []
    for log, times in zip(logs, moments, strict=True):
        last = -inf
        for entry, moment in zip(log, times, strict=True):
            last = last if (time := moment[clock]) is None else time
            timed.append((last, entry))
    return [entry for _, entry in sorted(timed, key=lambda pair: pair[0])]


def _start_times(entry: msgspec.Raw) -> tuple[float | None, float | None]:
    """When an entry began: by the clock on the wall, and by one that only goes forward."""
    try:
        times = _TIMES.decode(entry)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None, None
    return parse_seconds(times.started), times.monotonic if isinstance(times.monotonic, int | float) else None


_TIMES = msgspec.json.Decoder(_Times)
