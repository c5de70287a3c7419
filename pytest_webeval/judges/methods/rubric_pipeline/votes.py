"""The votes: on the points, with the side effects that each sees (step 7), and on the outcome (step 8a).

The median counts of the points, the majority of the outcomes (§6.2, §6.3 rule 8).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any

from msgspec import Meta, Struct

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.methods.replies import Label, ReplyForm, Text
from pytest_webeval.judges.methods.rubric_pipeline.case import Analyses, Case, Item, Step
from pytest_webeval.judges.methods.rubric_pipeline.requirements import add_points, format_critical_point, is_met
from pytest_webeval.judges.methods.rubric_pipeline.scoring import Rescoring
from pytest_webeval.judges.methods.scored_rubrics import ScoredRubric, to_number
from pytest_webeval.judges.verdicts import decide
from pytest_webeval.rubrics.payload import point_count

_FIND_EFFECTS = """\
Decide whether the agent left lasting effects that the task did not request and that no criterion has penalized: a
wrong product that stays in the cart, a sign-up, a message, a changed setting. Write one penalty for each, with a
criterion that begins with "Penalize" and 1 to 3 points, none of them earned. Do not penalize exploration, sensible
defaults, workarounds, anything that was undone, a critical point, or what already cost points. Without such an
effect, requires_penalty is false and penalty_criteria is empty."""
_DECIDE = """\
Decide whether the task was achieved, as an average user would. The points of the criteria do not decide: an agent
may have done its best and still not have delivered.
- primary_intent: what the user mainly wanted. In a task of several steps the result of the last step is what
  counts.
- A wrong result is worse than none. A result that the evidence contradicts, or that the agent invented, is a
  failure.
- An obstacle that prevented the result is a failure, whoever is to blame. To deliver something else without a word
  is one too. Another site than the named one is fine, unless the task insists on it.
