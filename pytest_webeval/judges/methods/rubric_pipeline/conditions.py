"""Step 4.5: which conditions hold, decided from all evidence together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.methods.rubric_pipeline.case import Case, Inquiry, parser_of
from pytest_webeval.judges.methods.rubric_pipeline.criteria import Item, list_conditional
from pytest_webeval.judges.methods.rubric_pipeline.material import (
    Analyses,
    format_evidence,
    format_rubric,
    format_run,
    format_task,
)
from pytest_webeval.judges.replies import Index, ReplyForm, Text, check_indices

_GUIDANCE = """\
Decide for each criterion with a condition whether its condition holds, from all evidence together. Conditions
usually exclude each other; then exactly one of them holds. Later screenshots override earlier ones. Copy each
condition unchanged."""

_KEY = "condition_verification"


class ConditionDecision(ReplyForm, frozen=True, kw_only=True):
    criterion_idx: Index
    condition: Text
    reasoning: Text
    is_condition_met: bool


class ConditionReply(ReplyForm, frozen=True, kw_only=True):
    disambiguation: list[ConditionDecision]


def decide_conditions(case: Case, items: Sequence[Item], analyses: Analyses) -> tuple[Item, ...]:
    """The criteria, those with a condition with whether it holds."""
    conditional = list_conditional(items)
    reply = _ask(case, items, analyses) if len(conditional) > 1 else None
    decisions = reply if reply is not None else verify_conditions(items, analyses)
    return tuple({**item, **decisions.get(index, {})} for index, item in enumerate(items))


def verify_conditions(items: Sequence[Item], analyses: Analyses) -> dict[int, dict[str, Any]]:
    """Whether any screenshot shows that a condition holds; nothing where no screenshot was examined for it."""
    decisions = {}
    for index in list_conditional(items):
        verifications = [analysis[_KEY] for analysis in analyses.get(index, ()) if _KEY in analysis]
        if verifications:
            decisions[index] = {"is_condition_met": any(verifications)}
    return decisions


def _ask(case: Case, items: Sequence[Item], analyses: Analyses) -> dict[int, dict[str, Any]] | None:
    conditional = list_conditional(items)
    inquiry = Inquiry(
        step="conditions",
        guidance=_GUIDANCE,
        parts=(
            format_task(case.evidence),
            format_rubric(items),
            format_evidence(analyses, conditional),
            format_run(case.evidence),
            f"Criteria with a condition, in this order: {', '.join(map(str, conditional))}",
        ),
        form=ConditionReply,
        parse=parser_of(ConditionReply, partial(_read_decisions, items)),
    )
    return case.ask_or(inquiry, "a condition holds if any screenshot shows it")


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
