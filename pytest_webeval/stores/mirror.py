"""A run root in a store as a local directory, into which runs are fetched before anything reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Self
from weakref import WeakValueDictionary

from pytest_webeval.errors import StoreError, WebEvalError
from pytest_webeval.safety.limits import USUAL, Limits
from pytest_webeval.stores.cache import (
    PARTS,
    CacheIndex,
    Tree,
    default_cache,
    find_index,
    is_current,
    lock_cache,
    lock_directory,
    open_cache,
    remove_remains,
)
from pytest_webeval.stores.listing import CheckedReads, ListingFile, plan_tree, write_listing
from pytest_webeval.stores.store import TREE, Store, StoredObject, name_object

THREADS = 16
LARGEST_AT_ONCE = 32 * 2**20  # bytes of a file that is fetched while others are
PART, MOST_AHEAD = 50, 150  # runs that are fetched at the same time, and before they are used
_PICTURE = re.compile(r"\.(?:png|jpe?g|webp|gif|bmp|webm|mp4|mov|avi|mkv)$", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Mirror:
    """The objects of a store as files below `path`. `problems` name the objects that have no file.

    Of very many, these are the first; `problem_count` is the number of all.

    Names and sizes are there from the start, for runs are recognized by them. The content of a run is there once it was
    fetched, but for screenshots and videos, unless these are requested, and for files beyond the limit of `largest`
    bytes, which no reader accepts. Several threads and processes may share a mirror.
    """

    def __init__(
        self,
        store: Store,
        cache: Path,
        listing: str = "",
        most_bytes: int | None = None,
        largest: int = USUAL.file_size,
    ) -> None:
        self.store, self.cache, self.listing, self.most_bytes, self.largest = store, cache, listing, most_bytes, largest
        self.path = cache / TREE / _find_name(store.location)
        self.problems: list[str] = []
        self.problem_count = 0
        self._root = str(self.path)
        self._failures: dict[str, str] = {}  # by the key of an object: why it could not be fetched
        self._is_stopped = False
        _mirrors[store.location, cache, listing] = self

    @classmethod
    def open(
        cls, store: Store, cache: Path | None = None, most_bytes: int | None = None, limits: Limits = USUAL
    ) -> Self:
        """List a store once, and lay out the tree. Raises `SettingsError` for the cache and `StoreError`."""
        directory = open_cache(cache or default_cache(store.location), store.location)
        mirror = cls(store, directory, most_bytes=most_bytes, largest=limits.file_size)
        mirror.lay_out(store.list("", limits.stored_objects + 1), {""}, limits)
        if not mirror.problems and next(mirror._files.list_below(""), None) is None:
            mirror.problems.append(f"there are no objects at {name_object(store.location)}; check the location")
            mirror.problem_count = 1
        return mirror

    @classmethod
    def of_objects(
        cls,
        store: Store,
        objects: Iterable[StoredObject],
        cache: Path | None = None,
        limits: Limits = USUAL,
        *,
        complete: Container[str] = (),
    ) -> Self:
        """A mirror of some objects of a listing, which is not made again: see `lay_out`."""
        directory = open_cache(cache or default_cache(store.location), store.location)
        mirror = cls(store, directory, largest=limits.file_size)
        mirror.lay_out(objects, complete, limits)
        return mirror

    def lay_out(self, objects: Iterable[StoredObject], complete: Container[str], limits: Limits = USUAL) -> None:
        """Make the files of sorted objects, without content, and let the mirror be about these.

        Files of other objects stay in the cache. Not so below the `complete` directories, all of whose objects are
        among these: a run has no file from before. Raises `SettingsError` and `StoreError`.
        """
        cache, where = self.cache, name_object(self.store.location)
        is_sensitive = not (cache / "cachedir.tag").exists()
        plan = plan_tree(objects, is_case_sensitive=is_sensitive, limits=limits, location=where)
        with lock_cache(cache):
            index = find_index(cache)
            current = self._tree.lay_out(plan, index, complete)
            if "" in complete:
                index.keep(current)
            self.listing = write_listing(cache, plan.list_objects())
            remove_remains(cache, self.listing)
        for name in ("_files", "_reads"):  # of another listing
            vars(self).pop(name, None)
        self._failures.clear()
        self.problems, self.problem_count = plan.problems.list_all(), plan.problems.count
        _mirrors[self.store.location, cache, self.listing] = self

    def __reduce__(self) -> tuple[Callable[..., Mirror], tuple[object, ...]]:
        return attach, (self.store, self.cache, self.listing, self.most_bytes, self.largest)

    @cached_property
    def _files(self) -> ListingFile:
        return ListingFile(self.cache / self.listing)

    @cached_property
    def _reads(self) -> CheckedReads:
        return CheckedReads(self.store, self._files)

    @cached_property
    def _tree(self) -> Tree:
        return Tree(self.path, self.cache / PARTS)

    @cached_property
    def _index(self) -> CacheIndex:
        return find_index(self.cache)

    def holds(self, path: Path) -> bool:
        """Whether a path lies in the mirror."""
        return f"{path}{os.sep}".startswith(self._root + os.sep)

    def objects_below(self, directory: Path) -> Iterator[StoredObject]:
        """The objects of a run: for a worker on another machine."""
        return self._files.list_below(self._key_of(directory))

    def fetch_signs(self, list_signs: Callable[[Iterable[str]], Iterable[str]]) -> None:
        """Fetch the files by which runs are recognized, as far as their names do not suffice.

        `list_signs` gets the sorted keys of all objects, and returns those of these. What fails is noted: see `check`.
        """
        signs = set(list_signs(entry.key for entry in self._files.list_below("")))
        self._fetch_all(self._list_missing(self.path, lambda key: key in signs))

    def check(self, directory: Path, names: Iterable[str]) -> None:
        """Raise `StoreError` if one of these files of a directory could not be fetched."""
        start = f"{key}/" if self._failures and (key := self._key_of(directory)) else ""
        for problem in filter(None, (self._failures.get(start + name) for name in names if self._failures)):
            raise StoreError(problem)

    def fetch(self, directories: Iterable[Path], *, with_pictures: bool = False) -> None:
        """Fetch what is missing of some runs, all at the same time. What fails is noted: see `find_problem`."""
        self._fetch_all([entry for path in directories for entry in self._list_missing(path, _chooser(with_pictures))])

    def prefetch(self, directories: Iterable[Path], *, with_pictures: bool = False) -> None:
        """The same before the runs are used: no more than the cache may hold, and nothing once it is stopped."""
        waiting, total = [], 0
        for entry in (each for path in directories for each in self._list_missing(path, _chooser(with_pictures))):
            total += entry.size
            if self.most_bytes is not None and total > self.most_bytes:
                break
            waiting.append(entry)
        self._fetch_all(waiting, is_ahead=True)

    def find_problem(self, directory: Path) -> str | None:
        """Why a run is not complete: what went wrong with the first of its objects that could not be fetched."""
        entries = self.objects_below(directory) if self._failures else ()
        return next((self._failures[entry.key] for entry in entries if entry.key in self._failures), None)

    @contextmanager
    def using(self, directory: Path, *, with_pictures: bool = False) -> Iterator[None]:
        """Fetch what is missing of a run, and keep it from being released by others meanwhile."""
        with lock_directory(directory):
            self.fetch([directory], with_pictures=with_pictures)
            yield

    def release(self, directory: Path) -> None:
        """Remove the content of a run that nobody is using if the cache is over its budget.

        What cannot be removed stays: a disk that is full is an error of the next run that needs room on it.
        """
        with suppress(StoreError, OSError):
            if self.most_bytes is None or self._index.used_bytes <= self.most_bytes:
                return
            with lock_directory(directory, is_alone=True) as is_free:
                for entry in self.objects_below(directory) if is_free else ():
                    if entry.size and self._is_here(entry):
                        self._tree.write(entry, None)
                        self._index.drop(entry.key)

    def stop(self) -> None:
        """Fetch no more files ahead, in whichever thread that is: those on their way are the last."""
        self._is_stopped = True

    def _list_missing(self, directory: Path, is_chosen: Callable[[str], bool]) -> Iterator[StoredObject]:
        self._index.refresh()
        for entry in self.objects_below(directory):
            is_wanted = entry.size <= self.largest and is_chosen(entry.key) and entry.key not in self._failures
            if is_wanted and not self._is_here(entry):
                yield entry

    def _is_here(self, entry: StoredObject) -> bool:
        try:
            return is_current(os.lstat(f"{self._root}/{entry.key}"), entry, self._index)
        except OSError:
            return False

    def _fetch_all(self, entries: Iterable[StoredObject], *, is_ahead: bool = False) -> None:
        waiting = list(entries)
        small = [entry for entry in waiting if entry.size <= LARGEST_AT_ONCE]
        if small:
            with ThreadPoolExecutor(min(THREADS, len(small)), "webeval-store") as pool:
                list(pool.map(self._fetch, small, [is_ahead] * len(small)))
        for entry in waiting:
            if entry.size > LARGEST_AT_ONCE:
                self._fetch(entry, is_ahead)

    def _fetch(self, entry: StoredObject, is_ahead: bool) -> None:  # noqa: FBT001  (for `map`)
        if is_ahead and self._is_stopped:
            return
        try:
            content = self._reads.read(entry)
            status = self._tree.write(entry, content)
            self._index.add(entry.key, entry.identity, status)
        except StoreError as error:
            self._failures[entry.key] = str(error)
        except OSError as error:
            problem = f"cannot keep {name_object(self.store.location, entry.key)} in the cache: {error.strerror}"
            self._failures[entry.key] = f"{problem}; make room in {self.cache}, or use another cache"

    def _key_of(self, path: Path) -> str:
        """The key of a file or directory."""
        text = str(path)
        if not self.holds(path):
            text = os.path.realpath(text)
        if not self.holds(Path(text)):
            raise StoreError(f"{path} is not below {self.path}; use a path of the mirror")
        return text[len(self._root) + 1 :]

    @contextmanager
    def naming_location(self) -> Iterator[None]:
        """Let errors name the location in place of the directory of the cache."""
        try:
            yield
        except WebEvalError as error:
            error.args = (str(error).replace(self._root, self.store.location),)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


_mirrors: WeakValueDictionary[tuple[str, Path, str], Mirror] = WeakValueDictionary()


def attach(
    store: Store, cache: Path, listing: str, most_bytes: int | None = None, largest: int = USUAL.file_size
) -> Mirror:
    """The mirror in another process that sees the same cache; the same object while there is one."""
    return _mirrors.get((store.location, cache, listing)) or Mirror(store, cache, listing, most_bytes, largest)


def find_mirror(path: Path) -> Mirror | None:
    """The mirror of this process that has a path as its directory, the latest one."""
    return next((mirror for mirror in reversed(list(_mirrors.values())) if mirror.path == path), None)


def _chooser(with_pictures: bool) -> Callable[[str], bool]:  # noqa: FBT001  (what it is about)
    return lambda key: with_pictures or _PICTURE.search(key) is None


def _find_name(location: str) -> str:
    """The last name of a location, which results and messages show, if it is a plain one."""
    name = re.split(r"[/:\\]+", location.strip("/"))[-1]
    return name if _NAME.fullmatch(name) else "runs"


class Ahead:
    """Fetches some directories ahead of whoever uses them in their order, or from any of them on.

    `most` is how many may be fetched before they are used.
    """

    def __init__(
        self,
        directories: Sequence[Path],
        fetch: Callable[[Sequence[Path]], None],
        most: int = MOST_AHEAD,
        size: int = PART,
    ) -> None:
        self._directories, self._fetch, self._most, self._size = directories, fetch, most, size
        self._numbers = {path: number for number, path in enumerate(directories)}
        self._parts: dict[int, Future[None]] = {}  # by number
        self._pool = ThreadPoolExecutor(1, "webeval-ahead")

    def reach(self, path: Path) -> None:
        """Wait for a directory if it is on its way, and let others follow. Returns at once for an unknown one."""
        number = self._numbers.get(path)
        if number is None:
            return
        last = min(number + self._most, len(self._directories) - 1)
        for part in range(number // self._size, last // self._size + 1):
            if part not in self._parts:
                start = part * self._size
                paths = self._directories[start : start + self._size]
                self._parts[part] = self._pool.submit(self._fetch, paths)
        self._parts[number // self._size].result()

    def close(self) -> None:
        """Fetch nothing more."""
        self._pool.shutdown(wait=True, cancel_futures=True)
