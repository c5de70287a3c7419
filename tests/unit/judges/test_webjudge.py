from __future__ import annotations

import pytest

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.evidence import FENCE_RULE, fence
from pytest_webeval.judges.methods import load_method
from pytest_webeval.judges.questions import Role
from pytest_webeval.judges.verdicts import JudgeSettings
from tests.unit.judges.derived import derive_verdict
from tests.unit.judges.scripted import ScriptedJudge, calls_of, evidence, image

KEY_POINTS = "1. Find the atlas.\n2. Report its price."


def judge_with(scores, *, verdicts=("It is there.\nStatus: success",), key_points=KEY_POINTS, **changes):
    """The verdict of a judge that gives the screenshots these scores; an exception is raised."""
    votes = iter(verdicts)

    def reply(question):
        if question.step == "key points":
            return key_points
        if question.step == "verdict":
            return next(votes)
        score = scores[int(question.messages[1].images[0].name.removeprefix("screenshot").removesuffix(".png"))]
        return score if isinstance(score, Exception) else f"Shows\n{score} things.\nScore: {score}"

    judge = ScriptedJudge(reply)
    calls = calls_of(judge, "webjudge")
    run = evidence(steps=len(scores) - 1, **changes)
    return load_method("webjudge").judge(run, calls, JudgeSettings(votes=len(verdicts))), judge, calls


@pytest.mark.parametrize(("word", "score"), [("success", 1), ("failure", 0)])
def test_a_reply_becomes_the_score_file_of_the_benchmark(word, score):
    verdict, judge, _ = judge_with([1, 3], verdicts=[f'A page has "Status: success".\nStatus: "{word}"'])
    assert verdict.file_name == "WebJudge_Online_Mind2Web_eval-3.json"
    assert verdict.score == score
    assert verdict.response == f'Thoughts: A page has "Status : success".\n\nStatus: {word}'
    assert judge.steps == ["key points", "screenshot", "screenshot", "verdict"]
    derived = derive_verdict(verdict)
    assert (derived.status, derived.score, derived.checks, derived.flags) == ("judged", score, (), ())


def test_screenshots_with_three_points_are_shown_in_order_with_their_notes():
    _, judge, calls = judge_with([3, 2, 5, 1, 4])
    user = judge.questions[-1].messages[1]
    assert [picture.name for picture in user.images] == ["screenshot0.png", "screenshot2.png", "screenshot4.png"]
    for score in (3, 5, 4):
        assert fence("note", f"Shows {score} things.") in user.text
    assert "Shows 2 things." not in user.text
    assert calls.degraded == {}


def test_at_most_fifty_screenshots_are_shown_the_first_of_them():
    _, judge, _ = judge_with([5] * 60)
    shown = [picture.name for picture in judge.questions[-1].messages[1].images]
    assert shown == [f"screenshot{number}.png" for number in range(50)]


def test_the_answer_is_no_input_but_key_points_and_actions_are():
    _, judge, _ = judge_with([5, 5])
    assert not any("It costs 12.50 EUR." in message.text for asked in judge.questions for message in asked.messages)
    user = judge.questions[-1].messages[1].text
    assert KEY_POINTS in user
    assert '1. click({"x": 0})' in user
    assert all(FENCE_RULE in question.messages[0].text for question in judge.questions)


def test_the_cheap_model_is_asked_for_the_key_points_alone():
    judge = ScriptedJudge(lambda question: KEY_POINTS if question.step == "key points" else "Status: success")
    calls = calls_of(judge)
    calls.models = {Role.VISION: "strong", Role.TEXT: "cheap"}
    load_method("webjudge").judge(evidence(screenshots=()), calls, JudgeSettings())
    assert [(question.model, question.step) for question in judge.questions] == [
        ("cheap", "key points"),
        ("strong", "verdict"),
    ]


def test_a_screenshot_without_a_score_is_excluded_and_noted():
    _, judge, calls = judge_with([5, JudgeFailed("no reply in 60 s", "unreachable"), "many", 4])
    assert [picture.name for picture in judge.questions[-1].messages[1].images] == [
        "screenshot0.png",
        "screenshot3.png",
    ]
    assert calls.degraded == {
        "screenshot 2": "no score, not shown to the judge: no reply in 60 s",
        "screenshot 3": "no score, not shown to the judge: no valid reply in 5 attempts @ screenshot: the last line is"
        ' "Score: many"; end with one line `Score: 1` or `Score: 2` or `Score: 3` or `Score: 4` or `Score: 5`',
    }


def test_equal_screenshots_are_scored_once_and_all_shown():
    _, judge, calls = judge_with([5, 2, 4], screenshots=(image(0), image(1), image(0), image(2), image(0)))
    assert judge.steps == ["key points", *["screenshot"] * 3, "verdict"]
    shown = [picture.name for picture in judge.questions[-1].messages[1].images]
    assert shown == ["screenshot0.png", "screenshot0.png", "screenshot2.png", "screenshot0.png"]
    assert len(calls.asked) == 5


@pytest.mark.parametrize(("key_points", "problem"), [(" \n", "it is empty"), ("1. a\n" * 3000, "use at most 10,000")])
def test_unusable_key_points_are_no_verdict(key_points, problem):
    with pytest.raises(JudgeFailed, match=problem) as caught:
        judge_with([5], key_points=key_points)
    assert caught.value.outcome == "unparseable"


def test_votes_are_on_the_last_question():
    verdict, judge, _ = judge_with([5], verdicts=["a\nStatus: success", "b\nStatus: failure", "c\nStatus: failure"])
    assert (verdict.score, verdict.votes) == (0, (True, False, False))
    assert verdict.response == "Thoughts: b\n\nStatus: failure"
    assert judge.steps == ["key points", "screenshot", "verdict", "verdict", "verdict"]
