"""The journal of scored runs, one line per run, with which another session can reuse their results.

A journal records that webeval wrote a result file, with which content, and what decided it. That a file lies in a run
directory proves nothing: an agent may have put it there.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from pytest_webeval.errors import DiskFull, RecordingError, SettingsError
from pytest_webeval.safety.files import is_file, open_file_inside, sha256
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.storage import Sync, sync_directory, write_error, write_pieces

_SHARED = 0o644
MOST_OLDER = 2  # lines about a run, on average
_LONGEST_LINE = USUAL.file_size
_PIECE = 2**20  # bytes


_Struct = TypeVar("_Struct", bound=msgspec.Struct)


class Seal(msgspec.Struct, frozen=True):
    """What must be the same for a result to be reused: all that decided it, the result file, and the files of the run.

    All but the result are empty for what is no verdict of the evaluators alone. `evaluators` is the state of those that
    users wrote, `text` the redacted failure as a test shows it.
    """

    result: str  # SHA-256 of the result file
    decided_by: str = ""  # SHA-256 of all that decided the verdict but for the files: see `Fingerprints`
    evaluators: str = ""
    is_foreign: bool = False  # users wrote code that decides, which may read any file of the run
    origin: str = ""  # name of the file with the task definition
    files: str = ""  # see `RunFiles.listed`
    identity: str = ""  # see `RunFiles.sealed_identity`
    text: str | None = None


class Entry(msgspec.Struct, frozen=True):
    """A line: the seal of a result, and the record for the summary."""

    seal: Seal
    record: dict[str, Any]


class _LabelledRecord(msgspec.Struct):
    run: str


class _Line(msgspec.Struct):
    record: _LabelledRecord


def index_journal(path: Path) -> dict[int, int]:
    """Where the latest line about each run begins, by the hash of its label: that of all runs may be too long.

    A torn or damaged line counts for nothing. Raises `SettingsError` if it is not a regular file.
    """
    starts: dict[int, int] = {}
    if not os.path.lexists(path):
        return starts
    start = 0
    try:
        with open_file_inside(path.parent, path.name) as content:
            while line := content.readline(_LONGEST_LINE):
                if (label := _label(line)) is not None:
                    starts[hash(label)] = start
                start += len(line)
    except (RecordingError, OSError) as error:
        raise SettingsError(f"{error}; remove it to score all runs again") from error
    return starts


def read_line(path: Path, start: int) -> bytes | None:
    """The line that begins there, without its end; None if it cannot be read any more."""
    try:
        with open_file_inside(path.parent, path.name) as content:
            content.seek(start)
            return content.readline(_LONGEST_LINE).removesuffix(b"\n")
    except (RecordingError, OSError):
        return None


def _count_lines(path: Path) -> int:
    count = 0
    with open_file_inside(path.parent, path.name) as content:
        while piece := content.read(_PIECE):
            count += piece.count(b"\n")
    return count


def _label(line: bytes) -> str | None:
    decoded = _decode(line, _Line)
    return None if decoded is None else decoded.record.run


_START, _AFTER = b'{"sha256":"', b'",'  # of a line, around the checksum of what follows


def entry_in(line: bytes) -> Entry | None:
    """What a line says, or None if it is damaged."""
    checksum, separator, body = line.removeprefix(_START).partition(_AFTER)
    is_intact = line.startswith(_START) and separator and checksum == sha256(body).encode()
    return _decode(b"{" + body, Entry) if is_intact else None


def _encode(entry: Entry) -> bytes:
    """The line without its end. Raises `ValueError` for NaN and infinity, which JSON does not know.

    Python escapes half of a surrogate pair in the text of an agent; msgspec refuses it.
    """
    body = json.dumps(msgspec.to_builtins(entry), allow_nan=False, separators=(",", ":")).encode()[1:]
    return _START + sha256(body).encode() + _AFTER + body


def _decode(line: bytes, kind: type[_Struct]) -> _Struct | None:
    try:
        return msgspec.convert(json.loads(line), kind) if b"\\ud" in line else msgspec.json.decode(line, type=kind)
    except (ValueError, RecursionError):
        return None


@dataclass(slots=True)
class Journal:
    """The file that one process appends to. It is made with its first line."""

    path: Path
    sync: Sync | None = None
    _handle: int | None = field(default=None, repr=False)

    def append(self, entry: Entry) -> None:
        """Add a line. Raises `SettingsError` if it cannot be written; the earlier lines stay readable.

        Raises `ValueError` for a record with NaN or infinity.
        """
        line = _encode(entry) + b"\n"
        try:
            handle = self._open()
            written = os.write(handle, line)  # in one go, so that a killed process tears no line but its last
            if written < len(line):
                os.ftruncate(handle, os.fstat(handle).st_size - written)
                reason = "only part of a line fits"
                raise DiskFull(f"cannot write {self.path}: {reason}; free some disk space", self.path, reason)
            if self.sync is not None:
                self.sync(handle)
        except OSError as error:
            raise write_error(self.path, error, "this session cannot be resumed") from error

    def _open(self) -> int:
        if self._handle is None:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            try:
                handle = os.open(self.path, flags, _SHARED)
            except FileNotFoundError:  # of an output directory in which nothing else is written before
                self.path.parent.mkdir(parents=True, exist_ok=True)
                handle = os.open(self.path, flags, _SHARED)
            try:
                self._check(handle)
            except (OSError, SettingsError):
                os.close(handle)
                raise
            self._handle = handle
            sync_directory(self.path.parent, self.sync)
        return self._handle

    def _check(self, handle: int) -> None:
        """Cut off a torn last line before appending. Raises `SettingsError` if it is not a regular file."""
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise SettingsError(f"{self.path} is not a regular file; remove it to make the session resumable")
        if status.st_size and os.pread(handle, 1, status.st_size - 1) != b"\n":
            os.ftruncate(handle, os.pread(handle, status.st_size, 0).rfind(b"\n") + 1)

    def close(self) -> None:
        """Close the file."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def compact(self) -> None:
        """Keep only the latest line about each run where most lines are older ones. Raises `SettingsError`."""
        self.close()
        starts = index_journal(self.path)
        lines = _count_lines(self.path) if starts else 0
        if lines > MOST_OLDER * len(starts):
            latest = (read_line(self.path, start) for start in sorted(starts.values()))
            pieces = (line + b"\n" for line in latest if line is not None)
            write_pieces(self.path, pieces, self.sync, "this session cannot be reused")

    def remove(self) -> None:
        """Remove the file, if it is one. Raises `SettingsError`."""
        self.close()
        try:
            is_there = is_file(self.path)
            if is_there and not self.path.is_symlink():
                self.path.unlink()
        except OSError as error:
            raise SettingsError(f"cannot remove {self.path}: {error.strerror}; remove it by hand") from error
