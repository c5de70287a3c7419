"""What a cache holds: which content of which object each fetched file has, in a file that many processes append to."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from pytest_webeval.errors import StoreError
from pytest_webeval.storage import write_bytes

NAME = "index.jsonl"
_MOST_STALE = 1_000  # lines of files that are no longer there, before the index is written anew


class _Line(msgspec.Struct, array_like=True, frozen=True):
    """A file that was fetched; without an identity, one that was removed."""

    key: str
    identity: str
    size: int = 0
    time: int = 0  # of the last change, in nanoseconds
    inode: int = 0


_DECODER = msgspec.json.Decoder(_Line)
_ENCODER = msgspec.json.Encoder()


class CacheIndex:
    """The latest line of each file counts, and only for the very file that it describes.

    A line begins with a line break, so that one that was cut by a crash spoils no other. Lines that cannot be read are
    ignored: their files are fetched again.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / NAME
        self._lines: dict[str, _Line] = {}
        self._earlier: dict[str, _Line] = {}  # of processes that fetched a file at the same time
        self._used = self._position = self._inode = self._count = 0
        self._lock = threading.Lock()
        self.refresh()

    def is_current(self, key: str, identity: str, status: os.stat_result) -> bool:
        """Whether a file has the content of an object."""
        expected = _Line(key, identity, status.st_size, status.st_mtime_ns, status.st_ino)
        return expected in (self._lines.get(key), self._earlier.get(key))

    def add(self, key: str, identity: str, status: os.stat_result) -> None:
        """Note that a file was fetched. Raises `StoreError`."""
        self._append(_Line(key, identity, status.st_size, status.st_mtime_ns, status.st_ino))

    def drop(self, key: str) -> None:
        """Note that a file is a placeholder again. Raises `StoreError`."""
        self._append(_Line(key, ""))

    def drop_others(self, find_identity: Callable[[str], str | None]) -> None:
        """Note that files are gone whose key has another identity, or none. Raises `StoreError`."""
        gone = [_Line(key, "") for key, line in self._lines.items() if find_identity(key) != line.identity]
        if gone:
            self._append(*gone)

    @property
    def used_bytes(self) -> int:
        """The size of all fetched files, of other processes as well."""
        self.refresh()
        return self._used

    def refresh(self) -> None:
        """Read the lines that are new. Raises `StoreError`."""
        with self._lock:
            self._read_new_lines()

    def _read_new_lines(self) -> None:
        try:
            with self._path.open("rb") as file:
                status = os.fstat(file.fileno())
                if status.st_ino != self._inode or status.st_size < self._position:
                    self._forget()
                    self._inode = status.st_ino
                file.seek(self._position)
                content = file.read()
        except FileNotFoundError:
            self._forget()
            return
        except OSError as error:
            raise StoreError(f"cannot read {self._path}: {error.strerror}; choose another cache") from error
        self._position += len(content)
        for text in content.split(b"\n"):
            if text:
                self._read_line(text)

    def _forget(self) -> None:
        self._lines, self._earlier = {}, {}
        self._used = self._position = self._count = 0

    def _read_line(self, text: bytes) -> None:
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            line = _DECODER.decode(text)
            self._count += 1
            previous = self._lines.pop(line.key, None)
            self._used += line.size - (previous.size if previous else 0)
            self._earlier.pop(line.key, None)
            if line.identity:
                self._lines[line.key] = line
                if previous is not None:
                    self._earlier[line.key] = previous

    def _append(self, *lines: _Line) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            handle = os.open(self._path, flags, 0o600)
            try:
                os.write(handle, b"".join(b"\n" + _ENCODER.encode(line) for line in lines))
            finally:
                os.close(handle)
        except OSError as error:
            raise StoreError(f"cannot write {self._path}: {error.strerror}; choose another cache") from error

    def shrink(self) -> None:
        """Write the index anew if most of its lines are of no use. What others append meanwhile is fetched again."""
        self.refresh()
        if self._count > 2 * len(self._lines) + _MOST_STALE:
            lines = b"".join(b"\n" + _ENCODER.encode(line) for line in self._lines.values())
            write_bytes(self._path, lines, "choose another cache")


_indexes: dict[Path, CacheIndex] = {}  # of caches that a process uses for one batch of runs after the other


def find_index(directory: Path) -> CacheIndex:
    """The index of a cache, of which this process reads only what is new. Raises `StoreError`."""
    index = _indexes.get(directory)
    if index is None:
        index = _indexes[directory] = CacheIndex(directory)
    else:
        index.refresh()
    return index
