"""The success rate that people would measure, estimated from verdicts of a judge whose errors are known."""

from __future__ import annotations

from math import sqrt
from typing import Any

from msgspec import Struct

from pytest_webeval.summary.agreement import ConfusionTable, Interval, Share, estimate_to_json
from pytest_webeval.summary.statistics import Z_95


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
    rates = raw.value, table.recall.value, table.specificity.value
    if rates[0] is None or rates[1] is None or rates[2] is None:
        return None
    if rates[1] + rates[2] <= 1:
        return None
    estimate = (rates[0] + rates[2] - 1) / (rates[1] + rates[2] - 1)
    return CorrectedRate(_clip(estimate), _interval(raw, table.recall, table.specificity))


def _interval(raw: Share, recall: Share, specificity: Share) -> Interval | None:
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
