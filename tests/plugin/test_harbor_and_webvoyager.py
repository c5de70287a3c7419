"""Harbor trials and WebVoyager chats as pytest items."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

RECORDED = Path(__file__).parents[1] / "recorded"


@pytest.fixture
def mixed(runs):
    """The recorded runs of both formats in one root."""
    for name in ("atif", "webvoyager"):
        shutil.copytree(RECORDED / name, runs.root / name)


@pytest.mark.usefixtures("mixed")
def test_rewards_are_verdicts_and_chats_without_one_are_skipped(webeval, runs):
    webeval("-k", "atif").assert_outcomes(passed=4, failed=2, skipped=3, deselected=8)
    rows = runs.summary["webeval"]["trajectories"]["classes"]
    assert {name: count for name, count in rows.items() if count} == {
        "completed": 5,
        "over_budget": 1,
        "aborted": 1,
        "ungraded": 2,
    }
    webeval("-k", "webvoyager").assert_outcomes(failed=1, skipped=7, deselected=9)


@pytest.mark.usefixtures("mixed")
def test_a_lower_threshold_makes_a_partial_reward_a_success(webeval):
    webeval("-k", "shop-partial", "--webeval-rubric-threshold=0.5").assert_outcomes(passed=1, deselected=16)


@pytest.mark.usefixtures("mixed")
def test_a_stored_judges_text_is_a_verdict(webeval, runs):
    said = [{"role": "assistant", "content": "Verdict: SUCCESS", "success": 1}]
    (runs.root / "webvoyager" / "taskShop--0" / "eval_res.json").write_text(json.dumps(said))
    webeval("-k", "taskShop--0").assert_outcomes(passed=1, deselected=16)


def test_a_trial_of_several_steps_without_its_result_is_one_error(webeval, runs):
    path = runs.root / "shop-multi-step__aB3dE5f"
    shutil.copytree(RECORDED / "atif" / path.name, path)
    webeval().assert_outcomes(passed=1)
    (path / "result.json").unlink()
    webeval().assert_outcomes(errors=1)
    assert [row["run"] for row in runs.summary["task_results"]] == ["runs/shop-multi-step__aB3dE5f"]


def test_a_result_without_the_reward_of_its_reward_file_is_an_error(webeval, runs):
    path = runs.root / "shop-success__aB3dE5f"
    shutil.copytree(RECORDED / "atif" / path.name, path)
    result = json.loads((path / "result.json").read_text()) | {"verifier_result": None}
    (path / "result.json").write_text(json.dumps(result))
    webeval().assert_outcomes(failed=1)
    (evaluated,) = json.loads((path / "eval_result.json").read_text())["evaluators_results"]
    assert evaluated["status"] == "error"
    assert "result.json says no reward, but verifier/reward.txt says 1" in evaluated["error_msg"]


def test_a_trial_whose_reward_is_not_valid_is_excluded_with_that_reason(webeval, runs):
    for name in ("shop-success__aB3dE5f", "shop-partial__aB3dE5f"):
        shutil.copytree(RECORDED / "atif" / name, runs.root / name)
    result = runs.root / "shop-partial__aB3dE5f/result.json"
    error = {"exception_type": "ApiRateLimitError", "policy": {"has_valid_reward": False}}
    stored = json.loads(result.read_text()) | {"reward_valid": False, "exception_info": error}
    result.write_text(json.dumps(stored))
    webeval().assert_outcomes(passed=1, skipped=1)
    (excluded,) = (row for row in runs.summary["task_results"] if row["status"] == "excluded")
    assert excluded["reason"] == "invalid reward: the trial raised ApiRateLimitError"
    assert (runs.summary["total"], runs.summary["webeval"]["success_rate"]) == (1, 1)
    assert runs.summary["webeval"]["trajectories"]["reasons"] == {"invalid_reward": 1}
    assert runs.summary["webeval"]["excluded_counts"] == {"invalid_reward": 1}


def test_the_agents_own_file_does_not_make_a_failure_a_skipped_run(webeval, runs):
    path = runs.root / "shop-partial__aB3dE5f"
    shutil.copytree(RECORDED / "atif" / path.name, path)
    file = path / "agent/trajectory.json"
    document = json.loads(file.read_text()) | {"extra": {"early_termination_reason": "runtime_session_dead"}}
    file.write_text(json.dumps(document))
    webeval().assert_outcomes(failed=1)
