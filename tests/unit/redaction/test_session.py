"""What is shown beside a result, and results of which nobody has to look at each text."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.redaction.json import list_tokens, may_hold
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.recording_secrets import RecordingSecrets
from pytest_webeval.redaction.redactor import Redactor
from pytest_webeval.results import EvaluatorResult, Status
from tests.support.stored_results import build

SALT = b"salt of a recording"
SECRET = "hunter2abc99"


def result_that_says(text):
    found = EvaluatorResult(evaluator_name="AgentResponseEvaluator", status=Status.FAILURE, score=0.0, actual=text)
    return build([found], {"run": "runs/1", "inputs": {"network.har": "0"}})


@pytest.fixture
def redactor(tmp_path):
    """One that knows a recording in which somebody signed in."""
    posted = {"mimeType": "application/x-www-form-urlencoded", "text": f"password={SECRET}"}
    (tmp_path / "network.har").write_text(json.dumps({"log": {"entries": [{"request": {"postData": posted}}]}}))
    recorded = RecordingSecrets(tmp_path, "agent_response.json", ("network.har",))
    return lambda **policy: Redactor(RedactionPolicy(**policy), SALT, recorded)


@pytest.mark.parametrize(
    ("tree", "may"),
    [
        ("a lamp", False),
        ({"a": [1, None, "http://shop.test/lamp?page=2"]}, False),
        ("https://ann:Tr0ubador@shop.test/", True),
        ("https%3A%2F%2Fann%3ATr0ubador%40shop.test", True),
        ("sk-abcdefghijklmnopqrst", True),
        ({"to-ken": "x"}, True),
        ({"p a s s w o r d": "x"}, True),
        ({"tok\u00b7en": "x"}, True),
        ("\ud800", True),
        (object(), True),
    ],
)
def test_json_is_gone_through_where_it_may_hold_a_secret(tree, may):
    found_tokens = list_tokens(tree)
    assert (found_tokens is None or may_hold(found_tokens)) is may


def test_credentials_of_an_address_are_replaced_where_nothing_else_is_a_secret(redactor):
    told = redactor().result(result_that_says("see https://ann:Tr0ubador@shop.test/")).evaluators_results[0].actual
    assert "Tr0ubador" not in told
    assert "@shop.test/" in told


def test_what_only_the_recording_calls_a_secret_is_replaced_in_a_result_without_any_mark_of_one(redactor):
    told = redactor().result(result_that_says(f"I typed {SECRET}"))
    assert SECRET not in json.dumps(told.to_json())


def test_no_recording_is_read_again_for_words_of_our_own(tmp_path):
    class Unread(RecordingSecrets, frozen=True):
        def secrets(self, words, *_):
            assert not any(words)
            return {}

    checksum = "88142fb50b2ec2da5bd2357e94b9479bf4b5c80322b54cce9a288ef39d0c0a48"
    answer = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": None}
    plain = EvaluatorResult(evaluator_name="AgentResponseEvaluator", status=Status.FAILURE, score=0.0, actual=answer)
    result = build([plain], {"run": "runs/1", "inputs": {"network.har": checksum}, "task_checksum": checksum})
    told = Redactor(RedactionPolicy(), SALT, Unread(tmp_path, "agent_response.json")).result(result)
    assert told.webeval["task_checksum"] == checksum


def test_what_an_agent_says_beside_a_result_is_looked_for_in_the_recording(redactor):
    one, steps = redactor(), [{"thought": f"I type {SECRET}"}]
    _, told = one.redact_attachment(one.redact_result(result_that_says("done")), {"steps": steps}, steps)
    assert SECRET not in json.dumps(told)


def test_a_secret_that_stands_beside_a_result_is_replaced_in_the_result_too(redactor):
    one = redactor()
    redacted = one.redact_result(result_that_says("got Zq7wertyuiop"))
    result, told = one.redact_attachment(redacted, {"network": [["http://shop.test/?token=Zq7wertyuiop"]]})
    assert "Zq7wertyuiop" not in json.dumps([told, result.to_json()])


def test_the_value_of_a_name_that_stays_readable_does_so_where_it_is_a_secret_elsewhere(redactor):
    one = redactor(allowed={"NetworkEventEvaluator": ("reference",)})
    shown = {"parts": {"post_data": {"reference": "Zq7wertyuiop"}}, "details": {"X-Auth-Token": "Zq7wertyuiop"}}
    _, told = one.redact_attachment(one.redact_result(result_that_says("done")), shown)
    assert told["parts"] == shown["parts"]
    assert told["details"] != shown["details"]


def test_names_that_stay_readable_for_the_network_do_so_beside_a_result(redactor):
    one = redactor(allowed={"NetworkEventEvaluator": ("access_token",)})
    shown = {"network": [["http://shop.test/?access_token=Zq7wertyuiop&api_key=Yx8cvbnmasdf"]]}
    _, told = one.redact_attachment(one.redact_result(result_that_says("done")), shown)
    assert "Zq7wertyuiop" in told["network"][0][0]
    assert "Yx8cvbnmasdf" not in told["network"][0][0]
