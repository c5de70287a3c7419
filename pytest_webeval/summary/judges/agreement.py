"""How far a judge agrees with people, and people with each other; and what that makes of a success rate.

What is not defined for some counts is None, never NaN: the precision of a judge without a success, for example.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
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


class CorrectedRate(Struct, frozen=True):
    """A success rate without the errors of the judge; `interval` is at 95 %."""

    value: float
    interval: Interval | None

    def to_json(self) -> dict[str, Any]:
        """The rate with its interval."""
        return estimate_to_json(self.value, self.interval)


def correct_rate(raw: Share, table: ConfusionTable) -> CorrectedRate | None:
    """The rate by the estimator of Rogan and Gladen (1978), within [0, 1].

    `raw` counts successes among all verdicts of the judge, `table` compares some verdicts with labels. None where the
    judge recognizes successes no better than chance does, where labels are all successes or all failures, and without
    verdicts.
    """
    rate, recall, specificity = raw.value, table.recall.value, table.specificity.value
    if rate is None or recall is None or specificity is None or recall + specificity <= 1:
        return None
    estimate = (rate + specificity - 1) / (recall + specificity - 1)
    return CorrectedRate(_clip(estimate), _find_interval(raw, table.recall, table.specificity))


def _find_interval(raw: Share, recall: Share, specificity: Share) -> Interval | None:
    """The interval of Lang and Reiczigel (2014); None where the adjusted rates are those of chance.

    It is that of the delta method, with a success and a failure added to each sample of labels, and as many to the
    verdicts as a Wilson interval adds. So a judge without an error among few labels is not taken for faultless.
    """
    square = Z_95 * Z_95
    positive, size = (raw.count + square / 2) / (raw.total + square), raw.total + square
    sensitive, sensitive_size = (recall.count + 1) / (recall.total + 2), recall.total + 2
    specific, specific_size = (specificity.count + 1) / (specificity.total + 2), specificity.total + 2
    youden = sensitive + specific - 1
    if youden <= 0:
        return None
    rate = (positive + specific - 1) / youden
    sensitive_variance = sensitive * (1 - sensitive) / sensitive_size
    specific_variance = specific * (1 - specific) / specific_size
    shift = 2 * square * (rate * sensitive_variance - (1 - rate) * specific_variance)
    variance = positive * (1 - positive) / size + rate**2 * sensitive_variance + (1 - rate) ** 2 * specific_variance
    half = Z_95 * sqrt(variance) / youden
    return _clip(rate + shift - half), _clip(rate + shift + half)


def _clip(rate: float) -> float:
    return min(1.0, max(0.0, rate))


Votes = Mapping[str, bool]  # whether a run is a success, by annotator


class AnnotatorAgreement(Struct, frozen=True):
    """The tables of all pairs of annotators who labelled the same runs, by their names; and Fleiss' kappa of all.

    `fleiss_kappa` is over the `complete` runs: those that all annotators labelled.

    Labels that exclude a run are not counted: they say nothing that a verdict could agree with.
    """

    pairs: Mapping[tuple[str, str], ConfusionTable]
    fleiss_kappa: float | None
    complete: int

    @property
    def share(self) -> Share:
        """The share of equal labels among all pairs of labels of the same run."""
        tables = self.pairs.values()
        return Share(sum(table.accuracy.count for table in tables), sum(table.total for table in tables))

    @property
    def mean_kappa(self) -> float | None:
        """The mean of Cohen's kappa over pairs of annotators, each with the weight of the runs that both labelled.

        A third annotator often sees only what two others differ on. Without weights that would count like all else.
        """
        kappas = [(table.kappa.value, table.total) for table in self.pairs.values() if table.kappa is not None]
        total = sum(weight for _, weight in kappas)
        return sum(kappa * weight for kappa, weight in kappas) / total if total else None

    def to_json(self) -> dict[str, Any]:
        """The numbers in plain JSON. Pairs of labels of one run are not independent, so the share has no interval."""
        return {
            "agreement": self.share.value,
            "pair_count": self.share.total,
            "mean_kappa": self.mean_kappa,
            "fleiss_kappa": self.fleiss_kappa,
            "complete_count": self.complete,
            "pairs": [{"annotators": list(names)} | table.to_json() for names, table in self.pairs.items()],
        }


def measure_agreement(runs: Sequence[Votes]) -> AnnotatorAgreement | None:
    """The agreement of annotators over runs; None where no run has labels of two of them."""
    labels: dict[tuple[str, str], list[tuple[bool, bool]]] = {}
    for votes in runs:
        for first, second in combinations(sorted(votes), 2):
            labels.setdefault((first, second), []).append((votes[first], votes[second]))
    tables = {names: ConfusionTable.count(labels[names]) for names in sorted(labels)}
    annotators = {name for votes in runs for name in votes}
    complete = [sum(votes.values()) for votes in runs if len(votes) == len(annotators)]
    kappa = compute_fleiss_kappa(complete, len(annotators)) if len(annotators) > 2 else None
    return AnnotatorAgreement(tables, kappa, len(complete)) if tables else None


def compute_fleiss_kappa(successes: Sequence[int], raters: int) -> float | None:
    """Fleiss' kappa (Fleiss 1971) of runs with as many labels each, of which so many are successes.

    None without runs, with fewer than two labels of each, and where all labels are the same.
    """
    if not successes or raters < 2:
        return None
    share = Fraction(sum(successes), len(successes) * raters)
    expected = share**2 + (1 - share) ** 2
    if expected == 1:
        return None
    equal_pairs = sum(count * (count - 1) + (raters - count) * (raters - count - 1) for count in successes)
    agreed = Fraction(equal_pairs, len(successes) * raters * (raters - 1))
    return float((agreed - expected) / (1 - expected))
