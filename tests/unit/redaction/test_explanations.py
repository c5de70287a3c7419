"""Secrets in explanations: replaced by the same words as in what is explained."""

from __future__ import annotations

import pytest

from pytest_webeval.redaction.policy import STRICT, RedactionPolicy
from pytest_webeval.redaction.redactor import Redactor
from pytest_webeval.redaction.text import replacement_for
from pytest_webeval.results import EvaluatorResult, TaskResult
from tests.support.canaries import canary

SALT = b"of the recording"
SECRET = canary("explained")
HIDDEN = replacement_for(SECRET, SALT)
NEAREST = {"index": 1, "of": 2, "method": "POST", "url": "/a", "status": 200}


def difference(path, actual, expected=None, kind="different"):
    return {"path": path, "kind": kind, "expected": expected, "actual": actual}


def explanation(*differences, **more):
    return {"differences": list(differences), "nearest": None, "candidates": []} | more


def evaluated(name="NetworkEventEvaluator", **values):
    return EvaluatorResult.read({"evaluator_name": name, "status": "failure", "score": 0.0} | values)


def result_with(*explanations, results=None):
    unread = TaskResult(
        task_id=1,
        intent_template_id=1,
        sites=[],
        task_revision=1,
        status="failure",
        score=0.0,
        evaluators_results=results or [evaluated() for _ in explanations],
        error_msg=None,
        webarena_verified_version="",
        webarena_verified_evaluator_checksum="",
        webarena_verified_data_checksum="",
        webeval={"explanations": list(explanations), "capture": [], "run": "1"},
    )
    return TaskResult.read(unread.to_json())


def redacted(*explanations, policy=None, **about):
    told = Redactor(policy or RedactionPolicy(), SALT).result(result_with(*explanations, **about))
    return told.to_json()["webeval"]["explanations"]


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("post_data.password", SECRET, HIDDEN),
        ("post_data.password", [SECRET, None], [HIDDEN, None]),
        ("post_data.user.password", SECRET, HIDDEN),
        ("post_data.password[0]", SECRET, HIDDEN),
        ("post_data.$.user.api_key", SECRET, HIDDEN),
        ("post_data.note", "lamp", "lamp"),
        ("post_data", {"password": SECRET, "note": "lamp"}, {"password": HIDDEN, "note": "lamp"}),
        ("post_data.user", {"api_key": SECRET, "age": 3}, {"api_key": HIDDEN, "age": 3}),
        ("headers.authorization", f"Bearer {SECRET}", f"Bearer {HIDDEN}"),
        ("headers.x-csrf-token", SECRET, HIDDEN),
        ("headers.accept", "text/html", "text/html"),
        ("headers.referer.query_params.access_token", SECRET, HIDDEN),
        ("headers.referer", f"/a?access_token={SECRET}", f"/a?access_token={HIDDEN}"),
        ("response_cookies.lang", SECRET, HIDDEN),
        ("response_cookies", {"lang": SECRET}, {"lang": HIDDEN}),
        ("response_content.session_token", SECRET, HIDDEN),
        ("query_params.access_token", SECRET, HIDDEN),
        ("query_params.token", [SECRET, SECRET], [HIDDEN, HIDDEN]),
        ("query_params.page", "2", "2"),
        ("url", f"/a?access_token={SECRET}", f"/a?access_token={HIDDEN}"),
        ("network_event", {"headers": {"cookie": SECRET}}, {"headers": {"cookie": HIDDEN}}),
        ("retrieved_data[0].password", SECRET, HIDDEN),
        ("retrieved_data[0]", {"password": SECRET}, {"password": HIDDEN}),
        ("response_status", 404, 404),
    ],
)
@pytest.mark.parametrize("side", ["expected", "actual"])
def test_what_stands_at_the_end_of_a_path_is_as_secret_as_its_names_say(path, value, told, side):
    (found,) = redacted(explanation(difference(path, None) | {side: value}))
    assert found == explanation(difference(path, None) | {side: told})


