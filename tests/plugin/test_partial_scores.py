"""Partial scores of users' evaluators: shown and averaged beside the success rate, never inside it."""

from __future__ import annotations

import json
import re

import pytest

from pytest_webeval.__main__ import main

# `score` and `holds` of an expectation are what the evaluator gives.
COVERAGE = """
import pytest
from pytest_webeval import Assertion, Evaluator

class Coverage(Evaluator):
    name = "Coverage"

    def evaluate(self, expectation, case):
        holds = Assertion.of("coverage", expectation.config["holds"], "expected all", "got some")
        return self.result([holds], score=expectation.config["score"])

@pytest.fixture
def webeval_evaluators(webeval_evaluators):
    return [*webeval_evaluators, Coverage()]
"""


def covers(score, *, holds=False):
    """An expectation that the evaluator answers with this score."""
    return {"evaluator": "Coverage", "score": score, "holds": holds}


@pytest.fixture
def graded(runs, pytester):
    """Runs that get 0.5, 1 and 0 of `Coverage`, and one that it does not check."""
    pytester.makeconftest(COVERAGE)
    runs.add(101, expects=(covers(0.5),))
    runs.add(102, expects=(covers(1, holds=True),), site="gitlab", template=2)
    runs.add(103, expects=(covers(0),))
    runs.add(104)
    return runs


def test_a_partial_score_leaves_status_and_score_as_they_are(graded, webeval):
    webeval().assert_outcomes(passed=2, failed=2)
    result = graded.result(101)
    assert (result["status"], result["score"]) == ("failure", 0.0)
    assert [each["score"] for each in result["evaluators_results"]] == [1.0, 0.5]
    assert result["webeval"]["partial_score"] == 0.75


@pytest.mark.parametrize("name", [102, 103, 104])
def test_a_result_without_a_partial_score_says_nothing_of_one(graded, webeval, name):
    webeval()
    assert "partial_score" not in graded.result(name)["webeval"]


def test_the_mean_is_over_the_runs_that_the_evaluator_checked(graded, webeval):
    result = webeval()
    summary = graded.summary["webeval"]
    assert summary["success_rate"] == 0.5
    assert summary["scores"] == {
        "mean_score": 0.75,  # of (1 + 0.5) / 2, (1 + 1) / 2 and (1 + 0) / 2
        "run_count": 3,
        "evaluators": ["Coverage"],
        "per_site": {
            "gitlab": {"mean_score": 1.0, "run_count": 1},
            "shopping": {"mean_score": 0.625, "run_count": 2},
        },
        "per_template": {
            "1": {"mean_score": 0.625, "run_count": 2},
            "2": {"mean_score": 1.0, "run_count": 1},
        },
    }
    rows = {row["task_id"]: row.get("partial_score") for row in graded.summary["task_results"]}
    assert rows == {101: 0.75, 102: 1.0, 103: 0.5, 104: None}
    result.stdout.fnmatch_lines(["success rate 50.0% *", "mean score 0.75 over 3 runs with a score"])


def test_the_failure_text_and_junit_have_the_score(graded, webeval, pytester):
    result = webeval("--junitxml=junit.xml")
    result.stdout.fnmatch_lines(["partial score 0.75, the mean of 2 evaluations"])
    written = (pytester.path / "junit.xml").read_text()
    assert re.findall('name="webeval_partial_score" value="([^"]*)"', written) == ["0.75"]


def test_a_session_without_partial_scores_says_nothing_of_them(runs, webeval, pytester):
    pytester.makeconftest(COVERAGE)
    runs.add(102, expects=(covers(1, holds=True),))
    webeval().stdout.no_fnmatch_line("*mean score*")
    assert "scores" not in runs.summary["webeval"]
    assert "partial_score" not in json.dumps(runs.summary)


def test_a_success_may_have_a_partial_score(runs, webeval, pytester):
    pytester.makeconftest(COVERAGE)
    runs.add(101, expects=(covers(0.25, holds=True),))
    webeval().assert_outcomes(passed=1)
    result = runs.result(101)
    assert (result["status"], result["score"], result["webeval"]["partial_score"]) == ("success", 1.0, 0.625)


def test_a_run_with_an_error_has_no_score(runs, webeval, pytester):
    pytester.makeconftest(COVERAGE)
    runs.add(101, expects=(covers(0.5), {"evaluator": "Nobody"}))
    webeval().assert_outcomes(failed=1)
    assert "partial_score" not in runs.result(101)["webeval"]
    assert "scores" not in runs.summary["webeval"]


@pytest.mark.parametrize(
    ("score", "shown"),
    [("-0.01", "-0.01"), ("1.01", "1.01"), ("7", "7.0"), ("float('inf')", "inf"), ("10**400", "inf")],
)
def test_a_score_that_is_not_from_0_to_1_is_refused(runs, webeval, pytester, score, shown):
    pytester.makeconftest(COVERAGE.replace('expectation.config["score"]', score))
    runs.add(101, expects=(covers(0.5),))
    webeval().assert_outcomes(failed=1)
    problem = f"Coverage: Coverage returned the score {shown}; return a number from 0 to 1"
    assert runs.result(101)["error_msg"] == problem


PYTHON_TEST = """
from pytest_webeval import EvaluatorResult

def test_depth(record_evaluation):
    record_evaluation(EvaluatorResult(evaluator_name="Depth", status="success", score=0.5))
"""


