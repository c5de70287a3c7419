"""What actions and evidence say about the criteria, in points.

Points for actions and answer before anybody sees a screenshot (step 0c), which conditions hold (4.5), facts that nobody
foresaw (5), and the points after that for each vote (6).
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import Any

from msgspec import Struct, to_builtins

from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.methods.replies import Index, Note, Number, ReplyForm, Text, check_indices
from pytest_webeval.judges.methods.rubric_pipeline.case import (
    Analyses,
    Case,
    Item,
    Step,
    format_evidence,
    format_request,
    format_rubric,
)
from pytest_webeval.judges.methods.rubric_pipeline.criteria import is_conditional, is_met, list_conditional
from pytest_webeval.judges.methods.rubric_pipeline.critical_points import format_critical_point
from pytest_webeval.judges.questions import Role

_CREDIT_RULES = """\
How to give points:
- What the agent could not control earns full credit if it tried honestly: a blocked site, nothing available, a
  thing that does not exist. The same holds for later criteria, and for other items of a list, that the same
  obstacle made impossible.
- What the agent could control loses points: a wrong choice although the right one was there, another site than the
  requested one without a try, wrong data entered, giving up early, an invented result. A mistake costs points at
  later criteria only where it made them impossible, and never twice.
- The right method with a wrong final value earns 40 to 80 percent. Trifles leave 75 to 100 percent."""
_SCORE = f"""\
Score each criterion by the actions and the final answer alone; screenshots are examined later. What the agent
writes about itself is a claim. Copy each criterion text unchanged, in the same order. For a criterion with a
condition, decide is_condition_met; for others it is null.

{_CREDIT_RULES}"""
_RESCORE = f"""\
Score each of the requested criteria again, now with the evidence from the screenshots. The scores up to now are by
actions and claims only; keep them where the evidence agrees, raise or lower them where it does not. Evidence beats
claims, and later screenshots override earlier ones. A claim without any sign in the evidence is not a contradiction
by itself. reality_notes override the description on facts. applicable_evidence names the screenshots that decide.

