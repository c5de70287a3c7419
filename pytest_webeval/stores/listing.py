"""One listing of a store: which objects have a place in a tree, where any process finds them, and what they hold."""

from __future__ import annotations

import hashlib
import mmap
import os
import re
import time
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from msgspec import Struct, field, json

from pytest_webeval.errors import SettingsError, StoreError
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.limits import USUAL, Limits
from pytest_webeval.safety.text import preview
from pytest_webeval.storage import write_bytes
from pytest_webeval.stores.remote_store import RemoteStore
from pytest_webeval.stores.store import Store, StoredObject, find_key_problem, name_object

MOST_PROBLEMS = 20  # that are named
_MOST_SHOWN = 200
_MOST_SIZE = 2**60
PREFIX, SUFFIX = "listing-", ".jsonl"  # of a file with sorted objects
PAUSES = (0.2, 1.0)  # seconds before an object is read again that differs from its listing
_MD5 = re.compile(r"[0-9a-f]{32}")
_MOST_SAMPLES, _LARGEST_SAMPLE = 5, 2**20  # objects that show whether etags are checksums; bytes of one
_MOST_SEARCHED = 10_000  # objects


class Problems(Struct):
    """Objects that have no place in the tree, the first of them by name."""

    named: list[str] = field(default_factory=list)
    count: int = 0

    def add(self, key: str, problem: str) -> None:
        """Note an object that is skipped."""
        self.count += 1
        if self.count <= MOST_PROBLEMS:
            self.named.append(f"skipped object {preview(key, _MOST_SHOWN, is_ascii=True)}: {problem}")

    def list_all(self) -> list[str]:
        """A line for each, or for the rest of very many."""
        more = self.count - len(self.named)
        return [*self.named, f"skipped {more:,} more objects"] if more else list(self.named)


class Plan(Struct):
    """The directories of a tree, that of the root as an empty text, and the objects in each by name."""

    directories: set[str] = field(default_factory=lambda: {""})
    files: dict[str, dict[str, StoredObject]] = field(default_factory=dict)
    problems: Problems = field(default_factory=Problems)

    def list_objects(self) -> list[StoredObject]:
        """All objects that have a place, sorted by key."""
        objects = [entry for files in self.files.values() for entry in files.values()]
        return sorted(objects, key=lambda entry: entry.key)

    def list_children(self) -> dict[str, set[str]]:
        """The names of the directories in each directory."""
        children: dict[str, set[str]] = {}
        for directory in self.directories:
            if directory:
                parent, _, name = directory.rpartition("/")
                children.setdefault(parent, set()).add(name)
        return children


def plan_tree(
    objects: Iterable[StoredObject], *, is_case_sensitive: bool = True, limits: Limits = USUAL, location: str = ""
) -> Plan:
    """The tree of sorted objects. Raises `StoreError` if they are too many."""
    plan, spellings = Plan(), None if is_case_sensitive else _Spellings()
    for number, entry in enumerate(objects):
        if number >= limits.stored_objects:
            problem = f"cannot list {location}: it has more than {limits.stored_objects:,} objects"
            raise StoreError(f"{problem}; {limits.describe('stored_objects')}")
        path = entry.key.removesuffix("/")
        reason = _find_problem(path, entry) or (spellings.find_problem(path) if spellings else None)
        if reason is None:
            _add(plan, path, entry)
        else:
            plan.problems.add(entry.key, reason)
    _remove_ambiguous(plan)
    return plan


def _find_problem(path: str, entry: StoredObject) -> str | None:
    if not 0 <= entry.size < _MOST_SIZE:
        return "its size is impossible"
    if entry.size and path != entry.key:
        return "it is a directory with content"
    return find_key_problem(path)


def _add(plan: Plan, path: str, entry: StoredObject) -> None:
    parent, _, name = path.rpartition("/")
    directory = parent if path == entry.key else path
    while directory not in plan.directories:
        plan.directories.add(directory)
        directory = directory.rpartition("/")[0]
    if path == entry.key:
        plan.files.setdefault(parent, {})[name] = entry


def _remove_ambiguous(plan: Plan) -> None:
    for directory in sorted(plan.directories):
        parent, _, name = directory.rpartition("/")
        if directory and plan.files.get(parent, {}).pop(name, None) is not None:
            plan.problems.add(directory, "it is a file and a directory")


class _Spellings:
    """The spelling of each path on a disk that holds only one of those that differ in case."""

    def __init__(self) -> None:
        self._spellings: dict[str, str] = {}

    def find_problem(self, path: str) -> str | None:
        end = -1
        while end != len(path):
            end = path.find("/", end + 1)
            end = len(path) if end < 0 else end
            folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", path[:end]).casefold())
            if self._spellings.setdefault(folded, path[:end]) != path[:end]:
                return "another name differs from it in case only, and this disk cannot hold both"
        return None


