"""What the terminal says of an analysis: `fara_webeval.md` §7.3, §7.4."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_webeval.reports.rerun import RerunCommands
from pytest_webeval.reports.terminal import SessionFacts, render_summary
from pytest_webeval.summary.summarize import summarize_records
from pytest_webeval.summary.trajectories.trajectory_analysis import analyse
from pytest_webeval.summary.trajectories.trajectory_rows import TrajectoryRow


def rows_of(experiment: str, *runs: str, **fields: Any) -> list[TrajectoryRow]:
    """Runs r0, r1, ... of tasks t0, t1, ...: a letter each, `1` and `0` for a score, `-` aborted, `!` an error."""
    return [
        TrajectoryRow(
            task_id=f"t{task}",
            run=f"{experiment}/r{run}",
            label=f"{experiment}/r{run}/t{task}",
            kind="aborted" if score == "-" else "completed",
            experiment=experiment,
            score=None if score == "-" else int(score == "1"),
            status={"1": "success", "!": "error"}.get(score, "failure"),
            **{"format": "fara"} | fields,
        )
        for run, scores in enumerate(runs)
        for task, score in enumerate(scores)
    ]


@pytest.fixture
def told():
    """The lines that follow the counts of results, which are those of an empty session here."""

    def lines(rows: list[TrajectoryRow], **about: Any) -> list[str]:
        usual = {"subset": None, "partial": False, "unscored": [], "stopped": None, "trajectories": analyse(rows)}
        summary = summarize_records([], about=usual | about)
        return render_summary(summary, RerunCommands({}), SessionFacts([], 0, [], [], []))[1:]

    return lines


@pytest.mark.parametrize(
    ("runs", "line"),
    [
        ("1", "1 trajectory: 1 completed, 0 over budget, 0 aborted, 0 unreadable"),
        ("1-", "2 trajectories: 1 completed, 0 over budget, 1 aborted, 0 unreadable"),
    ],
)
def test_one_trajectory_is_told_in_the_singular(told, runs, line):
    assert told(rows_of("x", runs))[0] == line


FARA_MEAN = "Fara's mean over scored 50.0% of {0}, over completed 50.0% of {0}"


def test_criteria_are_named_where_there_are_several_the_most_frequent_first(told):
    outcome = rows_of("x", "1100", criterion="outcome")
    assert told(outcome)[1:] == [FARA_MEAN.format(4)]
    mixed = outcome + rows_of("", "1", criterion="both") + rows_of("y", "-", criterion="process")
    mixed += rows_of("z", "0", criterion="aesthetic", verdict_status="undecided")
    expected = f"{FARA_MEAN.format(6)}, criteria mixed: outcome 4, aesthetic 1, both 1"
    assert told(mixed)[1] == f"{expected}, undecided 1"


def test_a_mean_that_leaves_out_errors_is_named_and_of_trajectories_of_fara_alone(told):
    assert told(rows_of("x", "10!!"))[1:] == [FARA_MEAN.format(2)]
    assert told(rows_of("x", "10!!", format="webvoyager"))[1:] == []
    assert told(rows_of("x", "1", format="webvoyager") + rows_of("x", "1"))[1:] == []


def test_the_rate_of_an_experiment_counts_its_errors(told):
    lines = told(rows_of("x", "11!!") + rows_of("y", "0"))
    assert lines[2:] == ["x: mean 50.0% of 4", "y: mean 0.0% of 1"]


@pytest.mark.parametrize(
    ("runs", "mean", "chances"),
    [
        (
            ["110-", "1--0"],
            "2 runs, mean 58.3% (sd 11.8%)",
            ", pass@2 100.0% of 1, pass^2 100.0% of 1; 1 of 4 tasks in all runs",
        ),
        (
            ["1", "1", "0"],
            "3 runs, mean 66.7% (sd 57.7%)",
            ", pass@3 100.0% of 1, pass^3 0.0% of 1; 1 of 1 task in all runs",
        ),
        (
            ["1", "0", "-"],
            "3 runs, mean 50.0% (sd 70.7%) of 2 runs with scores",
            ", pass@2 100.0% of 1, pass^2 0.0% of 1; 0 of 1 task in all runs",
        ),
        (
            ["10", "--"],
            "2 runs, mean 50.0% of 1 run with scores",
            ", pass@1 50.0% of 2, pass^1 50.0% of 2; 0 of 2 tasks in all runs",
        ),
        (["-", "-"], "2 runs", ""),
    ],
)
def test_several_runs_are_told_with_their_spread_and_how_far_they_did_the_same_tasks(told, runs, mean, chances):
    assert told(rows_of("x", *runs))[-1] == f"x: {mean}{chances}"


def test_one_run_of_rephrased_tasks_has_nothing_to_compare_with(told):
    rows = [
        TrajectoryRow(
            task_id=task,
            run="r",
            label=task,
            kind="completed",
            experiment="x",
            score=1,
            status="success",
            format="fara",
        )
        for task in ("a", "a_rephrased_1")
    ]
    assert told(rows)[2:] == ["x: 1 run, mean 100.0%, pass@1 100.0% of 2, pass^1 100.0% of 2"]


def test_of_several_experiments_those_without_repeated_runs_have_a_mean(told):
    assert len(told(rows_of("x", "10"))) == 2
    assert len(told(rows_of("x", "10") + rows_of("", "1"))) == 2
    rows = rows_of("x", "11100") + rows_of("y", "--") + rows_of("b\nz\x1b[31m", "1") + rows_of("w", "1", "1")
    lines = told(rows)[2:]
    assert lines[0].startswith("w: 2 runs, ")
    assert lines[1:] == ["b z\\u001b[31m: mean 100.0% of 1", "x: mean 60.0% of 5", "y: nothing scored"]


@pytest.mark.parametrize(
    ("repeated", "single", "shown"),
    [(0, 5, ["s0", "s1", "s2"]), (5, 0, ["r0", "r1", "r2"]), (5, 5, ["r0", "r1", "r2", "s0"])],
)
def test_however_many_experiments_there_are_four_lines_are_shown_at_most(told, repeated, single, shown):
    rows = [row for number in range(repeated) for row in rows_of(f"r{number}", "1", "0")]
    rows += [row for number in range(single) for row in rows_of(f"s{number}", "1")]
    assert [line.partition(":")[0] for line in told(rows)[2:]] == shown
