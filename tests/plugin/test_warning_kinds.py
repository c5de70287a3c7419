"""Warnings are grouped by kind, so that a rule that decided verdicts does not drown among other warnings."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.reports.terminal import warnings
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.summarize import summarize_records
from tests.support.all_published import ALL_PUBLISHED

pytestmark = pytest.mark.usefixtures("published")  # whose results say what the rules changed

DECIDED = [
    "Q1",
    "Q1 (no_recorded_patterns) changed this verdict to failure: text from an agent or a site is never a pattern @ x",
    True,
]
POSSIBLE = [
    "Q1",
    "Q1 (no_recorded_patterns) may have changed this verdict to failure: it is never a pattern @ x; Mine, eval[0]",
    False,
]
GUESSED = ["guessed_sites", "no URL configured for shopping; site URLs were inferred from the recording", False]


def other(text):
    return ["other", text, False]


BY_RUN = {
    "runs/1": [other("mine"), GUESSED],
    "runs/2": [GUESSED, other("yours"), other("theirs"), other("ours")],
    "runs/3": [GUESSED, DECIDED, DECIDED],
    "runs/4": [DECIDED, POSSIBLE],
}
FIELDS = {"rules": "default", "version": "1", "evaluator_checksum": "a", "data_checksum": "b"}


def groups(by_run):
    records = [
        Record(run, index, "success", 1.0, ["shopping"], 1, None, None, rows, 0.0, **FIELDS)
        for index, (run, rows) in enumerate(by_run.items())
    ]
    return summarize_records(records).webeval["warning_kinds"]


def lines(by_run):
    return warnings(groups(by_run), len(by_run))


def test_kinds_that_decided_verdicts_come_first_and_unknown_ones_last():
    assert groups(BY_RUN) == [
        {
            "kind": "Q1",
            "count": 4,
            "decided": 3,
            "runs": ["runs/3", "runs/4"],
            "example": {"run": "runs/3", "text": DECIDED[1]},
        },
        {
            "kind": "guessed_sites",
            "count": 3,
            "decided": 0,
            "runs": ["runs/1", "runs/2", "runs/3"],
            "example": {"run": "runs/1", "text": GUESSED[1]},
        },
        {
            "kind": "other",
            "count": 4,
            "decided": 0,
            "runs": ["runs/1", "runs/2"],
            "example": {"run": "runs/1", "text": "mine"},
        },
    ]


def test_the_terminal_shows_each_kind_with_its_count_and_one_example():
    assert lines(BY_RUN) == [
        "11 warnings in 4 runs, by kind:",
        f"      4  Q1 decided 3 verdicts; first: runs/3: {DECIDED[1]}",
        f"      3  guessed_sites; first: runs/1: {GUESSED[1]}",
        "      4  other; first: runs/1: mine",
    ]
    assert lines({}) == []


def test_of_many_kinds_four_are_shown_in_one_line_each():
    many = {f"runs/{number}": [[f"R{number}", "\x1b\n" + "x" * 500, False]] for number in range(1, 7)}
    shown = lines(many)
    assert shown[0] == "6 warnings in 6 runs, by kind (4 of 6 kinds):"
    assert len(shown) == 5
    assert shown[1].startswith("      1  R1; first: runs/1: \\u001b xxx")
    assert shown[1].endswith("x…")
    assert max(map(len, shown)) < 450


@pytest.fixture
def patterned(runs):
    """Runs whose answers are patterns that the reference would match, and one with another warning."""
    for number in (107, 108, 109):
        path = runs.add(number)
        if number > 107:
            answer = json.loads((path / "agent_response.json").read_bytes())
            (path / "agent_response.json").write_text(json.dumps(answer | {"retrieved_data": ["^l.*p$"]}))
    runs.tasks[0]["eval"].append(runs.visited())  # for which addresses are guessed
    runs.define()


def test_a_session_groups_its_warnings_in_terminal_summary_and_page(patterned, runs, webeval, pytester, monkeypatch):
    page = pytester.path / "page.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    example = "first: runs/108: Q1 (no_recorded_patterns) changed this verdict to failure: *"
    webeval("--webeval-rules=default").stdout.fnmatch_lines(
        ["* warnings in 3 runs, by kind:", f"      2  Q1 decided 2 verdicts; {example}", "*guessed_sites; first: *"]
    )
    kinds = {
        one["kind"]: (one["count"], one["decided"], one["runs"]) for one in runs.summary["webeval"]["warning_kinds"]
    }
    assert next(iter(kinds)) == "Q1"
    assert kinds["Q1"] == (2, 2, ["runs/108", "runs/109"])
    table = page.read_text().partition("### Warnings by kind\n")[2].splitlines()
    assert table[1:4] == [
        "| count | kind | verdicts decided | first run | example |",
        "| --- | --- | --- | --- | --- |",
        table[3],
    ]
    assert table[3].startswith(
        "| 2 | <code>Q1</code> | 2 | <code>runs/108</code> | <code>Q1 (no&#95;recorded&#95;patterns) changed"
    )


def counts(runs):
    rows = runs.summary["webeval"]["warning_kinds"]
    return {row["kind"]: (row["count"], row["decided"], row["runs"]) for row in rows}


CHECKS = """
def test_answer(webeval_response):
    webeval_response.check()
