"""Candidates are enough: looking at them finds the secrets that looking at every character of a text does."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings, strategies

from pytest_webeval.redaction import text as texts
from pytest_webeval.redaction.names import may_hold_secrets
from pytest_webeval.redaction.patterns import candidates
from pytest_webeval.redaction.policy import RedactionPolicy, build_scope
from pytest_webeval.redaction.text import Replacements, TextRedactor
from tests.support import canaries
from tests.support.default_run import examples
from tests.unit.redaction.test_text import HIDDEN, KEYS, TOKENS

PIECES = [
    *(*TOKENS, *KEYS, *(shown for shown, _ in HIDDEN), *canaries.HEADERS, *canaries.HEADERS.values(), canaries.URL),
    *("session", "key", "api", "/", "user", "%2522", "%252520", "form-data; ", 'name="x"', " value=", "author", "<x:"),
    *(
        "%3A%2F%2Fjoe:pw%40h",
        "http://joe:pw@h/",
        "http://joe:pw…",
        "…",
        "<meta name='csrf-token' content='a1b2c3d4'>",
        "?",
        "#",
        "&",
        "State",
    ),
    *(
        "pass1",
        "secret2=x1",
        "api:key2",
        "token/2",
        "pass@1",
        '"card_number_2": 4',
        "-confirm",
        "_2",
        "newpwd=",
        "last4",
    ),
    *("code=4a0AX4XfWhxyz", "&state=x", '"code": "4a0AX4XfWhxyz", ', '"grant_type": "x"', "%26code%3D4a0AX4XfWhxyz"),
]


def found_in(text, everywhere):
    """What is told of a text, and the text without it."""
    told = []
    made = Replacements(b"salt", listener=lambda *finding: told.append(finding))
    with pytest.MonkeyPatch.context() as patch:
        if everywhere:
            patch.setattr(texts, "candidates", lambda _: None)
        return TextRedactor(build_scope(RedactionPolicy()), made)(text), told


@settings(max_examples=examples(400), deadline=None)
@given(strategies.lists(strategies.sampled_from(PIECES), max_size=16).map("".join))
@example('"http://joe:pw@h": 1, "token=a1b2c3d4": 2')
@example('\\\\"token":"a1b2c3d4"')
@example('\\"token":"')
@example('<input data-token="a1b2c3d4" name="q" value="lamp">')
@example('{"value": "' + "v" * 3_000 + '", "name": "password"}')
def test_candidates_find_what_a_search_of_every_character_finds(text):
    text += " token "
    assert found_in(text, everywhere=False) == found_in(text, everywhere=True)


@pytest.mark.thinned(every=6)
@pytest.mark.parametrize("text", [given for given, _ in HIDDEN])
def test_in_a_long_text_there_are_few(text):
    page = f"{'the author of a side table signs keys ' * 200}{text}{' lamp' * 200}"
    places = candidates(page)
    assert places is not None
    assert len(places) < 60
    assert found_in(page, everywhere=False) == found_in(page, everywhere=True)


@pytest.mark.parametrize("text", ["İ token=a1b2c3d4", '"token' * 50])
def test_where_they_cannot_be_told_or_are_too_many_there_are_none(text):
    assert candidates(text) is None


def test_a_response_that_nobody_could_read_as_json_is_searched_as_text():
    page = json.dumps({"password": "CaNaRy77xQ", "note": "lamp " * 100})[:-1]
    shown, told = found_in(page, everywhere=False)
    assert told == [("field", "password", shown.split('"')[3])]


@pytest.mark.parametrize("key", KEYS)
def test_each_kind_of_key_is_looked_for_in_short_and_long_texts(key):
    text = f"{'lorem ' * 50}{key} {'lorem ' * 50}"
    assert may_hold_secrets(text)
    assert text.index(key) in candidates(text)
