"""Experiments that no recording names: run folders in one directory with the same tasks."""

from __future__ import annotations

import pytest

from pytest_webeval.summary.trajectories.repeated_runs import name_experiments
from pytest_webeval.summary.trajectories.trajectory_analysis import analyse
from pytest_webeval.summary.trajectories.trajectory_rows import TrajectoryRow


def rows(text, **fields):
    """Rows of words such as `runs/a/7`."""
    places = [word.rpartition("/")[::2] for word in text.split()]
    return [
        TrajectoryRow(task_id=task_id, run=run, label=f"{run}/{task_id}", kind="completed", score=1, **fields)
        for run, task_id in places
    ]


def name(listed):
    name_experiments(listed)
    return {row.run: row.experiment for row in listed}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("runs/a/1", {"runs/a": "runs"}),
        ("runs/a/1 runs/b/1", {"runs/a": "runs", "runs/b": "runs"}),
        ("runs/a/1 runs/b/2", {"runs/a": "", "runs/b": ""}),
        ("runs/a/1 runs/b/1 runs/c/2", {"runs/a": "runs", "runs/b": "runs", "runs/c": ""}),
        (
            "runs/a/1 runs/b/1 runs/c/2 runs/d/2",
            {
                name: f"runs/{first} and 1 more"
                for name, first in zip(("runs/a", "runs/b", "runs/c", "runs/d"), "aacc", strict=True)
            },
        ),
        ("x/a/1 y/a/1", {"x/a": "x", "y/a": "y"}),
        ("runs/a/1 runs/b/1_rephrased_1", {"runs/a": "runs", "runs/b": "runs"}),
        ("runs/a/1 runs/a/1_rephrased_1 runs/b/2", {"runs/a": "runs", "runs/b": ""}),
        (
            "runs/a/1_rephrased_1 runs/b/2_rephrased_1 runs/c/3",
            {"runs/a": "runs/a", "runs/b": "runs/b", "runs/c": ""},
        ),
        ("a/1 b/2", {"a": "", "b": ""}),
    ],
)
def test_folders_that_share_tasks_are_runs_of_the_directory_above(text, names):
    assert name(rows(text)) == names


def test_the_same_id_in_another_format_or_benchmark_is_no_task_in_common():
    for field in ("format", "benchmark"):
        listed = [*rows("runs/a/7", **{field: "x"}), *rows("runs/b/7", **{field: "y"})]
        assert name(listed) == {"runs/a": "", "runs/b": ""}


def test_an_experiment_that_recordings_name_is_kept():
    assert name(rows("runs/a/1 runs/b/2", experiment="fara")) == {"runs/a": "fara", "runs/b": "fara"}


def test_folders_without_a_common_task_are_no_experiment_with_several_runs():
    assert analyse(rows("runs/a/1 runs/a/2 runs/b/3"))["experiments"] == {}
    repeated = analyse(rows("runs/a/1 runs/b/1 runs/c/3"))["experiments"]
    assert [run["run"] for run in repeated["runs"]["runs"]] == ["runs/a", "runs/b"]


def test_tries_of_two_formats_are_of_two_tasks():
    listed = rows("runs/a/7 runs/b/7", format="x", status="success") + rows("runs/a/7", format="y", status="failure")
    entry = analyse(listed)["experiments"]["runs"]
    assert (entry["tasks"], entry["common_tasks"], entry["flips"]["count"]) == (2, 1, 0)
    assert entry["pass@k"]["2"] == {"mean": 1.0, "tasks": 1}
