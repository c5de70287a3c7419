"""Each version of a method has its prompts: a changed word needs a new version, as certificates are of one version."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.judges.methods import METHODS, load_method, request_judge
from pytest_webeval.judges.verdicts import JudgeSettings
from pytest_webeval.safety.files import sha256
from tests.unit.judges.scripted import ScriptedJudge, calls_of, evidence
from tests.unit.judges.steering_corpus import fitting_rubric

RUBRIC = {"items": [{"criterion": "Do the task", "max_points": 1}]}
SCORED = fitting_rubric(outcome=True).replace('"criterion":', '"number": 1, "criterion":')
REPLIES = {
    "key points": "1. Find the atlas.",
    "screenshot": "It shows the atlas.\nScore: 5",
    "rubric": SCORED,
    "request": json.dumps({"reasoning": "Same.", "acceptance": "no", "expected": ""}),
}
LAST_LINES = {"webvoyager": "Verdict: SUCCESS", "webjudge": "Status: success"}
# SHA-256 of the questions of each version.
PROMPTS = {
    ("request", "1"): "1d1b026928d3f25bf018cfe5d25cd5b8f82151073f758541ccbaaaacca699234",
    ("rubric", "1"): "cac0ad9d24f278e9cbd397d42494f7f22721c76538ed5a54b4807914c9d2c4bc",
    ("webjudge", "2"): "803aea50301aad8f09f5f380814d30b17880c4c8958f78bf3e7e25f1592e7318",
    ("webvoyager", "1"): "59ecf148abb28ce461a980c8d446b935130cf1bddb2603307636d4db69d6cdf0",
}


def ask_everything(name):
    """All questions of a method about one run, and of a second run with a rubric."""
    judge = ScriptedJudge(lambda question: REPLIES.get(question.step) or LAST_LINES[name])
    if name == request_judge.NAME:
        recorded = json.dumps({"url": "/b"}, indent=1)
        request_judge.propose("Buy it.", {"url_pattern": "/a"}, recorded, calls_of(judge, name))
        return judge.questions
    for run in (evidence(), evidence(steps=60, rubric=RUBRIC), evidence(screenshots=())):
        load_method(name).judge(run, calls_of(judge, name), JudgeSettings())
    return judge.questions


def digest_of(questions):
    content = [(question.step, question.to_json()["messages"], question.schema) for question in questions]
    return sha256(json.dumps(content, sort_keys=True).encode())


@pytest.mark.parametrize(
    "name", [*sorted(METHODS.keys() - {"rubric-pipeline"}), request_judge.NAME]
)  # which has its own
def test_a_changed_prompt_has_a_new_version(name):
    version = request_judge.VERSION if name == request_judge.NAME else load_method(name).version
    digest = digest_of(ask_everything(name))
    assert PROMPTS.get((name, version)) == digest, (
        f"the prompts of {name} changed: raise its version, so that remembered replies and certificates of the old"
        f" prompts do not count for the new ones, and add the row ({name!r}, '<version>'): {digest!r}"
    )
