"""The worked examples of fara_webeval.md §9, as directories: each gives exactly what the specification states."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_webeval import find_runs, load_tasks, score, summarize
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.trajectories.metrics_json import metrics
from pytest_webeval.summary.trajectories.trajectory_rows import build_row

SUITE = Path(__file__).parents[2] / "example_suite"
TREE = SUITE / "trajectories"
FARA = "runs/WebSurfer-fara-3-max_n_images-3/fara-7b/ana/WebTailBench_hf"
ANSWER = "The Pocket Atlas costs 12.50 EUR and is in stock."
THOUGHTS = ["Search the shop for the atlas.", "Open the first result.", ANSWER]


@pytest.fixture(scope="module")
def runs():
    return {f"{run.path.parent.parent.name}/{run.task_id}": run for run in find_runs(TREE)}


@pytest.fixture(scope="module")
def results(runs):
    tasks = load_tasks(str(TREE / "tasks.tsv"))
    return {name: score(run, tasks) for name, run in runs.items()}


def test_every_trajectory_is_found(runs):
    assert sorted(runs) == [
        "r1/Bookshop--3",
        "r1/books_cart_2",
        "r1/books_find_7",
        "r1/books_hours_5",
        "r1/books_hours_6",
        "r1/books_old_1",
        "r2/books_cart_2",
        "r2/books_find_7",
        "r2/books_rain_9",
    ]


def verdict(result):
    """The one evaluator result of a trajectory."""
    (rubric,) = result.evaluators_results
    return rubric.actual


def test_a_completed_run_is_scored_as_it_was_judged(runs, results):
    trajectory, result = runs["r1/books_find_7"].trajectory, results["r1/books_find_7"]
    assert trajectory.outcome.kind == "completed"
    assert [step.action for step in trajectory.steps] == ["web_search", "left_click", "terminate"]
    assert (trajectory.steps[1].action, trajectory.steps[1].arguments) == ("left_click", {"coordinate": [410, 266]})
    assert [step.thought for step in trajectory.steps] == THOUGHTS
    assert trajectory.alignment == "n+1"
    found = verdict(result)
    assert (found["max_points"], found["earned_points"]) == (7, 6.5)
    assert (found["process"], found["outcome"], found["score"], found["flags"]) == (True, True, 1, [])
    names = [one.assertion_name for one in result.evaluators_results[0].assertions]
    assert not [name for name in names if name.startswith("rubric.R")]
    assert (result.status, result.score, result.webeval["warnings"]) == ("success", 1.0, [])


def test_a_run_over_budget_has_no_points_although_it_has_its_screenshots(runs, results):
    trajectory, result = runs["r1/books_cart_2"].trajectory, results["r1/books_cart_2"]
    assert (trajectory.outcome.kind, len(trajectory.screenshots)) == ("over_budget", 4)
    assert (verdict(result)["gate"], result.status, result.score) == (2, "failure", 0.0)
    assert result.webeval["excluded"] is None


@pytest.mark.parametrize(("name", "reason"), [("r1/books_hours_5", "flagged"), ("r1/books_hours_6", "crash_no_answer")])
def test_an_aborted_run_is_excluded_in_both_forms(runs, results, name, reason):
    outcome = runs[name].trajectory.outcome
    assert (outcome.kind, outcome.reasons, runs[name].trajectory.attempts) == ("aborted", (reason,), 1)
    assert results[name].webeval["skipped"]
    assert reason in results[name].webeval["excluded"]


def test_an_old_log_of_texts_gives_the_same_steps_and_keeps_its_times(runs, results):
    old, new = runs["r1/books_old_1"].trajectory, runs["r1/books_find_7"].trajectory
    assert old.dialect == "text"
    done = [[(step.action, step.arguments, step.thought) for step in each.steps] for each in (old, new)]
    assert done[0] == done[1]
    assert (len(old.steps), old.outcome.kind) == (3, "completed")
    assert [step.timestamp for step in old.steps] == [
        "2026-03-01T10:00:05.100000",
        "2026-03-01T10:00:14.200000",
        "2026-03-01T10:00:22.300000",
    ]
    assert results["r1/books_old_1"].webeval["excluded"].startswith("not scored: ")


def row(result):
    return build_row(Record.of(result, None))


def test_the_metrics_of_the_first_three_are_those_of_the_specification(results):
    names = ("r1/books_find_7", "r1/books_cart_2", "r1/books_hours_5")
    rows = [row(results[name]) for name in names]
    found = metrics(rows)
    assert (found["mean_score"], found["max_score"], found["num_examples"]) == (0.5, 1, 2)
    assert (found["total examples"], found["executed examples"]) == (3, 2)
    assert found["durations"] == [25.5, 22.0, 31.0]
    assert found["average_time"] == pytest.approx(26.17, abs=0.005)
    budgets = {key: tuple(entry.values()) for key, entry in found["step_budget_scores"].items()}
    assert budgets == {"1": (0.0, 0.0, 2), "2": (0.0, 0.0, 2), "3": (0.5, 1, 2)}
    first = json.loads(found["scores"][0])
    assert first["step_budget_scores"] == {"1": 0, "2": 0, "3": 1}
    crashed = metrics([*rows, row(results["r1/books_hours_6"])])
    assert (crashed["durations"], crashed["average_time"]) == (found["durations"], found["average_time"])


def test_the_metrics_beside_the_run_were_computed_alike(results):
    stored = json.loads((TREE / FARA / "r1/mmrubric_0.8-5-3/metrics.json").read_bytes())
    found = metrics([row(results[f"r1/books_{name}"]) for name in ("find_7", "cart_2", "hours_5")])
    for key in ("mean_score", "max_score", "num_examples", "durations", "average_time", "total examples"):
        assert stored[key] == found[key]


def test_a_penalty_leaf_and_a_lost_outcome_are_told(results):
    result = results["r2/books_find_7"]
    found = verdict(result)
    assert (found["earned_points"], found["max_points"], found["outcome"], result.status) == (3, 9, False, "failure")
    assert (found["writer"], found["generation"]) == ("verify_script", "G2")
    assert found["failure"]["has_failure"]
    assert any("a penalty" in one.assertion_msgs[0] for one in result.evaluators_results[0].assertions)


def test_another_solvers_log_and_a_verdict_in_words_are_read(runs, results):
    trajectory = runs["r1/Bookshop--3"].trajectory
    assert (trajectory.dialect, trajectory.steps[-1].action) == ("gpt_solver", "terminate")
    assert trajectory.steps[-1].raw_action == "stop_and_answer_question"
    assert (verdict(results["r1/Bookshop--3"])["writer"], results["r1/Bookshop--3"].status) == ("webvoyager", "success")


def test_damage_is_told_and_costs_nothing_else(results):
    result = results["r2/books_rain_9"]
    assert verdict(result)["status"] == "judged"
    told = "\n".join(result.webeval["warnings"])
    for place in ("web_surfer.log line 4", "web_surfer.log line 10", "harness_version"):
        assert place in told


def test_the_runs_of_the_same_tasks_are_compared(results):
    found = summarize(results.values()).webeval["trajectories"]["experiments"]
    (experiment,) = [value for name, value in found.items() if "fara-7b" in name]
    assert [task["task_id"] for task in experiment["flips"]["tasks"]] == ["books_cart_2", "books_find_7"]
    assert experiment["pass@k"]["2"] == {"mean": 1.0, "tasks": 2}
    assert experiment["pass^k"]["2"] == {"mean": 0.0, "tasks": 2}


@pytest.mark.whole
def test_the_script_writes_the_files_that_are_committed(tmp_path):
    script = [sys.executable, str(SUITE / "record_trajectories.py"), "--keep-screenshots", "--output", str(tmp_path)]
    subprocess.run(script, check=True, capture_output=True, timeout=120)
    written = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert len(written) > 40
    assert {name for name, content in written.items() if (SUITE / name).read_bytes() != content} == set()
