from __future__ import annotations

import pytest

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.calls import Request, build_messages
from pytest_webeval.judges.methods.conclusions import (
    STATUS,
    Conclusion,
    ask_votes,
    choose_conclusion,
    list_values,
    parse_last_line,
)
from tests.unit.judges.scripted import ScriptedJudge, calls_of, in_order

REQUEST = Request(
    "verdict",
    build_messages("Decide.", "The run"),
    lambda reply: parse_last_line(reply, "Status", STATUS),
)
LOST = JudgeFailed("no reply in 60 s", "unreachable")


def votes_of(*replies):
    judge = ScriptedJudge(in_order(replies))
    calls = calls_of(judge)
    return ask_votes(calls, REQUEST, len(replies)), calls, judge


def test_each_vote_is_a_question_of_its_own():
    votes, calls, judge = votes_of("a\nStatus: failure", "b\nStatus: success", "c\nStatus: success")
    assert list_values(votes) == (False, True, True)
    assert choose_conclusion(votes) == Conclusion(value=True, reasoning="b")
    assert [question.sample for question in judge.questions] == [0, 1, 2]
    assert len({asked.key for asked in calls.asked}) == 3
    assert calls.degraded == {}


def test_a_lost_vote_is_noted():
    votes, calls, _ = votes_of("Status: failure", LOST, "Status: failure")
    assert list_values(votes) == (False, None, False)
    assert calls.degraded == {"verdict, vote 2": "no reply in 60 s"}


@pytest.mark.parametrize("replies", [[LOST], ["Status: success", LOST, LOST]])
def test_without_a_majority_of_replies_there_is_no_verdict(replies):
    with pytest.raises(JudgeFailed, match="no reply in 60 s") as caught:
        votes_of(*replies)
    assert caught.value.outcome == "unreachable"


def test_votes_that_tie_are_uncertain():
    votes, _, _ = votes_of("Status: success", "Status: failure", LOST)
    with pytest.raises(JudgeFailed, match="1 of 3 votes for success") as caught:
        choose_conclusion(votes)
    assert caught.value.outcome == "uncertain"
