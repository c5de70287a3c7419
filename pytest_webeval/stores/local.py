"""A directory as a store. Links are not followed, and nothing outside of it is read or written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from msgspec import Struct

from pytest_webeval.errors import RecordingError, SettingsError, StoreError
from pytest_webeval.safety.files import read_file_inside, read_range_inside, walk_directories
from pytest_webeval.storage import write_bytes
from pytest_webeval.stores.keys import find_key_problem
from pytest_webeval.stores.locations import name_object
from pytest_webeval.stores.store import StoredObject

_UNLIMITED = 2**63


class LocalStore(Struct, frozen=True):
    """The regular files below a directory. Those that anything else stands for are no objects."""

    location: str

    @property
    def root(self) -> Path:
        """The directory."""
        return Path(self.location)

    def list(self, prefix: str = "", most: int | None = None) -> Iterator[StoredObject]:
        """All regular files below the directory, or below one in it, but at most `most`. Raises `StoreError`."""
        top = self._place(prefix) if prefix else self.root
        if not top.is_dir():
            raise StoreError(f"cannot list {name_object(self.location, prefix)}: it is not a directory; check the path")
        yield from sorted(islice(self._list_files(top), most), key=lambda entry: entry.key)

    def _list_files(self, top: Path) -> Iterator[StoredObject]:
        start = len(str(self.root).rstrip(os.sep)) + 1
        for directory, _, names in walk_directories(top):
            for name in names:
                path = directory / name
                if path.is_file() and not path.is_symlink():
                    status = path.lstat()
                    yield StoredObject(str(path)[start:], status.st_size, None, status.st_mtime)

    def read(self, key: str) -> bytes:
        """The bytes of a file. Raises `StoreError`."""
        self._place(key)
        try:
            return read_file_inside(self.root, key, _UNLIMITED)
        except RecordingError as error:
            raise StoreError(str(error)) from error

    def read_range(self, key: str, start: int, end: int) -> bytes:
        """Some bytes of a file. Raises `StoreError`."""
        self._place(key)
        try:
            return read_range_inside(self.root, key, start, end)
        except RecordingError as error:
            raise StoreError(str(error)) from error

    def write(self, key: str, content: bytes) -> None:
        """Write a file, and the directories that it needs. Raises `StoreError`."""
        path = self._place(key)
        try:
            write_bytes(path, content, "choose another directory")
        except SettingsError as error:
            raise StoreError(str(error)) from error

    def _place(self, key: str) -> Path:
        """The path of a key, whose directories are no links. Raises `StoreError`."""
        problem = find_key_problem(key)
        path, place = self.root / key, self.root
        if problem is None:
            for part in Path(key).parent.parts:
                place /= part
                if place.is_symlink():
                    problem = "it is behind a link"
        if problem is not None:
            raise StoreError(f"cannot use {name_object(self.location, key)}: {problem}; use another key")
        return path
