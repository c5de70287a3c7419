"""Where two trees of values differ, as plain JSON that stays small, whatever an agent or a site put into them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pytest_webeval.results import DIFFERENT, EXTRA, MISSING, UNREADABLE, Difference, Explanation, NamedEvent
from pytest_webeval.rules import ignore_rule
from pytest_webeval.safety.text import ELLIPSIS, truncate
from pytest_webeval.values.base import Value
from pytest_webeval.values.comparison import Comparison
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


MOST_PAIRED = 50  # items of either side that are compared: bounded work, whatever was answered
_LONGEST = 200  # characters of a text that are compared
_LARGEST = 1e300  # numbers beyond it are compared as texts


def pair_similar(expected: Sequence[Any], actual: Sequence[Any]) -> dict[int, int]:
    """Positions of expected items with those of the most similar actual items; of equally similar ones the first."""
    if len(expected) == len(actual) == 1:  # as in most failures, which then need nothing that compares texts
        return {0: 0}
    expected_features = [_comparable_feature(item) for item in expected[:MOST_PAIRED]]
    actual_features = [_comparable_feature(item) for item in actual[:MOST_PAIRED]]
    ranked = sorted(
        (-_similarity(expected_feature, actual_feature), left, right)
        for left, expected_feature in enumerate(expected_features)
        for right, actual_feature in enumerate(actual_features)
    )
    pairs: dict[int, int] = {}
    taken = set[int]()
    for _, left, right in ranked:
        if left not in pairs and right not in taken:
            pairs[left] = right
            taken.add(right)
    return pairs


def _similarity(first: float | str, second: float | str) -> float:
    """From 0 to 1. Numbers are alike as far as they are near each other, texts as far as letters agree."""
    from rapidfuzz.fuzz import ratio  # with what compares names of places

    if isinstance(first, float) and isinstance(second, float):
        return 1 - abs(first - second) / (abs(first) + abs(second) or 1)
    return float(ratio(str(first), str(second))) / 100


def _comparable_feature(tree: Any) -> float | str:
    raw = tree.alternatives[0] if isinstance(tree, Value) and tree.alternatives else tree
    if isinstance(raw, timedelta):
        return raw.total_seconds()
    if isinstance(raw, int | float | Decimal) and not isinstance(raw, bool) and -_LARGEST < raw < _LARGEST:
        return float(raw)
    plain = truncate_json(tree, _LONGEST)
    text = plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False, sort_keys=True)
    return text[:_LONGEST]


MOST_PAIRS = 100_000  # of a part of one tree with a part of the other; larger trees differ as a whole
Items = Sequence[Any]


def differences(comparison: Comparison, expected: Any, actual: Any, path: str) -> Iterator[Difference]:
    """Each place where two trees differ. The caller knows that they differ. Raises `EvaluationError`."""
    if _count_parts(expected) * _count_parts(actual) > MOST_PAIRS:
        yield _differ_entirely(expected, actual, path)
    else:
        yield from _TreeDiff(replace(comparison, separate_lists=True, notice=ignore_rule)).compare(
            expected, actual, path
        )


def _count_parts(tree: Any) -> int:
    """How many parts a tree has, as far as that matters."""
    pending, count = [tree], 0
    while pending and count <= MOST_PAIRS:
        part = pending.pop()
        count += 1
        if isinstance(part, Mapping):
            pending.extend(part.values())
        elif isinstance(part, list | tuple):
            pending.extend(part)
    return count


def _differ_entirely(expected: Any, actual: Any, path: str) -> Difference:
    if actual is None or expected is None:
        return differ(path, EXTRA if expected is None else MISSING, expected, actual)
    return differ(path, UNREADABLE if isinstance(actual, UnparsedValue) else DIFFERENT, expected, actual)


class _TreeDiff(Struct, frozen=True):
    comparison: Comparison

    def compare(self, expected: Any, actual: Any, path: str) -> Iterator[Difference]:
        if isinstance(expected, Mapping) and isinstance(actual, Mapping):
            yield from self._compare_objects(expected, actual, path)
        elif isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
            yield from self._compare_arrays(expected, actual, path)
        elif not self.comparison.equal(expected, actual):
            yield _differ_entirely(expected, actual, path)

    def _compare_objects(
        self, expected: Mapping[str, Any], actual: Mapping[str, Any], path: str
    ) -> Iterator[Difference]:
        for key in sorted(expected.keys() | actual.keys()):
            inner = f"{path}.{key}"
            if key not in actual:
                yield differ(inner, MISSING, expected[key])
            elif key in expected:
                yield from self.compare(expected[key], actual[key], inner)
            elif not self.comparison.extra_keys:
                yield differ(inner, EXTRA, None, actual[key])

    def _compare_arrays(self, expected: Items, actual: Items, path: str) -> Iterator[Difference]:
        if self.comparison.ordered:
            yield from self._compare_in_order(expected, actual, path)
        else:
            missing, extra = self.comparison.unmatched_items(expected, actual)
            pairs = pair_similar([expected[index] for index in missing], [actual[index] for index in extra])
            partners = {missing[left]: extra[right] for left, right in pairs.items()}
            yield from self._compare_pairs(expected, actual, path, missing, partners)
            taken = set(partners.values())
            yield from _list_extra(actual, path, [index for index in extra if index not in taken])

    def _compare_pairs(
        self, expected: Items, actual: Items, path: str, missing: Sequence[int], partners: Mapping[int, int]
    ) -> Iterator[Difference]:
        for position in missing:
            if position in partners:
                yield from self.compare(expected[position], actual[partners[position]], f"{path}[{position}]")
            else:
                yield differ(f"{path}[{position}]", MISSING, expected[position])

    def _compare_in_order(self, expected: Items, actual: Items, path: str) -> Iterator[Difference]:
        """Position by position, without the equal items at the end: an additional item shifts all others."""
        start = self._count_agreeing(expected, actual)
        end = self._count_agreeing(expected[start:][::-1], actual[start:][::-1])
        expected_range, actual_range = range(start, len(expected) - end), range(start, len(actual) - end)
        for left, right in zip(expected_range, actual_range, strict=False):
            yield from self.compare(expected[left], actual[right], f"{path}[{left}]")
        for left in expected_range[len(actual_range) :]:
            yield differ(f"{path}[{left}]", MISSING, expected[left])
        yield from _list_extra(actual, path, actual_range[len(expected_range) :])

    def _count_agreeing(self, expected: Items, actual: Items) -> int:
        """How many items agree before the first that do not."""
        pairs = enumerate(zip(expected, actual, strict=False))
        differing = (
            index
            for index, (expected_item, actual_item) in pairs
            if not self.comparison.equal(expected_item, actual_item)
        )
        return next(differing, min(len(expected), len(actual)))


def _list_extra(actual: Items, path: str, positions: Sequence[int]) -> Iterator[Difference]:
    for position in positions:
        yield differ(f"{path}[{position}]", EXTRA, None, actual[position])
