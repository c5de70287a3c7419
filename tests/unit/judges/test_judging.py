"""What a session makes of the verdict of a method: nothing, where its judge did not really judge."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pytest_webeval.api import load_run
from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.judging import Judging
from pytest_webeval.judges.methods import load_method
from pytest_webeval.judges.questions import Role
from pytest_webeval.judges.verdicts import JudgeSettings
from pytest_webeval.tasks.task import TrajectoryTask
from tests.support import recorded
from tests.unit.judges.scripted import ScriptedJudge

TASK = TrajectoryTask(task_id="a", intent="Find the atlas.")
VERDICT = {"webjudge": "It is there.\nStatus: success", "webvoyager": "It is there.\nVerdict: SUCCESS"}


def judge_run(tmp_path, method, reply, votes=1):
    """The verdict on a run with four screenshots, and the judge."""
    path = recorded.write(tmp_path / "a", scores=None)
    for picture in path.glob("*.png"):
        picture.write_bytes(recorded.PIXEL + picture.name.encode())
    judge = ScriptedJudge(reply)
    judging = Judging(
        answer=judge.answer,
        models=dict.fromkeys(Role, judge.model),
        method=load_method(method),
        settings=JudgeSettings(votes=votes),
        redact=list,
        find_cost=lambda usage, _: Decimal(usage.prompt),
    )
    return judging.judge(load_run(path), TASK), judge


def webjudge_with(*scores):
    """A script with these replies about the screenshots."""
    left = iter(scores)

    def reply(question):
        if question.step == "screenshot" and len(question.messages) == 2:
            return next(left)
        return {"key points": "1. Find it.", "screenshot": "Score: many"}.get(question.step, VERDICT["webjudge"])

    return reply


SCORED = "It shows a page.\nScore: 4"
LOST = JudgeFailed("no reply in 60 s", "unreachable")


@pytest.mark.parametrize(
    ("scores", "steps"),
    [
        ([SCORED, SCORED, SCORED, SCORED], []),
        ([SCORED, LOST, SCORED, SCORED], ["screenshot 2"]),
        ([LOST, SCORED, SCORED, LOST], ["screenshot 1", "screenshot 4"]),
        ([SCORED, "Score: many", SCORED, SCORED], ["screenshot 2"]),
    ],
)
def test_a_verdict_with_a_fallback_is_none(tmp_path, scores, steps):
    if not steps:
        live, _ = judge_run(tmp_path, "webjudge", webjudge_with(*scores))
        assert (live.verdict.score, live.facts["degraded"]) == (1, {})
        return
    with pytest.raises(JudgeFailed, match=f"the judge used a fallback in {len(steps)} step.*: {steps[0]}: ") as caught:
        judge_run(tmp_path, "webjudge", webjudge_with(*scores))
    assert (caught.value.outcome, list(caught.value.facts["degraded"])) == ("uncertain", steps)
    assert caught.value.facts["calls"] >= 4  # of which none is free


@pytest.mark.parametrize(("count", "is_judged"), [(0, True), (1, True), (2, False), (4, False)])
def test_a_verdict_after_mostly_invalid_replies_is_none(tmp_path, count, is_judged):
    replies = iter([*["Verdict: maybe"] * count, VERDICT["webvoyager"]])
    if is_judged:
        assert judge_run(tmp_path, "webvoyager", lambda _: next(replies))[0].verdict.score == 1
        return
    with pytest.raises(JudgeFailed, match=f"{count} of {count + 1} replies of the judge were not valid") as caught:
        judge_run(tmp_path, "webvoyager", lambda _: next(replies))
    assert (caught.value.outcome, caught.value.facts["calls"]) == ("uncertain", count + 1)


def test_a_lost_vote_leaves_the_verdict_of_the_others(tmp_path):
    replies = iter([VERDICT["webvoyager"], LOST, VERDICT["webvoyager"]])
    live, _ = judge_run(tmp_path, "webvoyager", lambda _: next(replies), votes=3)
    assert (live.verdict.votes, list(live.facts["degraded"])) == ((True, None, True), ["verdict, vote 2"])
