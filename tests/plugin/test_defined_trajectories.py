"""Runs of defined tasks in sessions with labels, chosen evaluators, Python tests, hooks and judges."""

from __future__ import annotations

import json
import shutil

import pytest

from pytest_webeval.__main__ import main
from tests.plugin.test_defined_tasks import (
    NO_TRAFFIC,
    RESPONSE,
    RIGHT,
    RULES,
    TRAJECTORIES,
    VERDICT,
    WRONG,
    requested,
    visited,
)
from tests.support.agentlab import find_experiment
from tests.support.any_format import Recorded, write_run
from tests.support.runs import definition

LABELS = ("--webeval-labels=labels.json", "--webeval-label-coding=osu")
VERDICTS = ("--webeval-verdicts=verdicts.json",)
CODES = {"failure": "0", "success": "1", "impossible": "2"}


@pytest.fixture
def define(runs):
    """Defines task 107 by some expectations."""
    return lambda *expectations, **more: runs.define(definition(107) | {"eval": list(expectations)} | more)


@pytest.fixture
def row(runs):
    """What the summary says of the only run."""
    return lambda: runs.summary["task_results"][0]


@pytest.mark.thinned(every=4)
@pytest.mark.parametrize("name", ["fara", "webvoyager", "online-mind2web"])
@pytest.mark.parametrize(
    ("label", "answer", "status"),
    [
        ("success", RIGHT, "success"),
        ("success", WRONG, "failure"),
        ("failure", RIGHT, "failure"),
        ("impossible", RIGHT, "success"),
        ("impossible", WRONG, "failure"),
    ],
)
def test_a_label_counts_besides_and_excludes_no_run(runs, webeval, pytester, define, row, name, label, answer, status):
    define(RESPONSE)
    write_run(runs.root / "107", name, Recorded(answer=answer))
    labels = [{"task_id": "107", "runs_human_label": CODES[label]}]
    (pytester.path / "labels.json").write_text(json.dumps(labels))
    webeval(RULES, *LABELS)
    assert row()["status"] == status
    warnings = runs.result(107)["webeval"]["warnings"]
    assert any("impossible: people could not execute the task @ labels.json" in text for text in warnings) is (
        label == "impossible"
    )


def test_a_label_that_is_no_verdict_is_not_the_one_that_a_definition_expects(runs, webeval, pytester, define, row):
    define(VERDICT)
    write_run(runs.root / "107", "fara", Recorded(answer=RIGHT))
    (pytester.path / "labels.json").write_text(json.dumps([{"task_id": "107", "runs_human_label": "2"}]))
    webeval(RULES, *LABELS)
    assert (row()["status"], "impossible: people could not execute the task" in row()["reason"]) == ("error", True)


@pytest.mark.parametrize(
    ("word", "answer", "status"),
    [("success", RIGHT, "success"), ("success", WRONG, "failure"), ("failure", RIGHT, "failure")],
)
@pytest.mark.parametrize("is_aborted", [False, True], ids=["completed", "aborted"])
def test_a_verdict_of_a_file_counts_besides(runs, webeval, pytester, define, row, word, answer, status, is_aborted):
    define(RESPONSE)
    write_run(runs.root / "107", "fara", Recorded(answer=answer, verdict=None, is_aborted=is_aborted))
    judged = {"task_id": "107", "evaluation_details": {"response": f"Thoughts: hm\nStatus: {word}"}}
    (pytester.path / "verdicts.json").write_text(json.dumps(judged))
    webeval(RULES, *VERDICTS)
    assert row()["status"] == status


@pytest.mark.parametrize("name", TRAJECTORIES)
def test_a_choice_that_leaves_nothing_of_the_definition_is_no_success(runs, webeval, define, row, name):
    define(RESPONSE, requested("/order"))
    write_run(runs.root / "107", name, Recorded(answer=WRONG))
    webeval(RULES, "--webeval-evaluators=rubric").assert_outcomes(skipped=1)
    assert row()["reason"] == "task 107 has no expectation for the chosen evaluators: RubricEvaluator"
    webeval(RULES, "--webeval-evaluators=response").assert_outcomes(failed=1)
    omitted = "omitted: eval[1] RequestPatternEvaluator, eval[2] RubricEvaluator"
    assert any(text.endswith(omitted) for text in runs.result(107)["webeval"]["warnings"])
    assert any(omitted in text for texts in runs.summary["webeval"]["warnings"].values() for text in texts)


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize("name", TRAJECTORIES)
def test_evidence_is_needed_under_all_rules(runs, webeval, define, row, name):
    define(requested("/cart"))
    write_run(runs.root / "107", name, Recorded(answer=RIGHT))
    for rules in ("reference", "default", "strict"):
        webeval(f"--webeval-rules={rules}")
        assert (row()["status"], NO_TRAFFIC in row()["reason"]) == ("error", True)


