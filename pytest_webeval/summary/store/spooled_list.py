"""Lists and objects that are too long for the memory: a few entries at a time are read from a file."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from abc import abstractmethod
from array import array
from collections.abc import Iterator, Mapping, Sequence
from errno import EIO, ENOSPC
from itertools import islice
from pathlib import Path
from typing import Any, overload

import msgspec

from pytest_webeval.storage import write_error

FRAME = 250  # entries that are written and read at once
FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE)  # the second for a quota, and for a limit of file sizes
_AS_JSON = b"\xc1"  # begins no MessagePack
_ADVICE = "set TMPDIR to a directory with more room"


class LongList(Sequence[Any]):
    """A list of JSON values that may be read again and again. To read it in its order is quick; an index is slow."""

    @abstractmethod
    def __iter__(self) -> Iterator[Any]: ...

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            places = range(*index.indices(len(self)))
            in_order = islice(self, min(places, default=0), max(places, default=-1) + 1, abs(places.step))
            return list(in_order)[:: 1 if places.step > 0 else -1]
        position = index + len(self) if index < 0 else index
        for entry in islice(self, position, None) if position >= 0 else ():
            return entry
        raise IndexError(f"there is no entry {index} of {len(self)}")


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


class ScratchFile:
    """A private file of SQLite's own without a name: nobody else can open it, and it is gone with the process."""

    def __init__(self) -> None:
        self._frames = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        for statement in ("PRAGMA journal_mode=OFF", "PRAGMA synchronous=OFF", "CREATE TABLE frames (entries BLOB)"):
            self._frames.execute(statement)

    def write(self, entries: list[Any]) -> int:
        """Write some entries. Returns the number with which they are read.

        Raises `SettingsError` if there is no room for them.
        """
        try:
            return self._frames.execute("INSERT INTO frames VALUES (?)", (_encode(entries),)).lastrowid or 0
        except sqlite3.Error as error:
            number = ENOSPC if error.sqlite_errorcode in FULL else EIO
            raise write_error(Path(tempfile.gettempdir()), OSError(number, str(error)), _ADVICE) from error

    def read(self, number: int) -> list[Any]:
        """The entries that were written with this number."""
        ((content,),) = self._frames.execute("SELECT entries FROM frames WHERE rowid = ?", (number,))
        entries: list[Any] = _decode(content)
        return entries


class SpooledList(LongList):
    """A list to which entries are appended; all but the last few of a long one are in a file."""

    def __init__(self, scratch: ScratchFile, frame: int = FRAME) -> None:
        self._scratch, self._frame = scratch, frame
        self._numbers = array("Q")  # of the frames in the file
        self._last: list[Any] = []  # entries that are not in the file

    def append(self, entry: Any) -> None:
        """Add an entry. Raises `SettingsError` if there is no room for it."""
        self._last.append(entry)
        if len(self._last) == self._frame:
            self._numbers.append(self._scratch.write(self._last))
            self._last = []

    def __len__(self) -> int:
        return len(self._numbers) * self._frame + len(self._last)

    def __iter__(self) -> Iterator[Any]:
        for number in self._numbers:
            yield from self._scratch.read(number)
        yield from self._last


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
