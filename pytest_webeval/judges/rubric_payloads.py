"""Votes on a rubric -> the payload that the rubric verifier stores (`fara_webeval.md` §5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.rubric_replies import RubricReply
from pytest_webeval.judges.task_rubrics import to_number
from pytest_webeval.judges.verdicts import decide
from pytest_webeval.rubrics.consistency import median_index
from pytest_webeval.safety.text import to_line

_LONGEST_REASON = 300  # characters


def list_votes(replies: Sequence[RubricReply | None]) -> tuple[bool | None, ...]:
    """The outcome of each reply; None without a reply, and where the evidence does not suffice."""
    return tuple(None if reply is None else reply.vote for reply in replies)


def decide_outcome(replies: Sequence[RubricReply | None]) -> bool:
    """What most of the votes say. Raises `JudgeFailed`: `uncertain`, with what the judge misses in the evidence."""
    try:
        return decide(list_votes(replies))
    except JudgeFailed as error:
        missing = next((reply.insufficient_evidence for reply in replies if reply and reply.insufficient_evidence), "")
        if not missing:
            raise
        reason = f"the evidence does not suffice for the judge: {to_line(missing, _LONGEST_REASON)}"
        raise JudgeFailed(reason, error.outcome) from error


def build_payload(replies: Sequence[RubricReply | None], *, success: bool, threshold: Decimal) -> dict[str, Any]:
    """The points of the median reply with the outcome of most replies, and the reasoning of the first for it."""
    valid = [reply for reply in replies if reply is not None]
    median = median_index([reply.points.float_share for reply in valid]) or 0
    chosen = valid[median]
    outcome = next(reply for reply in valid if reply.vote is success).to_outcome(success=success)
    rubrics = [reply.to_rubric() for reply in valid]
    shares = [reply.points.float_share for reply in valid]
    return {
        "is_success": int(success),
        "success_criterion": "outcome",
        "outcome_success": success,
        "outcome_reasoning": outcome["reasoning"],
        "outcome_primary_intent": outcome["primary_intent"],
        "rubric_is_success": int(chosen.points.reaches(threshold)),
        "rubric_items": chosen.items,
        "rubric_total_max_points": to_number(chosen.points.maximum),
        "rubric_total_earned_points": to_number(chosen.points.earned),
        "rubric_outcome_verification": outcome,
        "rubric_intermediate_mm_rubric_steps": {},
        "rubric_majority_vote_metadata": {
            "n_instances": len(replies),
            "median_instance_idx": median,
            "all_scores": shares,
            "median_score": shares[median],
            "outcome_votes": list(list_votes(replies)),
            "majority_output_success": success,
        },
        "rubric_all_rubric_dicts": rubrics,
        "rubric_all_scores_list": shares,
    }
