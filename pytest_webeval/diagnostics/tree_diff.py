"""Where two trees differ, decided by the comparison that decides the verdict: what matches is never told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from pytest_webeval.diagnostics.difference import DIFFERENT
from pytest_webeval.diagnostics.difference import EXTRA
from pytest_webeval.diagnostics.difference import MISSING
from pytest_webeval.diagnostics.difference import UNREADABLE
from pytest_webeval.diagnostics.difference import Difference
from pytest_webeval.diagnostics.difference import truncate_json
from pytest_webeval.rules import ignore_rule
from pytest_webeval.values.base import Value
from pytest_webeval.values.comparison import Comparison
from pytest_webeval.values.schema import UnparsedValue

MOST_PAIRED = 50  # items of either side that are looked at: bounded work, whatever was answered
_LONGEST = 200  # characters of a text that are compared
_LARGEST = 1e300  # numbers beyond it are compared as texts


def pair_similar(expected: Sequence[Any], actual: Sequence[Any]) -> dict[int, int]:
    """Positions of expected items with those of the actual items that are likest; of equally like ones the first."""
    if len(expected) == len(actual) == 1:  # as in most failures, which then need nothing that compares texts
        return {0: 0}
    wanted = [_features(one) for one in expected[:MOST_PAIRED]]
    found = [_features(one) for one in actual[:MOST_PAIRED]]
    likest = sorted(
        (-_likeness(one, other), left, right) for left, one in enumerate(wanted) for right, other in enumerate(found)
    )
    pairs: dict[int, int] = {}
    taken = set[int]()
    for _, left, right in likest:
        if left not in pairs and right not in taken:
            pairs[left] = right
            taken.add(right)
    return pairs


def _likeness(one: float | str, other: float | str) -> float:
    """From 0 to 1. Numbers are alike as far as they are near each other, texts as far as letters agree."""
    from rapidfuzz.fuzz import ratio  # with what compares names of places

    if isinstance(one, float) and isinstance(other, float):
        return 1 - abs(one - other) / (abs(one) + abs(other) or 1)
    return float(ratio(str(one), str(other))) / 100


def _features(tree: Any) -> float | str:
    raw = tree.alternatives[0] if isinstance(tree, Value) and tree.alternatives else tree
    if isinstance(raw, timedelta):
        return raw.total_seconds()
    if isinstance(raw, int | float | Decimal) and not isinstance(raw, bool) and -_LARGEST < raw < _LARGEST:
        return float(raw)
    shown = truncate_json(tree, _LONGEST)
    text = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False, sort_keys=True)
    return text[:_LONGEST]


MOST_PAIRS = 100_000  # of a part of one tree with a part of the other; trees beyond are told of as a whole
Items = Sequence[Any]


def differences(comparison: Comparison, expected: Any, actual: Any, path: str) -> Iterator[Difference]:
    """Each place where two trees differ. They are told to differ somewhere. Raises `EvaluationError`."""
    if _size(expected) * _size(actual) > MOST_PAIRS:
        yield _whole(expected, actual, path)
    else:
        yield from _TreeDiff(replace(comparison, separate_lists=True, notice=ignore_rule)).between(
            expected, actual, path
        )


def _size(tree: Any) -> int:
    """How many parts a tree has, as far as that matters."""
    waiting, count = [tree], 0
    while waiting and count <= MOST_PAIRS:
        one = waiting.pop()
        count += 1
        if isinstance(one, Mapping):
            waiting.extend(one.values())
        elif isinstance(one, list | tuple):
            waiting.extend(one)
    return count


def _whole(expected: Any, actual: Any, path: str) -> Difference:
    if actual is None or expected is None:
        return Difference(path, EXTRA if expected is None else MISSING, expected, actual)
    return Difference(path, UNREADABLE if isinstance(actual, UnparsedValue) else DIFFERENT, expected, actual)


@dataclass(frozen=True, slots=True)
class _TreeDiff:
    comparison: Comparison

    def between(self, expected: Any, actual: Any, path: str) -> Iterator[Difference]:
        if isinstance(expected, Mapping) and isinstance(actual, Mapping):
            yield from self._objects(expected, actual, path)
        elif isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
            yield from self._arrays(expected, actual, path)
        elif not self.comparison.equal(expected, actual):
            yield _whole(expected, actual, path)

    def _objects(self, expected: Mapping[str, Any], actual: Mapping[str, Any], path: str) -> Iterator[Difference]:
        for key in sorted(expected.keys() | actual.keys()):
            inner = f"{path}.{key}"
            if key not in actual:
                yield Difference(inner, MISSING, expected[key])
            elif key in expected:
                yield from self.between(expected[key], actual[key], inner)
            elif not self.comparison.extra_keys:
                yield Difference(inner, EXTRA, None, actual[key])

    def _arrays(self, expected: Items, actual: Items, path: str) -> Iterator[Difference]:
        if self.comparison.ordered:
            yield from self._in_order(expected, actual, path)
        else:
            missing, extra = self.comparison.unmatched_items(expected, actual)
            pairs = pair_similar([expected[one] for one in missing], [actual[one] for one in extra])
            partners = {missing[left]: extra[right] for left, right in pairs.items()}
            yield from self._paired(expected, actual, path, missing, partners)
            taken = set(partners.values())
            yield from _extra(actual, path, [one for one in extra if one not in taken])

    def _paired(
        self, expected: Items, actual: Items, path: str, missing: Sequence[int], partners: Mapping[int, int]
    ) -> Iterator[Difference]:
        for position in missing:
            if position in partners:
                yield from self.between(expected[position], actual[partners[position]], f"{path}[{position}]")
            else:
                yield Difference(f"{path}[{position}]", MISSING, expected[position])

    def _in_order(self, expected: Items, actual: Items, path: str) -> Iterator[Difference]:
        """Position by position, once what agrees at the end has been left out: an item more shifts all others."""
        start = self._agreeing(expected, actual)
        end = self._agreeing(expected[start:][::-1], actual[start:][::-1])
        wanted, found = range(start, len(expected) - end), range(start, len(actual) - end)
        for left, right in zip(wanted, found, strict=False):
            yield from self.between(expected[left], actual[right], f"{path}[{left}]")
        for left in wanted[len(found) :]:
            yield Difference(f"{path}[{left}]", MISSING, expected[left])
        yield from _extra(actual, path, found[len(wanted) :])

    def _agreeing(self, expected: Items, actual: Items) -> int:
        """How many items agree before the first that do not."""
        pairs = enumerate(zip(expected, actual, strict=False))
        differing = (index for index, (one, other) in pairs if not self.comparison.equal(one, other))
        return next(differing, min(len(expected), len(actual)))


def _extra(actual: Items, path: str, positions: Sequence[int]) -> Iterator[Difference]:
    for position in positions:
        yield Difference(f"{path}[{position}]", EXTRA, None, actual[position])
