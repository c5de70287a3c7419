"""Stagehand directories as pytest items, with the verdicts of its verifier and the checks of definitions."""

from __future__ import annotations

import json
import shutil

import pytest

from pytest_webeval.__main__ import main
from tests.support.runs import HOME, definition, navigation, visited
from tests.support.stagehand import SAMPLES, sample


@pytest.fixture
def layouts(runs):
    """All samples, each layout below a directory of its own."""
    for path in sorted(SAMPLES.iterdir()):
        shutil.copytree(path, runs.root / path.name)


@pytest.fixture
def numbered(runs):
    """A run of task 7 with recorded traffic, in the layout of June."""
    path = runs.root / "7"
    shutil.copytree(sample("06", "success"), path)
    (path / "network.har").write_text(json.dumps({"log": {"entries": [navigation(f"{HOME}tea")]}}))
    return path


def test_each_layout_has_its_outcomes_in_pytest(layouts, webeval):
    outcomes = webeval("-rs")
    outcomes.assert_outcomes(passed=11, failed=9, skipped=8)
    outcomes.stdout.fnmatch_lines_random(
        [
            "*28 trajectories: *",
            "SKIPPED * not scored: the judge failed: The fused judgment call did not return a parseable response.*",
            "SKIPPED * not scored: the judge reached no result: No screenshots.*",
            "SKIPPED * not scored: the verifier failed: scripted: the judge did not answer*",
            "SKIPPED * not scored: not judged yet*",
            "SKIPPED * aborted (stalled): the run was stalled*",
            "SKIPPED * aborted (error): the run ended with an error*",
        ]
    )


def test_the_summary_has_the_classes_and_the_ids_of_the_tasks(layouts, webeval, runs):
    webeval()
    about = runs.summary["webeval"]
    assert about["trajectories"]["classes"] == {
        "completed": 17,
        "over_budget": 2,
        "aborted": 3,
        "unreadable": 0,
        "impossible": 1,
        "ungraded": 5,
    }
    statuses = {row["task_id"]: row["status"] for row in runs.summary["task_results"]}
    assert (statuses["tea_gated"], statuses["tea_judged"], statuses["tea_ungraded"]) == (
        "failure",
        "success",
        "excluded",
    )


def test_a_success_that_a_gate_rejects_fails_with_the_name_of_the_gate(layouts, webeval, runs):
    result = webeval("-k", "tea_gated")
    result.assert_outcomes(failed=1, deselected=27)
    message = "not achieved: gate no_final_answer failed; the judge accepted the run: The price was reported."
    result.stdout.fnmatch_lines([f"rubric.outcome: {message}", f"    {message}"])
    (row,) = runs.summary["task_results"]
    (evaluated,) = json.loads(next(runs.root.glob("**/tea_gated/*/eval_result.json")).read_text())["evaluators_results"]
    assert (row["status"], evaluated["assertions"][0]["assertion_msgs"]) == ("failure", [message])


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize(("criterion", "passed"), [("outcome", 11), ("process", 9), ("both", 7)])
def test_the_criterion_of_the_session_decides(layouts, webeval, criterion, passed):
    assert webeval(f"--webeval-criterion={criterion}").parseoutcomes()["passed"] == passed


def test_one_execution_of_many_tasks_is_one_run_in_the_statistics(runs, webeval, pytester):
    group = next(SAMPLES.glob("2026-07*/*"))
    for name in ("first", "second"):
        for task in ("tea_success", "tea_partial", "tea_failure"):
            shutil.copytree(group / task, runs.root / name / task)
    webeval("--webeval-metrics=metrics")
    assert [entry["run"] for entry in runs.summary["webeval"]["trajectories"]["runs"]] == ["runs/first", "runs/second"]
    (experiment,) = runs.summary["webeval"]["trajectories"]["experiments"].values()
    assert (experiment["tasks"], experiment["common_tasks"], experiment["average_denominator"]) == (3, 3, 2)
    assert len(list((pytester.path / "metrics").rglob("metrics.json"))) == 2
    (agent,) = runs.summary["webeval"]["attempts"]["agents"]
    assert [attempt["attempt"] for attempt in agent["attempts"]] == ["runs/first", "runs/second"]


@pytest.fixture
def executions(runs):
    """Two executions of three tasks in the layout of July; each task has a run folder of its own name below it."""
    group = next(SAMPLES.glob("2026-07*/*"))
    for number, name in enumerate(("first", "second")):
        for task in ("tea_success", "tea_partial", "tea_failure"):
            (sample_run,) = (group / task).iterdir()
            shutil.copytree(sample_run, runs.root / name / task / f"2026-11-24T05-00-0{number}-000Z")


@pytest.mark.parametrize("spread", [[], ["-n2"]], ids=["serial", "xdist"])
def test_executions_are_named_from_the_start(executions, webeval_apart, spread):
    webeval_apart(*spread).stdout.fnmatch_lines(["webeval: 2 attempts: runs/first (3 runs), runs/second (3 runs)"])


