"""How far two people, or a judge and people, agree on successes: counts, shares and Cohen's kappa, with intervals.

What is not defined for some counts is None, never NaN: the precision of a judge without a success, for example.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from math import sqrt
from typing import Any, Self

from msgspec import Struct

from pytest_webeval.summary.statistics import Z_95, wilson

Interval = tuple[float, float]


class Share(Struct, frozen=True):
    """So many of a total. `interval` is the Wilson score interval at 95 % (Wilson 1927)."""

    count: int
    total: int

    @property
    def value(self) -> float | None:
        """The share; None of nothing."""
        return self.count / self.total if self.total else None

    @property
    def interval(self) -> Interval | None:
        """Its interval; None of nothing."""
        return wilson(self.count, self.total) if self.total else None

    def to_json(self) -> dict[str, Any]:
        """The share with its counts."""
        return estimate_to_json(self.value, self.interval) | {"count": self.count, "total": self.total}


class Kappa(Struct, frozen=True):
    """Agreement beyond chance (Cohen 1960), with the asymptotic standard error of Fleiss, Cohen and Everitt (1969)."""

    value: float
    standard_error: float

    @property
    def interval(self) -> Interval:
        """The normal interval at 95 % within [-1, 1]. It has no width where all agree, however few they are."""
        half = Z_95 * self.standard_error
        return max(-1.0, self.value - half), min(1.0, self.value + half)

    def to_json(self) -> dict[str, Any]:
        """The value with its interval and standard error."""
        return estimate_to_json(self.value, self.interval) | {"standard_error": self.standard_error}


def estimate_to_json(value: float | None, interval: Interval | None) -> dict[str, Any]:
    """A number with its interval as JSON has it."""
    return {"value": value, "interval_95": None if interval is None else list(interval)}


class ConfusionTable(Struct, frozen=True):
    """How often a verdict and a label are a success (positive) or a failure (negative)."""

    true_positive: int = 0
    false_positive: int = 0
    false_negative: int = 0
    true_negative: int = 0

    @classmethod
    def count(cls, pairs: Iterable[tuple[bool, bool]]) -> Self:
        """The table of pairs of a verdict and a label."""
        counts = Counter(pairs)
        return cls(counts[True, True], counts[True, False], counts[False, True], counts[False, False])

    @property
    def total(self) -> int:
        """How many pairs there are."""
        return self.true_positive + self.false_positive + self.false_negative + self.true_negative

    @property
    def accuracy(self) -> Share:
        """The share of verdicts that are as the label."""
        return Share(self.true_positive + self.true_negative, self.total)

    @property
    def precision(self) -> Share:
        """The share of labelled successes among successes of the judge."""
        return Share(self.true_positive, self.true_positive + self.false_positive)

    @property
    def recall(self) -> Share:
        """The share of labelled successes that the judge recognizes: its sensitivity."""
        return Share(self.true_positive, self.true_positive + self.false_negative)

    @property
    def specificity(self) -> Share:
        """The share of labelled failures that the judge recognizes."""
        return Share(self.true_negative, self.true_negative + self.false_positive)

    @property
    def base_rate(self) -> Share:
        """The share of labelled successes. Most of an accuracy can be due to a rate far from one half."""
        return Share(self.true_positive + self.false_negative, self.total)

    @property
    def kappa(self) -> Kappa | None:
        """Cohen's kappa; None without pairs, or where verdicts and labels are all the same word."""
        if not self.total:
            return None
        agreed = Fraction(self.accuracy.count, self.total)
        verdicts, labels = self._success_shares
        expected = verdicts * labels + (1 - verdicts) * (1 - labels)
        if expected == 1:
            return None
        kappa = (agreed - expected) / (1 - expected)
        return Kappa(float(kappa), sqrt(self._kappa_variance(kappa, expected)))

    @property
    def _success_shares(self) -> tuple[Fraction, Fraction]:
        """The shares of successes among verdicts and among labels."""
        return Fraction(self.precision.total, self.total), Fraction(self.base_rate.count, self.total)

    def _kappa_variance(self, kappa: Fraction, expected: Fraction) -> Fraction:
        """The variance (Fleiss, Cohen and Everitt 1969, formula 13), in fractions so that rounding makes none < 0."""
        verdicts, labels = self._success_shares
        both, neither = Fraction(self.true_positive, self.total), Fraction(self.true_negative, self.total)
        false_positive, false_negative = (
            Fraction(count, self.total) for count in (self.false_positive, self.false_negative)
        )
        agreeing = both * (1 - (verdicts + labels) * (1 - kappa)) ** 2
        agreeing += neither * (1 - (2 - verdicts - labels) * (1 - kappa)) ** 2
        differing = false_positive * (labels + 1 - verdicts) ** 2 + false_negative * (1 - labels + verdicts) ** 2
        spread = agreeing + (1 - kappa) ** 2 * differing - (kappa - expected * (1 - kappa)) ** 2
        return spread / (self.total * (1 - expected) ** 2)

    def to_json(self) -> dict[str, Any]:
        """The counts and all that follows from them."""
        counts = {name: getattr(self, name) for name in self.__struct_fields__}
        shares = {name: getattr(self, name).to_json() for name in SHARES}
        return counts | {"total": self.total} | shares | {"kappa": None if self.kappa is None else self.kappa.to_json()}


SHARES = ("accuracy", "precision", "recall", "specificity", "base_rate")
