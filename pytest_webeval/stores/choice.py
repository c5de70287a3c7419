"""Opens the store that a path or URL names: a directory, or what a library of fsspec reaches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from msgspec import Struct

from pytest_webeval.errors import RecordingError, SettingsError, StoreError
from pytest_webeval.safety.files import read_file_inside, walk_directories
from pytest_webeval.storage import write_bytes
from pytest_webeval.stores.store import (
    FILE,
    Store,
    StoredObject,
    find_key_problem,
    is_remote,
    name_object,
    refuse_credentials,
    scheme_of,
    split_chain,
    strip_scheme,
    trim,
)

EXTRA = ("fsspec", "s3fs")  # of `pytest-webeval[remote]`
# The libraries that each scheme requires.
SCHEMES: Mapping[str, tuple[str, ...]] = {
    "s3": ("fsspec", "s3fs"),
    "gs": ("fsspec", "gcsfs"),
    "az": ("fsspec", "adlfs"),
    "abfs": ("fsspec", "adlfs"),
    "hf": ("fsspec", "huggingface_hub"),
    "http": ("fsspec", "aiohttp"),
    "https": ("fsspec", "aiohttp"),
    "zip": ("fsspec",),
    "memory": ("fsspec",),
}
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
        start = len(str(self.root).rstrip(os.sep)) + 1
        paths = (directory / name for directory, _, names in walk_directories(top) for name in names)
        files = ((path, path.lstat()) for path in paths if path.is_file() and not path.is_symlink())
        entries = (StoredObject(str(path)[start:], row.st_size, None, row.st_mtime) for path, row in files)
        yield from sorted(islice(entries, most), key=lambda entry: entry.key)

    def read(self, key: str) -> bytes:
        """The bytes of a file. Raises `StoreError`."""
        self._place(key)
        try:
            return read_file_inside(self.root, key, _UNLIMITED)
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


def open_store(location: str) -> Store:
    """The store at a path or URL. Raises `SettingsError`, which repeats no credentials."""
    refuse_credentials(location)
    if not is_remote(location):
        path = strip_scheme(location) if scheme_of(location) == FILE else location
        return LocalStore(os.path.abspath(path))  # noqa: PTH100  (a text)
    for url in split_chain(location):
        _check_libraries(url)
    from pytest_webeval.stores.fsspec_source import FsspecSource, S3Source, WebSource
    from pytest_webeval.stores.obstore_source import ObstoreS3Source, ObstoreSource, is_usable
    from pytest_webeval.stores.remote_store import RemoteStore

    scheme = scheme_of(location) or ""
    sources = {"s3": S3Source, "http": WebSource, "https": WebSource}
    source: type[FsspecSource] = sources.get(scheme, FsspecSource)
    if is_usable(scheme):
        source = ObstoreS3Source if scheme == "s3" else ObstoreSource
    return RemoteStore(source(trim(location)))


def _check_libraries(url: str) -> None:
    scheme = scheme_of(url)
    if scheme is None or scheme == FILE:
        return
    if scheme not in SCHEMES:
        raise SettingsError(f"unknown scheme {scheme[:20]!r} of a store; use a path or one of {', '.join(SCHEMES)}")
    libraries = SCHEMES[scheme]
    if any(find_spec(name) is None for name in libraries):
        others = [name for name in libraries if name not in EXTRA]
        install = " and ".join(["pytest-webeval[remote]", *others])
        raise SettingsError(f"reading {scheme}://… requires {' and '.join(libraries)}; install {install}")
