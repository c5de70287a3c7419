"""Majorities and medians of several judges: `fara_webeval.md` §6.3 step 8, §11 vectors 8 and 9."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.rubrics.consistency import majority, median_index

T, F = True, False


@pytest.mark.parametrize(
    ("votes", "instances", "wanted"),
    [
        ([T], 1, T),
        ([F], 1, F),
        ([None], 1, None),
        ([], 1, None),
        ([T, None, F], 3, F),
        ([None, None, T], 3, None),
        ([T, T, None], 3, T),
        ([T, F, F], 3, F),
        ([T, T, F, F, T], 5, T),
        ([T, T, F, F, None], 5, F),  # half is not more than half
        ([T, T, T, None, None], 5, T),
        ([T, T, None, None, None], 5, None),
        ([T, T], 5, None),  # votes that were never stored count as not cast
    ],
)
def test_more_than_half_must_vote_and_more_than_half_of_them_must_agree(votes, instances, wanted):
    assert majority(votes, instances) is wanted


@pytest.mark.parametrize(
    ("scores", "wanted"),
    [
        ([], None),
        ([0.4], 0),
        ([0.9, 0.5, 0.7], 2),
        ([0.5, 0.5, 0.5], 1),
        ([0.7, 0.2, 0.7], 0),
        ([1, 0, 0.5, 0.5, 0.5], 3),
    ],
)
def test_of_equal_scores_the_earlier_instance_comes_first(scores, wanted):
    assert median_index(scores) == wanted


@given(st.lists(st.sampled_from([0, 0.25, 0.5, 1]), min_size=1).filter(lambda scores: len(scores) % 2))
def test_as_many_scores_lie_below_the_median_as_above(scores):
    middle = scores[median_index(scores)]
    below, above = sum(score < middle for score in scores), sum(score > middle for score in scores)
    assert max(below, above) <= len(scores) // 2