def test_verdict(record_evaluation, webeval_response, webeval_network_event):
    record_evaluation.score([webeval_response, webeval_network_event])
"""


@pytest.mark.whole
@pytest.mark.parametrize("workers", [(), pytest.param(("-n1",), marks=pytest.mark.whole)], ids=["serial", "xdist"])
def test_a_resumed_session_has_the_kinds_of_the_first(patterned, runs, webeval_apart, pytester, workers):
    pytester.makeconftest(ALL_PUBLISHED)
    webeval_apart(*workers)
    expected = counts(runs)
    assert {"Q1", "guessed_sites"} <= expected.keys()
    webeval_apart("-x")
    webeval_apart("--webeval-reuse", *workers).stdout.fnmatch_lines(["reused: 2 of 3 results taken*"])
    assert counts(runs) == expected


@pytest.mark.whole
@pytest.mark.thinned(every=2)
@pytest.mark.parametrize("workers", [(), pytest.param(("-n1",), marks=pytest.mark.whole)], ids=["serial", "xdist"])
@pytest.mark.parametrize("chosen", [(), ("-k", "test_verdict or test_answer")], ids=["all", "Python tests"])
def test_results_of_python_tests_keep_the_kinds_of_their_warnings(
    patterned, runs, webeval_apart, pytester, workers, chosen
):
    pytester.makeconftest(ALL_PUBLISHED)
    webeval_apart(*workers)
    expected = counts(runs)
    assert {"Q1", "guessed_sites"} <= expected.keys()
    checks = pytester.makepyfile(CHECKS)
    webeval_apart(str(runs.root), str(checks), *chosen, *workers)
    assert counts(runs) == expected


def test_the_pages_of_a_report_name_the_kinds(patterned, webeval, pytester):
    webeval("--webeval-report=page")
    assert '"warnings":["Q1","guessed_sites"]' in (pytester.path / "page/index.html").read_text()
    pages = [path.read_text() for path in (pytester.path / "page/data").glob("task-*.js")]
    starts = ('{"kind":"Q1","text":"Q1 (no_recorded_patterns) changed', '{"kind":"guessed_sites","text":"no URL conf')
    assert [sum(start in page for page in pages) for start in starts] == [2, 1]


USERS = """
import pytest
from pytest_webeval import Assertion, Evaluator, ResponseEvaluator
class Mine(ResponseEvaluator):
    def evaluate(self, expectation, case):
        case.warn("Q1 (no_recorded_patterns) changed this verdict to failure: by me")
        case.warn("no URL configured for me")
        case.warn("the page was slow", "slow_pages")
        return super().evaluate(expectation, case)
@pytest.fixture
def webeval_response(webeval_response):
    return webeval_response.using(Mine())
"""


def test_the_text_of_a_users_warning_does_not_choose_its_kind(runs, webeval, pytester):
    runs.add(107)
    pytester.makeconftest(USERS)
    webeval().assert_outcomes(passed=1)
    assert counts(runs) == {"slow_pages": (1, 0, ["runs/107"]), "other": (2, 0, ["runs/107"])}
    texts = [
        "Q1 (no_recorded_patterns) changed this verdict to failure: by me",
        "no URL configured for me",
        "the page was slow",
    ]
    assert runs.result(107)["webeval"]["warnings"] == texts
    assert "warning_labels" not in runs.result(107)


def test_no_warning_says_that_no_sites_lack_a_url(runs, webeval):
    runs.add(107, defined=False)
    runs.define(runs.definition(107) | {"sites": [], "eval": [runs.visited("/search")]})
    webeval().assert_outcomes(failed=1)
    (result,) = runs.result(107)["evaluators_results"]
    assert result["error_msg"].endswith("which has none; add the site of the URL to the sites of the task")
    assert runs.summary["webeval"]["warning_kinds"] == []
