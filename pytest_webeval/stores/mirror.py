"""A run root in a store as a local directory, whose files are fetched when they are first read."""

from __future__ import annotations

import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from msgspec import Struct

from pytest_webeval.errors import StoreError, WebEvalError
from pytest_webeval.safety.deadline import pause_time_limit
from pytest_webeval.safety.files import LATE_FILES
from pytest_webeval.safety.limits import USUAL, Limits
from pytest_webeval.stores.cache_directory import FILES, PARTS, default_cache, lock_cache, open_cache, remove_remains
from pytest_webeval.stores.cache_index import CacheIndex, find_index
from pytest_webeval.stores.checked_reads import CheckedReads
from pytest_webeval.stores.listing import Plan, Problems, plan_tree
from pytest_webeval.stores.listing_file import ListingFile, write_listing
from pytest_webeval.stores.locations import name_object
from pytest_webeval.stores.store import Store, StoredObject
from pytest_webeval.stores.tree import Tree, is_placeholder

THREADS = 16
LARGEST_AHEAD = 32 * 2**20  # bytes of a file that is fetched before it is read
_BEGINNINGS = 64  # that are remembered
_MOST_BEGINNING = 2**20  # bytes of one that is remembered
_SEEN = re.compile(r"\.(?:png|jpe?g|webp|gif|bmp|webm|mp4|mov|avi|mkv)$", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def is_usually_read(name: str, size: int) -> bool:  # noqa: ARG001  (the signature of a choice)
    """Whether scoring may read a file of that name: all but screenshots and videos."""
    return _SEEN.search(name) is None


class MirrorDescription(Struct, frozen=True):
    """What another process needs to use the same mirror. It can be pickled, and has no credentials."""

    store: Store
    prefix: str
    cache: str
    name: str
    listing: str
    most_bytes: int | None = None

    @property
    def marks(self) -> tuple[str, str, str, str]:
        """The same for two descriptions of a mirror."""
        return self.store.location, self.prefix, self.cache, self.listing


class Mirror:
    """The objects below a prefix of a store as files below `path`. `problems` name the objects that have no file.

    Of very many, these are the first; `problem_count` is the number of all.

    A file that has not been fetched is a placeholder of the same size. Everything in this package that reads files
    of recordings fetches it first. Several threads and processes may share a mirror.
    """

    def __init__(
        self, description: MirrorDescription, problems: Problems | None = None, index: CacheIndex | None = None
    ) -> None:
        self.description, cache = description, Path(description.cache)
        self.problems, self.problem_count = (problems.list_all(), problems.count) if problems else ([], 0)
        self.path = cache / FILES / description.name
        self.root = str(self.path)
        self._listing = ListingFile(cache / description.listing)
        self._tree, self._index = Tree(self.path, cache / PARTS), index or CacheIndex(cache)
        self._reads = CheckedReads(description.store, description.prefix, self._listing)
        self._errors: dict[str, StoreError] = {}
        self._beginnings: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._has_failed = self._is_stopped = False
        self._lock = threading.Lock()

    @classmethod
    def open(
        cls,
        store: Store,
        prefix: str = "",
        cache: Path | None = None,
        most_bytes: int | None = None,
        limits: Limits = USUAL,
    ) -> Mirror:
        """List a store once, and lay out the tree. Raises `SettingsError` for the cache and `StoreError`."""
        prefix = prefix.strip("/")
        where = f"{store.location}/{prefix}" if prefix else store.location
        directory = open_cache(cache or default_cache(where), where)
        objects = _strip_prefix(store.list(prefix, limits.stored_objects + 1), prefix)
        is_sensitive = not (directory / "cachedir.tag").exists()
        plan = plan_tree(objects, is_case_sensitive=is_sensitive, limits=limits, location=name_object(where))
        mirror = _lay_out(store, prefix, directory, plan, most_bytes, complete={""})
        if not plan.files and not mirror.problems:
            mirror.problems.append(f"there are no objects at {name_object(where)}; check the location")
            mirror.problem_count = 1
        return mirror

    @classmethod
    def of_objects(  # noqa: PLR0913  (what `open` has, and which objects)
        cls,
        store: Store,
        objects: Iterable[StoredObject],
        cache: Path | None = None,
        prefix: str = "",
        most_bytes: int | None = None,
        *,
        complete: Container[str] = (),
    ) -> Mirror:
        """A mirror of some objects of a listing, which is not made again. Files of other objects stay in the cache.

        Not so below the `complete` directories, all of whose objects are among these: a run has no file from before.
        """
        prefix = prefix.strip("/")
        where = f"{store.location}/{prefix}" if prefix else store.location
        directory = open_cache(cache or default_cache(where), where)
        is_sensitive = not (directory / "cachedir.tag").exists()
        plan = plan_tree(_strip_prefix(objects, prefix), is_case_sensitive=is_sensitive)
        return _lay_out(store, prefix, directory, plan, most_bytes, complete=complete)

    def __reduce__(self) -> tuple[Callable[[MirrorDescription], Mirror], tuple[MirrorDescription]]:
        return attach, (self.description,)

    def objects_below(self, directory: Path) -> Iterator[StoredObject]:
        """The objects of a run, with the keys that they have in the store: for a worker on another machine."""
        prefix = f"{self.description.prefix}/" if self.description.prefix else ""
        for entry in self._listing.list_below(self._key_of(directory)):
            yield StoredObject(prefix + entry.key, entry.size, entry.etag, entry.modified)

    def survey(self, directory: Path) -> list[tuple[str, int, str]]:
        """The name of each file of a run, its size, and the identity of its object."""
        start = len(key) + 1 if (key := self._key_of(directory)) else 0
        return [(entry.key[start:], entry.size, entry.identity) for entry in self._listing.list_below(key)]

    def fetch(self, path: Path) -> bool:
        """Put a file in its place; False if the mirror has no such file. Raises `StoreError`."""
        entry = self._listing.find(self._key_of(path))
        if entry is None:
            return False
        with self._noting_failures():
            self._fetch(entry)
        return True

    @contextmanager
    def _noting_failures(self) -> Iterator[None]:
        try:
            yield
        except StoreError:
            self._has_failed = True
            raise

    def take_failure(self) -> bool:
        """Whether a file could not be read since the last call, by who needed it."""
        has_failed, self._has_failed = self._has_failed, False
        return has_failed

    def read_beginning(self, path: Path, most: int) -> bytes | None:
        """The first bytes of a file; None if the mirror has no such file.

        It stays a placeholder unless these are all of its bytes, and the cache has room for them: a search for runs
        reads a little of each.
        """
        entry = self._listing.find(self._key_of(path))
        if entry is None:
            return None
        with self._noting_failures():
            if entry.size <= most and not self._is_over_budget:
                return self._fetch(entry)
            return self._read_beginning(entry, min(entry.size, most))

    def _read_beginning(self, entry: StoredObject, most: int) -> bytes:
        name = entry.key, most
        beginning = self._beginnings.get(name)
        if beginning is None:
            self._raise_kept(entry.key)
            with pause_time_limit():
                beginning = self._reads.read_beginning(entry, most)
            if most <= _MOST_BEGINNING:
                self._remember(name, beginning)
        return beginning

    def _remember(self, name: tuple[str, int], beginning: bytes) -> None:
        with self._lock:
            self._beginnings[name] = beginning
            while len(self._beginnings) > _BEGINNINGS:
                self._beginnings.popitem(last=False)

    def _fetch(self, entry: StoredObject) -> bytes:
        self._raise_kept(entry.key)
        with pause_time_limit():  # of a run: a slow store says nothing about it, and each read has an end
            content = self._reads.read(entry)
        path = self.path / entry.key
        try:
            status = self._tree.write_file(path, content, entry)
        except OSError as error:
            problem = f"cannot keep {self._reads.name(entry)} in the cache: {error.strerror}"
            raise StoreError(f"{problem}; make room in {self.description.cache}, or use another cache") from error
        self._index.add(entry.key, entry.identity, status)
        return content

    def _raise_kept(self, key: str) -> None:
        """Raise what went wrong when a file was fetched ahead, once: the next read tries again."""
        error = self._errors.pop(key, None) if self._errors else None
        if error is not None:
            raise StoreError(str(error))

    def prefetch(
        self, directories: Iterable[Path], select: Callable[[str, int], bool] = is_usually_read, threads: int = THREADS
    ) -> None:
        """Fetch the files of some runs at the same time, before they are scored.

        `select` gets the name of a file below its run, and its size. What fails is an error of the read that follows.
        """
        waiting = list(self._list_waiting(directories, select))
        if waiting:
            with ThreadPoolExecutor(min(threads, len(waiting)), "webeval-store") as pool:
                list(pool.map(self._fetch_ahead, waiting))

    def _list_waiting(self, directories: Iterable[Path], select: Callable[[str, int], bool]) -> Iterator[StoredObject]:
        total = 0
        for directory in directories:
            key = self._key_of(directory)
            start = len(key) + 1 if key else 0
            for entry in self._listing.list_below(key):
                if not 0 < entry.size <= LARGEST_AHEAD or not select(entry.key[start:], entry.size):
                    continue
                total += entry.size
                if self.description.most_bytes is not None and total > self.description.most_bytes:
                    return
                with suppress(OSError):
                    if is_placeholder(os.lstat(f"{self.root}/{entry.key}")):
                        yield entry

    def _fetch_ahead(self, entry: StoredObject) -> None:
        if self._is_stopped:
            return
        self._errors.pop(entry.key, None)  # of an earlier attempt
        try:
            self._fetch(entry)
        except StoreError as error:
            self._errors[entry.key] = error

    def stop(self) -> None:
        """Fetch no more files ahead, in whichever thread that is: those on their way are the last."""
        self._is_stopped = True

    def release(self, directory: Path) -> None:
        """Make placeholders of the files of a run if the cache is over its budget. Raises `StoreError`."""
        if not self._is_over_budget:
            return
        for entry in self._listing.list_below(self._key_of(directory)):
            path = self.path / entry.key
            try:
                if entry.size and not is_placeholder(path.lstat()):
                    self._tree.replace_by_placeholder(path, entry)
                    self._index.drop(entry.key)
            except FileNotFoundError:  # another session has removed what is no longer in the store
                continue
            except OSError as error:
                raise StoreError(f"cannot release {path}: {error.strerror}; empty the cache") from error

    @property
    def _is_over_budget(self) -> bool:
        most = self.description.most_bytes
        return most is not None and self._index.used_bytes > most

    def _key_of(self, path: Path) -> str:
        """The key of a file or directory, relative to the prefix."""
        text = str(path)
        if text == self.root:
            return ""
        if not text.startswith(self.root + os.sep):
            text = os.path.realpath(text)
        if text != self.root and not text.startswith(self.root + os.sep):
            raise StoreError(f"{path} is not below {self.root}; use a path of the mirror")
        return text[len(self.root) + 1 :]

    @contextmanager
    def naming_location(self) -> Iterator[None]:
        """Let errors name the location in place of the directory of the cache."""
        try:
            yield
        except WebEvalError as error:
            where = "/".join(filter(None, (self.description.store.location, self.description.prefix)))
            error.args = (str(error).replace(self.root, where),)
            raise

    def close(self) -> None:
        """No longer fetch files of this mirror in this process. The cache stays."""
        if self in LATE_FILES:
            LATE_FILES.remove(self)
        self._listing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def attach(description: MirrorDescription) -> Mirror:
    """The mirror in another process that sees the same cache; the same object for the same description."""
    for late in LATE_FILES:
        if isinstance(late, Mirror) and late.description.marks == description.marks:
            return late
    mirror = Mirror(description)
    LATE_FILES.append(mirror)
    return mirror


def _strip_prefix(objects: Iterable[StoredObject], prefix: str) -> Iterator[StoredObject]:
    if not prefix:
        yield from objects
        return
    start = f"{prefix}/"
    for entry in objects:
        if entry.key.startswith(start) and entry.key != start:
            yield StoredObject(entry.key[len(start) :], entry.size, entry.etag, entry.modified)


def _lay_out(  # noqa: PLR0913  (what a mirror consists of)
    store: Store, prefix: str, cache: Path, plan: Plan, most_bytes: int | None, *, complete: Container[str]
) -> Mirror:
    name = _find_name(f"{store.location}/{prefix}")
    with lock_cache(cache):
        index = CacheIndex(cache) if "" in complete else find_index(cache)
        tree = Tree(cache / FILES / name, cache / PARTS)
        index.shrink()
        tree.lay_out(plan, index, complete)
        if "" in complete:
            index.drop_others(plan.find_identity)
        listing = write_listing(cache, plan.list_objects())
        remove_remains(cache, listing)
    description = MirrorDescription(store, prefix, str(cache), name, listing, most_bytes)
    mirror = Mirror(description, plan.problems, index)
    LATE_FILES.append(mirror)
    return mirror


def _find_name(location: str) -> str:
    """The last name of a location, which results and messages show, if it is a plain one."""
    name = re.split(r"[/:\\]+", location.strip("/"))[-1]
    return name if _NAME.fullmatch(name) else "runs"
