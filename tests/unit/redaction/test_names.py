"""Which names are those of secrets, in each spelling and in each place where a text or JSON has them."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from pytest_webeval.redaction.json import is_plain_text
from pytest_webeval.redaction.names import is_secret, may_hold_secrets
from pytest_webeval.redaction.patterns import is_suspect
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.redactor import Redactor
from pytest_webeval.redaction.text import replacement_for
from pytest_webeval.results import EvaluatorResult

SALT = b"of the recording"
S = "4711 0815"
R = replacement_for(S, SALT)
# As words, of which spellings are made.
SECRET_NAMES = [
    *("password", "new password", "password confirm", "user pwd", "pwd 2", "passcode", "login pass", "passphrase"),
    *("pin", "user pin", "pin code", "card pin", "new pin confirm", "pin 1", "cvc", "cvc 2", "cvv", "card cvv code"),
    *("csc", "cvn", "ssn", "user ssn", "ssn number", "social security number", "card number", "credit card number"),
    *("cc number", "cc cid", "iban", "passport number", "otp", "otp code", "totp", "security code", "one time code"),
    *("verification code", "recovery code", "backup code", "device code", "auth code", "SAML response", "SAML request"),
    *("access token", "id token", "api key", "client secret", "jwt", "session id", "x csrf token", "wresult"),
]
# The same numbered, asked for twice, and joined.
SECRET_NAMES += [
    *(
        "secret 2",
        "X API KEY 2",
        "pincode 2",
        "pin code 2",
        "ssn last 4",
        "card number 2",
        "card number confirm",
        "token 2",
    ),
    *("access key 1", "pass 1", "pass 2", "newpwd", "oldpass", "newpin", "confirm password 2", "old password"),
    *(
        "access key 2",
        "session 2",
        "auth 1",
        "otp 3",
        "cvc confirm",
        "cvc 2 again",
        "client secret v 2",
        "pin verify",
        "pin old",
    ),
    *(
        "iban 2 confirm",
        "pin code confirm",
        "pin no repeat",
        "card cvv last 3",
        "user pass confirm",
        "jwt 1",
        "ssn copy",
    ),
    *(
        "card number last 4",
        "confirmpin",
        "userpass",
        "dbpass",
        "userpwd",
        "pass new",
        "totp 1",
        "token confirmation 2",
    ),
]
SPELLINGS = {
    "snake": "_".join,
    "kebab": "-".join,
    "dotted": ".".join,
    "camel": lambda words: words[0].lower() + "".join(word[0].upper() + word[1:] for word in words[1:]),
    "pascal": lambda words: "".join(word[0].upper() + word[1:] for word in words),
    "capitals": lambda words: "_".join(words).upper(),
    "bracketed": lambda words: f"user[{'_'.join(words)}]",
    "encoded": lambda words: f"user%5B{'_'.join(words)}%5D",
}
PLAIN_NAMES = [
    *("pinterest", "shipping", "pinned", "spin", "pin_board", "pinColor", "opinion", "card", "card_type", "discard"),
    *("className", "ssnake", "ticket_title", "encoder", "barcode", "zip_code", "country_code", "status_code", "cc"),
    *("compass", "bypass", "author", "keyboard", "monkey", "tokens_used", "passenger", "recover", "passed", "account"),
    *("pass@1", "pass@k", "pass^3", "pass_at_1", "pass_rate", "pass_rate_2", "tokens", "total_tokens", "tokens_2"),
    *("pin_count", "pin_count_2", "compass1", "bypass2", "monkey2", "token_count", "tokens_new", "last_4", "lastname2"),
    *(
        "card_2",
        "step_2",
        "overpass",
        "underpass",
        "spin2",
        "mypins",
        "newpassenger",
        "code",
        "code_2",
        "v2",
        "2",
        "oauth2",
    ),
    *("samples", "ibanez", "session_count", "pinyin", "mapPins", "card_holder", "cc_exp_month", "success_number"),
]


@pytest.mark.thinned
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_name_is_that_of_a_secret_however_it_is_spelled(name, spelling):
    spelled = SPELLINGS[spelling](name.split())
    assert is_secret(spelled)
    assert is_suspect(spelled)
    assert not is_plain_text(spelled)
    assert may_hold_secrets(f"{spelled}=1")


@pytest.mark.parametrize("name", PLAIN_NAMES)
def test_a_name_that_only_has_such_letters_is_not(name):
    assert not is_secret(name)


# A name and its value in texts: how each is written, and the value in between.
TEXTS = [
    "user=bob&{}={}&next=/",
    "next=%3F{}%3D{}%26a",
    '{{"user": "bob", "{}": "{}"}}',
    "{{'{}': '{}', 'a': 1}}",
    '[["user", "bob"], ["{}", "{}"]]',
    '[\n  ["{}", "{}"],\n  ["user", "bob"]\n]',
    "[('user', 'bob'), ('{}', '{}')]",
    '[{{"name": "{}", "value": "{}"}}]',
    '[{{"key": "{}", "value": "{}"}}]',
    '{{"field":"{}","value":"{}"}}',
    "{{&quot;user&quot;:&quot;bob&quot;,&quot;{}&quot;:&quot;{}&quot;}}",
    "{{&#34;{}&#34;: &#34;{}&#34;}}",
    "[{{&quot;name&quot;: &quot;{}&quot;, &quot;value&quot;: &quot;{}&quot;}}]",
    "[{{&quot;value&quot;: &quot;{1}&quot;, &quot;name&quot;: &quot;{0}&quot;}}]",
    '[["user", "bob"], ["{}", ["{}"]]]',
    '<input name="{}" value="{}">',
    'form-data; name="{}"\r\n\r\n{}\r\n--b',
    "{}: {}\n",
]
# Values in the forms of texts in which they have no blank.
VALUES = ("47110815", "hunter2", "CaNaRy77xQ")


@pytest.mark.parametrize("length", [0, 300])
@pytest.mark.parametrize(
    "around", ['[["{}",{}]]', '[["user", "bob"], ["{}", {}]]', "[('{}', {})]", "[[&quot;{}&quot;,{}]]"]
)
def test_a_row_may_have_a_number(around, length):
    given = ". " * length + around.format("pin", 471193)
    assert Redactor(RedactionPolicy(), SALT).text(given) == given.replace("471193", replacement_for("471193", SALT))
    plain = around.format("tokens", 471193)
    assert Redactor(RedactionPolicy(), SALT).text(plain) == plain


LABELS = ["pin code", "PIN number", "otp code", "SSN number", "Verification code", "recovery code"]


@pytest.mark.parametrize("length", [0, 300])
@pytest.mark.parametrize("around", ["{}: {}", "'{}: {}'", "typed the {}: {}.", "{} = {}, it says"])
@pytest.mark.parametrize("label", LABELS)
def test_a_name_of_two_words_in_a_sentence_has_a_value(label, around, length):
    given = ". " * length + around.format(label, "471193")
    assert Redactor(RedactionPolicy(), SALT).text(given) == given.replace("471193", replacement_for("471193", SALT))


@pytest.mark.parametrize(
    "given", ["the pin code: it is wrong", "status code: 404", "security number: 3", "spin code: 12"]
)
def test_other_sentences_stay(given):
    assert Redactor(RedactionPolicy(), SALT).text(given) == given


NUMBERED = ["secret2", "X-API-KEY-2", "ssnLast4", "user[card_number_2]", "pass1", "newpwd", "oldPin"]


@pytest.mark.thinned
@pytest.mark.parametrize("length", [0, 300])  # candidates are derived from long texts only
@pytest.mark.parametrize("around", TEXTS)
@pytest.mark.parametrize(
    "name", ["cvc", "pin", "ssn", "card_number", "SAMLResponse", "user[pin]", "newPwd", "cc_cid", *NUMBERED]
)
def test_the_value_of_such_a_name_is_replaced_in_each_kind_of_text(name, around, length):
    before = ". " * length
    for value in VALUES:
        given = before + around.format(name, value)
        assert Redactor(RedactionPolicy(), SALT).text(given) == given.replace(value, replacement_for(value, SALT))


TREES = [
    {"post_data": {"user": "bob", "NAME": "VALUE"}},
    {"post_data": [["user", "bob"], ["NAME", "VALUE"]]},
    {"rows": [["NAME", ["VALUE", "VALUE"]]]},
    {"items": [{"name": "NAME", "value": "VALUE"}, {"name": "user", "value": "bob"}]},
    {"items": [{"key": "NAME", "value": "VALUE"}]},
    {"items": [{"field": "NAME", "value": {"typed": "VALUE"}, "type": "text"}]},
    {"items": [{"name": "f1", "id": "NAME", "value": "VALUE"}]},
    {"items": [{"label": "NAME", "role": "textbox", "value": "VALUE"}]},
    {"query_params": {"NAME": ["VALUE"]}},
]


def fill(tree, name, value):
    return json.loads(json.dumps(tree).replace("NAME", name).replace("VALUE", value))


@pytest.mark.thinned
@pytest.mark.parametrize("mode", ["default", "strict"])
@pytest.mark.parametrize("evaluator", ["AgentResponseEvaluator", "NetworkEventEvaluator", "Own"])
@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("name", ["cvc", "pin", "cardNumber", "SAMLResponse", "user[pwd]"])
def test_the_value_of_such_a_name_is_replaced_in_json(name, tree, evaluator, mode):
    evaluation = EvaluatorResult(
        evaluator_name=evaluator, status="failure", score=0.0, actual=fill(tree, name, S), expected={}
    )
    redacted = Redactor(RedactionPolicy(mode), SALT).redact_evaluation(evaluation).actual
    if mode == "default":
        assert redacted == fill(tree, name, R)
    assert S not in json.dumps(redacted)


@pytest.mark.parametrize("name", ["code2", "ticket_2", "code_new"])
def test_numbered_names_of_generated_values_are_such_names(name):
    given = f"https://h.test/?{name}=a1b2c3d4e5&{name}=US"
    assert Redactor(RedactionPolicy(), SALT).text(given) == given.replace(
        "a1b2c3d4e5", replacement_for("a1b2c3d4e5", SALT)
    )


ROWS = [["lamp", "desk"], ["password", 4], ["tokens", "3"], ["a", "b", "password"], ["password"], [1, "password"]]


def test_rows_of_anything_else_stay():
    rows = [*ROWS, {"value": 3, "unit": "kg"}, {"key": "lamp", "value": "desk"}, {"id": 4, "value": "password"}]
    evaluation = EvaluatorResult(evaluator_name="Own", status="failure", score=0.0, actual=rows, expected={})
    shown = Redactor(RedactionPolicy(), SALT).redact_evaluation(evaluation).actual
    assert [row for row in shown if row not in rows] == [["password", replacement_for("4", SALT)]]


LOGINS = [
    "curl -u bob:{} https://h.test/",
    "curl -sSu bob:{} https://h.test/",
    "curl -s --user bob:{} https://h.test/",
    "curl --user=bob:{} https://h.test/",
    "curl -u 'bob:{}' https://h.test/",
    'curl --proxy-user "bob:{}" https://h.test/',
    'run: \\"curl -u bob:{}\\"',
    '["curl","-u","bob:{}","https://h.test/"]',
    "['curl','--user','bob:{}']",
    '[\n  "curl",\n  "-u",\n  "bob:{}"\n]',
    "curl -ubob:{} https://h.test/",
    '["curl", "-u", "bob:{}", "https://h.test/"]',
    "https://bob:{}@h.test/",
    "https:\\/\\/bob:{}@h.test\\/",
    "https%3A%2F%2Fbob:{}%40h.test",
    "postgres://bob:{}@db:5432/shop",
]


@pytest.mark.parametrize("length", [0, 300])
@pytest.mark.parametrize("command", LOGINS)
def test_the_login_of_a_command_or_an_address_is_replaced(command, length):
    given = ". " * length + command.format(VALUES[2])
    expected = given.replace(VALUES[2], replacement_for(VALUES[2], SALT)).replace("bob", replacement_for("bob", SALT))
    assert Redactor(RedactionPolicy(), SALT).text(given) == expected


@pytest.mark.parametrize(
    "command",
    ["docker run -u 1000:1000 lamp", "date -u +%H:%M", "sort -u names", "useradd --user bob", "-u https://h.test/"],
)
def test_other_options_stay(command):
    assert Redactor(RedactionPolicy(), SALT).text(command) == command


@pytest.mark.parametrize("around", ["user[password].{}", "{}.password", "{}-user_pin"])
def test_the_ends_of_a_long_name_decide(around):
    assert is_secret(around.format("xY1." * 10_000))


@pytest.mark.parametrize("end", ["=", "==", "=x1", ":x"])
def test_an_encoded_body_is_no_name_that_fills_the_memory(end):
    text = "eyJh" + "eHh4" * 250_000 + end  # begins as a token does
    tracemalloc.start()
    try:
        assert Redactor(RedactionPolicy(), SALT).text(text) == text
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * len(text)  # 50 times as much where its words were listed
