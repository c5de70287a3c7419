"""Which kind of failure a result is."""

from __future__ import annotations

import pytest
from msgspec.structs import astuple

from pytest_webeval.diagnostics.failure_groups import LONGEST_FIELD, FailureGroup, deciding_assertion, group_of
from pytest_webeval.reports.failure_text import reason
from pytest_webeval.results import EvaluatorResult, Status, TaskResult
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.summarize import summarize_records
from pytest_webeval.values.comparison import failed, passed


def found(*assertions, name="NetworkEventEvaluator", error=None):
    status = Status.ERROR if error else Status.FAILURE
    return EvaluatorResult(evaluator_name=name, status=status, score=0.0, assertions=list(assertions), error_msg=error)


def result(*evaluated, error=None, status=Status.FAILURE, run="runs/1"):
    return TaskResult(
        task_id=1,
        intent_template_id=4,
        sites=["shopping"],
        task_revision=1,
        status=status,
        score=float(status is Status.SUCCESS),
        evaluators_results=list(evaluated),
        error_msg=error,
        webarena_verified_version="1.2.3",
        webarena_verified_evaluator_checksum="",
        webarena_verified_data_checksum="",
        webeval={"run": run, "rules": "default"},
    )


@pytest.mark.parametrize(
    ("name", "field", "kind", "text"),
    [
        ("network_event.query_params_mismatch", "query_params", "different", "query_params differs"),
        ("network_event.headers.referer_none_mismatch", "headers", "missing", "headers is missing"),
        (
            "network_event.post_data.a.b[3]_array_values_mismatch",
            "post_data",
            "elements",
            "post_data: elements differ",
        ),
        ("agent_response_keys_mismatch", "agent_response", "keys", "agent_response: keys differ"),
        ("agent_response.status_mismatch", "status", "different", "status differs"),
        ("agent_response_invalid_format", "agent_response", "malformed", "agent_response is malformed"),
        ("retrieved_data[12].name_mismatch", "retrieved_data", "different", "retrieved_data differs"),
        ("retrieved_data_missing_or_null", "retrieved_data", "missing", "retrieved_data is missing"),
        ("retrieved_data_unexpected", "retrieved_data", "unexpected", "retrieved_data is not expected"),
        ("missing_navigation_event", "expected event", "missing", "expected event is missing"),
        ("unexpected_navigation_event", "forbidden event", "present", "forbidden event was sent"),
        ("rubric.points_mismatch", "points", "unmet", "points: not achieved"),
        ("the page is pretty", "the page is pretty", "failed", "the page is pretty failed"),
        ("x" * 500, "x" * (LONGEST_FIELD - 1) + "…", "failed", "x" * (LONGEST_FIELD - 1) + "… failed"),
        ("[0]_mismatch", "[0]", "different", "[0] differs"),
        ("title_match", "title_match", "failed", "title_match failed"),
        ("network_event.post_data_unavailable", "post_data", "unreadable", "post_data cannot be read"),
    ],
)
def test_a_failed_assertion_tells_field_and_kind(name, field, kind, text):
    group = group_of(result(found(passed("fine_match", "ok"), failed(name, "expected 1", "got 2"))))
    assert group == FailureGroup("NetworkEventEvaluator", field, kind)
    assert group.text == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.b[3]_array_values_mismatch", "a.b[3]: got 2"),
        ("a_unavailable", "a: got 2"),
        ("title_match", "title_match: got 2"),
        ("pretty", "pretty: got 2"),
    ],
)
def test_a_reason_begins_with_the_path_of_what_did_not_hold(name, text):
    assert reason(result(found(failed(name, "got 2")))) == text


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("cannot parse /data/runs/7/network.har as HAR: line 3; re-record the run", "cannot parse … as HAR"),
        ("missing file: runs/7/network.har; add it, or remove the run", "missing file"),
        ("task 108 has no recording", "task … has no recording"),
        ("scoring timed out after 60 s\nand more", "scoring timed out after … s"),
        ('unknown evaluator "Mine" @ eval[0].evaluator', "unknown evaluator …"),
        ("ValueError: no such thing", "ValueError"),
    ],
)
def test_runs_without_a_verdict_are_grouped_by_what_their_messages_have_in_common(message, field):
    assert group_of(result(error=message, status=Status.ERROR)) == FailureGroup("", field, "error")
    of_evaluator = group_of(result(found(error=message, name="Mine"), status=Status.ERROR))
    assert of_evaluator == FailureGroup("Mine", field, "error")
    assert of_evaluator.text == f"error: {field}"


def test_a_success_is_in_no_group():
    assert group_of(result(status=Status.SUCCESS)) is None


def test_a_result_that_says_nothing_is_in_a_group_that_says_so():
    assert group_of(result()) == FailureGroup("", "unknown reason", "error")


def test_of_the_right_place_the_field_decides_and_of_another_place_that_no_event_matched():
    missed = failed("missing_navigation_event", "no GET", "nearest is event 3")
    query = failed("network_event.query_params_mismatch", "expected a", "got b")
    elsewhere = failed("network_event.url_mismatch", "expected a", "got b")
    assert deciding_assertion(result(found(missed, query))).assertion == query
    assert deciding_assertion(result(found(missed, elsewhere, query))).assertion == missed


def test_the_first_evaluator_that_failed_decides():
    fine = found(passed("status_match", "ok"), name="AgentResponseEvaluator")
    wrong = found(failed("network_event.url_mismatch", "expected a", "got b"))
    assert deciding_assertion(result(fine, wrong)).result == wrong


def test_the_summary_lists_groups_largest_first_with_their_runs():
    query = found(failed("network_event.query_params_mismatch", "expected a", "got b"))
    status = found(failed("agent_response.status_mismatch", "expected a", "got b"), name="AgentResponseEvaluator")
    results = [
        result(status, run="runs/1"),
        result(query, run="runs/2"),
        result(query, run="runs/3"),
        result(status=Status.SUCCESS, run="runs/4"),
    ]
    told = summarize_records([Record.of(one, None) for one in results]).webeval["failures"]
    assert [(one["text"], one["count"], one["runs"]) for one in told] == [
        ("query_params differs", 2, ["runs/2", "runs/3"]),
        ("status differs", 1, ["runs/1"]),
    ]


def test_a_record_names_the_evaluators_that_did_not_succeed():
    fine = EvaluatorResult(evaluator_name="Fine", status=Status.SUCCESS, score=1.0)
    record = Record.of(result(fine, found(), found(name="Other", error="oh")), None)
    assert record.evaluators == ["NetworkEventEvaluator", "Other"]
    assert record.failure == list(astuple(FailureGroup("Other", "oh", "error")))


def test_only_the_beginning_of_a_message_is_looked_at():
    message = "a" * 600 + "/b"
    assert group_of(result(error=message, status=Status.ERROR)).field == "a" * (LONGEST_FIELD - 1) + "…"
