"""Which of the things that were found stands for which of those that were expected: the likest first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

from pytest_webeval.explanations.bounded import bounded
from pytest_webeval.values.base import Value

MOST_PAIRED = 50  # items of either side that are looked at: bounded work, whatever was answered
_LONGEST = 200  # characters of a text that are compared
_LARGEST = 1e300  # numbers beyond it are compared as texts


def paired(expected: Sequence[Any], actual: Sequence[Any]) -> dict[int, int]:
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
    shown = bounded(tree, _LONGEST)
    text = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False, sort_keys=True)
    return text[:_LONGEST]
