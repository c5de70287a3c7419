from __future__ import annotations

import pytest
from msgspec import structs

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.calls import InvalidReply, Request, build_messages
from pytest_webeval.judges.questions import Ending, Message, Question, Reply, Role, TokenUsage
from pytest_webeval.judges.verdicts import decide
from tests.unit.judges.scripted import ScriptedJudge, calls_of, image, in_order

SHOWN = image(1)
MESSAGES = build_messages("Reply with a number.", "How many?", image(1))


def parse(text):
    if not text.isdigit():
        raise InvalidReply("not a number")
    return int(text)


def request(**changes):
    return Request("count", MESSAGES, parse, **changes)


def test_an_invalid_reply_is_sent_back_with_what_is_wrong():
    judge = ScriptedJudge(in_order(["many", "few", "7"]))
    calls = calls_of(judge)
    assert calls.ask(request()) == 7
    assert [len(question.messages) for question in judge.questions] == [2, 4, 6]
    assert judge.questions[-1].messages[2] == Message("assistant", ("many",))
    assert "not a number" in judge.questions[-1].messages[-1].text
    assert calls.usage == {"scripted": TokenUsage(prompt=30, completion=6)}
    assert len({asked.key for asked in calls.asked}) == 3


def test_replies_that_stay_invalid_are_no_verdict():
    calls = calls_of(ScriptedJudge(lambda _: "many"))
    with pytest.raises(JudgeFailed, match="no valid reply in 2 attempts @ count: not a number") as caught:
        calls.ask(request(attempts=2))
    assert caught.value.outcome == "unparseable"
    assert len(calls.asked) == 2


@pytest.mark.parametrize("ending", [Ending.TRUNCATED, Ending.FILTERED, Ending.REFUSED])
def test_an_incomplete_reply_is_not_asked_for_again(ending):
    judge = ScriptedJudge(lambda _: Reply(text="7", model="m", ending=ending))
    with pytest.raises(JudgeFailed, match="@ count") as caught:
        calls_of(judge).ask(request())
    assert caught.value.outcome == ending.value
    assert len(judge.questions) == 1


@pytest.mark.parametrize("concurrency", [1, 4])
def test_many_are_asked_and_each_has_its_value_or_its_problem(concurrency):
    def reply(question):
        digits = question.messages[1].text
        return JudgeFailed("no reply", "unreachable") if digits == "3" else digits

    asked = [build_messages("Repeat.", str(at)) for at in range(6)]
    calls = calls_of(ScriptedJudge(reply), concurrency=concurrency)
    values = calls.ask_all(Request("echo", messages, parse) for messages in asked)
    assert [value if isinstance(value, int) else value.outcome for value in values] == [0, 1, 2, "unreachable", 4, 5]
    assert [asked.key for asked in calls.asked] == [
        Question(model="scripted", method="method", version="1", step="echo", messages=messages).key
        for at, messages in enumerate(asked)
        if at != 3
    ]


def test_roles_have_their_models():
    judge = ScriptedJudge(lambda _: "7")
    calls = calls_of(judge)
    calls.models = {Role.VISION: "strong", Role.TEXT: "cheap"}
    calls.ask(request())
    calls.ask(Request("text", MESSAGES, parse, role=Role.TEXT))
    assert [question.model for question in judge.questions] == ["strong", "cheap"]


QUESTION = Question(model="m", method="a", version="1", step="s", messages=MESSAGES, parameters={"seed": 1})


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "n"},
        {"method": "b"},
        {"version": "2"},
        {"step": "t"},
        {"parameters": {"seed": 2}},
        {"parameters": {}},
        {"schema": {"type": "object"}},
        {"rubric": "0" * 64},
        {"sample": 1},
        {"messages": build_messages("Reply with a number.", "How many?", image(2))},
        {"messages": build_messages("Reply with a number.", "How many ?", image(1))},
        {"messages": build_messages("Reply with a number.", image(1), "How many?")},
    ],
)
def test_a_changed_anything_is_another_question(changes):
    fields = {name: getattr(QUESTION, name) for name in QUESTION.__struct_fields__}
    assert Question(**fields).key == QUESTION.key
    assert Question(**(fields | changes)).key != QUESTION.key


