"""What the evidence says about the criteria: which conditions hold (step 4.5), and unforeseen facts (step 5)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.methods.replies import Index, Note, ReplyForm, Text, check_indices
from pytest_webeval.judges.methods.rubric_pipeline.case import (
    Analyses,
    Case,
    Step,
    format_evidence,
    format_request,
    format_rubric,
)
from pytest_webeval.judges.methods.rubric_pipeline.criteria import Item, list_conditional

_DECIDE = """\
Decide for each criterion with a condition whether its condition holds, from all evidence together. Conditions
usually exclude each other; then exactly one of them holds. Later screenshots override earlier ones. Copy each
condition unchanged."""
_COMPARE = """\
Compare each criterion with the evidence, and note facts that its description did not foresee: a name, number or
option that is different on the real site, or a thing that does not exist there. A note overrides the description on
facts only. Write no points and no verdict, and no web addresses, as the address bar is not visible. Leave the note
empty where the description fits. Give one entry for each criterion, in order."""


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


_CONDITIONS = Step("conditions", _DECIDE, ConditionReply)
_REALITY = Step("reality", _COMPARE, RealityReply)


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
