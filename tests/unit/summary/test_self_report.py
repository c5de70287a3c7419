"""What an agent reports of itself, against the verdict."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest

from pytest_webeval.api import load_run, score
from pytest_webeval.results import EvaluatorResult, Status
from pytest_webeval.summary.result_facts import find_claim, find_reported
from pytest_webeval.summary.session_totals import SelfReportCounts
from pytest_webeval.tasks.dataset import parse_tasks
from tests.support import recorded
from tests.support.any_format import WRITERS, Recorded, write_run
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


CLAIMED = {"details": {"self_reported_success": True}}


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
        (result("-", [(RESPONSE, "-", {})]), None),
        (result("-", [(RESPONSE, "-", "I was unable to complete the task.")]), None),
        (result("+", trajectory={"class": "completed", "reasons": []}), None),
        (result("+", trajectory={"class": "completed", "reasons": []} | CLAIMED), "SUCCESS"),
        (result("-", trajectory={"class": "completed", "reasons": ["empty_answer"]}), "no answer"),
        (result("-", trajectory={"class": "completed", "reasons": ["empty_answer"]} | CLAIMED), "SUCCESS"),
        (result("-", [said("Success!", "-")], trajectory={"class": "completed"}), "SUCCESS"),
        (result("-", [(RESPONSE, "-", "Done.")], trajectory={"class": "completed"}), None),
        (result("+", trajectory={"class": "completed", "reasons": ["self_reported_failure"]}), "FAILURE"),
        (result("-", trajectory={"class": "over_budget", "reasons": []}), "no answer"),
        (result("+", trajectory={"class": "impossible", "reasons": []} | CLAIMED), "SUCCESS"),
        (result("-", trajectory={"class": "ungraded", "reasons": ["self_reported_failure"]}), "FAILURE"),
        (result("!", trajectory={"class": "aborted"}), None),
        (result("-", trajectory={"class": "completed", "reasons": ["agent_error"]} | CLAIMED), None),
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
        (result("-", [said("SUCCESS!", "-")]), "over_claiming"),
        (result("-", trajectory={"class": "completed"} | CLAIMED), "over_claiming"),
        (result("-", trajectory={"class": "completed"}), None),
        (result("-", trajectory={"class": "over_budget"}), None),
        (result("+", trajectory={"class": "over_budget"}), None),
        (result("+", [said("NOT_FOUND_ERROR")], trajectory={"class": "completed"}), "honest"),
    ],
)
def test_claims_against_verdicts(given, claim):
    assert find_claim(given, find_reported(given)) == claim


# How agents write a status, with what the evaluator takes it for.
SPELLINGS = {
    "SUCCESS": "SUCCESS",
    "SUCCESS!": "SUCCESS",
    "success": "SUCCESS",
    " Success.\n": "SUCCESS",
    "`SUCCESS`": "SUCCESS",
    "'Success'": "SUCCESS",
    "Succèss": "SUCCESS",
    "\uff33\uff35\uff23\uff23\uff25\uff33\uff33": "SUCCESS",
    "success™": "SUCCESS",
    "not_found_error.": "NOT_FOUND_ERROR",
    "Unknown_Error?": "UNKNOWN_ERROR",
    "NOT FOUND ERROR": "invalid",
    "SUCCESSFUL": "invalid",
    "SUCCESS (partly)": "invalid",
    "^SUCCESS$": "invalid",
    "done": "invalid",
}


@pytest.mark.parametrize(("text", "status"), SPELLINGS.items())
@pytest.mark.parametrize("dialect", [("task_type", "retrieved_data"), ("action", "results")])
@pytest.mark.parametrize("is_fenced", [False, True])
def test_a_status_is_read_as_the_evaluator_reads_it(bench, text, status, dialect, is_fenced):
    kind, data = dialect
    response = json.dumps({kind: "RETRIEVE", "status": text, data: ["another mug"]})
    bench.record(f"Here it is:\n```json\n{response}\n```" if is_fenced else response)
    wanted = "SUCCESS" if status == "invalid" else status
    scored = bench.score(bench.task(bench.expecting(data=["Blue Mug"], status=wanted)))
    (evaluated,) = scored.evaluators_results
    is_accepted = not any(
        "status" in assertion.assertion_name for assertion in evaluated.assertions if not_passed(assertion)
    )
    assert is_accepted == (status != "invalid")
    assert find_reported(scored) == status
    is_over = is_accepted and status == "SUCCESS"
    assert find_claim(scored, status) == ("over_claiming" if is_over else "honest")


def not_passed(assertion):
    return assertion.status is not Status.SUCCESS


UNABLE = "I was unable to complete the task"


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "webarena-verified"])
@pytest.mark.parametrize("answer", [UNABLE, "It costs 12.50 EUR.", "", "SUCCESS"])
def test_a_text_claims_nothing_in_any_format(tmp_path, name, answer):
    scored = score(load_run(write_run(tmp_path / "107", name, Recorded(answer=answer, verdict=False))))
    reported = find_reported(scored)
    # Of these the recorded agent ends with a status; where it has no answer, Fara's harness stopped it before.
    has_status = name == "browser-use" or (name == "fara" and answer)
    if has_status:
        assert (reported, find_claim(scored, reported)) == ("SUCCESS", "over_claiming")
    else:
        assert (reported in (None, "no answer"), find_claim(scored, reported)) == (True, None)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("text", ["SUCCESS", "Success!", "not_found_error.", "done"])
def test_a_status_in_an_answer_is_a_claim_in_each_format(tmp_path, bench, name, text):
    answer = json.dumps({"task_type": "RETRIEVE", "status": text, "retrieved_data": ["another mug"]})
    run = load_run(write_run(tmp_path / "7", name, Recorded(answer=answer, has_traffic=True)))
    tasks = parse_tasks(json.dumps([bench.task(bench.expecting(data=["Blue Mug"]))]).encode(), "tasks.json")
    assert find_reported(score(run, tasks)) == SPELLINGS.get(text, "SUCCESS")


@pytest.mark.parametrize(
    ("status", "reported"),
    [
        ("success", "SUCCESS"),
        ("Success!", "SUCCESS"),
        (" FAILURE.", "FAILURE"),
        ("failure", "FAILURE"),
        ("done", None),
        (None, None),
        (1, None),
    ],
)
def test_the_status_with_which_fara_ends_is_a_report(tmp_path, status, reported):
    log = recorded.log(recorded.CLICK, {"action": "terminate", "status": status})
    run = recorded.write(
        tmp_path / "a", web_surfer_log=log, scores=recorded.score_file(recorded.payload(outcome=False))
    )
    assert find_reported(score(load_run(run))) == reported


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
        Row("invalid", "honest", "failure"),
        Row("SUCCESS", "honest", "success"),
        Row("SUCCESS", "over_claiming", "failure"),
        Row("NOT_FOUND_ERROR", "under_claiming", "failure"),
        Row("SUCCESS", None, "error"),
        Row("no answer", None, "failure"),
        Row(None, None, "success"),
    ]
    table = build_table(rows)
    assert table == {
        "runs": 4,
        "claims": {"honest": 2, "over_claiming": 1, "under_claiming": 1},
        "verdicts_by_report": {
            "SUCCESS": {"success": 1, "failure": 1},
            "NOT_FOUND_ERROR": {"success": 0, "failure": 1},
            "invalid": {"success": 0, "failure": 1},
        },
    }
    assert list(table["verdicts_by_report"]) == ["SUCCESS", "NOT_FOUND_ERROR", "invalid"]
    assert build_table(rows[4:]) is None
