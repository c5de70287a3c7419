"""AgentLab studies as pytest items."""

from __future__ import annotations

import shutil
import sys

import pytest

from tests.support.agentlab import RECORDED

STUDY = "2026-01-31_10-00-00_scriptedagent-on-toy"
REPORTS = ("result_df_trial_1_of_3.csv", "summary_df_trial_1_of_3.csv", "error_report_trial_1_of_3.md", "study.pkl.gz")


@pytest.fixture
def study(runs):
    """The recorded experiments in the directory of a study, with the reports that it writes."""
    path = runs.root / STUDY
    shutil.copytree(RECORDED, path)
    for name in REPORTS:
        (path / name).write_text("text")
    return path


@pytest.mark.usefixtures("study")
def test_rewards_are_verdicts_and_reports_of_the_study_are_no_runs(webeval, runs):
    webeval().assert_outcomes(passed=5, failed=6, skipped=4)
    rows = runs.summary["webeval"]["trajectories"]["classes"]
    counts = {name: count for name, count in rows.items() if count}
    assert counts == {"completed": 9, "over_budget": 2, "aborted": 4}
    assert runs.summary["webeval"]["without_runs_count"] == 0
    assert runs.summary["webeval"]["self_report"] is None  # texts claim nothing


@pytest.mark.usefixtures("study")
def test_seeds_are_tasks_and_an_experiment_that_was_run_again_is_the_same_task(webeval, runs):
    webeval("-k", "toy.success or toy.browser-lost").assert_outcomes(passed=3, skipped=1, deselected=11)
    ids = sorted(row["task_id"] for row in runs.summary["task_results"])
    assert ids == ["toy.browser-lost_7", "toy.browser-lost_7", "toy.success_0", "toy.success_3"]


@pytest.mark.usefixtures("study")
def test_studies_of_the_same_tasks_are_attempts(webeval, runs):
    shutil.copytree(runs.root / STUDY, runs.root / "2026-02-01_10-00-00_scriptedagent-on-toy")
    result = webeval("-k", "toy.success or toy.failure")
    result.assert_outcomes(passed=4, failed=2, deselected=24)
    result.stdout.fnmatch_lines(["*2 attempts*"])


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("agent-error", "the agent raised an error"),
        ("reported-error", "the task ended; the agent reported an error"),
        ("too-long", "the experiment was stopped after 3 steps"),
    ],
)
def test_a_failure_names_the_unusual_end_of_the_experiment(webeval, name, end):
    result = webeval("-k", f"toy.{name}")
    result.assert_outcomes(failed=1, deselected=14)
    result.stdout.fnmatch_lines([f"rubric.outcome: not achieved: reward 0 ({end})"])


@pytest.mark.usefixtures("study")
def test_a_lower_threshold_makes_a_partial_reward_a_success(webeval):
    webeval("-k", "partial", "--webeval-rubric-threshold=0.5").assert_outcomes(passed=1, deselected=14)


def test_an_unfinished_experiment_is_an_error_unless_it_was_run_again(webeval, study):
    for path in study.glob("*"):
        if path.is_dir() and "toy.browser-lost" not in path.name:
            shutil.rmtree(path)
    for path in study.glob("*_on_toy.browser-lost_7"):
        (path / "summary_info.json").unlink()
    result = webeval()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*it has screenshot_step_0.png of the format agentlab, but lacks summary_info.json with n_steps, cum_reward*"]
    )


def test_no_pickle_is_opened_in_a_session(webeval, study):
    pickles = [path / name for path in study.glob("2*") for name in ("exp_args.pkl", "step_0.pkl.gz")]
    for path in pickles:
        path.write_bytes(b"not a pickle")
    opened = []

    def watch(event, arguments):
        if event == "open" and isinstance(arguments[0], str | bytes):
            opened.append(arguments[0] if isinstance(arguments[0], str) else arguments[0].decode())

    sys.addaudithook(lambda event, arguments: watch(event, arguments) if is_watching else None)
    is_watching = True
    webeval("-k", "toy.success")
    is_watching = False
    assert [name for name in opened if "summary_info.json" in name]
    assert [name for name in opened if ".pkl" in name] == []
