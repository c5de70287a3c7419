"""Pipelines with one damaged reply end without a verdict or with the right one, and list each fallback."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

import pytest

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.questions import Ending, Question, Reply
from tests.unit.judges.rubric_pipeline.perfect_judge import (
    STEPS,
    Criterion,
    Plan,
    derive_again,
    judge,
    make_plan,
    reply_to,
)
from tests.unit.judges.scripted import Answer, ScriptedJudge

MANDATORY = {"rubric", "dependencies", "action_scores"}
PLAN = Plan(
    criteria=(
        Criterion("find the atlas", 3, 2, (3, 2.5, 3)),
        Criterion("report its price", 2, 2, (1, 2, 2), "it has a price", is_met=True),
        Criterion("report that it is sold out", 2, 0, (0, 0, 0), "it is sold out", is_met=False),
    ),
    outcomes=(True, False, True),
    penalties=(0, 0, 0),
    relevance=((7, 2, 1), (8, 9, 6)),
)


@dataclass
class DamagingJudge:
    """Damages the first reply of a step: at its first attempt, or at each."""

    plan: Plan
    step: str
    damage: Callable[[str], Answer]
    attempts: int = 5
    damaged: list[Question] = field(default_factory=list)

    def __call__(self, question: Question) -> Answer:
        reply = reply_to(self.plan, question)
        if question.step != self.step or not self._is_first(question):
            return reply
        self.damaged.append(question)
        return self.damage(reply)

    def _is_first(self, question: Question) -> bool:
        if not self.damaged:
            return True
        first = self.damaged[0]
        is_repeated = question.messages[:2] == first.messages[:2] and question.sample == first.sample
        return is_repeated and len(self.damaged) < self.attempts


def change(edit: Callable[[dict], None]) -> Callable[[str], str]:
    def damage(text: str) -> str:
        reply = json.loads(text)
        edit(reply)
        return json.dumps(reply, ensure_ascii=False)

    return damage


def remove_last(reply):
    for value in reply.values():
        if isinstance(value, list | dict) and value:
            value.popitem() if isinstance(value, dict) else value.pop()
            return
    reply.popitem()


def repeat_last(reply):
    lists = [value for value in reply.values() if isinstance(value, list) and value]
    for value in lists[:1]:
        value.append(value[-1])
    if not lists:
        reply["criterion_99"] = 1


def raise_points(reply):
    for entries in reply.values():
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict):
                entry.update({key: 10**5 for key in entry if key.endswith("_points")})


def reverse(reply):
    for value in reply.values():
        if isinstance(value, list):
            value.reverse()


def rename(reply):
    for key in list(reply):
        reply[f"schlüssel_{key}"] = reply.pop(key)


def translate(reply):
    """Texts in another language are no damage, except where a text has to be copied."""
    for value in reply.values():
        for entry in value if isinstance(value, list) else [reply]:
            if isinstance(entry, dict):
                entry.update(
                    {key: "这是另一种语言" for key, text in entry.items() if isinstance(text, str) and len(text) > 9}
                )


def ended(ending):
    return lambda text: Reply(text=text, model="m", ending=ending)


def swap_types(reply):
    for key, value in reply.items():
        reply[key] = str(value)


# No reply of any step is valid after these.
ALWAYS_INVALID = {
    "cut": lambda text: text[: len(text) // 2],
    "empty": lambda _: "",
    "prose": lambda _: "The agent did well. Status: success",
    "list": lambda text: f"[{text}]",
    "two": lambda text: text + text,
    "types": change(swap_types),
    "keys": change(rename),
    "nan": lambda text: text[:-1] + ', "confidence": NaN}',
    "huge": lambda text: text + " " * 500_000,
    "deep": lambda _: '{"items": ' + "[" * 50_000 + "]" * 50_000 + "}",
    "refused": ended(Ending.REFUSED),
    "filtered": ended(Ending.FILTERED),
    "truncated": ended(Ending.TRUNCATED),
}
MAYBE_VALID = {
    "missing": change(remove_last),
    "extra": change(repeat_last),
    "points": change(raise_points),
    "order": change(reverse),
    "language": change(translate),
}
ERRORS = {
    outcome: lambda _, outcome=outcome: JudgeFailed("no reply", outcome) for outcome in ("unreachable", "over_limit")
}


def run_damaged(plan, step, damage, attempts=5):
    """The verdict and calls of a pipeline, or nothing where it came to none; and how often it was damaged."""
    damaging = DamagingJudge(plan, step, damage, attempts)
    try:
        judged, calls = judge(plan, ScriptedJudge(damaging))
    except JudgeFailed as error:
        return error, None, damaging
    derived = derive_again(plan, judged)
    assert derived.checks == ()
    assert (judged.score, derived.score, derived.outcome) == (int(plan.outcome), int(plan.outcome), plan.outcome)
    assert derived.degraded_steps == tuple(f"{name}: {reason}" for name, reason in calls.degraded.items())
    if derived.process is not plan.process:
        assert calls.degraded
    return derived, calls, damaging


@pytest.mark.thinned
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("kind", ALWAYS_INVALID)
def test_a_step_without_a_valid_reply_uses_its_fallback_and_says_so(step, kind):
    result, calls, damaging = run_damaged(PLAN, step, ALWAYS_INVALID[kind])
    is_ended = kind in ("refused", "filtered", "truncated")
    if step == "single_evidence":
        assert not damaging.damaged
    elif step in MANDATORY:
        assert isinstance(result, JudgeFailed)
        assert result.outcome == (kind if is_ended else "unparseable")
    elif step == "outcome":
        assert isinstance(result, JudgeFailed)  # the two other votes tie
        assert result.outcome == "uncertain"
    else:
        assert list(calls.degraded) == [step]
        assert len(damaging.damaged) == (1 if is_ended else 5)


@pytest.mark.thinned
@pytest.mark.parametrize("step", [step for step in STEPS if step != "single_evidence"])
@pytest.mark.parametrize("kind", [*ALWAYS_INVALID, *MAYBE_VALID])
def test_a_damaged_reply_is_asked_for_again(step, kind):
    result, calls, damaging = run_damaged(PLAN, step, (ALWAYS_INVALID | MAYBE_VALID)[kind], attempts=1)
    if kind in ("refused", "filtered", "truncated") or (kind in MAYBE_VALID and step == "rubric"):
        return
    assert not isinstance(result, JudgeFailed), result
    assert calls.degraded == {}
    assert len(damaging.damaged) == 1
    if kind in ALWAYS_INVALID:
        assert result.process is PLAN.process


@pytest.mark.parametrize("step", [step for step in STEPS if step != "single_evidence"])
@pytest.mark.parametrize("kind", ERRORS)
def test_a_server_that_does_not_reply_ends_the_pipeline(step, kind):
    result, _, _ = run_damaged(PLAN, step, ERRORS[kind])
    assert isinstance(result, JudgeFailed)
    assert result.outcome == kind


@pytest.mark.parametrize("seeds", [range(start, start + 50) for start in range(0, 200, 50)], ids=lambda seeds: seeds[0])
def test_random_pipelines_with_one_damaged_reply_come_to_no_wrong_verdict(seeds):
    outcomes = []
    for seed in seeds:
        chance = Random(seed)
        kind = chance.choice([*ALWAYS_INVALID, *MAYBE_VALID, *ERRORS])
        damage = (ALWAYS_INVALID | MAYBE_VALID | ERRORS)[kind]
        result, _, _ = run_damaged(make_plan(seed), chance.choice(STEPS), damage, chance.choice((1, 2, 5)))
        outcomes.append(isinstance(result, JudgeFailed))
    assert 0 < sum(outcomes) < len(outcomes) / 2


def test_a_screenshot_without_evidence_is_asked_about_criterion_by_criterion():
    plan = replace(PLAN, relevance=((9, 9, 9),))

    def reply(question):
        is_lost = question.step == "evidence" or question.messages[1].text.endswith("order: 0\nScreenshot 1:")
        return "" if is_lost else reply_to(plan, question)

    judged, calls = judge(plan, ScriptedJudge(reply))
    assert list(calls.degraded) == ["evidence", "single_evidence"]
    evidence = judged.response["rubric_intermediate_mm_rubric_steps"]["step4_evidence_by_criterion"]
    assert [entries[0]["discrepancies"] for entries in evidence.values()] == ["", "none", "none"]
    assert derive_again(plan, judged).checks == ()


def test_conditions_without_a_decision_hold_if_any_screenshot_shows_them():
    result, calls, _ = run_damaged(PLAN, "conditions", lambda _: "")
    assert [item.is_met for item in result.items] == [None, True, False]
    assert "any screenshot shows it" in calls.degraded["conditions"]


def test_a_lost_rescoring_leaves_the_points_for_the_actions():
    plan = replace(PLAN, outcomes=(True,), penalties=(0,))
    result, calls, _ = run_damaged(plan, "rescoring", lambda _: "")
    assert [item.post_image for item in result.items] == [2, 2, 0]
    assert "the points for the actions remained" in calls.degraded["rescoring"]


def test_an_outcome_that_ignores_a_penalty_is_no_outcome():
    plan = replace(PLAN, outcomes=(True,), penalties=(1,))
    with pytest.raises(JudgeFailed, match=r"no valid reply.*criterion with penalty means failure") as caught:
        judge(plan, ScriptedJudge(lambda question: reply_to(plan, question)))
    assert caught.value.outcome == "unparseable"
