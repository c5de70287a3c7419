"""Step 0c: points for the actions and the answer alone, before anybody sees a screenshot."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import partial

from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.methods.rubric_pipeline.case import Case, Inquiry, parser_of
from pytest_webeval.judges.methods.rubric_pipeline.criteria import Item, is_conditional
from pytest_webeval.judges.methods.rubric_pipeline.critical_points import format_critical_point
from pytest_webeval.judges.methods.rubric_pipeline.material import format_rubric, format_run, format_task
from pytest_webeval.judges.questions import Role
from pytest_webeval.judges.replies import Number, ReplyForm, Text

CREDIT_RULES = """\
How to give points:
- What the agent could not control earns full credit if it tried honestly: a blocked site, nothing available, a
  thing that does not exist. The same holds for later criteria, and for other items of a list, that the same
  obstacle made impossible.
- What the agent could control loses points: a wrong choice although the right one was there, another site than the
  requested one without a try, wrong data entered, giving up early, an invented result. A mistake costs points at
  later criteria only where it made them impossible, and never twice.
- The right method with a wrong final value earns 40 to 80 percent. Trifles leave 75 to 100 percent."""
_GUIDANCE = f"""\
Score each criterion by the actions and the final answer alone; screenshots are examined later. What the agent
writes about itself is a claim. Copy each criterion text unchanged, in the same order. For a criterion with a
condition, decide is_condition_met; for others it is null.

{CREDIT_RULES}"""
_LEAST_SIMILARITY = 0.7
_LONGEST_COMPARED = 2_000  # characters


class ScoredCriterion(ReplyForm, frozen=True, kw_only=True):
    criterion: Text
    justification: Text
    earned_points: Number
    is_condition_met: bool | None


class ActionScoreReply(ReplyForm, frozen=True, kw_only=True):
    items: list[ScoredCriterion]


def score_actions(case: Case, items: Sequence[Item]) -> tuple[Item, ...]:
    """The criteria with points for the actions. Raises `JudgeFailed`."""
    return case.ask(
        Inquiry(
            step="action_scores",
            guidance=_GUIDANCE,
            parts=(
                format_task(case.evidence),
                format_critical_point(case.critical_point),
                format_rubric(items),
                format_run(case.evidence),
            ),
            form=ActionScoreReply,
            parse=parser_of(ActionScoreReply, partial(_graft, items)),
            role=Role.TEXT,
        )
    )


def _graft(items: Sequence[Item], reply: ActionScoreReply) -> tuple[Item, ...]:
    """The criteria as they were, with nothing but the scores of the reply."""
    if len(reply.items) != len(items):
        raise InvalidReply(f"the rubric has {len(items)} criteria, the reply {len(reply.items)}; score each once")
    return tuple(_graft_item(index, *pair) for index, pair in enumerate(zip(items, reply.items, strict=True)))


def _graft_item(index: int, item: Item, score: ScoredCriterion) -> Item:
    place = f"items[{index}]"
    if not is_similar(item["criterion"], score.criterion):
        raise InvalidReply(f"the text is not that of criterion {index}; keep texts and order @ {place}.criterion")
    check_points(score.earned_points, item, f"{place}.earned_points")
    scored = {**item, "earned_points": score.earned_points, "justification": score.justification}
    if not is_conditional(item):
        return scored
    if score.is_condition_met is None:
        raise InvalidReply(f"the criterion has a condition; use true or false @ {place}.is_condition_met")
    return scored | {"is_condition_met": score.is_condition_met}


def is_similar(first: str, second: str) -> bool:
    """Whether two texts are the same criterion, copied with small changes."""
    original, copy = (text.lower().strip()[:_LONGEST_COMPARED] for text in (first, second))
    return original == copy or SequenceMatcher(None, original, copy).ratio() >= _LEAST_SIMILARITY


def check_points(points: float, item: Item, place: str) -> None:
    """Raise `InvalidReply` for more points than a criterion has."""
    if points > item["max_points"]:
        raise InvalidReply(f"{points:g} points are more than max_points, {item['max_points']:g} @ {place}")
