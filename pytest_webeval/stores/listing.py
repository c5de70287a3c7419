"""From one listing of a store to a tree of directories and files: which objects can have a place in it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from msgspec import Struct, field

from pytest_webeval.errors import StoreError
from pytest_webeval.safety.limits import USUAL, Limits
from pytest_webeval.safety.text import preview
from pytest_webeval.stores.keys import find_key_problem
from pytest_webeval.stores.store import StoredObject

MOST_PROBLEMS = 20  # that are named
_MOST_SHOWN = 200
_MOST_SIZE = 2**60


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

    def find_identity(self, key: str) -> str | None:
        """The identity of the object with a key, if it has a place."""
        parent, _, name = key.rpartition("/")
        entry = self.files.get(parent, {}).get(name)
        return entry.identity if entry else None

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