def test_of_the_nearest_event_the_address_is_searched():
    (found,) = redacted(explanation(nearest=NEAREST | {"url": f"/a?access_token={SECRET}"}, candidates=[1]))
    assert found == explanation(nearest=NEAREST | {"url": f"/a?access_token={HIDDEN}"}, candidates=[1])


def test_what_another_result_shows_to_be_a_secret_is_none_here_either():
    results = [evaluated(actual={"headers": {"x-token": SECRET}}), evaluated("AgentResponseEvaluator")]
    wrong = difference("retrieved_data[0]", f"it is {SECRET}")
    nearest = NEAREST | {"url": f"/a/{SECRET}"}
    found = redacted(None, explanation(wrong, nearest=nearest), results=results)
    told = difference("retrieved_data[0]", f"it is {HIDDEN}")
    assert found == [None, explanation(told, nearest=NEAREST | {"url": f"/a/{HIDDEN}"})]


def test_what_an_explanation_shows_to_be_a_secret_is_none_anywhere_else():
    results = [evaluated(actual=f"it is {SECRET}")]
    told = Redactor(RedactionPolicy(), SALT).result(
        result_with(explanation(difference("post_data.password", SECRET)), results=results)
    )
    assert told.evaluators_results[0].actual == f"it is {HIDDEN}"


@pytest.mark.parametrize(("kind", "name"), [("extra", HIDDEN), ("missing", SECRET), ("different", SECRET)])
def test_only_what_is_extra_may_have_a_secret_for_a_name(kind, name):
    results = [evaluated(actual={"headers": {"x-token": SECRET}})]
    (found,) = redacted(explanation(difference(f"post_data.{SECRET}", 1, kind=kind)), results=results)
    assert found["differences"][0]["path"] == f"post_data.{name}"


def test_a_name_of_the_task_is_kept_in_a_value():
    results = [evaluated(expected={"post_data": {SECRET: 1}}, actual={"headers": {"x-token": SECRET}})]
    (found,) = redacted(explanation(difference("post_data", {SECRET: SECRET})), results=results)
    assert found["differences"][0]["actual"] == {SECRET: HIDDEN}


def test_a_name_that_is_allowed_stays_readable_as_it_does_in_the_result():
    policy = RedactionPolicy(allowed={"NetworkEventEvaluator": ("form_key",)})
    results = [evaluated(actual={"post_data": {"form_key": SECRET}, "headers": {"x-token": SECRET}})]
    wrong = difference("post_data.form_key", SECRET)
    assert redacted(explanation(wrong), policy=policy, results=results) == [explanation(wrong)]


@pytest.mark.parametrize(
    ("path", "told"),
    [("post_data.note", "lamp"), ("post_data.other", "redacted"), ("headers.x-trace", "redacted")],
)
def test_where_all_is_secret_but_what_the_task_names_so_it_is_here(path, told):
    results = [evaluated(expected={"post_data": {"note": "lump"}})]
    (found,) = redacted(explanation(difference(path, "lamp")), policy=RedactionPolicy(STRICT), results=results)
    assert found["differences"][0]["actual"].partition("-")[0] == told


@pytest.mark.parametrize(
    "found",
    ["text", {"differences": 1}, explanation("text"), explanation({"path": 1}), explanation({"path": "x"})],
)
def test_what_somebody_else_wrote_in_their_place_is_left_out(found):
    told = redacted(found, results=[evaluated(actual={"headers": {"x-token": SECRET}})])
    assert told == [None]
    told = redacted([found, SECRET], results=[evaluated(actual={"headers": {"x-token": SECRET}})])
    assert told == [None]


def test_more_explanations_than_results_are_left_out():
    wrong = explanation(difference("post_data.x", SECRET))
    told = redacted(wrong, wrong, results=[evaluated(actual={"headers": {"x-token": SECRET}})])
    assert told == [None]
