"""A run root in a store as a local directory, into which runs are fetched before anything reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Self
from weakref import WeakValueDictionary

from pytest_webeval.errors import StoreError, WebEvalError
from pytest_webeval.safety.files import CACHE_TREE, UNFETCHED
from pytest_webeval.safety.limits import INI, USUAL, Limits
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
from pytest_webeval.stores.store import Store, StoredObject, name_object

THREADS = 16
LARGEST_AT_ONCE = 32 * 2**20  # bytes of a file that is fetched while others are
PART, MOST_AHEAD = 50, 150  # runs that are fetched at the same time, and before they are used
_PICTURE = re.compile(r"\.(?:png|jpe?g|webp|gif|bmp|webm|mp4|mov|avi|mkv)$", re.IGNORECASE)
ListSigns = Callable[[Iterable[str]], Iterable[str]]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Mirror:
    """The objects of a store as files below `path`. `problems` name the objects that have no file.

    Of very many, these are the first; `problem_count` is the number of all.

    Names and sizes are there from the start, for runs are recognized by them. The content of a run is there once it was
    fetched, but for screenshots and videos, unless these are requested, and for files beyond the limit of `largest`
    bytes, which no reader accepts. Reading a file without its content raises `StoreError`, which says why. Several
    threads and processes may share a mirror.
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
        name = re.split(r"[/:\\]+", store.location.strip("/"))[-1]  # which results and messages show
        self.path = cache / CACHE_TREE / (name if _NAME.fullmatch(name) else "runs")
        self.problems: list[str] = []
        self.problem_count = 0
        self._root = str(self.path)
        self._failed: dict[str, str] = {}  # by the key of an object: why it could not be fetched, as in `UNFETCHED`
        self._signs: list[StoredObject] = []  # that were fetched last
        self._has_all_signs = most_bytes is None
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
        self._forget_failures(StoredObject(key, 0) for key in list(self._failed))
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

    def fetch_signs(
        self, list_signs: ListSigns, since: Path | None = None, needed: Container[str] = frozenset()
    ) -> None:
        """Fetch the files by which runs are recognized, as far as their names do not suffice, from a directory on.

        `list_signs` gets the sorted keys of objects, and returns those of these. If the cache may not hold all of
        them, the `needed` and the first ones are fetched, in place of those before: see `bring_signs`.
        """
        self._give_back_signs()
        start = self._start_of(since or self.path)
        signs = set(list_signs(entry.key for entry in self._files.list_from(start)))
        missing = list(self._choose_missing(entry for entry in self._files.list_from(start) if entry.key in signs))
        self._signs = list(self._limit(missing, needed))
        self._has_all_signs = since is None and len(self._signs) == len(missing)
        self._fetch_all(sorted(self._signs, key=lambda entry: entry.key.count("/")))  # `tasks.json` first of all

    def bring_signs(self, directory: Path, list_signs: ListSigns, *, is_searching: bool = True) -> None:
        """Fetch those in a directory and in directories in it if one is missing, for a search the next ones as well."""
        if self._has_all_signs:
            return
        level = self._start_of(directory).count("/") + 1
        near = [entry for entry in self.objects_below(directory) if entry.key.count("/") <= level]
        signs = set(list_signs(entry.key for entry in near))
        wanted = [entry for entry in near if entry.key in signs]
        if any(self._choose_missing(wanted)) and is_searching:
            self.fetch_signs(list_signs, directory, signs)
        elif any(self._choose_missing(wanted)):
            self._give_back_signs()
            self._signs = list(self._choose_missing(wanted))
            self._fetch_all(self._signs)

    def _give_back_signs(self) -> None:
        """Remove the content of those that were fetched last."""
        for entry in self._signs:
            place = Path(self._place(entry.key))
            self._give_back([entry], place.parent, place.parent.parent)
        self._signs = []

    def fetch(self, directories: Iterable[Path], *, with_pictures: bool = False) -> None:
        """Fetch what is missing of some runs, all at the same time, and try again what has failed before.

        What fails is an error of whoever reads it: see `find_problem`.
        """
        wanted = [entry for path in directories for entry in self._list_wanted(path, with_pictures)]
        self._forget_failures(wanted)
        self._fetch_all(self._choose_missing(wanted))

    def prefetch(self, directories: Iterable[Path], *, with_pictures: bool = False) -> None:
        """The same before the runs are used: no more than the cache may hold, and nothing once it is stopped."""
        wanted = [entry for path in directories for entry in self._list_wanted(path, with_pictures)]
        self._fetch_all(self._limit(self._choose_missing(wanted)), is_ahead=True)

    def find_problem(self, directory: Path) -> str | None:
        """Why a run is not complete: what went wrong with the first of its objects that could not be fetched."""
        keys = (entry.key for entry in (self.objects_below(directory) if self._failed else ()))
        return next((self._failed[key] for key in keys if key in self._failed), None)

    @contextmanager
    def using(self, directory: Path, *, with_pictures: bool = False) -> Iterator[None]:
        """Fetch what is missing of a run, and keep it from being released by others meanwhile.

        What has failed ahead is not tried again before it was told here, but by the next one who uses the run.
        """
        with lock_directory(directory):
            wanted = list(self._list_wanted(directory, with_pictures))
            self._fetch_all(self._choose_missing(wanted))
            try:
                yield
            finally:
                self._forget_failures(wanted)

    def release(self, directory: Path) -> None:
        """Remove the content of a run that nobody is using if the cache is over its budget.

        What cannot be removed stays: a disk that is full is an error of the next run that needs room on it.
        """
        with suppress(StoreError):
            if self.most_bytes is not None and self._index.used_bytes > self.most_bytes:
                self._give_back(self.objects_below(directory), directory)

    def _give_back(self, entries: Iterable[StoredObject], *directories: Path) -> None:
        """Remove the content of objects in directories that nobody is using."""
        with suppress(StoreError, OSError), ExitStack() as stack:
            if all(stack.enter_context(lock_directory(path, is_alone=True)) for path in directories):
                for entry in entries:
                    if entry.size and self._is_here(entry):
                        self._tree.write(entry, None)
                        self._index.drop(entry.key)

    def stop(self) -> None:
        """Fetch no more files ahead, in whichever thread that is: those on their way are the last."""
        self._is_stopped = True

    def _list_wanted(self, directory: Path, with_pictures: bool) -> Iterator[StoredObject]:  # noqa: FBT001  (what it is about)
        entries = self.objects_below(directory)
        return (entry for entry in entries if with_pictures or _PICTURE.search(entry.key) is None)

    def _choose_missing(self, entries: Iterable[StoredObject]) -> Iterator[StoredObject]:
        """Those that are to be fetched: not what is too large for any reader, or has failed and is to be told."""
        self._index.refresh()
        for entry in entries:
            if entry.size > self.largest:
                limit = f"the limit is {self.largest:,}; see file_size in {INI}"
                UNFETCHED[self._place(entry.key)] = f"{self._place(entry.key)} has {entry.size:,} bytes; {limit}"
            elif entry.key not in self._failed and not self._is_here(entry):
                yield entry

    def _limit(self, entries: Iterable[StoredObject], needed: Container[str] = frozenset()) -> Iterator[StoredObject]:
        """Those that are needed, and the first of the others, as many as the cache may hold."""
        total = 0
        for entry in entries:
            total += entry.size
            if self.most_bytes is None or total <= self.most_bytes or entry.key in needed:
                yield entry

    def _is_here(self, entry: StoredObject) -> bool:
        path = self._place(entry.key)
        try:
            return is_current(path, os.lstat(path), entry, self._index)
        except OSError:
            return False

    def _place(self, key: str) -> str:
        return f"{self._root}/{key}"

    def _start_of(self, directory: Path) -> str:
        """What the keys in a directory begin with."""
        return f"{key}/" if (key := self._key_of(directory)) else ""

    def _forget_failures(self, entries: Iterable[StoredObject]) -> None:
        for entry in entries if self._failed else ():
            if self._failed.pop(entry.key, None) is not None:
                UNFETCHED.pop(self._place(entry.key), None)

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
            self._note_failure(entry, str(error))
        except OSError as error:
            problem = f"cannot keep {name_object(self.store.location, entry.key)} in the cache: {error.strerror}"
            self._note_failure(entry, f"{problem}; make room in {self.cache}, or use another cache")

    def _note_failure(self, entry: StoredObject, problem: str) -> None:
        UNFETCHED[self._place(entry.key)] = self._failed[entry.key] = problem

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
