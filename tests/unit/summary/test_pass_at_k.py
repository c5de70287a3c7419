"""Chances of success in k tries: `fara_webeval.md` §7.4."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.summary.task_identity import TaskKey
from pytest_webeval.summary.trajectories.repeated_runs import (
    Tries,
    all_of,
    any_of,
    averages,
    consensus,
    count_task_tries,
)
from pytest_webeval.summary.trajectories.trajectory_rows import TrajectoryRow

TRIES = st.integers(1, 7).flatmap(lambda count: st.builds(Tries, st.just(count), st.integers(0, count)))


def sample(task_id, score, run="r1"):
    status = "success" if score == 1 else "failure"
    return TrajectoryRow(
        task_id=task_id, run=run, label=f"{run}/{task_id}", kind="completed", score=score, status=status
    )


@pytest.mark.parametrize(
    ("tries", "k", "pass_at", "pass_all"),
    [
        (Tries(1, 0), 1, 0, 0),
        (Tries(1, 1), 1, 1, 1),
        (Tries(3, 2), 1, Fraction(2, 3), Fraction(2, 3)),
        (Tries(3, 2), 2, 1, Fraction(1, 3)),
        (Tries(3, 2), 3, 1, 0),
        (Tries(3, 1), 2, Fraction(2, 3), 0),
        (Tries(5, 2), 2, Fraction(7, 10), Fraction(1, 10)),
        (Tries(5, 2), 3, Fraction(9, 10), 0),
        (Tries(5, 4), 3, 1, Fraction(2, 5)),
    ],
)
def test_chances_by_hand(tries, k, pass_at, pass_all):
    assert (any_of(tries, k), all_of(tries, k)) == (pass_at, pass_all)


@given(TRIES, st.data())
def test_a_chance_is_the_share_of_all_choices_of_k_tries(tries, draws):
    k = draws.draw(st.integers(1, tries.count))
    outcomes = [True] * tries.successes + [False] * (tries.count - tries.successes)
    choices = list(combinations(outcomes, k))
    assert any_of(tries, k) == Fraction(sum(map(any, choices)), len(choices))
    assert all_of(tries, k) == Fraction(sum(map(all, choices)), len(choices))


def test_an_average_is_over_the_tasks_with_enough_tries_and_says_how_many():
    tasks = [Tries(3, 2), Tries(3, 0), Tries(1, 1)]
    assert averages(tasks, any_of, 4) == {
        "1": {"mean": float(Fraction(5, 9)), "tasks": 3},
        "2": {"mean": 0.5, "tasks": 2},
        "3": {"mean": 0.5, "tasks": 2},
        "4": {"mean": None, "tasks": 0},
    }
    assert averages(tasks, all_of, 2)["2"] == {"mean": float(Fraction(1, 6)), "tasks": 2}


def test_so_many_tries_that_nobody_made_them_are_bounded():
    assert list(averages([Tries(5000, 2500)] * 5000, any_of, 5000)) == [str(k) for k in range(1, 101)]


def test_a_try_without_a_score_is_none_and_a_partial_score_is_no_success():
    rows = [sample("b", 0.9), sample("a", 1), sample("a", None, "r2"), sample("a", 0, "r3"), sample("c", None)]
    assert list(count_task_tries(rows).items()) == [(TaskKey("a"), Tries(2, 1)), (TaskKey("b"), Tries(1, 0))]


def test_consensus_is_over_all_phrasings_of_a_task():
    rows = [
        sample("books", 1),
        sample("books_rephrased_1", 1),
        sample("books_rephrased_2", 0),
        sample("hours_rephrased_10", 0.5),  # any score above 0 succeeds, and the original may be missing
        sample("hours_rephrased_11", 1),
        sample("maps_rephrased_", 0),  # a task of its own
        sample("maps_rephrased_1", None),
    ]
    assert consensus(rows) == {
        "1": {"mean": float(Fraction(5, 9)), "tasks": 3},
        "2": {"mean": float(Fraction(2, 3)), "tasks": 2},
        "3": {"mean": 0.0, "tasks": 1},
    }


@pytest.mark.parametrize("task_ids", [[], ["books", "books_rephrased", "_rephrased_1", "books_rephrased_1x"]])
def test_without_rephrased_tasks_there_is_no_consensus(task_ids):
    assert consensus([sample(task_id, 1) for task_id in task_ids]) == {}


def test_without_any_score_there_is_no_consensus():
    assert consensus([sample("books_rephrased_1", None)]) == {}
