"""Counts of what the rows say, and means by what they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any

from pytest_webeval.analysis.means import mean_and_n
from pytest_webeval.analysis.rows import Row
from pytest_webeval.analysis.rows import in_order

EXAMPLES = 3
_LONGEST_ERROR = 80


def counts(values: Iterable[str], always: Sequence[str] = ()) -> dict[str, int]:
    """How often each value occurs: those that are always told in their order, then the others sorted."""
    found = Counter(values)
    return {value: found[value] for value in (*always, *sorted(found.keys() - set(always)))}


def mean_scores(rows: Iterable[Row], of: Callable[[Row], str | None]) -> dict[str, dict[str, Any]]:
    """The mean score and its denominator for each value of a property; rows without that property are left out."""
    table: dict[str, list[float]] = {}
    for row in rows:
        value = of(row)
        if value is not None:
            table.setdefault(value, []).extend([] if row.score is None else [row.score])
    return {value: mean_and_n(table[value]) for value in sorted(table)}


def last_errors(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """What trajectories ended with, most frequent first, each with its share of all and a few examples."""
    table: dict[str, list[str]] = {}
    for row in in_order(rows):
        if row.last_error:
            table.setdefault(row.last_error[:_LONGEST_ERROR], []).append(row.label)
    return [
        {"type": error, "count": len(labels), "share": len(labels) / len(rows), "examples": labels[:EXAMPLES]}
        for error, labels in sorted(table.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    ]
