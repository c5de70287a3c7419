"""`--webeval-own-tasks`: what a run directory says of its task counts only where that is asked for."""

from __future__ import annotations

import json

import pytest

ADVICE = "name one with --webeval-tasks, or trust the run's own task.json with --webeval-own-tasks"


@pytest.fixture
def own_task(runs):
    """A run whose agent wrote a task that asks for what it answered."""
    path = runs.add(107, passes=False, defined=False)
    task = runs.definition(107)
    task["eval"][0]["expected"] = {"task_type": "retrieve", "status": "NOT_FOUND_ERROR", "retrieved_data": None}
    (path / "task.json").write_text(json.dumps(task))
    return path


def test_a_run_does_not_define_its_own_task(runs, webeval, own_task):
    webeval().assert_outcomes(errors=1)
    assert runs.reasons == {"107": f"no task definition for runs/107: no runs/tasks.json; {ADVICE}"}
    assert runs.result(107)["score"] == 0.0


def test_a_run_that_is_the_root_does_not_define_its_own_task(runs, own_task, pytester):
    (own_task / "tasks.json").write_text((own_task / "task.json").read_text())
    pytester.runpytest("--webeval-runs=runs/107").assert_outcomes(errors=1)
    assert runs.result(107)["error_msg"] == f"no task definition for runs/107; {ADVICE}"
    (own_task / "task.json").unlink()
    pytester.runpytest("--webeval-runs=runs/107", "--webeval-own-tasks").assert_outcomes(passed=1)
    assert runs.result(107)["webeval"]["tasks_from"].startswith("tasks.json in the run directory")


@pytest.mark.parametrize("workers", [(), pytest.param(("-n1",), marks=pytest.mark.whole)], ids=["serial", "xdist"])
def test_the_option_lets_a_run_define_its_own_task_with_a_warning(runs, webeval_apart, own_task, workers):
    webeval_apart("--webeval-own-tasks", *workers).assert_outcomes(passed=1)
    warning = "the task definition comes from the run directory, where the agent could have written it"
    assert runs.result(107)["webeval"]["warnings"] == [warning]
    assert [group["kind"] for group in runs.summary["webeval"]["warning_kinds"]] == ["own_definition"]


def test_the_ini_key_lets_a_run_define_its_own_task(runs, webeval, own_task, pytester):
    pytester.makeini("[pytest]\nwebeval_own_tasks = true\n")
    webeval().assert_outcomes(passed=1)


def test_a_run_without_any_definition_says_what_is_missing(runs, webeval):
    runs.add(107, defined=False)
    webeval("--webeval-own-tasks").assert_outcomes(errors=1)
    missing = "no task definition for runs/107: no runs/tasks.json, no task.json in it"
    assert runs.reasons == {"107": f"{missing}; name one with --webeval-tasks"}


def test_what_scores_a_run_again_trusts_its_own_task_as_well(runs, webeval):
    path = runs.add(107, passes=False, defined=False)
    (path / "task.json").write_text(json.dumps(runs.definition(107)))
    result = webeval("--webeval-own-tasks")
    result.stdout.fnmatch_lines(["*pytest --webeval-runs=runs --webeval-own-tasks -k '[[]107]'"])


def test_a_session_that_trusts_tasks_of_runs_reuses_results_of_other_definitions_only(runs, webeval, pytester):
    runs.add(107)
    runs.add(108, defined=False)
    (runs.root / "108" / "task.json").write_text(json.dumps(runs.definition(108)))
    webeval("--webeval-reuse", "--webeval-own-tasks").assert_outcomes(passed=1, errors=1)
    (runs.root / "tasks.json").rename(pytester.path / "tasks.json")
    webeval("--webeval-reuse", "--webeval-own-tasks").assert_outcomes(passed=1, errors=1)
    (runs.root / "107" / "task.json").write_text(json.dumps(runs.definition(107)))
    result = webeval("--webeval-reuse", "--webeval-own-tasks")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["reused: 1 of 2 results taken*"])
    assert any("agent could have written it" in text for text in runs.result(107)["webeval"]["warnings"])
    result = webeval("--webeval-reuse", "--webeval-tasks=tasks.json")
    result.stdout.fnmatch_lines(["reused: 0 of 2 results taken*"])
    assert runs.result(107)["webeval"]["warnings"] == []


WHO_WROTE_IT = """
import pytest
from pytest_webeval.plugin.workspace import WORKSPACE

@pytest.fixture
def webeval_evaluators(request, webeval_evaluators, webeval_run):
    definition = request.config.stash[WORKSPACE].tasks.definition(webeval_run)
    print("trust:", definition.trust, definition.origin)
    return webeval_evaluators
"""


def test_the_file_of_a_definition_decides_its_trust_and_not_its_name(runs, webeval, own_task, pytester):
    pytester.makeconftest(WHO_WROTE_IT)
    webeval("-s", "--webeval-own-tasks").stdout.fnmatch_lines(["*trust: run task.json in the run directory*"])
    path = pytester.path / "tasks in the run directory (the agent could have written it)"
    path.write_text(f"[{(own_task / 'task.json').read_text()}]")
    webeval("-s", f"--webeval-tasks={path}").stdout.fnmatch_lines(["*trust: user tasks in the run directory*"])
    assert runs.result(107)["webeval"]["warnings"] == []


def test_the_definitions_of_a_run_root_are_the_users(runs, webeval, pytester):
    pytester.makeconftest(WHO_WROTE_IT)
    runs.add(107)
    webeval("-s", "--webeval-own-tasks").stdout.fnmatch_lines(["*trust: user tasks.json"])


def test_a_trajectory_without_a_definition_has_nobody_to_trust(tree, webeval, pytester):
    pytester.makeconftest(WHO_WROTE_IT)
    tree("books_7")
    webeval("-s").stdout.fnmatch_lines(["*trust: undefined *"])
