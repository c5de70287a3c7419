"""The authorization code of OAuth is a secret, and no other code is."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.redaction.audit import Audit
from pytest_webeval.redaction.json import JsonRedactor
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.policy import build_scope
from pytest_webeval.redaction.redactor import Redactor
from pytest_webeval.redaction.replacements import Replacements
from pytest_webeval.redaction.replacements import replacement_for
from pytest_webeval.redaction.text import TextRedactor
from pytest_webeval.redaction.tokens import list_tokens
from pytest_webeval.redaction.tokens import may_hold

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
    f"https://h.test/items?code={CODE}&page=2",
    "https://h.test/address?code=US&state=CA",
    "https://h.test/address?code=94103-1234&state=CA",
    "https://h.test/errors?code=invalid_request&state=open",
    f"https://h.test/items?code={CODE} was opened in https://h.test/?state=xyz",
    f'[{{"code": "{CODE}"}}, {{"state": "open"}}]',
    f"https://h.test/items?code={CODE}&estate=1&statement=2",
]


def text(given):
    return Redactor(RedactionPolicy(), SALT).text(given)


def tree(given):
    return JsonRedactor(TextRedactor(build_scope(RedactionPolicy()), Replacements(SALT)))(given)


@pytest.mark.parametrize("shown", TEXTS)
def test_an_authorization_code_in_a_text_is_replaced(shown):
    assert text(shown.format(CODE)) == shown.format(R)


@pytest.mark.parametrize("shown", NONE)
def test_any_other_code_stays(shown):
    assert text(shown) == shown


@pytest.mark.parametrize("neighbour", ["state", "grant_type", "grantType"])
def test_members_and_entries_with_a_code_are_replaced(neighbour):
    given = {"code": CODE, neighbour: "xyz", "page": "2"}
    assert may_hold(list_tokens(given) or ())
    assert tree(given) == {"code": R, neighbour: "xyz", "page": "2"}
    assert tree({"query_params": {"code": [CODE], neighbour: ["xyz"]}})["query_params"]["code"] == [R]
    entries = [{"name": name, "value": value} for name, value in given.items()]
    assert tree({"queryString": entries}) == {"queryString": [{"name": "code", "value": R}, *entries[1:]]}


@pytest.mark.parametrize("given", [{"code": CODE, "page": "2"}, {"code": "US", "state": "CA"}, {"state": "CA"}])
def test_members_without_an_authorization_code_stay(given):
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
