"""Results for a store: they are written into a private directory, and uploaded from there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from pytest_webeval.errors import WebEvalError
from pytest_webeval.results import ROW_FILES, SUMMARY
from pytest_webeval.safety.files import CACHE_TREE, read_file_inside, walk_directories
from pytest_webeval.stores.cache import INDEX, CacheIndex, default_cache, find_index, open_cache
from pytest_webeval.stores.choice import open_store
from pytest_webeval.stores.remote_store import RemoteStore
from pytest_webeval.stores.store import Store

THREADS = 16
_UPLOADED = "uploaded"  # what the index says of a file
_UNLIMITED = 2**63


class Staging(Struct, frozen=True, dict=True):
    """The directory `path` with results for `store`. Any process of a session may upload some of them."""

    store: Store
    cache: str

    @classmethod
    def open(cls, location: str, caches: Path | None) -> Staging:
        """That of a location, with what an earlier session could not upload. Raises `SettingsError`."""
        store, name = open_store(location), f"results for {location}"
        return cls(store, str(open_cache(default_cache(name, caches), name)))

    @property
    def path(self) -> Path:
        """The tree of results."""
        return Path(self.cache) / CACHE_TREE

    @cached_property
    def _index(self) -> CacheIndex:
        return find_index(Path(self.cache))

    def check_writable(self) -> None:
        """Raise `StoreError` if nothing can be written, as far as that can be tried, and leave nothing."""
        if isinstance(self.store, RemoteStore):
            self.store.check_writable(SUMMARY)

    def upload(self, paths: Iterable[Path]) -> dict[Path, str]:
        """Write some files to the store, where they replace earlier ones. Those that failed, and why.

        A file that an earlier session has uploaded, and that was not written since, is there.
        """
        waiting = list(paths)
        if not waiting:
            return {}
        with ThreadPoolExecutor(min(THREADS, len(waiting)), "webeval-results") as pool:
            problems = pool.map(self._upload, waiting)
            return {path: problem for path, problem in zip(waiting, problems, strict=True) if problem is not None}

    def _upload(self, path: Path) -> str | None:
        key = path.relative_to(self.path).as_posix()
        try:
            if self._is_uploaded(path):
                return None
            status = path.lstat()
            self.store.write(key, read_file_inside(path.parent, path.name, _UNLIMITED))
            self._index.add(key, _UPLOADED, status)
        except WebEvalError as error:
            return str(error)
        except OSError as error:
            return f"cannot read {path}: {error.strerror}"
        return None

    def list_waiting(self) -> Iterator[Path]:
        """The files that were not uploaded since they were written. Rows are of use in this directory only."""
        self._index.refresh()
        for directory, _, names in walk_directories(self.path):
            for name in names:
                path = directory / name
                if not ROW_FILES.fullmatch(name) and not name.startswith(".") and not self._is_uploaded(path):
                    yield path

    def _is_uploaded(self, path: Path) -> bool:
        """Whether a file is in the store as it is here; also if another session has just removed it, since it is."""
        try:
            status = path.lstat()
        except FileNotFoundError:
            return True
        return self._index.is_current(path.relative_to(self.path).as_posix(), _UPLOADED, status)

    def list_uploaded(self, paths: Iterable[Path]) -> list[Path]:
        """Those of some files that are in the store as they are here."""
        self._index.refresh()
        return [path for path in paths if self._is_uploaded(path)]

    def finish(self, *, is_kept: bool) -> str | None:
        """Upload the rest, and remove the directory unless another session is to reuse it. The problem otherwise."""
        problem = self.upload_rest()
        if problem is None and not is_kept:
            self._remove()
        return problem

    def upload_rest(self) -> str | None:
        """Upload all that waits. What could not be uploaded stays here, and is the problem that is returned."""
        waiting = sorted(self.list_waiting())
        problems = self.upload(waiting)
        if not problems:
            return None
        first = next(iter(problems.values()))
        count = f"{len(problems):,} of {len(waiting):,} files were not uploaded to {self.store.location}"
        return f"{count}: {first}; they are in {self.path}: run the session again with --webeval-reuse"

    def _remove(self) -> None:
        """Remove what is in the store, and no more: another session may be writing here."""
        self._index.refresh()
        for directory, _, names in os.walk(self.path, topdown=False):
            for path in (Path(directory, name) for name in names):
                with suppress(OSError):
                    if path.name.startswith(".") or ROW_FILES.fullmatch(path.name) or self._is_uploaded(path):
                        path.unlink()
            with suppress(OSError):
                os.rmdir(directory)  # noqa: PTH106  (a text)
        if not self.path.exists():
            (Path(self.cache) / INDEX).unlink(missing_ok=True)