def test_a_pattern_matches_the_name_of_an_execution(executions, runs, webeval):
    result = webeval("--webeval-attempts=[fs]*", "--webeval-gate=attempts 2 of 2 >= 30%")
    result.stdout.fnmatch_lines(["*found runs: 33.3% (1 of 3 tasks)*"])
    (agent,) = runs.summary["webeval"]["attempts"]["agents"]
    assert (agent["agent"], [attempt["attempt"] for attempt in agent["attempts"]]) == ("runs", ["first", "second"])


@pytest.mark.parametrize("source", ["out/eval_summary.json", "out"], ids=["summary", "results"])
def test_commands_name_an_execution_by_the_folder_above_the_task(executions, webeval, pytester, capsys, source):
    webeval("--webeval-output=out")
    path = pytester.path / source
    if path.is_dir():
        (path / "eval_summary.json").unlink()
    capsys.readouterr()
    gate = ("--attempts", "[fs]*", "--gate", "attempts 2 of 2 >= 30%")
    assert main(["compare", str(path), *gate]) == 0
    assert "found runs: 33.3% (1 of 3 tasks)" in capsys.readouterr().out
    main(["export", str(path), "--to=jsonl"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(row["attempt"] for row in rows) == ["runs/first"] * 3 + ["runs/second"] * 3
    assert {row["format"] for row in rows} == {"stagehand"}


def test_the_root_of_one_execution_is_one_run(runs, webeval, pytester):
    shutil.copytree(next(SAMPLES.glob("2026-07*/*")), runs.root)
    webeval("--webeval-metrics=metrics")
    assert runs.summary["webeval"]["trajectories"]["runs"] == []
    assert len(list((pytester.path / "metrics").rglob("metrics.json"))) == 1


def test_a_later_judgement_is_chosen_by_its_name(layouts, webeval):
    chosen = ("-k", "tea_rescored", "--webeval-score-file")
    webeval(*chosen, "result").assert_outcomes(passed=1, deselected=27)
    outcomes = webeval(*chosen, "result_second_judge")
    outcomes.assert_outcomes(failed=1, deselected=27)
    outcomes.stdout.fnmatch_lines(["*rubric.outcome: not achieved: The price was not reported.*"])


def test_the_format_is_a_keyword(layouts, runs, webeval):
    runs.add(3)
    webeval("-k", "stagehand").assert_outcomes(passed=11, failed=9, skipped=8, deselected=1)


def test_a_definition_adds_its_network_checks_to_the_verdict(numbered, runs, webeval):
    for path, outcome in (("tea", {"passed": 1}), ("cart", {"failed": 1})):
        task = definition(7) | {"eval": [visited(f"__SHOPPING__/{path}")]}
        (runs.root / "tasks.json").write_text(json.dumps([task]))
        webeval().assert_outcomes(**outcome)
    result = json.loads((numbered / "eval_result.json").read_text())
    names = [evaluator["evaluator_name"] for evaluator in result["evaluators_results"]]
    assert names == ["NetworkEventEvaluator", "RubricEvaluator"]
    assert [evaluator["status"] for evaluator in result["evaluators_results"]] == ["failure", "success"]


def test_a_result_that_contradicts_itself_or_its_copy_is_an_error(numbered, webeval):
    path = numbered / "scores" / "result.json"
    result = json.loads(path.read_text())
    path.write_text(json.dumps(result | {"processScore": 0.2}))
    outcomes = webeval()
    outcomes.assert_outcomes(failed=1)
    outcomes.stdout.fnmatch_lines(["*inconsistent: scores/result.json contradicts itself: R21: processScore is 0.2, *"])
    outcomes.stdout.fnmatch_lines(
        ["*R21: task_data.json has another result than scores/result.json; judge the run again*"]
    )


@pytest.mark.whole
def test_workers_give_the_same_results(layouts, webeval_apart, runs):
    webeval_apart()
    alone = runs.summary["task_results"]
    webeval_apart("-n2").assert_outcomes(passed=11, failed=9, skipped=8)
    assert [(row["task_id"], row["status"]) for row in runs.summary["task_results"]] == [
        (row["task_id"], row["status"]) for row in alone
    ]


@pytest.fixture
def defined(pytester):
    """A task list of Stagehand with the task of some samples."""
    row = {"id": "tea_success", "category": "shop", "ques": "Find it", "web": "", "precomputed_rubric": {"items": []}}
    pytester.path.joinpath("tasks.jsonl").write_text(json.dumps(row) + "\n")
    return "--webeval-tasks=tasks.jsonl"


def test_a_task_list_of_stagehand_defines_the_tasks(layouts, defined, webeval):
    webeval(defined, "-k", "tea_success").assert_outcomes(passed=3, deselected=25)


@pytest.mark.parametrize("name", ["network.har", "note.txt", ".hidden"])
def test_a_file_next_to_the_runs_of_a_task_makes_its_directory_a_broken_run(runs, defined, webeval, name):
    path = runs.root / "tea_success"
    shutil.copytree(sample("07", "success").parent, path)
    webeval(defined).assert_outcomes(passed=1)
    (path / name).write_text("")
    webeval(defined).assert_outcomes(errors=1)


def test_a_run_without_the_name_of_a_run_in_the_directory_of_a_task_is_a_broken_one(runs, defined, webeval):
    path = runs.root / "tea_success" / "inner"
    shutil.copytree(sample("06", "success"), path)
    webeval(defined).assert_outcomes(errors=1)
