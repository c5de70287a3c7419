"""Groups, means and spreads; intervals at 95 % of a rate that was counted once, and of a mean of several runs."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from math import cos, pi, sin, sqrt, tan
from typing import Any, TypeVar

Number = int | float | Fraction
Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


def group(items: Iterable[Item], find_key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """The items by a key, in their order."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(find_key(item), []).append(item)
    return groups


def mean(values: Sequence[Number]) -> float | None:
    """The arithmetic mean, rounded once; None without values."""
    return float(statistics.mean(values)) if values else None  # type: ignore[type-var]


def sample_std(values: Sequence[Number]) -> float | None:
    """The standard deviation with n - 1 (`fara_webeval.md` Q35), None of fewer than two values."""
    return sqrt(statistics.variance(values)) if len(values) > 1 else None  # type: ignore[type-var]


def median(values: Sequence[Number]) -> float | None:
    """The middle value, or the mean of the two middle ones; None without values."""
    return _plain(statistics.median(values)) if values else None  # type: ignore[type-var]


def spread(values: Sequence[Number]) -> dict[str, Any]:
    """Count, mean, sample standard deviation, minimum, median and maximum; null without values."""
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


def _plain(value: Number) -> float:
    return value if isinstance(value, int) else float(value)


Z_95 = 1.959963984540054
_CONFIDENCE = 0.95
_HALVINGS = 60  # of an angle below 2: as exact as a float


def wilson(successes: float, total: int) -> tuple[float, float]:
    """The Wilson score interval of a rate (Wilson 1927), (0, 1) when nothing was counted."""
    if not total:
        return 0.0, 1.0
    rate, z = successes / total, Z_95
    centre = rate + z * z / (2 * total)
    half = z * sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)


def wilson_over_tasks(successes: int, runs: int, tasks: int) -> tuple[float, float]:
    """The Wilson interval of a rate over runs. Runs of one task are not independent: they count as so many tasks."""
    return wilson(successes * tasks / runs, tasks) if 0 < tasks < runs else wilson(successes, runs)


def student_t_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The interval of the mean of independent measurements (Student 1908), None for fewer than two.

    Where all measurements lie in [0, 1] it is clipped to that: they are shares, and so is their mean.
    """
    centre, std = mean(values), sample_std(values)
    if centre is None or std is None:
        return None
    half = t_quantile(len(values) - 1) * std / sqrt(len(values))
    low, high = centre - half, centre + half
    return (max(0.0, low), min(1.0, high)) if min(values) >= 0 and max(values) <= 1 else (low, high)


def t_quantile(degrees: int) -> float:
    """How many standard errors 95 % of Student's t distribution lie around its mean."""
    low, high = 0.0, pi / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _share_within(middle, degrees) < _CONFIDENCE:
            low = middle
        else:
            high = middle
    return sqrt(degrees) * tan(low)


def _share_within(angle: float, degrees: int) -> float:
    """The probability of |t| < sqrt(degrees) * tan(angle): a finite sum for whole degrees of freedom.

    Abramowitz and Stegun 26.7.3 and 26.7.4. Each term of the sum is the one before times (k - 1) / k * cos².
    """
    is_odd, square = degrees % 2, cos(angle) ** 2
    term = cos(angle) if is_odd else 1.0
    total = 0.0
    for k in range(3 if is_odd else 2, degrees + 1, 2):
        total += term
        term *= (k - 1) / k * square
    if is_odd:
        return 2 / pi * (angle + sin(angle) * total)
    return sin(angle) * total
