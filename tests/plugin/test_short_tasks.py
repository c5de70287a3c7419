"""A session over tasks of one's own: names as ids, a site of any name, and definitions of a few lines."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pytest_webeval.reports.html.writer import data_name

RECORDED = Path(__file__).parents[1] / "recorded/bookshop/cheapest_book"
ANSWER = {"evaluator": "AgentResponseEvaluator", "expected": {"task_type": "retrieve", "retrieved_data": [4.5]}}
SORTED = {
    "evaluator": "NetworkEventEvaluator",
    "expected": {"url": "__BOOKSHOP__/books", "query_params": {"sort": ["price"]}},
}
TASKS = [
    {"task_id": "cheapest_book", "sites": ["bookshop"], "intent": "What does it cost?", "eval": [ANSWER, SORTED]},
    {"task_id": "any_price", "intent": "Name the price of a book.", "eval": [ANSWER]},
    {"task_id": 12, "sites": ["bookshop"], "intent": "Open the till.", "eval": [SORTED | {"should_not_exist": True}]},
]
RUN = "runs/cheapest_book"
NAMES = ("cheapest_book", "any_price", "12")


@pytest.fixture
def bookshop(runs, pytester, webeval):
    """A session over three runs of a bookshop, with a configuration of these sites."""
    for name in NAMES:
        shutil.copytree(RECORDED, runs.root / name)
    (pytester.path / "own.json").write_text(json.dumps(TASKS))

    def session(*arguments, site="bookshop"):
        content = {"environments": {site: {"urls": ["http://127.0.0.1:8080"]}}}
        (pytester.path / "config.json").write_text(json.dumps(content))
        return webeval("--webeval-tasks=own.json", "--webeval-config=config.json", *arguments)

    return session


def test_short_tasks_are_scored_and_summed_up_by_their_names(bookshop, runs):
    result = bookshop("-v")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines_random([f"runs/{name}::task*" for name in NAMES])
    result.stdout.fnmatch_lines(["*bookshop * 1 / 2 *"])
    sites = {name: [row["task_id"] for row in rows] for name, rows in runs.summary["per_site_summary"].items()}
    assert sites == {"": ["any_price"], "bookshop": [12, "cheapest_book"]}
    frozen = {name: runs.result("cheapest_book")[name] for name in ("task_id", "sites", "status")}
    assert frozen == {"task_id": "cheapest_book", "sites": ["bookshop"], "status": "success"}
    numbers = [runs.result(name)[key] for name in NAMES for key in ("intent_template_id", "task_revision")]
    assert numbers == [-1] * 6
    assert runs.result("any_price")["sites"] == []


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("-k", "bookshop"), ["12", "cheapest_book"]),
        (("-k", "cheapest_book"), ["cheapest_book"]),
        (("-k", "[any_price]"), ["any_price"]),
        (("-k", "template_-1"), []),
        (("-m", 'webeval_site(name="bookshop")'), ["12", "cheapest_book"]),
        (("-m", "webeval_template"), []),
        (("runs/any_price::task",), ["any_price"]),
    ],
    ids=" ".join,
)
def test_short_tasks_are_selected_by_site_and_id(bookshop, arguments, names):
    lines = bookshop("--collect-only", "-q", *arguments).outlines
    assert sorted(line for line in lines if line.endswith("::task")) == [f"runs/{name}::task" for name in names]


def test_pages_of_the_report_name_the_site_and_the_task(bookshop, pytester):
    bookshop("--webeval-report=report")
    report = pytester.path / "report"
    (page,) = (path.read_text() for path in (report / "data").iterdir() if path.name == f"{data_name(RUN)}.js")
    for text in (page, (report / "index.html").read_text()):
        assert all(name in text for name in ("cheapest_book", "bookshop", "What does it cost?"))


def test_a_site_that_the_configuration_misspells_is_an_error_of_its_tasks(bookshop, runs):
    bookshop(site="bookshp").assert_outcomes(passed=1, failed=2)
    reason = "unknown site 'bookshop' @ sites; did you mean 'bookshp'? known: bookshp"
    assert set(runs.reasons) == {"cheapest_book", "12"}
    assert all(text.startswith(reason) for text in runs.reasons.values())
    assert runs.counts == (1, 0, 2)


def test_answers_alone_need_no_site_in_the_configuration(bookshop, runs):
    bookshop("--webeval-evaluators=response", site="bookshp").assert_outcomes(passed=2, skipped=1)
    assert runs.counts == (2, 0, 0)


def test_rules_of_the_reference_refuse_the_site(bookshop, runs):
    bookshop("--webeval-rules=reference").assert_outcomes(failed=3)
    assert all(text.startswith("unknown site 'bookshop'; rules reference allow ") for text in runs.reasons.values())


@pytest.mark.parametrize("rules", ["default", "reference"])
def test_without_a_configuration_the_site_is_inferred_under_the_rules_that_know_it(runs, webeval, pytester, rules):
    shutil.copytree(RECORDED, runs.root / "cheapest_book")
    (runs.root / "tasks.json").write_text(json.dumps(TASKS[0]))
    webeval(f"--webeval-rules={rules}")
    result = runs.result("cheapest_book")
    assert result["status"] == ("success" if rules == "default" else "error")


def test_rules_of_the_reference_do_not_reuse_a_result_once_a_site_is_declared_that_they_refuse(runs, webeval, pytester):
    runs.add(107)
    for name, outcome in (("map", {"passed": 1}), ("till", {"failed": 1})):
        environments = {site: {"urls": ["http://shop.test"]} for site in ("shopping", name)}
        (pytester.path / "config.json").write_text(json.dumps({"environments": environments}))
        webeval("--webeval-rules=reference", "--webeval-reuse", "--webeval-config=config.json").assert_outcomes(
            **outcome
        )
