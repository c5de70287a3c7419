"""Largest matchings, against trying every assignment."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.values.matching import find_maximum_matching


@pytest.mark.parametrize(
    ("choices", "matched"),
    [
        ([], {}),
        ([[]], {}),
        ([[0], [0]], {0: 0}),
        ([[0, 1], [0]], {0: 1, 1: 0}),
        ([[0, 1], [0], [1]], {0: 1, 1: 0}),
        ([[0, 1], [1, 2], [0]], {0: 2, 1: 0, 2: 1}),
    ],
)
def test_partners_are_moved_on_where_that_helps(choices, matched):
    assert len(find_maximum_matching(choices)) == len(matched)


@given(st.lists(st.lists(st.integers(0, 4), unique=True), max_size=5))
def test_no_assignment_pairs_more(choices):
    found = find_maximum_matching(choices)
    assert all(right in choices[left] for right, left in found.items())
    assert len(set(found.values())) == len(found)
    best = max(
        sum(right in choices[left] for left, right in zip(range(len(choices)), order, strict=False))
        for order in permutations(range(5))
    )
    assert len(found) == best


def test_a_long_chain_of_moves_needs_no_recursion():
    count = 3000
    choices = [[left, left + 1] for left in range(count)] + [[0]]
    assert len(find_maximum_matching(choices)) == count + 1
