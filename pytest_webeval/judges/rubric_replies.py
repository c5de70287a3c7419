"""The reply to a fused rubric question: its JSON Schema, its checks, and the scored rubric that it comes to."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.replies import ReplyObject, build_object_schema
from pytest_webeval.judges.task_rubrics import TaskRubric, to_number
from pytest_webeval.rubrics.rubric_items import Points, add_up, flatten_items

MOST_CRITERIA = 60
MOST_POINTS = Decimal(100)  # of a criterion that the judge writes

_TEXT = {"type": "string"}
_NUMBER = {"type": "number"}
_TEXT_OR_NULL = {"type": ["string", "null"]}
_FLAG_OR_NULL = {"type": ["boolean", "null"]}
_SCORE = {"is_condition_met": _FLAG_OR_NULL, "justification": _TEXT, "earned_points": _NUMBER}
_WRITTEN = {"criterion": _TEXT, "description": _TEXT, "condition": _TEXT_OR_NULL, "max_points": _NUMBER}


class RubricReply(Struct, frozen=True, kw_only=True):
    """A rubric with its points, and the outcome: None where the judge does not see it.

    `insufficient_evidence` says what the judge misses, and is empty where it misses nothing.
    """

    items: list[dict[str, Any]]
    points: Points
    primary_intent: str
    reasoning: str
    insufficient_evidence: str
    outcome: bool | None

    @property
    def vote(self) -> bool | None:
        """The outcome, unless the evidence does not suffice for one."""
        return None if self.insufficient_evidence else self.outcome

    def to_rubric(self) -> dict[str, Any]:
        """As the rubric verifier stores each of its rubrics."""
        return {
            "items": self.items,
            "total_max_points": to_number(self.points.maximum),
            "total_earned_points": to_number(self.points.earned),
            "outcome_verification": self.to_outcome(success=self.outcome),
        }

    def to_outcome(self, *, success: bool | None) -> dict[str, Any]:
        """As the rubric verifier stores an outcome."""
        return {"primary_intent": self.primary_intent, "reasoning": self.reasoning, "output_success": success}


def build_schema(rubric: TaskRubric | None) -> dict[str, Any]:
    """The JSON Schema of a reply. The keys are in the order in which the judge has to think."""
    criterion = _WRITTEN | _SCORE if rubric is None else {"number": {"type": "integer"}} | _SCORE
    return build_object_schema(
        {
            "criteria": {"type": "array", "items": build_object_schema(criterion)},
            "primary_intent": _TEXT,
            "outcome_reasoning": _TEXT,
            "insufficient_evidence": _TEXT,
            "outcome": _FLAG_OR_NULL,
        }
    )


def read_rubric_reply(reply: ReplyObject, rubric: TaskRubric | None) -> RubricReply:
    """The scored rubric of a reply: that of the task, or the judge's own. Raises `InvalidReply`."""
    items = _read_own_items(reply) if rubric is None else rubric.graft(_read_scores(reply, rubric))
    return RubricReply(
        items=items,
        points=add_up(flatten_items(items), "post_image"),
        primary_intent=reply.text("primary_intent"),
        reasoning=reply.text("outcome_reasoning"),
        insufficient_evidence=reply.text("insufficient_evidence", may_be_empty=True).strip(),
        outcome=reply.flag_or_null("outcome"),
    )


def _read_own_items(reply: ReplyObject) -> list[dict[str, Any]]:
    return [_read_own_item(criterion) for criterion in reply.objects("criteria", MOST_CRITERIA)]


def _read_own_item(reply: ReplyObject) -> dict[str, Any]:
    maximum, condition = reply.points("max_points", MOST_POINTS), reply.text_or_null("condition")
    if not maximum:
        raise InvalidReply(f"invalid {reply.place}max_points 0; use a number above 0")
    texts = {"criterion": reply.text("criterion"), "description": reply.text("description")}
    conditional = {} if condition is None else {"condition": condition}
    scores = _read_score(reply, maximum, is_conditional=condition is not None)
    return {**texts, **conditional, "max_points": to_number(maximum), **scores}


def _read_scores(reply: ReplyObject, rubric: TaskRubric) -> Sequence[dict[str, Any]]:
    """The scores by position; the numbers guard against a list in another order."""
    scores = reply.objects("criteria", len(rubric.criteria))
    numbers = [score.fields.get("number") for score in scores]
    if numbers != list(range(1, len(rubric.criteria) + 1)):
        raise InvalidReply(f"the criteria must have the numbers 1 to {len(rubric.criteria)} in this order")
    return [
        _read_score(score, criterion.max_points, is_conditional=criterion.is_conditional)
        for score, criterion in zip(scores, rubric.criteria, strict=True)
    ]


def _read_score(reply: ReplyObject, maximum: Decimal, *, is_conditional: bool) -> dict[str, Any]:
    """The points stand for both stages: the judge saw actions and screenshots at once. None for an unmet condition."""
    met = {"is_condition_met": reply.flag("is_condition_met")} if is_conditional else {}
    earned, justification = reply.points("earned_points", maximum), reply.text("justification")
    points = 0 if met.get("is_condition_met") is False else to_number(earned)
    return {
        **met,
        "justification": justification,
        "earned_points": points,
        "post_image_justification": justification,
        "post_image_earned_points": points,
    }
