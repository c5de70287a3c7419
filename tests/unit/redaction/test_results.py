"""What becomes of a result: its own names stay, and secrets found in one place are replaced in all of it."""

from __future__ import annotations

import time

import pytest

from pytest_webeval.redaction.known_secrets import KnownSecrets
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.redactor import Redactor
from pytest_webeval.redaction.text import replacement_for
from pytest_webeval.results import Assertion, EvaluatorResult, TaskResult

SALT = b"of the recording"
NAME = "network_event.query_params.x_mismatch"


def result_with(token, evaluator="NetworkEventEvaluator"):
    event = {"url": "/cart", "response_status": 200, "headers": {"x-token": token}}
    assertion = {"assertion_name": NAME, "status": "failure", "assertion_msgs": [f'got "{token}"']}
    told = EvaluatorResult.read(
        {
            "evaluator_name": evaluator,
            "status": "failure",
            "score": 0.0,
            "actual": event,
            "expected": {"headers": {"x-token": "a"}},
            "assertions": [assertion],
        }
    )
    return TaskResult(
        task_id=1,
        intent_template_id=1,
        sites=[],
        task_revision=1,
        status="failure",
        score=0.0,
        evaluators_results=[told],
        error_msg=None,
        webarena_verified_version="",
        webarena_verified_evaluator_checksum="",
        webarena_verified_data_checksum="",
        webeval={"warnings": [f"it said {token}"], "run": "1", "trajectory": {"final_steps": token}},
    )


def redacted(token, **about):
    return Redactor(RedactionPolicy(), SALT).result(result_with(token, **about))


@pytest.mark.parametrize("token", ["warnings", "response_status", "final_steps", "x-token", NAME])
def test_a_secret_that_is_a_name_of_the_result_renames_nothing(token):
    told = redacted(token)
    found = told.evaluators_results[0]
    assert list(told.webeval) == ["warnings", "run", "trajectory", "redacted"]
    assert told.webeval["warnings"] == [f"it said {replacement_for(token, SALT)}"]
    assert told.webeval["trajectory"] == {"final_steps": replacement_for(token, SALT)}
    assert list(found.actual) == ["url", "response_status", "headers"]
    assert found.actual["headers"] == {"x-token": replacement_for(token, SALT)}
    assert found.assertions[0].assertion_name == NAME
    assert found.assertions[0].assertion_msgs == [f'got "{replacement_for(token, SALT)}"']


@pytest.mark.parametrize("ending", ["match", "mismatch", "none_mismatch", "keys_mismatch", "unexpected", "unavailable"])
@pytest.mark.parametrize("path", ["password", "network_event.headers.x-csrf-token", "account.password"])
def test_a_message_hides_the_value_of_a_secret_field_whatever_the_assertion_says(path, ending):
    assertion = Assertion.of(f"{path}_{ending}", False, 'got "sesame"')  # noqa: FBT003  (that it does not hold)
    told = EvaluatorResult(evaluator_name="Own", status="failure", score=0.0, assertions=[assertion])
    (found,) = Redactor(RedactionPolicy(), SALT).redact_evaluation(told).assertions
    assert found.assertion_msgs == [f'got "{replacement_for("sesame", SALT)}"']


@pytest.mark.parametrize("mode", ["default", "strict"])
@pytest.mark.parametrize(
    "webeval",
    [
        {"password": "sesame"},
        {"token": ["sesame"]},
        {"inputs": {"a": {"password": "sesame"}}},
        {"rules": [{"name": "password", "value": "sesame"}]},
    ],
)
def test_names_under_webeval_count_and_our_own_keys_hold_simple_values(webeval, mode):
    given = result_with("a").with_changes(webeval={"run": "1"} | webeval)
    shown = Redactor(RedactionPolicy(mode), SALT).result(given).webeval
    assert "sesame" not in str(shown)
    assert list(shown) == ["run", *webeval, "redacted"]


def test_an_evaluator_of_somebody_else_may_have_named_its_assertions_by_secrets():
    told = redacted(NAME, evaluator="TheirEvaluator")
    assert told.evaluators_results[0].assertions[0].assertion_name == replacement_for(NAME, SALT)


def test_secrets_that_are_equal_but_for_case_have_equal_replacements():
    assert replacement_for("CaNaRy77xQ", SALT) == replacement_for("canary77xq", SALT)


KNOWN = {
    "sesame-0123456789-abcdef": "R1",
    "sesame": "R2",
    "mellon": "R3",
    "lonely-hearts": "R4",
    'qu"ote-0123456789ab': "R5",
}
TOLD = [
    ("it is sesame-0123456789-abcdef, or sesame", "it is R1, or R2"),
    ("cut sesame-0123456789…", "cut R1…"),
    ("cut 'sesame-0123456789-a' and so on", "cut 'R1' and so on"),
    ("no sesame-0123456789 that was cut", "no R2-0123456789 that was cut"),
    ("a mellonely-heartsb", "a R4b"),
    ('with qu"ote-0123456789a…', "with R5…"),
    ("sesam", "sesam"),
]


@pytest.mark.parametrize(("given", "told"), TOLD)
def test_known_secrets_are_replaced_longest_first_and_where_they_were_cut(given, told):
    assert KnownSecrets.of(KNOWN).replace(given) == told


@pytest.mark.thinned(every=2)
@pytest.mark.parametrize("piece", ["lorem ipsum ", "secret-number-", "secret-number-0x", "a"])
def test_many_secrets_in_a_long_text_take_no_longer_than_one_look_at_it(piece):
    known = KnownSecrets.of({f"secret-number-{number:04}-of-many": "R" for number in range(200)} | {"a" * 60: "R"})
    started = time.process_time()
    known.replace(piece * (1_000_000 // len(piece)))
    assert time.process_time() - started < 20  # one to three seconds; 200 looks at it would take minutes
