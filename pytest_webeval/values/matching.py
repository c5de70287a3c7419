"""Which items of two arrays in any order can be equal, and a largest matching of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct, field

from pytest_webeval.values.base import Value
from pytest_webeval.values.schema import UnparsedValue

Items = Sequence[Any]
Pairs = list[list[int]]  # for each expected item the positions of all actual ones that equal it
Path = tuple[str, ...]
Key = tuple[Any, ...]


def _list_exact_leaves(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Key]]:
    """The leaves of nested objects that equal nothing but their like, each with a key that equal leaves share."""
    if isinstance(tree, Mapping):
        for name in sorted(tree):
            yield from _list_exact_leaves(tree[name], (*path, name))
    elif (key := _find_key(tree)) is not None:
        yield path, key


def _find_key(leaf: Any) -> Key | None:
    if isinstance(leaf, Value):
        return leaf.exact_key()
    return None if isinstance(leaf, Mapping | list | tuple | UnparsedValue) else (leaf,)


def _freeze(tree: Any) -> Any:
    """What is the same for those trees that compare alike."""
    if isinstance(tree, Mapping):
        return dict, tuple((name, _freeze(tree[name])) for name in sorted(tree))
    if isinstance(tree, list | tuple):
        return list, tuple(map(_freeze, tree))
    if isinstance(tree, UnparsedValue):
        return UnparsedValue if tree.read_item is None else (UnparsedValue, id(tree))  # the first equal nothing
    return tree if isinstance(tree, Value) else (type(tree), tree)


class _Absent:
    """Stands for a leaf where an item has none, so that it equals no item that has one."""


def _follow(tree: Any, path: Path) -> Any:
    for name in path:
        if not isinstance(tree, Mapping) or name not in tree:
            return _Absent()
        tree = tree[name]
    return tree


class PairFinder(Struct, frozen=True, dict=True):
    """Finds the items of an array that equal an expected one. What compares alike is compared once.

    Items are grouped by their exact leaves, so that not every one is compared with every other.
    """

    items: Items
    is_equal: Callable[[Any, Any], bool]
    _results: dict[tuple[int, int], bool] = field(default_factory=dict)
    _kinds: dict[Any, int] = field(default_factory=dict)
    _by_paths: dict[tuple[Path, ...], tuple[dict[Key, list[int]], list[int]]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many pairs have been compared."""
        return len(self._results)

    def find(self, expected: Any) -> list[int]:
        """The positions of all items that equal an expected one."""
        kind = self._find_kind(expected)
        return [each for each in self._list_candidates(expected) if self._compare(kind, expected, each)]

    def _compare(self, kind: int, expected: Any, position: int) -> bool:
        pair = kind, self._kinds_of_items[position]
        if pair not in self._results:
            self._results[pair] = self.is_equal(expected, self.items[position])
        return self._results[pair]

    def _find_kind(self, item: Any) -> int:
        """A number, the same for items that compare alike."""
        try:
            return self._kinds.setdefault(_freeze(item), len(self._kinds))
        except TypeError:  # a value of a user's type that has no hash
            return self._kinds.setdefault((id(item),), len(self._kinds))

    @cached_property
    def _kinds_of_items(self) -> list[int]:
        return list(map(self._find_kind, self.items))

    def _list_candidates(self, expected: Any) -> Sequence[int]:
        """The positions, in order, of all items that may equal an expected one."""
        leaves = list(_list_exact_leaves(expected))
        if not leaves:
            return range(len(self.items))
        paths = tuple(path for path, _ in leaves)
        if paths not in self._by_paths:
            self._by_paths[paths] = self._group(paths)
        by_key, undecided = self._by_paths[paths]
        same = by_key.get(tuple(key for _, key in leaves), [])
        return sorted([*same, *undecided]) if undecided else same

    def _group(self, paths: tuple[Path, ...]) -> tuple[dict[Key, list[int]], list[int]]:
        """Positions by the keys that stand at these paths, and those of items with a leaf that has no key."""
        by_key: dict[Key, list[int]] = {}
        undecided = []
        for position, item in enumerate(self.items):
            leaves = [_follow(item, path) for path in paths]
            keys = tuple(map(_find_key, leaves))
            if None not in keys:
                by_key.setdefault(keys, []).append(position)
            elif not any(isinstance(leaf, _Absent | UnparsedValue | Mapping | list | tuple) for leaf in leaves):
                undecided.append(position)  # one with alternatives, or with a pattern
        return by_key, undecided


def walk(tree: Any) -> Iterator[Any]:
    """All parts of a tree: objects, arrays and leaves."""
    pending = [tree]
    while pending:
        part = pending.pop()
        yield part
        if isinstance(part, Mapping):
            pending.extend(part.values())
        elif isinstance(part, list | tuple):
            pending.extend(part)


def find_maximum_matching(choices: Sequence[Sequence[int]]) -> dict[int, int]:
    """A largest matching of left positions to right ones; the result maps right to left.

    ``choices[left]`` lists the right positions that would do. Augmenting paths, sought without recursion (Kuhn 1955).
    What a search in vain reached is `dead`: no later search finds a partner there.
    """
    partners: dict[int, int] = {}
    dead: set[int] = set()
    for start in range(len(choices)):
        reached_from: dict[int, int] = {}  # right position -> the left one that would take it
        free = _find_free(start, choices, partners, reached_from, dead)
        if free is None:
            dead.update(reached_from)
            continue
        # Hand partners on along the path that ends at the free one.
        previous_partners = {left: right for right, left in partners.items()}
        while free is not None:
            left = reached_from[free]
            partners[free] = left
            free = None if left == start else previous_partners[left]
    return partners


def _find_free(
    start: int,
    choices: Sequence[Sequence[int]],
    partners: dict[int, int],
    reached_from: dict[int, int],
    dead: set[int],
) -> int | None:
    """A right position without a partner that `start` can have, if others take a second choice of theirs."""
    pending = [start]
    while pending:
        left = pending.pop()
        for right in choices[left]:
            if right in reached_from or right in dead:
                continue
            reached_from[right] = left
            if right not in partners:
                return right
            pending.append(partners[right])
    return None
