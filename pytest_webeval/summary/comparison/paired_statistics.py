"""Whether two sessions over the same tasks differ by more than noise: exact tests, intervals and detectable sizes."""

from __future__ import annotations

import random
from collections.abc import Hashable, Mapping, Sequence
from math import ceil, exp, floor, fsum, lgamma, log, log1p, sqrt
from statistics import NormalDist
from typing import TypeVar

from pytest_webeval.summary.statistics import wilson

RESAMPLES, MOST_CLUSTERS = 2_000, 300
POWER, LEVEL = 0.8, 0.05
MOST_NEEDED = 100_000  # tasks
_EXACT_UP_TO = 2_000  # trials; of more, the binomial coefficients have more digits than the answer needs
_EXACT_REJECTION = 50  # tasks that change sides
_SPREADS = 6  # standard deviations: less than 1e-8 lies beyond
_HALVINGS = 20
_SEED = 20_160_101  # any number: the same sessions shall give the same interval
_NORMAL = NormalDist()


def binomial_tail(successes: int, trials: int) -> float:
    """The probability of at most so many successes in fair trials."""
    if trials > _EXACT_UP_TO:
        return min(1.0, fsum(_binomial(k, trials) for k in range(successes + 1)))
    term = total = 1
    for k in range(successes):
        term = term * (trials - k) // (k + 1)
        total += term
    share: float = total / 2**trials
    return share


def _binomial(successes: int, trials: int, chance: float = 0.5) -> float:
    failures = trials - successes
    if chance >= 1:
        return float(not failures)
    choices = lgamma(trials + 1) - lgamma(successes + 1) - lgamma(failures + 1)
    return exp(choices + successes * log(chance) + failures * log1p(-chance))


def mcnemar_exact(worse: int, better: int) -> float:
    """The two-sided p-value of the exact McNemar test (McNemar 1947): tasks that changed sides, by direction."""
    trials = worse + better
    return min(1.0, 2 * binomial_tail(min(worse, better), trials)) if trials else 1.0


def newcombe_interval(both: int, worse: int, better: int, neither: int) -> tuple[float, float]:
    """The 95 % interval of the difference of two paired rates, later minus earlier (Newcombe 1998, method 10).

    `both` and `neither` succeeded in both sessions or in none, `worse` only in the earlier, `better` only in the later.
    """
    total = both + worse + better + neither
    if not total:
        return -1.0, 1.0
    return _combine_intervals((both + worse, total), (both + better, total), _correlation(both, worse, better, neither))


def _correlation(both: int, worse: int, better: int, neither: int) -> float:
    """The correlation of the two outcomes of a task, with the correction of continuity of method 10."""
    product = (both + worse) * (better + neither) * (both + better) * (worse + neither)
    if not product:
        return 0.0
    covariance = float(both * neither - worse * better)
    if covariance > 0:
        covariance = max(covariance - (both + worse + better + neither) / 2, 0.0)
    return covariance / sqrt(product)


def newcombe_unpaired_interval(before: tuple[int, int], after: tuple[int, int]) -> tuple[float, float]:
    """The 95 % interval of the difference of rates over different tasks (Newcombe 1998, method 10 of unpaired rates).

    Each pair is the number of successes and the total. (-1, 1) where one of them counted nothing.
    """
    return _combine_intervals(before, after, 0.0) if before[1] and after[1] else (-1.0, 1.0)


def _combine_intervals(before: tuple[int, int], after: tuple[int, int], phi: float) -> tuple[float, float]:
    """The interval of the difference of two rates with this correlation, from the Wilson intervals of both."""
    rates = before[0] / before[1], after[0] / after[1]
    (low_before, high_before), (low_after, high_after) = wilson(*before), wilson(*after)
    below = _paired_distance(rates[1] - low_after, high_before - rates[0], phi)
    above = _paired_distance(high_after - rates[1], rates[0] - low_before, phi)
    difference = rates[1] - rates[0]
    return max(-1.0, difference - below), min(1.0, difference + above)


def _paired_distance(one: float, other: float, phi: float) -> float:
    return sqrt(max(0.0, one * one - 2 * phi * one * other + other * other))


Name = TypeVar("Name", bound=Hashable)


def holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """The p-values adjusted for as many tests (Holm 1979), in the order of the mapping."""
    adjusted: dict[Name, float] = {}
    largest, count = 0.0, len(p_values)
    for rank, (name, p_value) in enumerate(sorted(p_values.items(), key=lambda entry: entry[1])):
        largest = max(largest, min(1.0, (count - rank) * p_value))
        adjusted[name] = largest
    return {name: adjusted[name] for name in p_values}


def count_needed_changes(fixed: int = 0, most: int = MOST_NEEDED) -> int | None:
    """Return how many tasks must regress for the exact test to be significant, if so many are fixed.

    None if `most` are not enough.
    """
    enough = (count for count in range(fixed + 1, most + 1) if mcnemar_exact(count, fixed) <= LEVEL)
    return next(enough, None)


def detectable_difference(pairs: int, discordant: int) -> float | None:
    """Return the smallest difference of the rates that the exact test finds in 80 of 100 sessions of so many tasks.

    It is found for a two-sided test at 5 %, if as large a share of the tasks changes sides as did, or all to one side
    where the difference is larger. None if not even a change of all tasks is significant.
    """
    if count_needed_changes(0, pairs) is None:
        return None
    share = discordant / pairs
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _compute_power(middle, pairs, max(share, middle)) < POWER:
            low = middle
        else:
            high = middle
    return high


def _compute_power(difference: float, pairs: int, share: float) -> float:
    """The chance of a significant test if `share` of the tasks change sides, and `difference` more to one of them."""
    one_side = (share + difference) / (2 * share)
    spread = _SPREADS * sqrt(pairs * share * (1 - share))
    changes = range(max(0, floor(pairs * share - spread)), min(pairs, ceil(pairs * share + spread)) + 1)
    return fsum(_binomial(count, pairs, share) * _compute_rejection(count, one_side) for count in changes)


def _compute_rejection(changes: int, one_side: float) -> float:
    """The chance of a significant test if so many tasks change sides, each with this chance to that side."""
    if changes > _EXACT_REJECTION:  # the normal distribution with the correction of continuity
        needed = ceil(changes / 2 + 0.5 + _NORMAL.inv_cdf(1 - LEVEL / 2) * sqrt(changes) / 2)
        sigma = sqrt(changes * one_side * (1 - one_side))
        return 1 - _NORMAL.cdf((needed - 0.5 - changes * one_side) / sigma) if sigma else 1.0
    counts = range(changes // 2 + 1, changes + 1)
    return fsum(_binomial(k, changes, one_side) for k in counts if mcnemar_exact(k, changes - k) <= LEVEL)


Cluster = tuple[float, int]  # the sum of the differences of some tasks, and how many these are


def clustered_bootstrap(clusters: Sequence[Cluster], resamples: int = RESAMPLES) -> tuple[float, float] | None:
    """The 95 % interval of a mean difference, if clusters of tasks were drawn again (Davison and Hinkley 1997, 3.8).

    Each cluster is the sum of the differences of its tasks, and how many these are. The tasks of a template resemble
    each other, so they are drawn together. None for fewer than two clusters. The numbers drawn are always the same.
    Of more than 300 clusters nothing is drawn: the normal interval with the variance between clusters is the same.
    """
    if len(clusters) < 2:
        return None
    if len(clusters) > MOST_CLUSTERS:
        return _clustered_normal(clusters)
    generator = random.Random(_SEED)  # noqa: S311  (nothing is kept secret)
    means = sorted(_draw_mean(clusters, generator) for _ in range(resamples))
    cut = round(resamples * LEVEL / 2)
    return means[cut], means[resamples - 1 - cut]


def _draw_mean(clusters: Sequence[Cluster], generator: random.Random) -> float:
    drawn = generator.choices(clusters, k=len(clusters))
    return sum(cluster[0] for cluster in drawn) / sum(cluster[1] for cluster in drawn)


def _clustered_normal(clusters: Sequence[Cluster]) -> tuple[float, float]:
    total = sum(count for _, count in clusters)
    mean = fsum(difference for difference, _ in clusters) / total
    squares = fsum((difference - mean * count) ** 2 for difference, count in clusters)
    half = _NORMAL.inv_cdf(1 - LEVEL / 2) * sqrt(squares * len(clusters) / (len(clusters) - 1)) / total
    return mean - half, mean + half
