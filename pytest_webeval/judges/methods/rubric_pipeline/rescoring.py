"""Step 6: the points after the screenshots, once for each vote."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from msgspec import Struct, to_builtins

from pytest_webeval.judges.methods.rubric_pipeline.action_scoring import CREDIT_RULES, check_points
from pytest_webeval.judges.methods.rubric_pipeline.case import Case, Inquiry, parser_of
from pytest_webeval.judges.methods.rubric_pipeline.criteria import Item, is_met
from pytest_webeval.judges.methods.rubric_pipeline.material import (
    Analyses,
    format_evidence,
    format_rubric,
    format_run,
    format_scores,
    format_task,
)
from pytest_webeval.judges.replies import Index, Number, ReplyForm, Text, check_indices

_GUIDANCE = f"""\
Score each of the requested criteria again, now with the evidence from the screenshots. The scores up to now are by
actions and claims only; keep them where the evidence agrees, raise or lower them where it does not. Evidence beats
claims, and later screenshots override earlier ones. A claim without any sign in the evidence is not a contradiction
by itself. reality_notes override the description on facts. applicable_evidence names the screenshots that decide.

{CREDIT_RULES}"""
_UNMET = "The condition does not hold; the criterion does not count."


class RescoredCriterion(ReplyForm, frozen=True, kw_only=True):
    criterion_idx: Index
    applicable_evidence: Text
    post_image_justification: Text
    post_image_earned_points: Number


class RescoringReply(ReplyForm, frozen=True, kw_only=True):
    items: list[RescoredCriterion]


class Rescoring(Struct, frozen=True):
    """The criteria with the points after the screenshots, and the reply; no entries where none was valid."""

    items: tuple[Item, ...]
    summary: tuple[dict[str, Any], ...] = ()


def rescore(case: Case, items: Sequence[Item], analyses: Analyses) -> list[Rescoring]:
    """The points of each vote. Without a valid reply those for the actions remain."""
    indices = [index for index, item in enumerate(items) if is_met(item)]
    if not indices:
        return [_apply(items, {})] * case.votes
    inquiries = [
        Inquiry(
            step="rescoring",
            guidance=_GUIDANCE,
            parts=(
                format_task(case.evidence),
                format_rubric(items),
                format_scores(items),
                format_evidence(analyses),
                format_run(case.evidence),
                f"Requested criteria, in this order: {', '.join(map(str, indices))}",
            ),
            form=RescoringReply,
            parse=parser_of(RescoringReply, partial(_read_scores, items, indices)),
            sample=vote,
        )
        for vote in range(case.votes)
    ]
    replies = case.ask_each(inquiries, "the points for the actions remained")
    return [_apply(items, reply or {}) for reply in replies]


def _read_scores(items: Sequence[Item], indices: Sequence[int], reply: RescoringReply) -> dict[int, dict[str, Any]]:
    check_indices([score.criterion_idx for score in reply.items], indices)
    for score in reply.items:
        place = f"items[{indices.index(score.criterion_idx)}].post_image_earned_points"
        check_points(score.post_image_earned_points, items[score.criterion_idx], place)
    return {score.criterion_idx: to_builtins(score) for score in reply.items}


def _apply(items: Sequence[Item], scores: dict[int, dict[str, Any]]) -> Rescoring:
    rescored = tuple(_apply_score(item, scores.get(index)) for index, item in enumerate(items))
    return Rescoring(rescored, tuple(scores.values()))


def _apply_score(item: Item, score: dict[str, Any] | None) -> Item:
    if not is_met(item):
        return {**item, **_build_fields("none", _UNMET, 0.0)}
    if score is None:
        return {**item, **_build_fields("none", item["justification"], item["earned_points"])}
    return {**item, **{key: value for key, value in score.items() if key != "criterion_idx"}}


def _build_fields(applicable: str, justification: str, points: float) -> dict[str, Any]:
    return {
        "applicable_evidence": applicable,
        "post_image_justification": justification,
        "post_image_earned_points": points,
    }