def write_listing(directory: Path, objects: Iterable[StoredObject]) -> str:
    """Write sorted objects to a file that is named after its content. Returns its name. Raises `SettingsError`."""
    encoder = json.Encoder()
    rows = ((entry.key, entry.size, entry.etag, entry.modified) for entry in objects)
    content = b"".join(encoder.encode(row) + b"\n" for row in rows)
    name = f"{PREFIX}{sha256(content)[:32]}{SUFFIX}"
    try:
        os.utime(directory / name)  # so that no other process takes it for one that is no longer used
    except OSError:
        write_bytes(directory / name, content, "choose another cache")
    return name


_DECODER = json.Decoder(tuple[str, int, str | None, float | None])


class ListingFile:
    """Finds objects in such a file by halves, without reading all of it."""

    def __init__(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                size = path.stat().st_size
                self._rows = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        except OSError as error:
            raise SettingsError(f"cannot read {path}: {error.strerror}; open the store again") from error

    def list_below(self, directory: str) -> Iterator[StoredObject]:
        """All objects below a directory, or all with an empty text."""
        start = f"{directory}/" if directory else ""
        for entry in self.list_from(start):
            if not entry.key.startswith(start):
                return
            yield entry

    def list_from(self, key: str) -> Iterator[StoredObject]:
        """The objects from the first whose key is not smaller."""
        low, high = 0, len(self._rows)
        while low < high:
            start = self._rows.rfind(b"\n", 0, (low + high) // 2) + 1
            entry, end = self._read_row(start)
            low, high = (end, high) if entry.key < key else (low, start)
        while low < len(self._rows):
            entry, low = self._read_row(low)
            yield entry

    def _read_row(self, start: int) -> tuple[StoredObject, int]:
        end = self._rows.find(b"\n", start) + 1
        return StoredObject(*_DECODER.decode(self._rows[start : end - 1])), end


class CheckedReads:
    """Reads objects, and compares them with their listing: their size, and their checksum where the etag has one.

    An etag of 32 digits is usually the MD5 of the content, but not where objects are encrypted with a key of KMS.
    So an object that does not fit is compared with others: if none of them fits, etags are no checksums here. If some
    do, the store is asked how this one is encrypted: a bucket may have got its key later.
    """

    def __init__(self, store: Store, listing: ListingFile) -> None:
        self._store, self._listing = store, listing
        self._has_checksums: bool | None = None

    def read(self, entry: StoredObject) -> bytes:
        """The bytes of an object. Raises `StoreError`."""
        for pause in (*PAUSES, None):
            content = self._store.read(entry.key)
            problem = find_difference(content, entry)
            if problem is None or (len(content) == entry.size and not self._are_etags_checksums(entry)):
                return content
            if pause is not None:
                time.sleep(pause)
        advice = "it was written since, or only in part: write it again, and list the store again"
        raise StoreError(f"cannot read {name_object(self._store.location, entry.key)}: {problem}; {advice}")

    def _are_etags_checksums(self, suspect: StoredObject) -> bool:
        if self._has_checksums is None:
            candidates = (
                entry
                for entry in islice(self._listing.list_below(""), _MOST_SEARCHED)
                if entry.key != suspect.key and 0 < entry.size <= _LARGEST_SAMPLE and _MD5.fullmatch(entry.etag or "")
            )
            samples = list(islice(candidates, _MOST_SAMPLES))
            readable = [fits for fits in map(self._fits, samples) if fits is not None]
            if not readable:
                return True  # nobody knows now
            self._has_checksums = any(readable)
        if self._has_checksums and isinstance(self._store, RemoteStore):
            with suppress(StoreError):
                return self._store.may_have_checksum(suspect.key)
        return self._has_checksums

    def _fits(self, entry: StoredObject) -> bool | None:
        """Whether an object fits its checksum; None if it cannot be read."""
        try:
            return find_difference(self._store.read(entry.key), entry) is None
        except StoreError:
            return None


def find_difference(content: bytes, entry: StoredObject) -> str | None:
    """How the bytes of an object differ from its listing; None if they do not."""
    if len(content) != entry.size:
        return f"it has {len(content):,} bytes, but {entry.size:,} in the listing"
    if entry.etag is not None and _MD5.fullmatch(entry.etag):
        digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
        return None if digest == entry.etag else "its content differs from the checksum in the listing"
    return None
