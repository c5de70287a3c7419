from __future__ import annotations

import pytest

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.calls import Request, build_messages
from pytest_webeval.judges.methods.conclusions import STATUS, conclude, parse_last_line
from tests.unit.judges.scripted import ScriptedJudge, calls_of, in_order

REQUEST = Request(
    "verdict",
    build_messages("Decide.", "The run"),
    lambda reply: parse_last_line(reply, "Status", STATUS),
)
LOST = JudgeFailed("no reply in 60 s", "unreachable")


def conclude_with(*replies):
    judge = ScriptedJudge(in_order(replies))
    calls = calls_of(judge)

    def form(reasoning, *, success):
        return f"{reasoning}: {success}"

    return lambda: conclude(calls, REQUEST, len(replies), "a.json", form), calls, judge


def test_each_vote_is_a_question_of_its_own():
    judge_run, calls, judge = conclude_with("a\nStatus: failure", "b\nStatus: success", "c\nStatus: success")
    verdict = judge_run()
    assert verdict.votes == (False, True, True)
    assert (verdict.score, verdict.response) == (1, "b: True")
    assert [question.sample for question in judge.questions] == [0, 1, 2]
    assert len({asked.key for asked in calls.asked}) == 3
    assert calls.degraded == {}


def test_a_lost_vote_is_noted():
    judge_run, calls, _ = conclude_with("Status: failure", LOST, "Status: failure")
    assert judge_run().votes == (False, None, False)
    assert calls.degraded == {"verdict, vote 2": "no reply in 60 s"}


@pytest.mark.parametrize("replies", [[LOST], ["Status: success", LOST, LOST]])
def test_without_a_majority_of_replies_there_is_no_verdict(replies):
    judge_run, _, _ = conclude_with(*replies)
    with pytest.raises(JudgeFailed, match="no reply in 60 s") as caught:
        judge_run()
    assert caught.value.outcome == "unreachable"


def test_votes_that_tie_are_uncertain():
    judge_run, _, _ = conclude_with("Status: success", "Status: failure", LOST)
    with pytest.raises(JudgeFailed, match="1 of 3 votes for success") as caught:
        judge_run()
    assert caught.value.outcome == "uncertain"
