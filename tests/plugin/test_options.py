"""Options, their ini twins, and what is said about wrong ones."""

from __future__ import annotations

import json

import pytest


def test_webeval_runs_turns_each_recorded_task_into_a_test(runs, webeval):
    runs.add(107)
    runs.add(108, passes=False)
    result = webeval()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["FAILED runs/108::task - agent_response.status: expected *success*; got *"])
    assert runs.counts == (1, 1, 0)
    assert runs.result(107)["status"] == "success"
    assert runs.result(108)["score"] == 0.0


def test_without_the_option_nothing_is_scored(pytester, runs):
    runs.add(107)
    result = pytester.runpytest()
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.no_fnmatch_line("*webeval*runs*")
    assert runs.written == []


def test_the_run_roots_may_stand_in_the_ini_file(pytester, runs):
    runs.add(107)
    pytester.makeini("[pytest]\nwebeval_runs = runs\n")
    pytester.runpytest().assert_outcomes(passed=1)


def test_the_ini_file_is_found_from_a_directory_below(pytester, runs, monkeypatch):
    runs.add(107)
    (pytester.path / "given.json").write_text(json.dumps(runs.tasks))
    (runs.root / "tasks.json").unlink()
    (pytester.path / "sites.json").write_text("{}")
    pytester.makeini(
        "[pytest]\nwebeval_runs = runs\nwebeval_tasks = given.json\nwebeval_config = sites.json\n"
        "webeval_output = out\nwebeval_rules = strict\n"
    )
    below = pytester.mkdir("below")
    monkeypatch.chdir(below)
    pytester.runpytest().assert_outcomes(passed=1)
    written = json.loads((pytester.path / "out" / "107" / "eval_result.json").read_bytes())
    assert written["webeval"]["rules"] == "strict"
    assert written["webeval"]["tasks_from"].endswith("given.json")
    assert runs.written == []


def test_an_option_beats_its_ini_twin(pytester, runs):
    runs.add(107)
    pytester.makeini("[pytest]\nwebeval_runs = nowhere\nwebeval_rules = nonsense\n")
    pytester.runpytest("--webeval-runs=runs", "--webeval-rules=reference").assert_outcomes(passed=1)
    assert runs.summary["webeval"]["rules"] == "reference"


def test_webeval_tasks_replaces_the_definitions_beside_the_runs(pytester, runs, webeval):
    runs.add(107)
    runs.add(108)
    (pytester.path / "given.jsonl").write_text(json.dumps(runs.tasks[0]) + "\n")
    result = webeval("--webeval-tasks=given.jsonl")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*task 108 is not defined in *given.jsonl*"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--webeval-runs=nowhere"], "*--webeval-runs: directory not found: *nowhere*"),
        (
            ["--webeval-runs=runs", "--webeval-today=1.3."],
            "invalid --webeval-today '1.3.'; use YYYY-MM-DD, e.g. 2026-01-31",
        ),
        (
            ["--webeval-runs=runs", "--webeval-rules=lax"],
            "invalid --webeval-rules 'lax'; use auto, default, reference or strict",
        ),
        (["--webeval-runs=runs", "--webeval-config=none.json"], "*--webeval-config: file not found: *none.json*"),
        (["--webeval-runs=runs", "--webeval-config=bad.json"], "*invalid configuration *bad.json: *"),
        (["--webeval-runs=runs", "--webeval-config=list.json"], "*invalid configuration *list.json: *"),
        (["--webeval-runs=runs", "--webeval-tasks=none.json"], "*--webeval-tasks: file not found: *none.json*"),
        (["--webeval-runs=runs", "--webeval-tasks=bad.json"], "*bad.json is neither JSON nor JSON lines: *"),
    ],
)
def test_a_wrong_option_is_a_usage_error_of_one_line(pytester, runs, arguments, message):
    runs.add(107)
    (pytester.path / "bad.json").write_text("{")
    (pytester.path / "list.json").write_text("[]")
    result = pytester.runpytest(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    told = [line for line in result.errlines if line.strip()]
    assert len(told) == 1, told
    result.stderr.fnmatch_lines([f"ERROR: {message}"])
    assert runs.written == []


def test_a_wrong_ini_value_names_the_same_reason(pytester, runs):
    runs.add(107)
    pytester.makeini("[pytest]\nwebeval_runs = nowhere\n")
    result = pytester.runpytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --webeval-runs: directory not found: *nowhere*"])


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.whole)])
def test_webeval_today_completes_partial_dates(runs, webeval, pytester, workers):
    path = runs.add(107)
    definitions = json.loads((runs.root / "tasks.json").read_text())
    definitions[0]["eval"][0]["results_schema"]["items"] = {"type": "date"}
    definitions[0]["eval"][0]["expected"]["retrieved_data"] = ["2022-03-17"]
    (runs.root / "tasks.json").write_text(json.dumps(definitions))
    answer = {"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": ["March 2022"]}
    (path / "agent_response.json").write_text(json.dumps(answer))
    webeval("--webeval-today=2026-11-17", *workers).assert_outcomes(passed=1)
    assert runs.summary["webeval"]["today"] == "2026-11-17"
    webeval("--webeval-today=2026-11-18", *workers).assert_outcomes(failed=1)
    pytester.makeini("[pytest]\nwebeval_today = 2026-01-17\n")
    webeval(*workers).assert_outcomes(passed=1)


def test_a_root_without_runs_collects_nothing_and_says_what_was_looked_for(pytester, runs, webeval):
    pytester.mkdir("runs")
    result = webeval()
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["no run was scored; searched *runs for directories with the files of a format: *"])
    assert runs.written == []


def test_help_lists_each_option_and_ini_key(pytester):
    result = pytester.runpytest("--help")
    for name in ("runs", "tasks", "subset", "config", "output", "rules", "today"):
        result.stdout.fnmatch_lines([f"*--webeval-{name}=*"])
        result.stdout.fnmatch_lines([f"*webeval_{name} (*"])
