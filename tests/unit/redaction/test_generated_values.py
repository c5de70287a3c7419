"""Authorization codes, tickets and tokens in paths are secrets where they look generated; other codes are not."""

from __future__ import annotations

import json
import time

import pytest

from pytest_webeval.redaction.json import JsonRedactor, list_marked, list_tokens, may_hold
from pytest_webeval.redaction.policy import RedactionPolicy, build_scope
from pytest_webeval.redaction.recording_secrets import Audit
from pytest_webeval.redaction.redactor import Redactor
from pytest_webeval.redaction.text import Replacements, TextRedactor, replacement_for
from pytest_webeval.results import EvaluatorResult

SALT = b"of the recording"
CODE = "4a0AX4XfWhxyz"
R = replacement_for(CODE, SALT)
TEXTS = [
    "https://h.test/callback?code={}&state=xyz",
    "https://h.test/callback?state=xyz&code={}#top",
    "https://h.test/#state=xyz&code={}",
    "grant_type=authorization_code&code={}&redirect_uri=https%3A%2F%2Fh.test",
    "next=%2Fcallback%3Fcode%3D{}%26state%3Dxyz",
    '{{"grant_type": "authorization_code", "code": "{}", "scope": {{}}}}',
    "{{'code': '{}', 'state': 'xyz'}}",
    '"{{\\"code\\": \\"{}\\", \\"state\\": \\"xyz\\"}}"',
    '[{{"name": "code", "value": "{}"}}, {{"name": "state", "value": "xyz"}}]',
    'form-data; name="code"\r\n\r\n{}\r\n--b\r\nContent-Disposition: form-data; name="state"\r\n\r\nxyz\r\n--b--',
]
NONE = [
    "https://h.test/address?code=US&state=CA",
    "https://h.test/address?country_code=DE&zip_code=94103-1234",
    "https://h.test/address?code=94103-1234&state=CA",
    "https://h.test/errors?code=invalid_request&state=open",
    "https://h.test/coupon?code=SAVE2026&ticket=PROJ-12345",
    "code=ERR-1001:404 ticket=LAMP12:open",
    "verification=2026-01-31T10:00:00Z&code=https://h.test/a1b2c3d4",
    '{"activation": "2026-01-31T10:00:00", "invite": "https://h.test/party-2026a"}',
    '{"code": "ERR-1001-20", "ticket": "the lamp is broken", "invite": null}',
    f"https://h.test/items?encode={CODE}&barcode={CODE}",
]


def text(given):
    return Redactor(RedactionPolicy(), SALT).text(given)


def tree(given):
    return JsonRedactor(TextRedactor(build_scope(RedactionPolicy()), Replacements(SALT)))(given)


@pytest.mark.parametrize("shown", TEXTS)
def test_an_authorization_code_in_a_text_is_replaced(shown):
    assert text(shown.format(CODE)) == shown.format(R)


# Values with the characters in them at which another name may begin.
PADDED = [
    *(
        "abcd1234=efgh5678",
        "abcd=1234efgh",
        "YWJjZDEyMzQ1Ng==",
        "a1b2c3d4e5f6g7h8=",
        "abcd1234:efgh5678",
        "a1b2c3d4::e5:f6",
    ),
    *(
        "abcd1234%3D%3D",
        "a=b=c=d=e1f2g3h4",
        "abcd1234" + "=a" * 40,
        "code=abcd1234",
        "abcd1234code=efgh",
        "a1b2c3d4/e=f+g",
    ),
]


@pytest.mark.thinned
@pytest.mark.parametrize("length", [0, 300])  # candidates are derived from long texts only
@pytest.mark.parametrize("name", ["code=", "ticket=", "invite: ", "state=x&code=", "code%3D", "a/code:"])
@pytest.mark.parametrize("value", PADDED)
def test_a_generated_value_is_replaced_as_a_whole(value, name, length):
    given = ". " * length + name
    assert text(f"{given}{value}, it says") == f"{given}{replacement_for(value, SALT)}, it says"
    if "%3D" not in value:
        assert tree({"code": value}) == {"code": replacement_for(value, SALT)}


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize("piece", ["code=", "code:", "code=code:", "c-o-d-e=", "code%3D", "a1b2c3d4=code=", "code=["])
def test_a_text_of_names_alone_takes_no_time(piece):
    started = time.process_time()
    text(piece * 20_000 + "[1")
    assert time.process_time() - started < 5


@pytest.mark.parametrize("shown", NONE)
def test_any_other_code_stays(shown):
    assert text(shown) == shown