@pytest.mark.parametrize(
    ("path", "code", "status"), [("/cart", "{}", "success"), ("/order", "{}", "failure"), (None, "{}", "error")]
)
def test_a_python_test_does_not_pass_over_a_defined_task(runs, webeval, pytester, define, row, path, code, status):
    define(requested(path or "/cart"))
    write_run(runs.root / "107", "fara", Recorded(answer=RIGHT, has_traffic=path is not None, is_aborted=True))
    pytester.makepyfile(test_it="def test_it(webeval_request_pattern): webeval_request_pattern.check()")
    outcomes = {"passed": 2} if status == "success" else {"failed": 2}
    webeval(RULES, "test_it.py", "runs").assert_outcomes(**outcomes)
    assert row()["status"] == status


def test_an_error_that_a_python_test_adds_counts(runs, webeval, pytester, define, row):
    define(RESPONSE)
    write_run(runs.root / "107", "fara", Recorded(answer=RIGHT))
    pytester.makepyfile(
        test_it="""
        from pytest_webeval import EvaluatorResult

        def test_it(record_evaluation):
            record_evaluation(EvaluatorResult(evaluator_name="Mine", status="error", score=0.0, error_msg="odd"))
        """
    )
    webeval(RULES, "test_it.py", "runs")
    assert (row()["status"], runs.summary["webeval"]["success_rate_denominator"]) == ("error", 1)
    assert runs.result(107)["webeval"]["excluded"] is None


def test_a_run_whose_hook_raises_is_an_error_that_counts(runs, webeval, pytester, define, row):
    define(RESPONSE)
    write_run(runs.root / "107", "fara", Recorded(answer=RIGHT))
    pytester.makeconftest("def pytest_webeval_scored(item, run, result): raise ValueError('x')")
    webeval(RULES)
    assert (row()["status"], runs.summary["webeval"]["success_rate_denominator"]) == ("error", 1)


@pytest.mark.unchecked_files("a file is damaged on purpose")
def test_a_run_of_a_defined_task_that_cannot_be_read_counts(runs, webeval, define, row):
    define(RESPONSE)
    (write_run(runs.root / "107", "fara", Recorded(answer=RIGHT)) / "107_final_answer.json").write_text("{")
    webeval(RULES)
    assert (row()["status"], runs.counts, runs.summary["webeval"]["success_rate_denominator"]) == (
        "error",
        (0, 0, 1),
        1,
    )


def test_a_judge_that_cannot_be_asked_gives_no_verdict_that_a_definition_expects(runs, webeval, define, row):
    define(VERDICT)
    write_run(runs.root / "107", "webvoyager", Recorded(answer=RIGHT, verdict=None))
    webeval(RULES, "--webeval-judge=gpt-4o", "--webeval-judge-method=webvoyager")
    assert (row()["status"], runs.summary["webeval"]["success_rate_denominator"]) == ("error", 1)
    (evaluated,) = runs.result(107)["evaluators_results"]
    assert evaluated["actual"]["judge"]["failure"] == "forgotten"


def test_an_experiment_that_was_run_again_stays_excluded(runs, webeval, define, row):
    moved = find_experiment("browser-lost", 7, "_")
    runs.define(definition(107) | {"task_id": "toy.browser-lost_7"})
    shutil.copytree(moved, runs.root / moved.name)
    webeval(RULES).assert_outcomes(skipped=1)
    assert row()["reason"].startswith("aborted (superseded): ")


ROW = {"test_case": "107", "instruction": "Order two mugs.", "eval_schema": {"url_pattern": "/cart$", "method": "POST"}}


