"""The journal of scored runs, one line per run, with which another session can resume.

A journal records that webeval wrote a result file, for which settings and with which content. That a file lies in a run
directory proves nothing: an agent may have put it there.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Any
from typing import TypeVar

import msgspec

from pytest_webeval.errors import DiskFull
from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import SettingsError
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.files import sha256
from pytest_webeval.storage import Sync
from pytest_webeval.storage import sync_directory
from pytest_webeval.storage import write_error

JOURNAL = "eval_journal.jsonl"
MOST_FILES = 10_000  # in a run directory whose result can be taken from an earlier session
_SHARED = 0o644
_OURS = re.compile(r"\.?eval_(?:result\.json|summary\.json|journal\.jsonl)(?:\.[0-9a-f]{16})?")


_Struct = TypeVar("_Struct", bound=msgspec.Struct)


class Seal(msgspec.Struct, frozen=True):
    """The checksums of a complete result file and of the files in the run directory when it was written."""

    result: str
    files: str


class Entry(msgspec.Struct, frozen=True):
    """A line: the fingerprint of the settings, the seal of the result, and the record for the summary."""

    asked: str
    seal: Seal
    record: dict[str, Any]


class _LabelledRecord(msgspec.Struct):
    run: str


class _Line(msgspec.Struct):
    record: _LabelledRecord


def read_entries(path: Path) -> dict[str, bytes]:
    """The latest line about each run, by the run's label. A torn or damaged line counts for nothing.

    Raises `SettingsError` if it is not a regular file.
    """
    if not os.path.lexists(path):
        return {}
    try:
        content = read_file_inside(path.parent, path.name)
    except RecordingError as error:
        raise SettingsError(f"{error}; remove it to score all runs again") from error
    lines = {}
    for line in content.split(b"\n"):
        if (label := _label(line)) is not None:
            lines[label] = line
    return lines


def _label(line: bytes) -> str | None:
    decoded = _decode(line, _Line)
    return None if decoded is None else decoded.record.run


def entry_in(line: bytes) -> Entry | None:
    """What a line says, or None if it is damaged."""
    return _decode(line, Entry)


def _encode(entry: Entry) -> bytes:
    """The entry as JSON. Python escapes half of a surrogate pair in the text of an agent, which msgspec refuses."""
    try:
        return msgspec.json.encode(entry)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(entry)).encode()


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
        """Add a line. Raises `SettingsError` if it cannot be written; the earlier lines stay readable."""
        try:
            handle = self._open()
            line = _encode(entry) + b"\n"
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

    def remove(self) -> None:
        """Remove the file, if it is one. Raises `SettingsError`."""
        self.close()
        try:
            is_there = os.path.isfile(self.path)  # noqa: PTH113  (pathlib raises where nobody may look)
            if is_there and not self.path.is_symlink():
                self.path.unlink()
        except OSError as error:
            raise SettingsError(f"cannot remove {self.path}: {error.strerror}; remove it by hand") from error


def files_in(directory: Path) -> str:
    """SHA-256 of the names and sizes of all files in a directory, without those that webeval writes.

    Empty if there are too many files or they cannot be listed: changes could not be detected.
    """
    names: list[str] = []
    try:
        for entry in _below(str(directory)):
            size = "" if entry.is_dir(follow_symlinks=False) else entry.stat(follow_symlinks=False).st_size
            names.append(f"{entry.path}\0{size}")
            if len(names) > MOST_FILES:
                return ""
    except OSError:
        return ""
    return sha256("\n".join(sorted(names)).encode("utf-8", "surrogateescape"))


def _below(directory: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(directory) as entries:
        for entry in entries:
            if not _OURS.fullmatch(entry.name):
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    yield from _below(entry.path)
