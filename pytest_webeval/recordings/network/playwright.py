"""Playwright traces: `trace.zip`, its unpacked folder, and the `.network` line file alone.

`tracing.start_chunk` begins a new `trace.trace` and goes on with the `trace.network` of earlier chunks, in all versions
from 1.40 to 1.65. The first line of `trace.trace` has the time by the clock on the wall and by one that only goes
forward. An entry has both as well. The second is Playwright's own clock, the first in an entry is that of the browser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.inputs import UNDECODABLE, RunInputs, decode_lenient, try_decode
from pytest_webeval.recordings.network.bodies import (
    NOTHING,
    RESOURCES,
    BodySource,
    build_archive_source,
    build_folder_source,
)
from pytest_webeval.recordings.network.entries import parse_seconds
from pytest_webeval.recordings.network.events import PLAYWRIGHT_TRACE
from pytest_webeval.recordings.network.har_entries import build_trace, carry_times, too_many_entries
from pytest_webeval.safety.archives import BROKEN_ZIP, Archive, choose_advice, list_visible
from pytest_webeval.safety.files import read_beginning_inside
from pytest_webeval.safety.json import read_number
from pytest_webeval.safety.limits import Limits
from pytest_webeval.safety.text import preview

if TYPE_CHECKING:
    from pytest_webeval.recordings.network.events import NetworkTrace


NETWORK = "trace.network"
REQUESTS_LOG = "request-trace.network"  # of our recorder: what an agent sends next to its pages; see `recorder`
_ADVICE = "re-record the run with context.tracing.start(snapshots=True), and stop tracing before the context closes"
_LOG = re.compile(r"[\w.-]{0,80}trace\.network", re.ASCII)
_MAX_NAMED = 5  # logs in a message
_LONGEST_FOLDER = 80  # characters of a name in a message
_LARGE = 4 * 2**20  # bytes; fewer cannot hold lines enough to matter
_LINES = 5  # times the entries of a trace that its lines may be
_Marked = tuple[msgspec.Raw, bool]  # an entry, and whether it is from before the trace began
_BREAKS = tuple(character.encode() for character in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")


class _Line(msgspec.Struct):
    type: msgspec.Raw
    snapshot: msgspec.Raw = msgspec.Raw(b"")


def read_line_entries(content: bytes, where: str, limits: Limits) -> tuple[list[msgspec.Raw], str | None]:
    """The HAR entries in the resource-snapshot lines of a file, and what the reference would have refused (Q43).

    Raises `RecordingError` with the line's number.
    """
    repairs = None
    if len(content) > _LARGE and sum(map(content.count, _BREAKS)) > _LINES * limits.entries:
        problem = f"{where} has more than {_LINES * limits.entries:,} lines, {_LINES} per entry"
        raise RecordingError(f"{problem}; {limits.describe('entries')}")
    try:
        entries = _decode_entries(_split_lines(content), limits)
    except (_BadLine, UnicodeDecodeError) as error:
        # As Playwright wrote them: line feeds alone end a line, and a blank line says nothing.
        lines = (line if line.strip() else b'{"type": ""}' for line in BytesIO(content))
        try:
            entries, repairs = _decode_entries(lines, limits), f"{where}: {error}"
        except _BadLine as problem:
            text = f"cannot parse {where} as a Playwright trace: {problem}; re-record the run"
            raise RecordingError(text) from problem
    if len(entries) > limits.entries:
        raise too_many_entries(where, limits)
    return entries, repairs


def _split_lines(content: bytes) -> Iterator[bytes]:
    """The lines of a text as Python splits it, one at a time. Raises `UnicodeDecodeError`."""
    start = 0
    for line in BytesIO(content):
        try:
            lines = line.decode().splitlines()
        except UnicodeDecodeError as error:
            place = (start + error.start, start + error.end)
            raise UnicodeDecodeError(error.encoding, content, *place, error.reason) from None
        yield from [line] if len(lines) == 1 and line.endswith(b"\n") else map(str.encode, lines)
        start += len(line)


class _BadLine(Exception):
    """A line that holds no JSON with a type, or no snapshot where its type promises one."""


def _decode_entries(lines: Iterable[bytes], limits: Limits) -> list[msgspec.Raw]:
    entries = []
    for number, text in enumerate(lines, 1):
        try:
            line = decode_lenient(_LINE, text, limits)
        except UNDECODABLE as error:
            raise _BadLine(f"{error} @ line {number}") from error
        if bytes(line.type) == b'"resource-snapshot"':
            if not bytes(line.snapshot):
                raise _BadLine(f"no snapshot @ line {number}")
            entries.append(line.snapshot)
    return entries


def load_zip(inputs: RunInputs, name: str) -> NetworkTrace:
    """The events of `trace.zip` as Playwright writes it, read in place. Raises `RecordingError`."""
    where = str(inputs.directory / name)
    try:
        archive = Archive(inputs.read(name), inputs.limits)
        folder = _find_folder(archive.names, where)
        part = archive.below(folder)
        names = [NETWORK] if NETWORK in part.names else list_network_logs(part.names)
        logs = _read_logs(inputs.limits.file_size, names, part.read)
        clocks = map(name_actions, logs)
        beginnings = [part.read_beginning(name, LARGEST_START) if name in part else b"" for name in clocks]
        starts = list(map(parse_trace_start, beginnings))
    except BROKEN_ZIP as error:
        problem = f"cannot read {where} as a Playwright trace with a {NETWORK}: {error}"
        raise RecordingError(f"{problem}; {choose_advice(error, 're-record the run')}") from error
    if not logs:
        raise RecordingError(f"{where} has no {NETWORK}; {_advise_without_log(archive.names)}")
    bodies = build_archive_source(part, where, f"{RESOURCES}/")
    return _build_log_trace(logs, starts, where, bodies, f"{where} has its files in {folder}" if folder else None)


def load_folder(inputs: RunInputs, name: str) -> NetworkTrace:
    """The events of an unpacked trace: `trace.network`, and bodies in `resources`. Raises `RecordingError`."""
    where, folder = inputs.directory / name, Path(name)
    names = inputs.list_names(name)
    if NETWORK in names:
        names = [log for log in names if log in (NETWORK, REQUESTS_LOG)]
    logs = _read_logs(
        inputs.limits.file_size,
        list_network_logs(names),
        lambda log, most: _drop_undecodable(inputs.read(str(folder / log), most)),
    )
    if logs.get(REQUESTS_LOG) == b"":  # the agent sent all its requests through pages
        del logs[REQUESTS_LOG]
    if not logs:
        raise RecordingError(f"{where} has no {NETWORK}; {_advise_without_log(names)}")
    starts = [_read_folder_start(inputs, str(folder / log)) for log in logs]
    return _build_log_trace(logs, starts, str(where), _build_body_source(inputs, folder))


def load_lines(inputs: RunInputs, name: str) -> NetworkTrace:
    """The events of a line file alone, under any other name. Raises `RecordingError`."""
    content = _drop_undecodable(inputs.read(name))
    entries, repairs = read_line_entries(content, str(inputs.directory / name), inputs.limits)
    marked = _mark_earlier(entries, _read_folder_start(inputs, name))
    return _build_marked_trace(marked, _build_body_source(inputs, Path(name).parent), repairs)


def _read_folder_start(inputs: RunInputs, log: str) -> StartTimes | None:
    """When the trace of a log in a folder began. Only the beginning of the file that says so is read."""
    return parse_trace_start(read_beginning_inside(inputs.directory, name_actions(log), LARGEST_START))


def _find_folder(names: Sequence[str], where: str) -> str:
    """The folder in an archive that holds the trace, with a slash at its end; empty for the root, and for no trace.

    An archive that somebody packed again has a top folder. Raises `RecordingError` where several hold one.
    """
    logs = [name.rpartition("/") for name in list_visible(names)]
    folders = sorted({f"{parent}{slash}" for parent, slash, name in logs if _LOG.fullmatch(name)})
    if len(folders) > 1 and "" not in folders:
        listed = ", ".join(preview(folder, _LONGEST_FOLDER) for folder in folders[:_MAX_NAMED])
        raise RecordingError(f"{where} holds several traces: {listed}; keep only the one of this run")
    return folders[0] if folders else ""


def _advise_without_log(names: Sequence[str]) -> str:
    """What to do about a trace without a log of the network, by what else it holds."""
    others = [name for name in list_visible(names) if name.endswith((".har", ".zip"))]
    if others:
        return f"it holds {preview(others[0], _LONGEST_FOLDER)}; put that file into the run directory"
    return _ADVICE


def _drop_undecodable(content: bytes) -> bytes:
    return content.decode("utf-8", "ignore").encode()  # spec §3.1: undecodable bytes are dropped


def _build_body_source(inputs: RunInputs, folder: Path) -> BodySource:
    return build_folder_source(inputs, str(folder / RESOURCES), f"{RESOURCES}/")


def list_network_logs(names: Iterable[str]) -> list[str]:
    """The network logs that Playwright Test puts into one trace, one for each browser context: `0-trace.network`."""
    return sorted((name for name in list_visible(names) if _LOG.fullmatch(name)), key=lambda name: (len(name), name))


def _read_logs(size: int, names: Sequence[str], read: Callable[[str, int], bytes]) -> dict[str, bytes]:
    """The content of some logs, which together are as big as one file may be."""
    contents: dict[str, bytes] = {}
    for name in names:
        contents[name] = read(name, size)
        size -= len(contents[name])
    return contents


def _build_log_trace(
    logs: Mapping[str, bytes],
    starts: Sequence[StartTimes | None],
    where: str,
    bodies: BodySource,
    repairs: str | None = None,
) -> NetworkTrace:
    """The events of one log as they stand there, of several in the order of time."""
    limits = bodies.limits
    parts = [read_line_entries(content, f"{where}/{name}", limits) for name, content in logs.items()]
    marked = [_mark_earlier(part, start) for (part, _), start in zip(parts, starts, strict=True)]
    if list(logs) == [NETWORK]:
        return _build_marked_trace(marked[0], bodies, repairs or parts[0][1])
    entries = sort_by_time(marked)
    if len(entries) > limits.entries:
        raise too_many_entries(where, limits)
    several = f"{where} has {', '.join(islice(logs, _MAX_NAMED))} instead of one {NETWORK}"
    return _build_marked_trace(entries, bodies, repairs or several)


def _build_marked_trace(entries: Sequence[_Marked], bodies: BodySource, repairs: str | None) -> NetworkTrace:
    earlier = frozenset(index for index, (_, is_earlier) in enumerate(entries) if is_earlier)
    trace = build_trace([entry for entry, _ in entries], bodies, repairs, _ADVICE, earlier)
    return replace(trace, recorder=PLAYWRIGHT_TRACE)


def _mark_earlier(entries: Sequence[msgspec.Raw], start: StartTimes | None) -> list[_Marked]:
    """Each entry, and whether it began before the trace did; none did if nobody knows when that was."""
    return [(entry, start is not None and read_start_times(entry).is_before(start)) for entry in entries]


def sort_by_time(logs: Sequence[Sequence[_Marked]]) -> list[_Marked]:
    """The entries of several logs by the time at which each began. One without a time stays behind its predecessor."""
    moments = [[read_start_times(entry) for entry, _ in log] for log in logs]
    has_wall = any(moment.wall is not None for log in moments for moment in log)
    times = [[moment.wall if has_wall else moment.monotonic for moment in log] for log in moments]
    timed = [pair for log, each in zip(logs, times, strict=True) for pair in zip(carry_times(each), log, strict=True)]
    return [entry for _, entry in sorted(timed, key=lambda pair: pair[0])]


LARGEST_START = 2**16  # bytes of the first line
_CLOCKS_DIFFER = 0.05  # seconds by which a browser may note a request before Playwright hears of it


class StartTimes(Struct, frozen=True, gc=False):
    """When something began: in seconds since 1970, and in milliseconds of Playwright's own clock."""

    wall: float | None
    monotonic: float | None

    def is_before(self, start: StartTimes) -> bool:
        if self.monotonic is not None and start.monotonic is not None:
            return self.monotonic < start.monotonic
        if self.wall is not None and start.wall is not None:
            return self.wall < start.wall - _CLOCKS_DIFFER
        return False


