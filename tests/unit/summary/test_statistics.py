"""Means, spreads and intervals: `fara_webeval.md` §7.4, Q35."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.summary.statistics import mean, median, sample_std, spread, student_t_interval, t_quantile, wilson

MEASURED = st.lists(st.floats(min_value=-1e6, max_value=1e6), min_size=2, max_size=12)


@pytest.mark.parametrize(
    ("degrees", "table"),
    [
        (1, 12.706),
        (2, 4.303),
        (3, 3.182),
        (4, 2.776),
        (5, 2.571),
        (10, 2.228),
        (30, 2.042),
        (100, 1.984),
        (100_000, 1.960),
    ],
)
def test_the_quantile_of_students_t_is_that_of_the_printed_tables(degrees, table):
    assert round(t_quantile(degrees), 3) == table


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([0.0, 10.0], 5 - 12.7062 * 5, 5 + 12.7062 * 5),
        ([0.0, 1.01], 0.505 - 12.7062 * 0.505, 0.505 + 12.7062 * 0.505),
        ([-0.01, 1.0], 0.495 - 12.7062 * 0.505, 0.495 + 12.7062 * 0.505),
        ([0.4, 0.5, 0.6], 0.5 - 4.3027 * 0.1 / sqrt(3), 0.5 + 4.3027 * 0.1 / sqrt(3)),
        ([0.5, 0.5, 0.5], 0.5, 0.5),
    ],
)
def test_the_interval_lies_around_the_mean_of_the_measurements(values, low, high):
    assert student_t_interval(values) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize(
    ("shares", "low", "high"),
    [
        ([0.0, 1.0], 0.0, 1.0),
        ([0.0, 0.05], 0.0, 0.025 + 12.7062 * 0.025),
        ([1.0, 0.95], 0.975 - 12.7062 * 0.025, 1.0),
        ([1.0, 1.0], 1.0, 1.0),
        ([0.0, 0.0], 0.0, 0.0),
    ],
)
def test_the_interval_of_a_mean_of_shares_ends_where_shares_end(shares, low, high):
    assert student_t_interval(shares) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize("values", [[], [0.7]])
def test_one_measurement_has_no_interval_and_no_deviation(values):
    assert student_t_interval(values) is None
    assert sample_std(values) is None


@pytest.mark.parametrize(
    ("successes", "total", "low", "high"),
    [
        (0, 0, 0.0, 1.0),
        (0, 10, 0.0, 0.27753),
        (10, 10, 0.72247, 1.0),
        (1, 2, 0.09453, 0.90547),
        (81, 263, 0.25529, 0.36618),  # Newcombe 1998 prints .2553 and .3662
    ],
)
def test_wilson(successes, total, low, high):
    assert wilson(successes, total) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], (0, None, None, None, None, None)),
        ([3], (1, 3.0, None, 3, 3, 3)),
        ([4, 1], (2, 2.5, sqrt(4.5), 1, 2.5, 4)),
        ([2, 4, 4, 4, 5, 5, 7, 9], (8, 5.0, sqrt(32 / 7), 2, 4.5, 9)),
        ([9, 1, 2], (3, 4.0, sqrt(19), 1, 2, 9)),
        ([0.1, 0.1, 0.1], (3, 0.1, 0.0, 0.1, 0.1, 0.1)),
        ([Fraction(1, 3), Fraction(2, 3)], (2, 0.5, sqrt(1 / 18), 1 / 3, 0.5, 2 / 3)),
    ],
)
def test_a_spread_divides_by_one_less_than_the_count(values, expected):
    assert tuple(spread(values).values()) == expected


def test_whole_numbers_stay_whole_in_a_spread_and_fractions_become_floats():
    assert [type(spread([3, 3, 4])[name]) for name in ("min", "median", "max")] == [int, int, int]
    assert type(spread([Fraction(1, 3)])["median"]) is float


@given(MEASURED, st.randoms(use_true_random=False))
def test_the_order_of_measurements_has_no_effect_at_all(values, random):
    shuffled = random.sample(values, len(values))
    assert spread(shuffled) == spread(values)
    assert student_t_interval(shuffled) == student_t_interval(values)


@given(MEASURED)
def test_mean_and_median_lie_between_the_extremes(values):
    assert min(values) <= mean(values) <= max(values)
    assert min(values) <= median(values) <= max(values)
