"""Strict replaces whatever default replaces, in every part of a result."""

from __future__ import annotations

import json
from urllib.parse import quote, urlencode

import pytest
from hypothesis import example, given, settings, strategies

from pytest_webeval.redaction.known_secrets import fold
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.recording_secrets import Audit, RecordingSecrets
from pytest_webeval.redaction.redactor import Redactor
from pytest_webeval.results import EvaluatorResult
from tests.support.default_run import examples
from tests.support.stored_results import build

SALT = b"of the recording"
SECRETS = (
    "Hunter2Zq777x9Kd",
    "monkey7",
    "swordfish",
    "Tr0ub4dor&3",
    "correct horse battery",
    "x7!Kq2#Lm",
    "pässwört-9",
)
PART = '--b\r\nContent-Disposition: form-data; name="{}"\r\n\r\n{}\r\n'
NAMES = ("password", "user[password]", "cvc", "card_number", "SAMLResponse", "token", "note", "x-trace", "sid")
# How somebody repeats a secret: as it is, in other letters, escaped, within a sentence.
REPEATS = (
    str,
    str.upper,
    str.lower,
    str.swapcase,
    quote,
    lambda secret: json.dumps(secret)[1:-1],
    lambda secret: f"I typed {secret}, and it worked.",
)
# Where a recording or a result has it under a name.
PLACES = {
    "form": lambda name, secret: {"post_data": urlencode({"user": "bob", name: secret})},
    "fields": lambda name, secret: {"post_data": {"user": "bob", name: secret}},
    "json": lambda name, secret: {"post_data": json.dumps({"user": {"name": "bob", name: secret}})},
    "rows": lambda name, secret: {"post_data": [["user", "bob"], [name, secret]]},
    "entries": lambda name, secret: {"post_data": [{"name": name, "value": secret}]},
    "keys": lambda name, secret: {"items": [{"key": name, "value": secret, "id": "7"}]},
    "header": lambda name, secret: {"headers": {name: quote(secret), "x-more": f"{name}={quote(secret)}"}},
    "cookie": lambda name, secret: {"headers": {"cookie": f"{name}={quote(secret)}; lang=en"}},
    "query": lambda name, secret: {"url": f"/a?{urlencode({name: secret})}", "query_params": {name: [secret]}},
    "userinfo": lambda _, secret: {"url": f"https://bob:{quote(secret)}@h.test/"},
    "body": lambda name, secret: {"headers": {"x-body": f'{{"{name}": {json.dumps(secret)}}}'}},
}
EVALUATORS = ("NetworkEventEvaluator", "AgentResponseEvaluator", "Own")


def evaluation(name, actual, message=""):
    assertion = {"assertion_name": "retrieved_data", "status": "failure", "assertion_msgs": [message]}
    return EvaluatorResult.read(
        {
            "evaluator_name": name,
            "status": "failure",
            "score": 0.0,
            "actual": actual,
            "actual_normalized": actual,
            "expected": {"retrieved_data": ["lamp"]},
            "assertions": [assertion],
        }
    )


@strategies.composite
def results(draw):
    """A result with secrets under some names, some of which its other parts repeat."""
    secrets = draw(strategies.lists(strategies.sampled_from(SECRETS), min_size=1, max_size=3, unique=True))
    evaluations = []
    for secret in secrets:
        place = PLACES[draw(strategies.sampled_from(sorted(PLACES)))]
        actual = place(draw(strategies.sampled_from(NAMES)), secret)
        evaluations.append(evaluation(draw(strategies.sampled_from(EVALUATORS)), actual))
    repeated = [draw(strategies.sampled_from(REPEATS))(secret) for secret in secrets]
    evaluations.append(evaluation("AgentResponseEvaluator", {"retrieved_data": repeated}, f'got "{repeated[0]}"'))
    return build(draw(strategies.permutations(evaluations)), {"run": "runs/1", "warnings": [repeated[-1]]})


def readable(redacted):
    """The secrets that can be read in a result, in any letters, as they are or escaped."""
    text = json.dumps(redacted.to_json(), ensure_ascii=False)
    forms = {secret: {secret, quote(secret), json.dumps(json.dumps(secret))[3:-3]} for secret in SECRETS}
    return {secret for secret in SECRETS if any(fold(form) in fold(text) for form in forms[secret])}


def redact(result, mode, recorded=None):
    return Redactor(RedactionPolicy(mode), SALT, recorded).result(result)


@settings(max_examples=examples(300), deadline=None)
@given(results())
@example(
    build(
        [
            evaluation("NetworkEventEvaluator", {"headers": {"x-form": "user=bob&password=Hunter2Zq777x9Kd"}}),
            evaluation("AgentResponseEvaluator", {"retrieved_data": ["Hunter2Zq777x9Kd"]}),
        ],
        {"run": "runs/1"},
    )
)
def test_whatever_default_hides_strict_hides(result):
    assert readable(redact(result, "strict")) <= readable(redact(result, "default")) <= readable(result)