def test_the_first_reason_of_a_degraded_step_counts():
    calls = calls_of(ScriptedJudge(lambda _: ""))
    calls.degrade("evidence", "first\nline")
    calls.degrade("evidence", "second")
    assert calls.degraded == {"evidence": "first line"}


def test_a_fallback_is_no_verdict_and_a_note_is_none():
    calls = calls_of(ScriptedJudge(lambda _: ""))
    calls.note("verdict, vote 2", "no reply")
    calls.check()
    calls.degrade("screenshot 2", "no score")
    calls.degrade("screenshot 2", "again")
    calls.degrade("reality", "no notes")
    with pytest.raises(JudgeFailed, match=r"used a fallback in 2 steps: screenshot 2: no score$") as caught:
        calls.check()
    assert caught.value.outcome == "uncertain"
    assert list(calls.degraded) == ["verdict, vote 2", "screenshot 2", "reality"]


@pytest.mark.parametrize(
    ("replies", "problem"),
    [
        (["7"], None),
        (["many", "7"], None),
        (["many", "7", "7"], None),
        (["many", "few", "7"], "2 of 3 replies"),
        (["many", "few", "some", "7", "7"], "3 of 5 replies"),
        (["7", "many", "few", "some", "7"], "3 of 5 replies"),
        (["7", "many", "few", "7", "7"], None),
    ],
)
def test_where_most_replies_are_invalid_there_is_no_verdict(replies, problem):
    judge = ScriptedJudge(in_order(replies))
    calls = calls_of(judge)
    while len(judge.questions) < len(replies):
        assert calls.ask(request()) == 7
    if problem is None:
        calls.check()
    else:
        with pytest.raises(JudgeFailed, match=f"{problem} of the judge were not valid") as caught:
            calls.check()
        assert caught.value.outcome == "uncertain"


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("reply", ["7", "many", JudgeFailed("no reply", "unreachable")])
def test_equal_questions_are_sent_and_paid_for_once(concurrency, reply):
    judge = ScriptedJudge(lambda question: reply if question.messages[1].images[0].sha256 == SHOWN.sha256 else "1")
    calls = calls_of(judge, concurrency=concurrency)
    copy = structs.replace(SHOWN, name="copy.png")
    asked = [build_messages("Count.", each) for each in (SHOWN, image(2), copy, SHOWN)]
    first, other, *equal = calls.ask_all(Request("count", each, parse, attempts=2) for each in asked)
    assert equal == [first, first]
    assert other == 1
    times = 2 if reply == "many" else 1
    assert len(judge.questions) == 1 + times
    assert len(calls.asked) == (1 if isinstance(reply, Exception) else 1 + times)
    assert calls.usage["scripted"].prompt == 10 * len(calls.asked)


def test_equal_votes_are_questions_of_their_own():
    judge = ScriptedJudge(in_order(["1", "2", "3"]))
    calls = calls_of(judge)
    assert calls.ask_all(request(sample=sample) for sample in range(3)) == [1, 2, 3]
    assert len(calls.asked) == 3


@pytest.mark.parametrize(
    ("votes", "decision"),
    [
        ([True], True),
        ([False], False),
        ([True, True, None], True),
        ([True, False, True], True),
        ([None, False, False], False),
        ([True, None, False], "1 of 3"),
        ([None, None, True], "1 of 3"),
        ([None], "0 of 1"),
    ],
)
def test_most_votes_decide(votes, decision):
    if isinstance(decision, bool):
        assert decide(votes) is decision
    else:
        with pytest.raises(JudgeFailed, match=f"uncertain: {decision} votes for success"):
            decide(votes)
