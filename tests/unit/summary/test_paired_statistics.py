"""Statistics of paired sessions: scipy and statsmodels agree, and published examples."""

from __future__ import annotations

import random

import pytest

from pytest_webeval.summary.comparison import paired_statistics
from pytest_webeval.summary.comparison.paired_statistics import (
    binomial_tail,
    clustered_bootstrap,
    detectable_difference,
    holm,
    mcnemar_exact,
    newcombe_interval,
    newcombe_unpaired_interval,
)
from pytest_webeval.summary.statistics import wilson

TOLERANCE = 1e-9


def random_tables(count=1_000):
    """Both, worse, better, neither: small, large and very uneven tables."""
    generator = random.Random(7)
    for _ in range(count):
        most = generator.choice((3, 30, 300, 3_000))
        yield tuple(generator.randint(0, most) for _ in range(4))


@pytest.mark.libraries
def test_the_exact_test_agrees_with_statsmodels_and_scipy():
    from scipy import stats
    from statsmodels.stats import contingency_tables as tables

    for both, worse, better, neither in random_tables():
        expected = tables.mcnemar([[both, worse], [better, neither]], exact=True).pvalue
        assert mcnemar_exact(worse, better) == pytest.approx(
            min(1.0, expected) if worse + better else 1.0, abs=TOLERANCE
        )
        if worse + better:
            one_sided = stats.binomtest(better, worse + better, alternative="less").pvalue
            assert binomial_tail(better, worse + better) == pytest.approx(one_sided, abs=TOLERANCE)


@pytest.mark.libraries
def test_intervals_agree_with_statsmodels():
    from statsmodels.stats import proportion

    for both, worse, better, neither in random_tables():
        before, after = (both, both + worse + 1), (better, better + neither + 1)
        expected = proportion.proportion_confint(*before, method="wilson")
        assert wilson(*before) == pytest.approx(expected, abs=TOLERANCE)
        low, high = proportion.confint_proportions_2indep(*after, *before, method="newcomb", compare="diff")
        assert newcombe_unpaired_interval(before, after) == pytest.approx((low, high), abs=TOLERANCE)


@pytest.mark.libraries
def test_adjusted_p_values_agree_with_statsmodels():
    from statsmodels.stats import multitest

    generator = random.Random(8)
    families = [[generator.choice((0.01, generator.random())) for _ in range(count)] for count in range(1, 30)]
    for p_values in [*families, [mcnemar_exact(worse, better) for _, worse, better, _ in random_tables()]]:
        adjusted = holm(dict(enumerate(p_values)))
        expected = multitest.multipletests(p_values, method="holm")[1]
        assert list(adjusted.values()) == pytest.approx(list(expected), abs=TOLERANCE)


@pytest.mark.libraries
@pytest.mark.parametrize("pairs", [6, 7, 20, 100, 812, 5_000])
def test_a_change_to_one_side_is_detected_in_80_of_100_sessions(pairs):
    from scipy import stats

    difference = detectable_difference(pairs, 0)
    assert stats.binom.sf(5, pairs, difference) == pytest.approx(0.8, abs=1e-3)


@pytest.mark.parametrize(("pairs", "discordant"), [(60, 10), (100, 20), (283, 79), (812, 300)])
def test_a_change_among_others_is_detected_in_80_of_100_sessions(pairs, discordant):
    difference, share, generator = detectable_difference(pairs, discordant), discordant / pairs, random.Random(3)
    worse, better = (share + difference) / 2, max(0, (share - difference) / 2)
    significant = 0
    for _ in range(2_000):
        changes = generator.choices((0, 1, 2), (1 - worse - better, worse, better), k=pairs)
        significant += mcnemar_exact(changes.count(1), changes.count(2)) <= 0.05
    assert significant / 2_000 == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize(
    ("worse", "better", "p_value"), [(0, 0, 1.0), (1, 0, 1.0), (0, 6, 0.03125), (5, 5, 1.0), (32, 47, 0.1147)]
)
def test_p_values_by_hand(worse, better, p_value):
    assert mcnemar_exact(worse, better) == pytest.approx(p_value, abs=5e-5)


def test_large_counts_are_as_exact_as_small_ones(monkeypatch):
    exact = binomial_tail(950, 2_000)
    monkeypatch.setattr(paired_statistics, "_EXACT_UP_TO", 10)
    assert binomial_tail(950, 2_000) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize(
    ("table", "low", "high"),
    [
        ((1, 7, 1, 12), -0.507, -0.026),  # Fagerland, Lydersen and Laake 2014, table VII
        ((0, 0, 0, 0), -1.0, 1.0),
        ((10, 0, 0, 0), -0.2775, 0.2775),
    ],
)
def test_paired_interval_of_published_tables(table, low, high):
    assert newcombe_interval(*table) == pytest.approx((low, high), abs=1.1e-3)


def test_a_paired_interval_is_the_unpaired_one_where_nothing_is_correlated():
    assert newcombe_interval(25, 25, 25, 25) == pytest.approx(newcombe_unpaired_interval((50, 100), (50, 100)))


def test_correlated_outcomes_narrow_the_paired_interval():
    low, high = newcombe_interval(45, 5, 5, 45)
    wide_low, wide_high = newcombe_unpaired_interval((50, 100), (50, 100))
    assert wide_low < low < 0 < high < wide_high


def test_an_interval_without_tasks_is_everything():
    assert newcombe_unpaired_interval((0, 0), (5, 10)) == (-1.0, 1.0)


@pytest.mark.parametrize(
    ("pairs", "discordant", "expected"),
    [(0, 0, None), (5, 0, None), (6, 0, 0.963), (100, 0, 0.078), (812, 80, 0.0318)],
)
def test_smallest_difference_that_a_set_of_tasks_can_show(pairs, discordant, expected):
    assert detectable_difference(pairs, discordant) == (expected and pytest.approx(expected, abs=5e-4))


def test_more_tasks_detect_less():
    assert detectable_difference(1_000, 200) < detectable_difference(100, 20)


def test_the_bootstrap_repeats_itself_and_needs_two_clusters():
    clusters = [(1.0, 2), (-1.0, 3), (0.0, 5), (2.0, 4)]
    assert clustered_bootstrap(clusters) == clustered_bootstrap(clusters)
    assert clustered_bootstrap([(1.0, 5)]) is None


def test_many_clusters_have_the_interval_that_drawing_them_would_give(monkeypatch):
    generator = random.Random(9)
    clusters = [(float(generator.randint(-2, 2)), generator.randint(2, 5)) for _ in range(501)]
    normal = clustered_bootstrap(clusters)
    monkeypatch.setattr(paired_statistics, "MOST_CLUSTERS", 1_000)
    assert normal == pytest.approx(clustered_bootstrap(clusters), abs=4e-3)
