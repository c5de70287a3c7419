from __future__ import annotations

import pytest

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.evidence import FENCE_RULE
from pytest_webeval.judges.methods import load_method
from pytest_webeval.judges.verdicts import JudgeSettings
from pytest_webeval.recordings.trajectory.step import NO_ANSWER
from tests.unit.judges.derived import derive_verdict
from tests.unit.judges.scripted import ScriptedJudge, calls_of, evidence, image, in_order


def judge_with(*replies, votes=1, **changes):
    judge = ScriptedJudge(in_order(replies))
    calls = calls_of(judge, "webvoyager")
    return load_method("webvoyager").judge(evidence(**changes), calls, JudgeSettings(votes=votes)), judge


@pytest.mark.parametrize(
    ("reply", "score", "response"),
    [
        ("The price is there.\nVerdict: SUCCESS", 1, "The price is there.\n\nVerdict: SUCCESS"),
        ("It says SUCCESS.\nVerdict: NOT SUCCESS", 0, "It says success.\n\nVerdict: NOT SUCCESS"),
    ],
)
def test_a_reply_becomes_the_score_file_of_the_benchmark(reply, score, response):
    verdict, judge = judge_with(reply)
    assert (verdict.file_name, verdict.score, verdict.response) == ("gpt_eval.json", score, response)
    assert (verdict.votes, verdict.agreement) == ((bool(score),), None)
    assert judge.steps == ["verdict"]
    derived = derive_verdict(verdict)
    assert (derived.status, derived.score, derived.checks, derived.flags) == ("judged", score, (), ())


def test_task_answer_and_screenshots_are_in_the_question():
    _, judge = judge_with("Verdict: SUCCESS")
    system, user = judge.questions[0].messages
    assert FENCE_RULE in system.text
    assert "Find the price of the atlas." in user.text
    assert "It costs 12.50 EUR." in user.text
    assert "click" not in user.text
    assert "Attached, in their order: 4 screenshots of 4 (all)." in user.text
    assert [picture.sha256 for picture in user.images] == [image(number).sha256 for number in range(4)]


def test_of_many_screenshots_the_last_are_attached_with_their_numbers():
    _, judge = judge_with("Verdict: SUCCESS", steps=40)
    user = judge.questions[0].messages[1]
    assert [picture.name for picture in user.images] == [f"screenshot{number}.png" for number in range(11, 41)]
    assert "30 screenshots of 41 (the last)" in user.text
    assert "Screenshot 12:" in user.text
    assert "Screenshot 11:" not in user.text


def test_a_run_without_screenshots_and_answer_says_so():
    _, judge = judge_with("Verdict: NOT SUCCESS", answer=NO_ANSWER, screenshots=())
    assert NO_ANSWER in judge.questions[0].messages[1].text
    assert "The run has no screenshots." in judge.questions[0].messages[1].text


def test_most_votes_decide_and_the_first_of_them_is_stored():
    replies = ["a\nVerdict: NOT SUCCESS", "b\nVerdict: SUCCESS", "c\nVerdict: SUCCESS"]
    verdict, _ = judge_with(*replies, votes=3)
    assert verdict.response == "b\n\nVerdict: SUCCESS"
    assert (verdict.votes, verdict.agreement) == ((False, True, True), 2 / 3)


def test_a_judge_that_never_decides_has_no_verdict():
    with pytest.raises(JudgeFailed) as caught:
        judge_with(*["I cannot decide."] * 5)
    assert caught.value.outcome == "unparseable"
