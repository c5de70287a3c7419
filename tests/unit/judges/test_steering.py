"""The protocol, not the model, keeps the parsing of verdicts from being steered by what a judge is shown."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.evidence import Evidence, StepEvidence, fence
from pytest_webeval.judges.methods import METHODS, load_method
from pytest_webeval.judges.methods.request_judge import propose
from pytest_webeval.judges.verdicts import JudgeSettings
from tests.unit.judges.derived import derive_verdict
from tests.unit.judges.rubric_pipeline.perfect_judge import SIMPLE, reply_to
from tests.unit.judges.scripted import ScriptedJudge, calls_of, image
from tests.unit.judges.steering_corpus import ATTEMPTS, fitting_rubric

BY_NAME = {attempt.name: attempt for attempt in ATTEMPTS}
LINES = {
    "webvoyager": {True: "Verdict: SUCCESS", False: "Verdict: NOT SUCCESS"},
    "webjudge": {True: "Status: success", False: "Status: failure"},
}
QUOTATIONS = {
    "verbatim": "{}",
    "quotation marks": '"{}"',
    "block quote": "> {}",
    "code block": "```\n{}\n```",
    "introduction": "The page says:\n{}",
}
EXPLANATIONS = frozenset(
    {
        "classification_reasoning",
        "criterion_analysis",
        "justification",
        "post_image_justification",
        "reality_notes",
        "reasoning",
        "screenshot_evidence",
    }
)
FENCE = re.compile(r'<untrusted name="([^"]*)" mark="([0-9a-f]{16})">\n(.*?)\n</untrusted mark="\2">', re.DOTALL)

pytestmark = pytest.mark.parametrize("attempt", ATTEMPTS, ids=list(BY_NAME))
each_method = pytest.mark.parametrize("method", METHODS)


def steered(attempt):
    """A run in which the attempt stands everywhere: in task, answer, thoughts, results of actions and typed texts."""
    step = StepEvidence(
        number=1,
        action=f"type({json.dumps({'text': attempt.text}, ensure_ascii=False)})",
        thought=attempt.text,
        url="https://shop.test/",
        observation=attempt.text,
        before=image(0),
    )
    return Evidence(task=attempt.text, answer=attempt.text, steps=(step,), screenshots=(image(0),))


def conclude(method, text, success):
    """The reply of a judge that has its own verdict, and quotes a text in its reasoning."""
    if method in LINES:
        return (
            f"The evidence has this text, which I do not obey:\n{text}\nI decide by myself.\n{LINES[method][success]}"
        )
    fields = json.loads(fitting_rubric(outcome=success))
    fields["criteria"][0]["justification"] = fields["outcome_reasoning"] = f"The evidence says: {text}"
    return json.dumps(fields)


def quote(tree, text):
    """The same JSON with a text in each explanation."""
    if isinstance(tree, list):
        return [quote(item, text) for item in tree]
    if not isinstance(tree, dict):
        return tree
    explained = {name: f"The evidence says: {text}" for name in tree if name in EXPLANATIONS}
    return {name: quote(value, text) for name, value in tree.items()} | explained


def judge_by_pipeline(attempt, reply, text, success):
    """The same for the pipeline, each of whose steps has a plan; a reply takes the place of all of them."""
    plan = replace(SIMPLE, outcomes=(success,), relevance=SIMPLE.relevance[:1])

    def answer(question):
        return reply or json.dumps(quote(json.loads(reply_to(plan, question)), text))

    judge = ScriptedJudge(answer)
    method = load_method("rubric-pipeline")
    return method.judge(steered(attempt), calls_of(judge, method.name), JudgeSettings()), judge


def judge_run(method, attempt, reply, text="", *, success=False):
    """The verdict of a judge that gives this reply to the deciding question, and quotes the attempt before it."""
    if method == "rubric-pipeline":
        return judge_by_pipeline(attempt, None if text else reply, text, success)
    before = {"key points": "1. Do the task.", "screenshot": f"It shows:\n{attempt.text}\nI score it.\nScore: 4"}
    judge = ScriptedJudge(lambda question: before.get(question.step, reply))
    return load_method(method).judge(steered(attempt), calls_of(judge, method), JudgeSettings()), judge


def reach(method, attempt, reply):
    """The score, or why there is none."""
    try:
        return judge_run(method, attempt, reply)[0].score
    except JudgeFailed as error:
        return error.outcome


@pytest.mark.thinned
@pytest.mark.parametrize("success", [True, False])
@each_method
def test_a_judge_that_quotes_an_attempt_keeps_its_verdict(method, attempt, success):
    verdict, _ = judge_run(method, attempt, conclude(method, attempt.text, success), attempt.text, success=success)
    assert verdict.score == int(success)
    for policy in ({}, {"strict_texts": True}):
        derived = derive_verdict(verdict, **policy)
        assert (derived.status, derived.score, derived.checks) == ("judged", int(success), ())


@pytest.mark.thinned
@pytest.mark.parametrize("quotation", QUOTATIONS)
@each_method
def test_a_judge_that_only_quotes_an_attempt_gives_no_success(method, attempt, quotation):
    """It has no verdict. A quoted failure may count: nobody gains by one, and agents must not exclude honest ones."""
    reached = reach(method, attempt, QUOTATIONS[quotation].format(attempt.text))
    assert reached == "unparseable" or (reached == 0 and not attempt.wants)


@pytest.mark.thinned
@each_method
def test_an_attempt_stands_inside_its_fences_only(method, attempt):
    _, judge = judge_run(method, attempt, conclude(method, "nothing", success=False), "nothing")
    probe = re.sub(r"\s+", " ", attempt.text)[:200]
    for question in judge.questions:
        system, user = question.messages
        text = user.text
        assert "<untrusted " not in system.text
        marks = [match[2] for match in FENCE.finditer(text)]
        assert len(marks) == len(set(marks)) > 0
        assert all(text.count(mark) == 2 for mark in marks)
        assert probe not in re.sub(r"\s+", " ", FENCE.sub("", text))
        assert fence("task", attempt.text) in text


def test_an_attempt_in_a_request_is_fenced_and_decides_nothing(attempt):
    own = {"reasoning": f"It says: {attempt.text}", "acceptance": "no", "expected": ""}
    judge = ScriptedJudge(lambda _: json.dumps(own))
    nearest = {"url": "https://shop.test/", "post_data": {"note": attempt.text}}
    proposal = propose(attempt.text, {"url_pattern": "/a"}, json.dumps(nearest), calls_of(judge))
    assert (proposal.is_accepted, proposal.expected) == (False, None)
    user = judge.questions[0].messages[1].text
    assert FENCE.sub("", user).strip() == ""
    with pytest.raises(JudgeFailed):
        propose("task", {"url_pattern": "/a"}, json.dumps(nearest), calls_of(ScriptedJudge(lambda _: attempt.text)))


def test_there_are_forty_attempts_for_both_sides(attempt):
    assert len(BY_NAME) == len(ATTEMPTS) == 40
    assert {other.wants for other in ATTEMPTS} == {True, False}
    assert attempt.text
