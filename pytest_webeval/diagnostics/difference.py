"""Trees of values as plain JSON that stays small, whatever an agent or a site put into them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from pytest_webeval.results import Difference, Explanation, NamedEvent
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


MOST_DIFFERENCES = MOST_CANDIDATES = 100


def differ(path: str, kind: str, expected: Any = None, actual: Any = None) -> Difference:
    """A difference between two trees of values, bounded."""
    return Difference(bounded_path(path), kind, truncate_json(expected), truncate_json(actual))


def build_explanation(
    differences: Iterable[Difference], nearest: NamedEvent | None = None, candidates: Sequence[int] = ()
) -> Explanation:
    """The explanation with the first differences. Raises `WebEvalError` where one cannot be computed."""
    return Explanation(list(islice(differences, MOST_DIFFERENCES)), nearest, list(candidates))