@pytest.mark.parametrize("name", ["code", "[co-de]", "%5Bcode%5D", "CODE", "ticket", "invite", "verification"])
@pytest.mark.parametrize("value", [CODE, "4/0AX4XfWhxyz-_", "ST-1856339-aA5Yuvrxzpv8Tau1cYQ7"])
def test_members_rows_and_entries_with_a_generated_value_are_replaced(name, value):
    hidden = replacement_for(value, SALT)
    given = {name: value, "page": "2"}
    assert may_hold(list_tokens(given) or ())
    assert list_marked(given)
    assert tree(given) == {name: hidden, "page": "2"}
    assert tree({"query_params": {name: [value]}}) == {"query_params": {name: [hidden]}}
    entries = [{"name": name, "value": value}, {"name": "page", "value": "2"}]
    assert tree({"queryString": entries}) == {"queryString": [{"name": name, "value": hidden}, entries[1]]}
    assert tree([[name, value], ["page", "2"]]) == [[name, hidden], ["page", "2"]]


@pytest.mark.parametrize("name", ["code", "ticket"])
@pytest.mark.parametrize("mode", ["default", "strict"])
def test_a_value_whose_name_the_definition_has_stays(name, mode):
    event = {"url": f"/coupon?{name}={CODE}", "post_data": {name: CODE}}
    evaluation = EvaluatorResult(
        evaluator_name="NetworkEventEvaluator",
        status="failure",
        score=0.0,
        actual=event,
        expected={"post_data": {name: "another"}},
    )
    assert Redactor(RedactionPolicy(mode), SALT).redact_evaluation(evaluation).actual == event


PATHS = [
    "https://h.test/reset-password/{}",
    "https://h.test/password/reset/{}?lang=en",
    "/reset/MQ/{}/",
    "/token/{}#top",
    "/api/v1/tokens/{}.",
    "/invite/{}",
    "/invitations/accept/{}",
    "/verify-email/{}, it says",
    "/users/42/confirmation/{}",
    "/activate/{}/",
    "/magic-link/{}",
    "/auth/magic_login/{}",
    "/unsubscribe/{}",
    "/recover/{}",
    "/forgot-password/{}",
    "/login/link/{}",
    "/wd/session/{}/url",
    "next=%2Freset-password%2F{}%26a",
    "next=%252Ftoken%252F{}",
    '"https:\\/\\/h.test\\/reset-password\\/{}"',
    "#/verify/{}",
]
NO_PATHS = [
    "/token/refresh",
    "/customer/account/login/referer/",
    "/reset-password/index.html",
    "/checkout/confirm/ORDER-12345",
    "/author/jk-rowling2000x",
    "/session/42/steps",
    "/verify/2026-01-31",
    "/catalog/4a0AX4XfWhxyz",
    "see token/4a0AX4XfWhxyz",
]


@pytest.mark.parametrize("length", [0, 300])  # candidates are derived from long texts only
@pytest.mark.parametrize("path", PATHS)
def test_a_token_in_a_path_is_replaced(path, length):
    before = ". " * length
    for value in (CODE, "550e8400-e29b-41d4-a716-446655440000", "c1hdxd-7ad3a1a8f8bb8d4f2d2e", "%41bc1%64efg2"):
        assert text(before + path.format(value)) == before + path.format(replacement_for(value, SALT))


@pytest.mark.parametrize("path", NO_PATHS)
def test_other_paths_stay(path):
    assert text(path) == path


@pytest.mark.parametrize("given", [{"code": "SAVE2026"}, {"code": "US", "state": "CA"}, {"ticket": 42}])
def test_members_without_a_generated_value_stay(given):
    entries = [{"name": name, "value": value} for name, value in given.items()]
    assert (tree(given), tree(entries)) == (given, entries)


def test_an_audit_lists_each_place_of_the_code(tmp_path):
    request = {
        "url": f"https://h.test/callback?code={CODE}&state=xyz",
        "queryString": [{"name": "code", "value": CODE}, {"name": "state", "value": "xyz"}],
        "postData": {"mimeType": "application/json", "text": json.dumps({"code": CODE, "grant_type": "x"})},
    }
    (tmp_path / "network.har").write_text(json.dumps({"log": {"entries": [{"request": request}]}}))
    found = Audit.of(tmp_path, RedactionPolicy(), SALT).findings
    assert [(one.kind, one.name, one.replacement, count) for one, count in found.items()] == [
        ("authorization code", "code", R, 3)
    ]


@pytest.mark.parametrize("mode", ["default", "strict"])
@pytest.mark.parametrize(
    "name",
    [
        f"https://h.test/reset-password/{CODE}",
        f'[["password","{CODE}"]]',
        f"password={CODE}&token",
        f"token?code={CODE}",
    ],
)
def test_an_audit_lists_no_secret_in_the_name_of_a_member(tmp_path, name, mode):
    (tmp_path / "state.json").write_text(json.dumps({name: "CaNaRy77xQ", "page": 1}))
    findings = Audit.of(tmp_path, RedactionPolicy(mode), SALT).findings
    assert findings
    assert not [one for one in findings if CODE in one.name or "CaNaRy77xQ" in one.name]
