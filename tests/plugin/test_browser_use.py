"""Histories of browser-use as pytest items: its judge's verdicts, and network checks of its HAR and its traces."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.runs import definition

RECORDED = Path(__file__).parents[1] / "recorded" / "browser_use"
SHOP = "https://127.0.0.1:7743"
LETTER = {
    "name": "Ida Novak",
    "email": "ida.novak@example.com",
    "order": "",
    "message": "Is the kettle back?",
}


def sorted_by(order: str) -> dict[str, Any]:
    """An expectation that the agent opened the desk lamps in this order."""
    query = {"q": ["desk lamp"], "sort": [order]}
    return {"evaluator": "NetworkEventEvaluator", "expected": {"url": f"{SHOP}/search", "query_params": query}}


def posted(fields: dict[str, Any]) -> dict[str, Any]:
    """An expectation that the agent sent a message to the shop."""
    event = {"url": f"{SHOP}/contact", "http_method": "POST", "post_data": fields, "response_status": 200}
    return {"evaluator": "NetworkEventEvaluator", "expected": event}


@pytest.fixture
def recorded(runs):
    """All recorded runs."""
    shutil.copytree(RECORDED, runs.root)


@pytest.fixture
def check(runs, webeval):
    """Runs a session over one recorded run, whose task has an expectation of ours."""

    def check(name, *expectations):
        path = runs.root / "7"
        if not path.exists():
            shutil.copytree(RECORDED / name, path)
        (runs.root / "tasks.json").write_text(json.dumps([definition(7) | {"eval": list(expectations)}]))
        return webeval("-rs")

    return check


def statuses(runs):
    return {each["evaluator_name"]: each["status"] for each in runs.result(7)["evaluators_results"]}


@pytest.mark.usefixtures("recorded")
def test_judgements_are_verdicts_and_reports_of_the_agent_are_none(webeval, runs):
    outcomes = webeval("-rs")
    outcomes.assert_outcomes(passed=1, failed=6, skipped=7)
    outcomes.stdout.fnmatch_lines_random(
        [
            "self-report of 4 runs: 3 honest, 1 over-claiming, 0 under-claiming",
            "SKIPPED * aborted (no_steps): the history has no step: the browser did not start, *",
            "SKIPPED * aborted (rate_limit): the model's provider refused further calls*",
        ]
    )
    rows = runs.summary["webeval"]["trajectories"]["classes"]
    assert {name: count for name, count in rows.items() if count} == {
        "completed": 3,
        "impossible": 1,
        "over_budget": 3,
        "aborted": 2,
        "ungraded": 5,
    }


@pytest.mark.parametrize(
    ("name", "expectation", "outcome", "network", "verdict"),
    [
        ("shop-judged-success", sorted_by("price_asc"), {"passed": 1}, "success", "success"),
        ("shop-judged-success", sorted_by("rating"), {"failed": 1}, "failure", "success"),
        ("shop-judged-failure", sorted_by("relevance"), {"failed": 1}, "success", "failure"),
        ("shop-judged-failure", sorted_by("price_asc"), {"failed": 1}, "failure", "failure"),
    ],
)
def test_a_run_succeeds_if_its_traffic_and_its_judge_say_so(check, runs, name, expectation, outcome, network, verdict):
    check(name, expectation).assert_outcomes(**outcome)
    assert statuses(runs) == {"NetworkEventEvaluator": network, "RubricEvaluator": verdict}


@pytest.mark.parametrize(
    ("name", "expectation", "outcome"),
    [
        ("shop-not-judged", posted(LETTER), {"passed": 1}),
        ("shop-not-judged", posted(LETTER | {"message": "Hello"}), {"failed": 1}),
        ("shop-02-har", sorted_by("price_asc"), {"passed": 1}),
        ("shop-02-har", sorted_by("rating"), {"failed": 1}),
        ("shop-02-trace", sorted_by("price_asc"), {"passed": 1}),
        ("shop-02-trace", sorted_by("rating"), {"failed": 1}),
        ("shop-reported-failure", sorted_by("price_asc"), {"failed": 1}),
        ("shop-reported-failure", sorted_by("relevance"), {"passed": 1}),
    ],
)
def test_without_a_judgement_the_traffic_alone_decides(check, runs, name, expectation, outcome):
    check(name, expectation).assert_outcomes(**outcome)
    assert list(statuses(runs)) == ["NetworkEventEvaluator"]
    details = runs.result(7)["webeval"]
    assert details["trajectory"]["class"] == "ungraded"
    note = "scored by its expectations; no judge's verdict counts: not judged yet; no file of the run holds a verdict"
    assert (note in details["warnings"], [text for text in details["warnings"] if "not scored" in text]) == (True, [])


def test_a_run_without_an_answer_fails_whatever_its_traffic_holds(check, runs):
    check("shop-02-max-steps", sorted_by("price_asc")).assert_outcomes(failed=1)
    assert statuses(runs) == {"NetworkEventEvaluator": "failure", "RubricEvaluator": "failure"}
    check("shop-02-max-steps", {"evaluator": "NetworkEventEvaluator", "expected": {"url": f"{SHOP}/"}})
    assert statuses(runs) == {"NetworkEventEvaluator": "success", "RubricEvaluator": "failure"}


def test_without_traffic_the_judgement_does_not_decide_instead(check, runs):
    shutil.copytree(RECORDED / "shop-judged-success", runs.root / "7")
    (runs.root / "7" / "network.har").unlink()
    check("shop-judged-success", sorted_by("price_asc")).assert_outcomes(failed=1)
    assert statuses(runs) == {"NetworkEventEvaluator": "error", "RubricEvaluator": "success"}
    assert "no network recording in runs/7; record the browser's traffic" in runs.reasons["7"]


NAVIGATE = {
    "evaluator": "AgentResponseEvaluator",
    "expected": {"task_type": "navigate", "status": "SUCCESS", "retrieved_data": None},
    "results_schema": {"type": "null"},
}


@pytest.mark.parametrize(
    ("name", "network"), [("shop-judged-success", "error"), ("shop-02-har", "success")], ids=["own HAR", "Playwright's"]
)
def test_a_page_is_checked_only_where_the_recorder_says_what_a_page_is(check, runs, name, network):
    outcomes = check(name, NAVIGATE, sorted_by("price_asc"))
    assert statuses(runs).get("NetworkEventEvaluator") == network
    problem = "*7 does not say which requests are pages, and the task is to navigate: *"
    is_unknown = network == "error"
    (outcomes.stdout.fnmatch_lines if is_unknown else outcomes.stdout.no_fnmatch_line)(
        [problem] if is_unknown else problem
    )


EMPTY_HAR = '{"log": {"version": "1.2", "creator": {}, "entries": []}}'


@pytest.mark.parametrize(
    ("content", "problem"),
    [("", " has no usable events: "), (EMPTY_HAR, " has no entries; "), ("{}", "cannot parse ")],
    ids=["no bytes", "no entries", "no log"],
)
@pytest.mark.parametrize("placeholder", [SHOP, "__SHOPPING__"], ids=["URL", "site of the configuration"])
def test_a_trace_without_events_is_no_evidence_that_nothing_was_sent(webeval, runs, placeholder, content, problem):
    path = runs.root / "7"
    shutil.copytree(RECORDED / "shop-not-judged", path)
    expected = posted(LETTER)["expected"] | {"url": f"{placeholder}/contact"}
    forbidden = posted(LETTER) | {"expected": expected, "should_not_exist": True}
    (runs.root / "tasks.json").write_text(json.dumps([definition(7) | {"eval": [forbidden]}]))
    (runs.root.parent / "config.json").write_text(json.dumps({"environments": {"shopping": {"urls": [SHOP]}}}))
    webeval("--webeval-config=config.json").assert_outcomes(failed=1)
    (path / "network.har").write_text(content)
    webeval("--webeval-config=config.json").assert_outcomes(failed=1)
    assert runs.result(7)["status"] == "error"
    assert problem in runs.result(7)["error_msg"]


def test_expectations_are_laid_over_runs_by_the_names_of_their_tasks(webeval, runs):
    names = ("shop-judged-success", "shop-judged-failure", "shop-not-judged")
    for name in names:
        shutil.copytree(RECORDED / name, runs.root / name)
    checks = (sorted_by("rating"), sorted_by("relevance"), posted(LETTER))
    tasks = [definition(0) | {"task_id": name, "eval": [each]} for name, each in zip(names, checks, strict=True)]
    (runs.root / "tasks.json").write_text(json.dumps(tasks))
    webeval().assert_outcomes(passed=1, failed=2)
    results = {name: runs.result(name)["evaluators_results"] for name in names}
    assert {name: [each["status"] for each in found] for name, found in results.items()} == {
        "shop-judged-success": ["failure", "success"],
        "shop-judged-failure": ["success", "failure"],
        "shop-not-judged": ["success"],
    }
    webeval("-k", "shopping and [shop-not-judged]").assert_outcomes(passed=1, deselected=2)
    tasks.append(definition(0) | {"task_id": "missing"})
    (runs.root / "tasks.json").write_text(json.dumps(tasks))
    webeval("--webeval-require-all").assert_outcomes(passed=1, failed=2, errors=1)


def test_a_judgement_that_contradicts_itself_is_an_error(check, runs):
    path = runs.root / "7"
    shutil.copytree(RECORDED / "shop-impossible", path)
    history = json.loads((path / "AgentHistory.json").read_text())
    history["history"][-1]["result"][-1]["judgement"]["verdict"] = True
    (path / "AgentHistory.json").write_text(json.dumps(history))
    outcomes = check("shop-impossible", {"evaluator": "NetworkEventEvaluator", "expected": {"url": f"{SHOP}/"}})
    outcomes.assert_outcomes(failed=1)
    outcomes.stdout.fnmatch_lines(["*inconsistent: *R21: verdict is true, but impossible_task is true*"])


@pytest.mark.usefixtures("recorded")
def test_images_in_a_history_have_no_link_in_the_report(webeval, pytester):
    webeval("-k", "shop-02-har or shop-captcha", "--webeval-report=report")
    pages = [path.read_text() for path in pytester.path.glob("report/data/*.js") if "-events" not in path.name]
    assert sorted("screenshots/step_2.png" in page for page in pages) == [False, True]
    assert not any("AgentHistory.json%23" in page for page in pages)


def test_an_unjudged_run_whose_task_has_a_misspelt_id_says_that_it_is_not_defined(webeval, runs):
    shutil.copytree(RECORDED / "shop-not-judged", runs.root / "shop-not-judged")
    task = definition(0) | {"task_id": "shop-not-juged", "eval": [posted(LETTER)]}
    (runs.root / "tasks.json").write_text(json.dumps([task]))
    outcomes = webeval("--webeval-tasks=runs/tasks.json", "-rs")
    outcomes.assert_outcomes(skipped=1)
    outcomes.stdout.fnmatch_lines(["SKIPPED * not scored: *; task shop-not-judged is not defined in tasks.json; *"])
