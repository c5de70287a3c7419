"""Trees of values as plain JSON that stays small, whatever an agent or a site put into them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from pytest_webeval.safety.text import ELLIPSIS, truncate
from pytest_webeval.values.base import Value
from pytest_webeval.values.schema import MAX_REPORT_DEPTH, UnparsedValue, to_plain_json

LONGEST, LONGEST_PATH, _PATH_TAIL = 2_000, 300, 99
_BRACKETS = _MARKS = 2  # characters around a structure or a text, and around what follows a name or an item
_MOST_BITS = 1_024  # of a whole number; Python itself refuses to write those with thousands of digits


class _Budget(Struct):
    """How many characters are left."""

    left: int

    def take(self, requested: int) -> int:
        """As many of them as there are."""
        taken = max(min(self.left, requested), 0)
        self.left -= requested
        return taken


def truncate_json(tree: Any, longest: int = LONGEST) -> Any:
    """The tree as plain JSON of about so many characters. Its shape stays; what was cut off shows as an ellipsis."""
    return _truncate(tree, _Budget(longest), MAX_REPORT_DEPTH)


def bounded_path(path: str) -> str:
    """A path, without its middle where it is long: its start and its end show the kind of value."""
    return path if len(path) <= LONGEST_PATH else truncate(path, LONGEST_PATH - _PATH_TAIL) + path[-_PATH_TAIL:]


def _truncate(tree: Any, budget: _Budget, depth: int) -> Any:
    if isinstance(tree, Value | UnparsedValue):
        return _truncate(tree.to_json() if isinstance(tree, Value) else tree.raw, budget, depth)
    if isinstance(tree, str):
        budget.take(_MARKS)
        taken = budget.take(len(tree))
        return truncate(tree, taken, is_marker_extra=True)
    if isinstance(tree, Mapping | list | tuple):
        budget.take(_BRACKETS)
        if not depth:
            return ELLIPSIS
        return (
            _truncate_members(tree, budget, depth)
            if isinstance(tree, Mapping)
            else _truncate_items(tree, budget, depth)
        )
    return _truncate_leaf(tree, budget)


def _truncate_members(tree: Mapping[str, Any], budget: _Budget, depth: int) -> dict[str, Any]:
    truncated: dict[str, Any] = {}
    for name, member in tree.items():
        if budget.left <= len(name):
            return truncated | {ELLIPSIS: ELLIPSIS}
        budget.take(len(name) + _MARKS + _MARKS)
        truncated[name] = _truncate(member, budget, depth - 1)
    return truncated


def _truncate_items(tree: Iterable[Any], budget: _Budget, depth: int) -> list[Any]:
    truncated: list[Any] = []
    for item in tree:
        if budget.left <= 0:
            return [*truncated, ELLIPSIS]
        budget.take(_MARKS)
        truncated.append(_truncate(item, budget, depth - 1))
    return truncated


def _truncate_leaf(leaf: Any, budget: _Budget) -> Any:
    if isinstance(leaf, int) and leaf.bit_length() > _MOST_BITS:
        return ELLIPSIS
    plain = to_plain_json(leaf)
    budget.take(len(str(plain)))
    return plain


DIFFERENT, MISSING, EXTRA, UNREADABLE = "different", "missing", "extra", "unreadable"
MOST_DIFFERENCES = MOST_CANDIDATES = 100


class Difference(Struct, frozen=True):
    """One place where the actual value is not the expected one.

    In arrays whose order does not matter, a path counts the expected items, but for what is `extra`.
    """

    path: str
    kind: str
    expected: Any = None
    actual: Any = None

    def to_json(self) -> dict[str, Any]:
        """The same as plain JSON of bounded size."""
        values = {"expected": truncate_json(self.expected), "actual": truncate_json(self.actual)}
        return {"path": bounded_path(self.path), "kind": self.kind, **values}


class Explanation(Struct, frozen=True):
    """All differences; for events the nearest one as reports show it, and the positions of the candidates."""

    differences: Iterable[Difference]
    nearest: dict[str, Any] | None = None
    candidates: Sequence[int] = ()

    def to_json(self) -> dict[str, Any]:
        """The first differences as plain JSON. Raises `WebEvalError` where one cannot be computed."""
        first_differences = [difference.to_json() for difference in islice(self.differences, MOST_DIFFERENCES)]
        return {"differences": first_differences, "nearest": self.nearest, "candidates": list(self.candidates)}
