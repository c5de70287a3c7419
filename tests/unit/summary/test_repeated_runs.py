"""Several runs of the same thing: `fara_webeval.md` §7.4."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.summary.trajectories.trajectory_analysis import analyse
from pytest_webeval.summary.trajectories.trajectory_rows import TrajectoryRow


def rows_of(run, scores, experiment="fara", prefix="t"):
    """A run of tasks t0, t1, ...: a score each, None for an aborted one and a blank for one that is not there."""
    return [
        TrajectoryRow(
            task_id=f"{prefix}{number}",
            run=run,
            label=f"{run}/{prefix}{number}",
            kind="aborted" if score is None else "completed",
            experiment=experiment,
            score=score,
            status="excluded" if score is None else "success" if score == 1 else "failure",
        )
        for number, score in enumerate(scores)
        if score != ""
    ]


FOUR = ["t0", "t1", "t2", "t3"]
THREE = rows_of("r1", [1, 1, 0, 0]) + rows_of("r2", [1, 0, 0, None]) + rows_of("r3", [1, 1, 0, ""])


@pytest.fixture
def three():
    return analyse(THREE, expected=FOUR)["experiments"]["fara"]


def test_the_mean_of_an_experiment_is_that_of_its_runs_each_counting_the_same(three):
    assert three["runs"] == [
        {"run": "r1", "mean": 0.5, "n": 4},
        {"run": "r2", "mean": float(Fraction(1, 3)), "n": 3},
        {"run": "r3", "mean": float(Fraction(2, 3)), "n": 3},
    ]
    assert (three["average"], three["average_denominator"]) == (pytest.approx(0.5), 3)
    assert three["std"] == pytest.approx(1 / 6)
    assert three["standard_error"] == pytest.approx(1 / 6 / sqrt(3))
    assert three["interval_95"] == pytest.approx([0.5 - 4.30265 / 6 / sqrt(3), 0.5 + 4.30265 / 6 / sqrt(3)], abs=1e-5)


def test_neither_an_aborted_nor_a_missing_task_is_a_failed_try(three):
    assert three["pass@k"] == {
        "1": {"mean": float(Fraction(5, 12)), "tasks": 4},  # 1, 2/3, 0 and 0 of one try
        "2": {"mean": float(Fraction(2, 3)), "tasks": 3},
        "3": {"mean": float(Fraction(2, 3)), "tasks": 3},
    }
    assert three["pass^k"] == {
        "1": {"mean": float(Fraction(5, 12)), "tasks": 4},
        "2": {"mean": float(Fraction(4, 9)), "tasks": 3},
        "3": {"mean": float(Fraction(1, 3)), "tasks": 3},
    }


def test_task_rates_are_summarised_and_tasks_that_went_both_ways_are_listed(three):
    assert three["task_rates"] == {
        "count": 4,
        "mean": float(Fraction(5, 12)),
        "std": 0.5,
        "min": 0.0,
        "median": float(Fraction(1, 3)),
        "max": 1.0,
        "always": 1,
        "never": 2,
    }
    assert three["flips"] == {"count": 1, "tasks": [{"task_id": "t1", "tries": 3, "successes": 2}]}
    assert three["consensus@k"] == {}


def test_each_run_has_an_entry_of_its_own():
    found = analyse(THREE, expected=FOUR)
    assert [entry["run"] for entry in found["runs"]] == ["r1", "r2", "r3"]
    second = found["runs"][1]
    assert second["mean_scored_interval_95"] == pytest.approx([0.06149, 0.79234], abs=1e-4)
    del second["mean_scored_interval_95"]
    assert second == {
        "run": "r2",
        "experiment": "fara",
        "trajectories": 4,
        "classes": {"completed": 3, "over_budget": 0, "aborted": 1, "unreadable": 0},
        "mean_scored": float(Fraction(1, 3)),
        "mean_scored_denominator": 3,
        "mean_completed": float(Fraction(1, 3)),
        "mean_completed_denominator": 3,
        "coverage": {"expected": 4, "scored": 3, "share": 0.75},
    }


def test_repeated_tasks_are_no_independent_trials_so_all_runs_together_have_no_wilson_interval():
    found = analyse(THREE, expected=FOUR)
    assert (found["mean_scored"], found["mean_scored_denominator"]) == (0.5, 10)
    assert found["mean_scored_interval_95"] is None
    assert found["coverage"] == {"expected": 4, "scored": 4, "share": 1.0}
    apart = analyse(rows_of("r1", [1, 0]) + rows_of("r2", [1, 0], prefix="u"))
    assert apart["mean_scored_interval_95"] is not None


SHARED = ("tasks", "common_tasks", "common_average")


@pytest.mark.parametrize(
    ("scores", "shared"),
    [
        ([[1, 0], [0, 0]], (2, 2, 0.25)),
        ([[1, 1, 0, 0], [1, 0, 0, None], [1, 1, 0, ""]], (4, 3, 5 / 9)),
        ([["", 1, 0, 1], [1, 1, 0]], (4, 2, 0.5)),
        ([[1, ""], ["", 1]], (2, 0, None)),
        ([[1, 0], [None, None]], (2, 0, None)),
        ([[None], [None]], (0, 0, None)),
    ],
)
def test_what_every_run_did_is_averaged_apart(scores, shared):
    rows = [row for number, run in enumerate(scores) for row in rows_of(f"r{number}", run)]
    found = analyse(rows)["experiments"]["fara"]
    assert tuple(found[name] for name in SHARED) == pytest.approx(shared)


def test_runs_that_did_the_same_tasks_have_one_average():
    found = analyse(rows_of("r1", [1, 0.3, 0]) + rows_of("r2", [0.1, 1, 1]))["experiments"]["fara"]
    assert found["common_average"] == found["average"]


def test_a_run_without_scores_has_no_mean_and_takes_no_part_in_the_average():
    found = analyse(rows_of("r1", [1, 0]) + rows_of("r2", [None, None]))["experiments"]["fara"]
    assert found["runs"][1] == {"run": "r2", "mean": None, "n": 0}
    names = ("average", "average_denominator", "std", "standard_error", "interval_95")
    assert [found[name] for name in names] == [0.5, 1, None, None, None]
    assert found["pass@k"]["2"] == {"mean": None, "tasks": 0}


def test_runs_of_different_experiments_are_never_pooled():
    found = analyse(THREE + rows_of("q1", [0, 0], "gpt") + rows_of("q2", [1, 1], "gpt") + rows_of("solo", [1], "solo"))
    assert list(found["experiments"]) == ["fara", "gpt"]
    assert found["experiments"]["gpt"]["flips"]["count"] == 2
    assert found["experiments"]["fara"]["flips"]["count"] == 1
    assert len(found["runs"]) == 6


def test_runs_of_which_nobody_knows_what_they_share_are_no_experiment():
    found = analyse(rows_of("r1", [1], "") + rows_of("r2", [0], ""))
    assert (len(found["runs"]), found["experiments"]) == (2, {})


def test_one_run_is_an_experiment_only_if_it_has_rephrased_tasks():
    assert analyse(rows_of("r1", [1, 0]))["experiments"] == {}
    found = analyse(rows_of("r1", [1]) + rows_of("r1", [1, 0], prefix="t0_rephrased_"))
    assert found["runs"] == []
    fara = found["experiments"]["fara"]
    assert fara["std"] is None
    assert [entry["mean"] for entry in fara["consensus@k"].values()] == pytest.approx([2 / 3, 1 / 3, 0.0])


def test_of_very_many_flips_fifty_are_listed():
    found = analyse(rows_of("r1", [1] * 60) + rows_of("r2", [0] * 60))["experiments"]["fara"]
    listed = [entry["task_id"] for entry in found["flips"]["tasks"]]
    assert (found["flips"]["count"], len(listed), listed) == (60, 50, sorted(listed))
    assert (found["task_rates"]["always"], found["task_rates"]["never"]) == (0, 0)


@given(st.lists(st.lists(st.sampled_from([0, 1, None, ""]), min_size=1, max_size=5), min_size=2, max_size=4))
def test_one_try_succeeds_as_often_as_tasks_do_on_average(scores):
    rows = [row for number, run in enumerate(scores) for row in rows_of(f"r{number}", run)]
    for found in analyse(rows)["experiments"].values():
        assert found["pass@k"]["1"] == found["pass^k"]["1"]
        assert found["pass@k"]["1"]["mean"] == found["task_rates"]["mean"]
        tasks = found["task_rates"]["count"]
        chances = [entry["mean"] for entry in found["pass@k"].values() if entry["tasks"] == tasks > 0]
        assert chances == sorted(chances)
