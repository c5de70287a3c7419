"""Lists that go on in a file where they are too long for the memory."""

from __future__ import annotations

import json
import os
import tempfile
import weakref
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

import msgspec

from pytest_webeval.storage import write_error

KEPT = 1_000  # entries of a list that are in memory before the file is used
FRAME = 250  # entries that are written and read at once
_AS_JSON = b"\xc1"  # begins no MessagePack
_ADVICE = "set TMPDIR to a directory with more room"


class ScratchFile:
    """A private file without a name: nobody else can open it, and it is gone with the process."""

    def __init__(self) -> None:
        try:
            with tempfile.TemporaryFile(prefix="webeval-") as file:
                self._handle = os.dup(file.fileno())
        except OSError as error:
            raise write_error(Path(tempfile.gettempdir()), error, _ADVICE) from error
        weakref.finalize(self, os.close, self._handle)
        self._size = 0

    def append(self, content: bytes) -> int:
        """Write some bytes. Returns where they end. Raises `SettingsError` if there is no room for them."""
        try:
            while content:
                written = os.pwrite(self._handle, content, self._size)
                self._size += written
                content = content[written:]
        except OSError as error:
            raise write_error(Path(tempfile.gettempdir()), error, _ADVICE) from error
        return self._size

    def read(self, start: int, end: int) -> bytes:
        """The bytes between two places."""
        content = b""
        while more := os.pread(self._handle, end - start - len(content), start + len(content)):
            content += more
        return content


class SpooledList(Sequence[Any]):
    """A list of JSON values to which entries are appended; all but the last few of a long one are in a file.

    It may be read again and again. To read it in its order is quick; another order is slow.
    """

    def __init__(self, scratch: ScratchFile, kept: int = KEPT, frame: int = FRAME) -> None:
        self._scratch = scratch
        self._kept, self._frame = kept, frame
        self._ends, self._starts = array("Q"), array("Q")  # of each frame in the file
        self._last: list[Any] = []  # entries that are not in the file
        self._read: tuple[int, list[Any]] = -1, []  # the frame that was read last, for access by index

    def append(self, entry: Any) -> None:
        """Add an entry. Raises `SettingsError` if there is no room for it."""
        self._last.append(entry)
        if len(self._last) >= (self._frame if self._ends else max(self._kept, self._frame)):
            self._write()

    def _write(self) -> None:
        complete = len(self._last) - len(self._last) % self._frame
        for start in range(0, complete, self._frame):
            content = _encode(self._last[start : start + self._frame])
            end = self._scratch.append(content)
            self._starts.append(end - len(content))
            self._ends.append(end)
        del self._last[:complete]

    def _load(self, number: int) -> list[Any]:
        entries: list[Any] = _decode(self._scratch.read(self._starts[number], self._ends[number]))
        return entries

    def __len__(self) -> int:
        return len(self._ends) * self._frame + len(self._last)

    def __iter__(self) -> Iterator[Any]:
        for number in range(len(self._ends)):
            yield from self._load(number)
        yield from self._last

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"there is no entry {index} of {len(self)}")
        number, inner = divmod(position, self._frame)
        if number == len(self._ends):
            return self._last[inner]
        if self._read[0] != number:
            self._read = number, self._load(number)
        return self._read[1][inner]


class PairMapping(Mapping[str, Any]):
    """An object as pairs of a name and a value, each name once. To look up a name reads all of them."""

    def __init__(self, pairs: Sequence[Any]) -> None:
        self._pairs = pairs

    def __getitem__(self, name: str) -> Any:
        for other, value in self._pairs:
            if other == name:
                return value
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def items(self) -> Any:
        """The pairs, read once."""
        return ((name, value) for name, value in self._pairs)


class SpooledMapping(PairMapping):
    """An object whose members lie in a temporary file."""

    _pairs: SpooledList

    def __init__(self, scratch: ScratchFile) -> None:
        super().__init__(SpooledList(scratch))

    def __setitem__(self, name: str, value: Any) -> None:
        """Add a member with a new name."""
        self._pairs.append((name, value))


def _encode(entries: Sequence[Any]) -> bytes:
    """The entries as MessagePack; as JSON those with half of a surrogate pair, a huge number, or another type."""
    try:
        return msgspec.msgpack.encode(entries)
    except (ValueError, TypeError, OverflowError):
        return _AS_JSON + json.dumps(entries).encode()


def _decode(content: bytes) -> Any:
    return json.loads(content[1:]) if content.startswith(_AS_JSON) else msgspec.msgpack.decode(content)