def test_what_a_python_test_records_is_in_the_mean_as_well(runs, webeval, pytester):
    runs.add(101)
    pytester.makepyfile(test_depth=PYTHON_TEST)
    webeval("test_depth.py", "runs").assert_outcomes(passed=2)
    result = runs.result(101)
    assert (result["status"], result["score"], result["webeval"]["partial_score"]) == ("success", 1.0, 0.75)
    assert runs.summary["webeval"]["scores"]["mean_score"] == 0.75


def test_what_two_python_tests_record_is_in_one_mean(runs, webeval, pytester):
    runs.add(101)
    pytester.makepyfile(test_depth=PYTHON_TEST, test_width=PYTHON_TEST.replace("0.5", "1.0").replace("Depth", "Width"))
    webeval("test_depth.py", "test_width.py").assert_outcomes(passed=2)
    result = runs.result(101)
    assert [each["score"] for each in result["evaluators_results"]] == [1.0, 0.5, 1.0]
    assert result["webeval"]["partial_score"] == 0.833333


def test_a_python_test_may_record_no_other_score(runs, webeval, pytester):
    runs.add(101)
    pytester.makepyfile(test_depth=PYTHON_TEST.replace("0.5", "2"))
    webeval("test_depth.py").stdout.fnmatch_lines(["*Depth returned the score 2.0; return a number from 0 to 1"])


def test_an_error_that_a_python_test_records_takes_the_score_away(graded, webeval, pytester):
    pytester.makepyfile(test_depth=PYTHON_TEST.replace('status="success", score=0.5', 'status="error", score=0.0'))
    webeval("test_depth.py", "runs", "-k", "101")
    result = graded.result(101)
    assert (result["status"], len(result["evaluators_results"])) == ("error", 3)
    assert "partial_score" not in result["webeval"]
    assert "scores" not in graded.summary["webeval"]


def test_a_task_without_a_template_is_in_no_mean_of_a_template(graded, webeval):
    graded.add(105, expects=(covers(0.5),), template=-1)
    webeval()
    scores = graded.summary["webeval"]["scores"]
    assert (scores["run_count"], set(scores["per_template"])) == (4, {"1", "2"})


def test_reused_results_have_their_scores(graded, webeval):
    webeval("--webeval-reuse")
    before = graded.summary["webeval"]
    webeval("--webeval-reuse")
    after = graded.summary["webeval"]
    assert (before["reused_count"], after["reused_count"]) == (0, 4)
    assert after["scores"] == before["scores"]


def test_shards_merge_to_the_same_means(graded, webeval, pytester, monkeypatch):
    webeval("--webeval-output=all")
    for number in (1, 2):
        webeval(f"--webeval-shard={number}/2", "--webeval-output=parts")
    monkeypatch.chdir(pytester.path)
    assert main(["merge", "parts", "--output=merged"]) == 0
    whole, merged = (
        json.loads((pytester.path / name / "eval_summary.json").read_text())["webeval"]["scores"]
        for name in ("all", "merged")
    )
    assert merged == whole


def test_compare_shows_the_change_of_the_mean_beside_the_rates(graded, webeval, pytester, capsys, monkeypatch):
    webeval("--webeval-output=before")
    graded.tasks[0]["eval"][1]["score"] = 0.9
    graded.define()
    webeval("--webeval-output=after")
    monkeypatch.chdir(pytester.path)
    capsys.readouterr()
    assert main(["compare", "before", "after"]) == 0
    shown = capsys.readouterr().out
    assert "  mean score 0.75 over 3 runs -> 0.82 over 3 runs, +0.07 over 3 tasks with scores in both\n" in shown
    assert "2 of 4 judged runs succeeded" in shown
    for name in ("before", "after"):
        (pytester.path / name / "eval_summary.json").unlink()
    main(["compare", "before", "after", "--format=json"])
    overall = json.loads(capsys.readouterr().out)["comparisons"][0]["overall"]
    assert overall["scores"] == {
        "before": {"mean_score": 0.75, "run_count": 3},
        "after": {"mean_score": 0.816667, "run_count": 3},
        "both_scored": 3,
        "difference": 0.066667,
    }


def test_the_report_has_the_score_of_the_session_and_of_the_run(graded, webeval, pytester):
    webeval("--webeval-report=report")
    report = pytester.path / "report"
    assert "mean score 0.75 over 3 runs with a score" in (report / "index.html").read_text()
    pages = [path.read_text() for path in report.rglob("*.js")]
    assert sum('"partial_score": 0.75' in page or '"partial_score":0.75' in page for page in pages) == 1


def test_pages_of_ci_have_the_mean(graded, webeval, pytester, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "job.md"))
    webeval("--webeval-gitlab-metrics=metrics.txt")
    assert (
        "Mean score 0.75 over 3 runs with a score. Rules <code>strict</code>." in (pytester.path / "job.md").read_text()
    )
    assert "webeval_mean_score 0.75\n" in (pytester.path / "metrics.txt").read_text()


@pytest.mark.whole
def test_workers_and_the_row_of_pytest_html_have_the_score(graded, webeval, pytester):
    pytest.importorskip("pytest_html")
    webeval("--html=page.html", "--self-contained-html")
    assert "0.0 (0.75)" in (pytester.path / "page.html").read_text()
