"""Files and lines for CI systems, written by sessions that find themselves on one."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from pytest_webeval.plugin.runtest.report_payloads import junit_properties
from pytest_webeval.summary.record import Record


@pytest.fixture
def page(pytester, monkeypatch):
    path = pytester.path / "page.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    return path


@pytest.fixture
def good_and_bad(runs):
    runs.add(107)
    runs.add(108, passes=False, site="gitlab")
    (runs.add(109) / "network.har").write_text("{")
    return runs


@pytest.mark.whole
def test_a_page_is_appended_by_the_controller_alone_and_the_same_however_items_are_spread(
    good_and_bad, webeval_apart, page
):
    page.write_text("before")
    webeval_apart()
    serial = page.read_text()
    page.write_text("before")
    webeval_apart("-n2")
    assert page.read_text() == serial
    assert serial.startswith("before\n## Web-agent runs: 33.3% success\n\n**1 of 3 succeeded**, 1 failed, 1 error")
    assert serial.count("## Web-agent runs") == 1
    assert "pytest --webeval-runs=runs -k '[108]'" in serial


def test_a_page_that_cannot_be_written_is_told_and_changes_nothing(runs, webeval, page):
    runs.add(107)
    page.mkdir()
    result = webeval()
    assert result.ret == 0
    result.stdout.fnmatch_lines([f"cannot write {page}: Is a directory; check GITHUB_STEP_SUMMARY"])


def test_a_full_page_is_told_and_stays_as_it_is(runs, webeval, page):
    runs.add(107)
    page.write_text("x" * 1024 * 1024)
    result = webeval()
    assert result.ret == 0
    result.stdout.fnmatch_lines([f"{page} has reached its size limit; no summary was added"])
    assert page.stat().st_size == 1024 * 1024


def test_a_page_is_not_larger_than_github_shows_whatever_stands_on_it(good_and_bad, webeval, page):
    page.write_text("x" * (1024 * 1024 - 400))
    webeval()
    assert 1024 * 1024 - 400 < page.stat().st_size <= 1024 * 1024


def annotations(result):
    return [line for line in result.outlines if line.startswith("::")]


@pytest.mark.thinned(every=2)
@pytest.mark.parametrize(
    "options", [(), ("-q",), pytest.param(("-n2",), marks=pytest.mark.whole), ("--no-summary",), ("-v",)]
)
def test_one_annotation_tells_the_totals(good_and_bad, webeval_apart, monkeypatch, options):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert annotations(webeval_apart(*options)) == [
        "::error title=webeval%3A runs::1 of 3 succeeded (33.3%25), 1 failed, 1 error"
    ]


def test_without_github_there_is_no_annotation(good_and_bad, webeval, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "false")
    assert annotations(webeval()) == []


def test_a_session_that_scored_nothing_writes_nothing(pytester, webeval, page, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    pytester.mkdir("runs")
    assert annotations(webeval("--webeval-gitlab-metrics=m.txt")) == []
    assert not page.exists()
    assert not (pytester.path / "m.txt").exists()


@pytest.mark.parametrize("spread", [(), pytest.param(("-n2",), marks=pytest.mark.whole)])
def test_metrics_are_written_where_they_are_asked_for(good_and_bad, webeval_apart, pytester, spread):
    webeval_apart("--webeval-gitlab-metrics=made/metrics.txt", *spread)
    assert (pytester.path / "made/metrics.txt").read_text().splitlines() == [
        "webeval_error 1",
        "webeval_excluded 0",
        "webeval_failure 1",
        "webeval_success 1",
        "webeval_success_rate 0.333333",
        'webeval_success_rate{site="gitlab"} 0.0',
        'webeval_success_rate{site="shopping"} 0.5',
        "webeval_total 3",
        "# EOF",
    ]


def test_metrics_that_cannot_be_written_are_told(runs, webeval, pytester):
    runs.add(107)
    path = pytester.path / "metrics.txt"
    pytester.makeconftest(f"import os\ndef pytest_collection_finish():\n    os.mkdir({str(path)!r})")
    result = webeval(f"--webeval-gitlab-metrics={path}")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"cannot write {path}: Is a directory; choose another path"])


def test_a_hook_that_raises_keeps_no_ci_system_from_its_numbers(good_and_bad, webeval, pytester, page):
    pytester.makeconftest("def pytest_webeval_summary(): raise ValueError")
    webeval()
    assert page.exists()


def test_sessions_elsewhere_load_none_of_it(runs, webeval_apart, pytester):
    runs.add(107)
    pytester.makeconftest(
        """
        import importlib.util
        import sys
        def pytest_unconfigure():
            names = ("plugin.reporting.ci", "plugin.reporting.progress", "reports.ci", "summary.comparison.baseline")
            assert not {f"pytest_webeval.{name}" for name in names} & set(sys.modules)
            assert all(importlib.util.find_spec(f"pytest_webeval.{name}") for name in names)
        """
    )
    assert webeval_apart().ret == 0


@pytest.mark.parametrize("spread", [(), pytest.param(("-n2",), marks=pytest.mark.whole)])
def test_junit_properties_say_which_evaluators_failed_and_why(runs, webeval_apart, pytester, spread):
    path = runs.add(107, expects=(runs.visited("__SHOPPING__/cart"),))
    answer = '{"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["\\u0000\\u001b]]><x>&\\ud800"]}'
    (path / "agent_response.json").write_text(answer)
    webeval_apart("--junitxml=out.xml", *spread)
    (found,) = (
        {one.get("name"): one.get("value") for one in case.iter("property")}
        for case in ET.parse(pytester.path / "out.xml").iter("testcase")
    )
    assert found["webeval_evaluator"] == "AgentResponseEvaluator, NetworkEventEvaluator"
    assert found["webeval_reason"].startswith("retrieved_data: ")


FACTS = {"task_id": 1, "status": "failure", "score": 0.0, "sites": [], "template": 1, "warnings": []}
FACTS |= dict.fromkeys(("rules", "version", "evaluator_checksum", "data_checksum", "reason"), "")


@pytest.mark.parametrize(("changed", "reason"), [({}, "x" * 999 + "…"), ({"skipped": True, "excluded": "y"}, "y")])
def test_a_reason_is_as_long_as_a_property_may_be(changed, reason):
    record = Record("runs/1", task_type=None, wall_time=0.0, **(FACTS | {"reason": "x" * 2_000} | changed))
    found = dict(junit_properties(record))
    assert (found["webeval_evaluator"], found["webeval_reason"]) == ("", reason)


@pytest.mark.parametrize(
    ("text", "spelled"), [("a\x1b[2J", "a\\u001b[2J"), ("a\ud800", "a\\ud800"), ("a\u202eb", "a\\u202eb")], ids=ascii
)
def test_no_property_has_a_control_character(text, spelled):
    facts = FACTS | {"task_id": text, "sites": [text], "task_type": text, "reason": text}
    values = [value for _, value in junit_properties(Record("runs/1", wall_time=0.0, **facts))]
    assert values.count(spelled) == 4
