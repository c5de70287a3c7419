"""Proposals have no secrets of their recordings in them, and golden runs pass under them wherever that is possible."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.api import load_run
from pytest_webeval.authoring.proposal.proposal import propose
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.tasks.sites import Environment, Sites
from tests.support.leaks import PASSWORD, TEXTS, list_leaks
from tests.support.traffic import SHOP, send, visit, write_traffic

SITES = Sites({"shopping": Environment((SHOP,))})
HOME = visit("/")
ONE_LINE = {name: text for name, text in TEXTS.items() if "\n" not in text}
LOGIN = send("/login", [("email", "ida@example.com"), ("password", PASSWORD)], status=302)


@pytest.fixture
def proposed(tmp_path):
    """The proposal that a recording suggests, and all texts of it."""

    def make(*recording, mode="default"):
        proposal = propose([load_run(write_traffic(tmp_path / "7", *recording))], SITES, policy=RedactionPolicy(mode))
        return proposal, [json.dumps(proposal.definition), *proposal.notes, *proposal.problems]

    return make


def fields(name, value):
    return send("/note/add", [("title", "lamp"), (name, value)], status=302)


RECORDED = {
    "a field": lambda text: ("MUTATE", HOME, fields("note", text)),
    "JSON": lambda text: ("MUTATE", HOME, send("/notes", document={"title": "lamp", "user": {"about": text}})),
    "a secret field": lambda text: ("MUTATE", HOME, fields("api_key", text)),
    "a parameter": lambda text: ("NAVIGATE", HOME, visit(f"/search?q=lamp&note={text.replace(' ', '+')}")),
}


@pytest.mark.parametrize("text", ONE_LINE.values(), ids=ONE_LINE)
@pytest.mark.parametrize("recorded", RECORDED.values(), ids=RECORDED)
def test_a_secret_that_was_sent_is_not_required_and_the_run_passes(proposed, recorded, text):
    proposal, texts = proposed(*recorded(text))
    assert list_leaks(*texts) == set()
    assert proposal.problems == ()
    assert "lamp" in texts[0]
    assert any("a secret" in note or "a random value" in note for note in proposal.notes)


@pytest.mark.parametrize("kind", ["github", "openai", "slack", "stripe"])
def test_any_segment_passes_where_a_path_has_a_token(proposed, kind):
    proposal, texts = proposed("NAVIGATE", HOME, visit(f"/share/{TEXTS[kind].split()[-1]}/view"))
    assert list_leaks(*texts) == set()
    assert proposal.problems == ()
    assert "/share/[^/]+/view" in texts[0]


def test_a_referer_has_no_token_of_its_query(proposed):
    address = f"/from?access_token={PASSWORD}"
    _, texts = proposed("NAVIGATE", HOME, visit("/other"), visit("/", referer=address))
    assert list_leaks(*texts) == set()


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("mode", ["default", "strict"])
def test_a_secret_in_an_answer_is_a_placeholder_that_a_note_explains(proposed, text, mode):
    proposal, texts = proposed(
        {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [text]}, HOME, mode=mode
    )
    assert list_leaks(*texts) == set()
    (data,) = proposal.definition["eval"][0]["expected"]["retrieved_data"]
    assert "redacted-" in data
    note = "eval[0].expected.retrieved_data[0]: a secret was replaced; to keep it, pass --redact=off"
    assert note in proposal.notes
    assert len(proposal.problems) == 1


def test_an_answer_that_repeats_the_password_of_a_form_is_a_placeholder(proposed):
    answered = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [PASSWORD, "lamp"]}
    proposal, texts = proposed(answered, HOME, LOGIN)
    assert list_leaks(*texts) == set()
    assert proposal.definition["eval"][0]["expected"]["retrieved_data"][1] == "lamp"


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_without_redaction_the_answer_is_required_and_the_run_passes(proposed, text):
    answered = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [text]}
    proposal, texts = proposed(answered, HOME, mode="off")
    assert list_leaks(*texts) != set()
    assert proposal.problems == ()