@pytest.mark.parametrize(
    ("name", "recorded", "status"),
    [
        ("clawbench", Recorded(answer="done", has_traffic=True), "success"),
        ("clawbench", Recorded(answer="done", verdict=None), "error"),
        ("clawbench", Recorded(is_aborted=True), "excluded"),
        ("webvoyager", Recorded(is_aborted=True, verdict=None), "error"),
        ("fara", Recorded(is_aborted=True), "error"),
        ("browser-use", Recorded(answer="done"), "error"),
    ],
)
def test_a_row_of_a_benchmark_with_a_request_excludes_its_own_runs_alone(
    runs, webeval, pytester, row, name, recorded, status
):
    (pytester.path / "rows.json").write_text(json.dumps([ROW]))
    write_run(runs.root / "107", name, recorded)
    webeval(RULES, "--webeval-tasks=rows.json")
    rated = runs.summary["webeval"]["success_rate_denominator"]
    assert (row()["status"], rated) == (status, int(status != "excluded"))


@pytest.mark.parametrize("name", TRAJECTORIES)
def test_a_task_without_expectations_keeps_the_rules_of_its_benchmark(runs, webeval, row, name):
    write_run(runs.root / "107", name, Recorded(answer="done", verdict=None, is_aborted=True))
    webeval(RULES).assert_outcomes(skipped=1)
    assert (row()["status"], row()["reason"].startswith("aborted (")) == ("excluded", True)


def test_a_log_of_requests_is_no_evidence_of_a_response(runs, webeval, define, row):
    define(visited("/", "http://127.0.0.1:36847"))
    write_run(runs.root / "107", "clawbench", Recorded(answer=RIGHT, has_traffic=True))
    webeval(RULES)
    assert (row()["status"], "requests.jsonl of ClawBench records no responses" in row()["reason"]) == ("error", True)


FORMAT = """
    from functools import partial
    import pytest_webeval as webeval

    class OwnRun(webeval.Run):
        @property
        def exclusion(self):
            return "aborted: so it says"

    class OwnFormat(webeval.RunFormat):
        name = "own"
        expected_files = "answer.json"

        def recognizes(self, path):
            return (path / "answer.json").is_file()

        def load(self, path, label, rules):
            trace = partial(webeval.load_trace, name="traffic.har")
            inputs = webeval.RunInputs(path)
            return OwnRun(path, label, int(path.name), self.name, "answer.json", inputs, rules, trace)

    def pytest_webeval_recognize(path, config):
        return OwnFormat() if OwnFormat().recognizes(path) else None
"""


@pytest.mark.parametrize(("answer", "outcome"), [(RIGHT, "success"), (WRONG, "failure")])
def test_a_format_of_ones_own_excludes_no_run_of_a_defined_task(runs, webeval, pytester, define, row, answer, outcome):
    define(RESPONSE)
    pytester.makeconftest(FORMAT)
    path = runs.root / "107"
    path.mkdir()
    (path / "answer.json").write_text(answer)
    (path / "traffic.har").write_text(json.dumps({"log": {"entries": [runs.navigation()]}}))
    webeval(RULES)
    assert row()["status"] == outcome
    assert "the run is marked as aborted: so it says" in " ".join(runs.result(107)["webeval"]["warnings"])
    (path / "traffic.har").unlink()
    webeval(RULES)
    assert (row()["status"], runs.summary["webeval"]["success_rate_denominator"]) == ("error", 1)


def test_what_aborted_means_is_not_asked_of_a_run_that_a_choice_excludes(runs, webeval, define, row):
    define(RESPONSE)
    write_run(runs.root / "107", "fara", Recorded(answer=RIGHT, is_aborted=True))
    arguments = (RULES, "--webeval-evaluators=request", "--webeval-aborted=fail")
    webeval(*arguments).assert_outcomes(skipped=1)
    assert main(["score", "runs", *arguments]) == 0
    assert row()["reason"].startswith("task 107 has no expectation for the chosen evaluators")


@pytest.mark.parametrize("broken", [{"eval": []}, {"eval": 3}, {"sites": 3}], ids=str)
def test_a_run_whose_definition_cannot_be_read_counts(runs, webeval, define, row, broken):
    define(RESPONSE, **broken)
    write_run(runs.root / "107", "fara", Recorded(answer=WRONG))
    webeval(RULES)
    assert (row()["status"], runs.summary["total"]) == ("error", 1)
    assert runs.summary["webeval"]["success_rate_denominator"] == 1
