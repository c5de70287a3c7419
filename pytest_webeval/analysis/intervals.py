"""Intervals at 95 %: of a rate that was counted once, and of a mean that was measured in several runs."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos
from math import pi
from math import sin
from math import sqrt
from math import tan

from pytest_webeval.analysis.means import mean
from pytest_webeval.analysis.means import sample_std

_Z_95 = 1.959963984540054
_CONFIDENCE = 0.95
_HALVINGS = 60  # of an angle below 2: as exact as a float


def wilson(successes: int, total: int) -> tuple[float, float]:
    """The Wilson score interval of a rate (Wilson 1927), (0, 1) when nothing was counted."""
    if not total:
        return 0.0, 1.0
    rate, z = successes / total, _Z_95
    centre = rate + z * z / (2 * total)
    half = z * sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)


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