- Any criterion with penalty is a failure.
- Trifles of wording or format never make a failure. A date without a year means the year of the recording."""
_MOST_PENALTIES = 10
_SHIFT = 1e-12  # of all points: far below the tolerance of any check, far above the noise of binary fractions


class Penalty(ReplyForm, frozen=True, kw_only=True):
    criterion: Label
    description: Text
    max_points: Annotated[float, Meta(gt=0, le=100)]
    post_image_justification: Text
    post_image_earned_points: Annotated[float, Meta(ge=0, le=0)]


class SideEffectReply(ReplyForm, frozen=True, kw_only=True):
    reasoning: Text
    requires_penalty: bool
    penalty_criteria: list[Penalty]


class OutcomeReply(ReplyForm, frozen=True, kw_only=True):
    primary_intent: Text
    reasoning: Text
    output_success: bool


_SIDE_EFFECTS = Step("side_effects", _FIND_EFFECTS, SideEffectReply)
_OUTCOME = Step("outcome", _DECIDE, OutcomeReply)


class SideEffects(Struct, frozen=True):
    """The penalties as criteria, and why; no reasoning where no reply was valid."""

    reasoning: str = ""
    penalties: tuple[Item, ...] = ()


class VoteInstance(ScoredRubric, frozen=True, kw_only=True):
    """One vote on the points: the criteria and penalties, what they add up to, and the replies behind them."""

    summary: tuple[dict[str, Any], ...]
    effects: SideEffects


class Outcome(Struct, frozen=True):
    """The outcome of most votes, the first reply that agrees with it, and all replies, None for a missing one."""

    success: bool
    primary_intent: str
    reasoning: str
    replies: tuple[OutcomeReply | None, ...]

    @property
    def votes(self) -> tuple[bool | None, ...]:
        return tuple(None if reply is None else reply.output_success for reply in self.replies)


def find_side_effects(case: Case, instances: Sequence[Sequence[Item]], analyses: Analyses) -> list[SideEffects]:
    """The side effects by each vote, which has scored the criteria its own way."""
    requests = [
        case.build_request(_SIDE_EFFECTS, _read_penalties, *case.describe(items, analyses), sample=vote)
        for vote, items in enumerate(instances)
    ]
    replies = case.ask_each(requests, "side effects were not checked")
    return [reply or SideEffects() for reply in replies]


def _read_penalties(reply: SideEffectReply) -> SideEffects:
    if not reply.requires_penalty:
        return SideEffects(reply.reasoning)
    if not 0 < len(reply.penalty_criteria) <= _MOST_PENALTIES:
        raise InvalidReply(f"requires_penalty is true; write 1 to {_MOST_PENALTIES} penalty_criteria")
    return SideEffects(reply.reasoning, tuple(map(_build_item, reply.penalty_criteria)))


def _build_item(penalty: Penalty) -> dict[str, Any]:
    points = point_count(penalty.max_points)
    return {
        "criterion": penalty.criterion,
        "description": penalty.description,
        "max_points": penalty.max_points if points is None else to_number(points),
        "earned_points": 0,
        "justification": penalty.post_image_justification,
        "post_image_justification": penalty.post_image_justification,
        "post_image_earned_points": 0,
        "penalty": True,
    }


def build_instances(
    rescorings: Sequence[Rescoring], effects: Sequence[SideEffects], threshold: Decimal
) -> list[VoteInstance]:
    instances = []
    for rescoring, effect in zip(rescorings, effects, strict=True):
        items = settle_edge((*rescoring.items, *effect.penalties), threshold)
        points = add_points(items)
        instances.append(VoteInstance(items=items, points=points, summary=rescoring.summary, effects=effect))
    return instances


def describe_instances(instances: Sequence[VoteInstance], median: int) -> dict[str, Any]:
    """The replies of the votes on the points as a payload has them."""
    steps = [
        {
            "step6_rescoring_summary": list(instance.summary),
            "step7_penalty_criteria": list(instance.effects.penalties),
            "step7_reasoning": instance.effects.reasoning,
            "step7_requires_penalty": bool(instance.effects.penalties),
        }
        for instance in instances
    ]
    scores = [instance.score for instance in instances]
    numbered = [
        {"instance_idx": index, "score": score, **step}
        for index, (score, step) in enumerate(zip(scores, steps, strict=True))
    ]
    majority = {"all_scores": scores, "median_instance_idx": median, "all_instances": numbered}
    return {**steps[median], "majority_vote_steps67": majority}


def settle_edge(items: tuple[Item, ...], threshold: Decimal) -> tuple[Item, ...]:
    """The criteria, so that binary fractions give the exact verdict: 2.4 of 3 points miss 0.8 in a program's sums.

    One number of points is shifted by a trillionth of all points where that is necessary (R14).
    """
    points = add_points(items)
    if not points.is_edge(threshold):
        return items
    shift = points.float_maximum * _SHIFT * (1 if points.reaches(threshold) else -1)
    for index, item in enumerate(items):
        shifted = float(item["post_image_earned_points"]) + shift
        if is_met(item) and item.get("penalty") is not True and 0 <= shifted <= item["max_points"]:
            return (*items[:index], {**item, "post_image_earned_points": shifted}, *items[index + 1 :])
    return items


def decide_outcome(case: Case, items: Sequence[Item], analyses: Analyses) -> Outcome:
    """The outcome. Raises `JudgeFailed`, `uncertain` without a majority."""
    has_penalty = any(item.get("penalty") is True for item in items)

    def read(reply: OutcomeReply) -> OutcomeReply:
        if has_penalty and reply.output_success:
            raise InvalidReply("a criterion with penalty means failure; output_success must be false")
        return reply

    parts = (format_critical_point(case.critical_point), *case.describe(items, analyses))
    requests = [case.build_request(_OUTCOME, read, *parts, sample=vote) for vote in range(case.votes)]
    replies = case.ask_each(requests, "a vote on the outcome is missing", are_votes=True)
    return count_votes(replies, case.calls.degraded.get("outcome", ""))


def count_votes(replies: Sequence[OutcomeReply | None], problem: str = "") -> Outcome:
    """The outcome by a majority of all votes. Raises `JudgeFailed`: `uncertain` where it is missing, or votes tie.

    `problem` says why votes are missing.
    """
    try:
        success = decide([None if reply is None else reply.output_success for reply in replies])
    except JudgeFailed as error:
        raise JudgeFailed("; ".join(filter(None, (error.reason, problem))), error.outcome) from error
    first = next(reply for reply in replies if reply is not None and reply.output_success is success)
    return Outcome(success, first.primary_intent, first.reasoning, tuple(replies))