{_CREDIT_RULES}"""
_UNMET = "The condition does not hold; the criterion does not count."
_LEAST_SIMILARITY = 0.7
_LONGEST_COMPARED = 2_000  # characters
_DECIDE = """\
Decide for each criterion with a condition whether its condition holds, from all evidence together. Conditions
usually exclude each other; then exactly one of them holds. Later screenshots override earlier ones. Copy each
condition unchanged."""
_COMPARE = """\
Compare each criterion with the evidence, and note facts that its description did not foresee: a name, number or
option that is different on the real site, or a thing that does not exist there. A note overrides the description on
facts only. Write no points and no verdict, and no web addresses, as the address bar is not visible. Leave the note
empty where the description fits. Give one entry for each criterion, in order."""


class ScoredCriterion(ReplyForm, frozen=True, kw_only=True):
    criterion: Text
    justification: Text
    earned_points: Number
    is_condition_met: bool | None


class ActionScoreReply(ReplyForm, frozen=True, kw_only=True):
    items: list[ScoredCriterion]


class RescoredCriterion(ReplyForm, frozen=True, kw_only=True):
    criterion_idx: Index
    applicable_evidence: Text
    post_image_justification: Text
    post_image_earned_points: Number


class RescoringReply(ReplyForm, frozen=True, kw_only=True):
    items: list[RescoredCriterion]


class ConditionDecision(ReplyForm, frozen=True, kw_only=True):
    criterion_idx: Index
    condition: Text
    reasoning: Text
    is_condition_met: bool


class ConditionReply(ReplyForm, frozen=True, kw_only=True):
    disambiguation: list[ConditionDecision]


class RealityCheck(ReplyForm, frozen=True, kw_only=True):
    criterion_idx: Index
    reality_notes: Note


class RealityReply(ReplyForm, frozen=True, kw_only=True):
    reality_checks: list[RealityCheck]


_ACTION_SCORES = Step("action_scores", _SCORE, ActionScoreReply, Role.TEXT)
_RESCORING = Step("rescoring", _RESCORE, RescoringReply)
_CONDITIONS = Step("conditions", _DECIDE, ConditionReply)
_REALITY = Step("reality", _COMPARE, RealityReply)


class Rescoring(Struct, frozen=True):
    """The criteria with the points after the screenshots, and the reply; no entries where none was valid."""

    items: tuple[Item, ...]
    summary: tuple[dict[str, Any], ...] = ()


def score_actions(case: Case, items: Sequence[Item]) -> tuple[Item, ...]:
    """The criteria with points for the actions. Raises `JudgeFailed`."""
    parts = (format_critical_point(case.critical_point), format_rubric(items), case.run)
    return case.calls.ask(case.build_request(_ACTION_SCORES, partial(_graft, items), *parts))


def _graft(items: Sequence[Item], reply: ActionScoreReply) -> tuple[Item, ...]:
    """The criteria as they were, with nothing but the scores of the reply."""
    if len(reply.items) != len(items):
        raise InvalidReply(f"the rubric has {len(items)} criteria, the reply {len(reply.items)}; score each once")
    scored = []
    for index, (item, score) in enumerate(zip(items, reply.items, strict=True)):
        place = f"items[{index}]"
        if not is_similar(item["criterion"], score.criterion):
            raise InvalidReply(f"the text is not that of criterion {index}; keep texts and order @ {place}.criterion")
        _check_points(score.earned_points, item, f"{place}.earned_points")
        if is_conditional(item) and score.is_condition_met is None:
            raise InvalidReply(f"the criterion has a condition; use true or false @ {place}.is_condition_met")
        met = {"is_condition_met": score.is_condition_met} if is_conditional(item) else {}
        scored.append({**item, "earned_points": score.earned_points, "justification": score.justification, **met})
    return tuple(scored)


def is_similar(first: str, second: str) -> bool:
    """Whether two texts are the same criterion, copied with small changes."""
    original, copy = (text.lower().strip()[:_LONGEST_COMPARED] for text in (first, second))
    return original == copy or SequenceMatcher(None, original, copy).ratio() >= _LEAST_SIMILARITY


def decide_conditions(case: Case, items: Sequence[Item], analyses: Analyses) -> tuple[Item, ...]:
    """The criteria, those with a condition with whether it holds."""
    decisions = None
    if len(conditional := list_conditional(items)) > 1:
        evidence = format_evidence(analyses, conditional)
        parts = (format_rubric(items), evidence, case.run, format_request(conditional, "Criteria with a condition"))
        request = case.build_request(_CONDITIONS, partial(_read_decisions, items), *parts)
        decisions = case.ask_or(request, "a condition holds if any screenshot shows it")
    if decisions is None:
        decisions = verify_conditions(items, analyses)
    return tuple({**item, **decisions.get(index, {})} for index, item in enumerate(items))


def verify_conditions(items: Sequence[Item], analyses: Analyses) -> dict[int, dict[str, Any]]:
    """Whether any screenshot shows that a condition holds; nothing where no screenshot was examined for it."""
    key = "condition_verification"
    shown = {index: [each[key] for each in analyses.get(index, ()) if key in each] for index in list_conditional(items)}
    return {index: {"is_condition_met": any(flags)} for index, flags in shown.items() if flags}


def _read_decisions(items: Sequence[Item], reply: ConditionReply) -> dict[int, dict[str, Any]]:
    check_indices([decision.criterion_idx for decision in reply.disambiguation], list_conditional(items))
    for decision in reply.disambiguation:
        if decision.condition.split() != items[decision.criterion_idx]["condition"].split():
            raise InvalidReply(f"copy the condition of criterion {decision.criterion_idx} unchanged")
    return {
        decision.criterion_idx: {
            "is_condition_met": decision.is_condition_met,
            "condition_disambiguation_reasoning": decision.reasoning,
        }
        for decision in reply.disambiguation
    }


def check_reality(case: Case, items: Sequence[Item], analyses: Analyses) -> tuple[Item, ...]:
    """The criteria with notes about facts; empty notes where no reply was valid."""
    read = partial(_read_notes, len(items))
    request = case.build_request(_REALITY, read, format_rubric(items), format_evidence(analyses))
    notes = case.ask_or(request, "there are no notes about facts") or [""] * len(items)
    return tuple({**item, "reality_notes": note} for item, note in zip(items, notes, strict=True))


def _read_notes(count: int, reply: RealityReply) -> list[str]:
    check_indices([check.criterion_idx for check in reply.reality_checks], range(count))
    return [check.reality_notes for check in reply.reality_checks]


def rescore(case: Case, items: Sequence[Item], analyses: Analyses) -> list[Rescoring]:
    """The points of each vote. Without a valid reply those for the actions remain."""
    indices = [index for index, item in enumerate(items) if is_met(item)]
    if not indices:
        return [_apply(items, {})] * case.votes
    parts = (format_rubric(items), *case.describe(items, analyses), format_request(indices))
    read = partial(_read_scores, items, indices)
    requests = [case.build_request(_RESCORING, read, *parts, sample=vote) for vote in range(case.votes)]
    replies = case.ask_each(requests, "the points for the actions remained")
    return [_apply(items, reply or {}) for reply in replies]


def _read_scores(items: Sequence[Item], indices: Sequence[int], reply: RescoringReply) -> dict[int, dict[str, Any]]:
    check_indices([score.criterion_idx for score in reply.items], indices)
    for score in reply.items:
        place = f"items[{indices.index(score.criterion_idx)}].post_image_earned_points"
        _check_points(score.post_image_earned_points, items[score.criterion_idx], place)
    return {score.criterion_idx: to_builtins(score) for score in reply.items}


def _check_points(points: float, item: Item, place: str) -> None:
    if points > item["max_points"]:
        raise InvalidReply(f"{points:g} points are more than max_points, {item['max_points']:g} @ {place}")


def _apply(items: Sequence[Item], scores: dict[int, dict[str, Any]]) -> Rescoring:
    rescored = tuple(_apply_score(item, scores.get(index)) for index, item in enumerate(items))
    return Rescoring(rescored, tuple(scores.values()))


def _apply_score(item: Item, score: dict[str, Any] | None) -> Item:
    if is_met(item) and score is not None:
        return {**item, **{key: value for key, value in score.items() if key != "criterion_idx"}}
    justification, points = (item["justification"], item["earned_points"]) if is_met(item) else (_UNMET, 0.0)
    return {
        **item,
        "applicable_evidence": "none",
        "post_image_justification": justification,
        "post_image_earned_points": points,
    }