TEXTS = strategies.lists(
    strategies.sampled_from(
        [
            *(
                "Run(path='",
                "/tmp/x-49/runs-0a1b2c3d4e5f60718293",
                "', label='",
                "'",
                '"',
                ")",
                ", ",
                "\n",
                "=",
                "…",
                "...",
            ),
            *("password = ", "password='", "Hunter2Zq777x9Kd", "token=Hunter2Zq777x9Kd", "E   ", "label=", "\\", "%27"),
            *("PosixPath('", "0a1b2c3d4e5f60718293a4b5", "raise RuntimeError(", "{'name': '", "joe@mail.test", "+"),
        ]
    ),
    max_size=16,
).map("".join)


@settings(max_examples=examples(1_000), deadline=None)
@given(TEXTS)
@example("run = Run(path=PosixPath('/tmp/x-49/runs/101'), label='runs...\n\npassword = 'Hunter2Zq777x9Kd'")
@example("Run(path='/tmp/0a1b2c3d4e5f60718293/x-49, label='a\n  log_in(password='Hunter2Zq777x9Kd')")
def test_no_quote_in_a_text_makes_strict_lose_a_secret_that_default_knows(text):
    redacted = {mode: Redactor(RedactionPolicy(mode), SALT).text(text) for mode in ("default", "strict")}
    assert redacted["strict"].count("Hunter2Zq777x9Kd") <= redacted["default"].count("Hunter2Zq777x9Kd")


@pytest.mark.thinned
@pytest.mark.parametrize("mode", ["default", "strict"])
@pytest.mark.parametrize("repeat", REPEATS, ids=map(str, range(len(REPEATS))))
@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("posted", ["form", "params", "json", "multipart", "lines"])
def test_a_password_that_somebody_posted_is_hidden_in_the_answer_that_repeats_it(
    tmp_path, posted, secret, repeat, mode
):
    form = {"user": "bob", "password": secret}
    bodies = {
        "form": {"mimeType": "application/x-www-form-urlencoded", "text": urlencode(form)},
        "params": {"params": [{"name": name, "value": value} for name, value in form.items()]},
        "json": {"mimeType": "application/json", "text": json.dumps({"credentials": form})},
        "multipart": {
            "mimeType": "multipart/form-data; boundary=b",
            "text": "".join(PART.format(*pair) for pair in form.items()) + "--b--\r\n",
        },
        "lines": {"text": urlencode(form)},
    }
    request = {"method": "POST", "url": "http://own.test/login", "postData": bodies[posted]}
    entries = [{"request": request, "response": {"content": {"text": "<html>welcome, bob</html>"}}}]
    recording = "\n".join(map(json.dumps, entries)) if posted == "lines" else json.dumps({"log": {"entries": entries}})
    (tmp_path / "network.har").write_text(recording)
    result = build([evaluation("AgentResponseEvaluator", {"retrieved_data": [repeat(secret)]})], {"run": "runs/1"})
    recorded = RecordingSecrets(tmp_path, "agent_response.json", ("network.har",))
    assert readable(redact(result, "off", recorded)) == {secret}
    assert readable(redact(result, mode, recorded)) == set()


def test_words_of_an_answer_that_a_page_has_beside_the_word_password_stay(tmp_path):
    page = '<label for="password">Password</label> Please choose a password that nobody knows: {"password": "Required"}'
    entry = {"request": {"method": "GET", "url": "http://own.test/"}, "response": {"content": {"text": page}}}
    (tmp_path / "network.har").write_text(json.dumps({"log": {"entries": [entry]}}))
    answer = {"retrieved_data": ["required: please choose a password that nobody knows"]}
    result = build([evaluation("AgentResponseEvaluator", answer)], {"run": "runs/1"})
    recorded = RecordingSecrets(tmp_path, "agent_response.json", ("network.har",))
    assert redact(result, "default", recorded).evaluators_results[0].actual == answer


def test_a_strict_audit_lists_whatever_an_audit_lists(tmp_path):
    request = {
        "url": "https://bob:Hunter2Zq777x9Kd@h.test/reset-password/4a0AX4XfWhxyz?token=swordfish",
        "headers": [{"name": "X-Form", "value": "user=bob&password=monkey7"}],
        "postData": {"text": '{"pin": "4711", "card_number": "4111 1111"}'},
    }
    (tmp_path / "network.har").write_text(json.dumps({"log": {"entries": [{"request": request}]}}))
    default, strict = (Audit.of(tmp_path, RedactionPolicy(mode), SALT).findings for mode in ("default", "strict"))
    assert len(default) == 7
    assert default <= strict
    assert len(strict) > len(default)
