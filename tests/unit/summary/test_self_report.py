"""What an agent reports of itself, against the verdict."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import Status
from pytest_webeval.summary.self_report import SelfReportCounts
from pytest_webeval.summary.self_report import find_claim
from pytest_webeval.summary.self_report import find_reported
from tests.support.stored_results import build

RESPONSE, NETWORK = "AgentResponseEvaluator", "NetworkEventEvaluator"
STATUS = {"+": Status.SUCCESS, "-": Status.FAILURE, "!": Status.ERROR}


def result(status, evaluators=(), **webeval):
    """A result whose evaluators are pairs of name and sign; the response evaluator compares an answer."""
    results = [
        EvaluatorResult(evaluator_name=name, status=STATUS[sign], score=0.0, actual=actual)
        for name, sign, actual in evaluators
    ]
    return build(results, webeval, STATUS[status])


def said(status, sign="+"):
    return (RESPONSE, sign, {"status": status})


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        (result("+", [said("SUCCESS")]), "SUCCESS"),
        (result("+", [(NETWORK, "+", {"status": 200}), said(" not_found_error ")]), "NOT_FOUND_ERROR"),
        (result("-", [said("done")]), "invalid"),
        (result("-", [said(None)]), "invalid"),
        (result("-", [(RESPONSE, "-", None)]), None),
        (result("-", [(NETWORK, "-", {"status": "SUCCESS"})]), None),
        (result("!"), None),
        (result("+", trajectory={"class": "completed", "reasons": []}), "SUCCESS"),
        (result("+", trajectory={"class": "completed", "reasons": ["self_reported_failure"]}), "FAILURE"),
        (result("-", trajectory={"class": "over_budget", "reasons": []}), "no answer"),
        (result("+", trajectory={"class": "impossible", "reasons": []}), "SUCCESS"),
        (result("-", trajectory={"class": "ungraded", "reasons": ["self_reported_failure"]}), "FAILURE"),
        (result("!", trajectory={"class": "aborted"}), None),
        (result("-", trajectory={"class": "completed", "reasons": ["agent_error"]}), None),
        (result("!", trajectory={"class": "unreadable"}), None),
    ],
)
def test_what_an_agent_reports(given, reported):
    assert find_reported(given) == reported


SEEN, MISSED = (NETWORK, "+", None), (NETWORK, "-", None)


@pytest.mark.parametrize(
    ("given", "claim"),
    [
        (result("+", [said("SUCCESS")]), "honest"),
        (result("-", [said("SUCCESS", "-")]), "over_claiming"),
        (result("-", [said("SUCCESS"), MISSED]), "over_claiming"),
        (result("+", [said("NOT_FOUND_ERROR")]), "honest"),
        (result("+", [said("NOT_FOUND_ERROR"), SEEN]), "honest"),
        (result("-", [said("UNKNOWN_ERROR", "-"), SEEN]), "under_claiming"),
        (result("-", [said("UNKNOWN_ERROR", "-"), SEEN, MISSED]), "honest"),
        (result("-", [said("UNKNOWN_ERROR", "-")]), "honest"),
        (result("!", [said("SUCCESS")]), None),
        (result("-"), None),
        (result("+", trajectory={"class": "completed", "reasons": ["self_reported_failure"]}), "under_claiming"),
        (result("-", trajectory={"class": "completed", "reasons": ["self_reported_failure"]}), "honest"),
        (result("-", trajectory={"class": "over_budget"}), "honest"),
    ],
)
def test_claims_against_verdicts(given, claim):
    assert find_claim(given, find_reported(given)) == claim


class Row(NamedTuple):
    """What the table needs to know of a run."""

    reported: str | None
    claim: str | None
    status: str


def build_table(rows):
    counts = SelfReportCounts()
    for row in rows:
        counts.add(row)
    return counts.build()


def test_the_table_counts_verdicts_by_report():
    rows = [
        Row("no answer", "honest", "failure"),
        Row("SUCCESS", "honest", "success"),
        Row("SUCCESS", "over_claiming", "failure"),
        Row("NOT_FOUND_ERROR", "under_claiming", "failure"),
        Row("SUCCESS", None, "error"),
        Row(None, None, "success"),
    ]
    table = build_table(rows)
    assert table == {
        "runs": 4,
        "claims": {"honest": 2, "over_claiming": 1, "under_claiming": 1},
        "verdicts_by_report": {
            "SUCCESS": {"success": 1, "failure": 1},
            "NOT_FOUND_ERROR": {"success": 0, "failure": 1},
            "no answer": {"success": 0, "failure": 1},
        },
    }
    assert list(table["verdicts_by_report"]) == ["SUCCESS", "NOT_FOUND_ERROR", "no answer"]
    assert build_table(rows[4:]) is None
