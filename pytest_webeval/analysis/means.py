"""Means and spreads. Sums are exact and rounded once, so that the order of the values has no effect."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import Any

Number = int | float | Fraction


def mean(values: Sequence[Number]) -> float | None:
    """The arithmetic mean, None of nothing."""
    return float(_exact_mean(values)) if values else None


def sample_std(values: Sequence[Number]) -> float | None:
    """The standard deviation with n - 1 (`fara_webeval.md` Q35), None of fewer than two values."""
    if len(values) < 2:
        return None
    centre = _exact_mean(values)
    return sqrt(sum((Fraction(value) - centre) ** 2 for value in values) / (len(values) - 1))


def median(values: Sequence[Number]) -> float | None:
    """The middle value, or the mean of the two middle ones."""
    ordered, half = sorted(values), len(values) // 2
    if len(values) % 2:
        return _plain(ordered[half])
    return mean(ordered[half - 1 : half + 1])


def spread(values: Sequence[Number]) -> dict[str, Any]:
    """Count, mean, sample standard deviation, smallest, middle and largest value; null where there is none."""
    return {
        "count": len(values),
        "mean": mean(values),
        "std": sample_std(values),
        "min": _plain(min(values)) if values else None,
        "median": median(values),
        "max": _plain(max(values)) if values else None,
    }


def mean_and_n(values: Sequence[Number]) -> dict[str, Any]:
    """The mean and of how many values."""
    return {"mean": mean(values), "n": len(values)}


def with_denominator(name: str, values: Sequence[Number]) -> dict[str, Any]:
    """The mean under its name, and of how many values under `<name>_denominator`."""
    return {name: mean(values), f"{name}_denominator": len(values)}


def _exact_mean(values: Sequence[Number]) -> Fraction:
    return sum((Fraction(value) for value in values), Fraction(0)) / len(values)


def _plain(value: Number) -> float:
    return value if isinstance(value, int) else float(value)