class _Options(Struct, gc=False):
    type: str
    wall: Any = msgspec.field(default=None, name="wallTime")
    monotonic: Any = msgspec.field(default=None, name="monotonicTime")


class _Times(Struct, gc=False):
    started: msgspec.Raw = msgspec.field(default=NOTHING, name="startedDateTime")
    monotonic: Any = msgspec.field(default=None, name="_monotonicTime")


def name_actions(log: str) -> str:
    """The name of the file that says when the trace of a network log began."""
    return f"{log.removesuffix('network')}trace"


def parse_trace_start(beginning: bytes) -> StartTimes | None:
    """When a trace began, by the beginning of its `trace.trace`; None where that does not say so."""
    line, is_whole, _ = beginning.partition(b"\n")
    if not is_whole and len(beginning) >= LARGEST_START:
        return None
    options = try_decode(_OPTIONS, line)
    if options is None or options.type != "context-options":
        return None
    wall = read_number(options.wall)
    return StartTimes(wall and wall / 1_000, read_number(options.monotonic) or None)


def read_start_times(entry: msgspec.Raw) -> StartTimes:
    """When a request began, as far as its entry says so."""
    times = try_decode(_TIMES, entry)
    if times is None:
        return StartTimes(None, None)
    return StartTimes(parse_seconds(times.started), read_number(times.monotonic))


_OPTIONS = msgspec.json.Decoder(_Options)
_TIMES = msgspec.json.Decoder(_Times)
_LINE = msgspec.json.Decoder(_Line)
