"""The objects of a mirror in a sorted file, in which any process finds one without reading all of them."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from pytest_webeval.errors import SettingsError
from pytest_webeval.safety.files import sha256
from pytest_webeval.storage import write_bytes
from pytest_webeval.stores.store import StoredObject

PREFIX, SUFFIX = "listing-", ".jsonl"


class _Row(msgspec.Struct, array_like=True, frozen=True):
    key: str
    size: int
    etag: str | None
    modified: float | None


_DECODER = msgspec.json.Decoder(_Row)


def write_listing(directory: Path, objects: Iterable[StoredObject]) -> str:
    """Write sorted objects to a file that is named after its content. Returns its name. Raises `SettingsError`."""
    encoder = msgspec.json.Encoder()
    rows = (_Row(entry.key, entry.size, entry.etag, entry.modified) for entry in objects)
    content = b"".join(encoder.encode(row) + b"\n" for row in rows)
    name = f"{PREFIX}{sha256(content)[:32]}{SUFFIX}"
    try:
        os.utime(directory / name)  # so that no other process takes it for one that is no longer used
    except OSError:
        write_bytes(directory / name, content, "choose another cache")
    return name


class ListingFile:
    """Finds objects in such a file by halves."""

    def __init__(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                size = path.stat().st_size
                self._rows = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else None
        except OSError as error:
            raise SettingsError(f"cannot read {path}: {error.strerror}; open the store again") from error

    def find(self, key: str) -> StoredObject | None:
        """The object with a key, or None."""
        entry = next(self._iterate_from(key), None)
        return entry if entry is not None and entry.key == key else None

    def list_below(self, directory: str) -> Iterator[StoredObject]:
        """All objects below a directory, or all with an empty text."""
        start = f"{directory}/" if directory else ""
        for entry in self._iterate_from(start):
            if not entry.key.startswith(start):
                return
            yield entry

    def _iterate_from(self, key: str) -> Iterator[StoredObject]:
        """The objects from the first whose key is not smaller."""
        if self._rows is None:
            return
        low, high = 0, len(self._rows)
        while low < high:
            start = self._rows.rfind(b"\n", 0, (low + high) // 2) + 1
            row, end = self._read_row(start)
            low, high = (end, high) if row.key < key else (low, start)
        while low < len(self._rows):
            row, low = self._read_row(low)
            yield StoredObject(row.key, row.size, row.etag, row.modified)

    def _read_row(self, start: int) -> tuple[_Row, int]:
        assert self._rows is not None  # noqa: S101  (for mypy: asked by the only caller)
        end = self._rows.find(b"\n", start) + 1
        return _DECODER.decode(self._rows[start : end - 1]), end

    def close(self) -> None:
        """Release the file."""
        if self._rows is not None:
            self._rows.close()
            self._rows = None
