"""Steps 9b and 10: whether the task could be understood and done, judged with the run and without it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import to_builtins

from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.methods.rubric_pipeline.case import Case, Inquiry, parser_of
from pytest_webeval.judges.methods.rubric_pipeline.criteria import Item
from pytest_webeval.judges.methods.rubric_pipeline.failure_points import GENERATION, format_outcome, list_codes
from pytest_webeval.judges.methods.rubric_pipeline.material import (
    Analyses,
    format_evidence,
    format_run,
    format_scores,
    format_task,
)
from pytest_webeval.judges.methods.rubric_pipeline.outcome import Outcome
from pytest_webeval.judges.questions import Image, Role
from pytest_webeval.judges.replies import Label, ReplyForm, Text
from pytest_webeval.rubrics.taxonomy import TAXONOMY

_CODES = f"""\
A task is ambiguous if details that a user would care about have several sensible readings. It is invalid if it
cannot or must not be done at all. An open detail that any sensible choice satisfies makes no task ambiguous.

Codes of ambiguity:
{list_codes("7")}
Codes of invalid tasks:
{list_codes("8")}"""
_TASK_ONLY = f"""\
Judge the task itself, without any run of it.
{_CODES}"""
_WITH_RUN = f"""\
Judge the task itself, with what the run shows about the real sites. Mistakes of the agent say nothing about it.
{_CODES}"""


class ValidityReply(ReplyForm, frozen=True, kw_only=True):
    reasoning_is_ambiguous: Text
    is_ambiguous: bool
    ambiguity_codes: list[Label]
    reasoning_is_invalid: Text
    is_invalid: bool
    invalid_task_codes: list[Label]


_UNKNOWN: dict[str, Any] = {
    "reasoning_is_ambiguous": "",
    "is_ambiguous": None,
    "ambiguity_codes": [],
    "reasoning_is_invalid": "",
    "is_invalid": None,
    "invalid_task_codes": [],
}


def verify_with_run(case: Case, items: Sequence[Item], analyses: Analyses, outcome: Outcome) -> dict[str, Any]:
    """Whether the task is ambiguous or invalid, by the run; unknown where no reply was valid."""
    parts = (
        format_task(case.evidence),
        format_outcome(outcome),
        format_scores(items),
        format_evidence(analyses),
        format_run(case.evidence),
    )
    return _verify(case, "task_validity_with_run", _WITH_RUN, parts)


def verify_task(case: Case) -> dict[str, Any]:
    """Whether the task is ambiguous or invalid, by its text alone; unknown where no reply was valid."""
    verification = _verify(case, "task_validity", _TASK_ONLY, (format_task(case.evidence),))
    flags = [verification["is_ambiguous"], verification["is_invalid"]]
    is_flagged = None if None in flags else any(flags)
    envelope: dict[str, Any] = {
        "result_type": "task_verification",
        "verifier_name": "rubric-pipeline",
        "score": None if is_flagged is None else float(not is_flagged),
        "reasoning": {None: "", True: "FLAGGED", False: "OK"}[is_flagged],
        "metadata": {},
    }
    return verification | envelope


def _verify(case: Case, step: str, guidance: str, parts: tuple[str | Image, ...]) -> dict[str, Any]:
    inquiry = Inquiry(
        step=step,
        guidance=guidance,
        parts=parts,
        form=ValidityReply,
        parse=parser_of(ValidityReply, _read_validity),
        role=Role.TEXT,
    )
    return case.ask_or(inquiry, "whether the task is valid is unknown") or _UNKNOWN


def _read_validity(reply: ValidityReply) -> dict[str, Any]:
    _check_codes(reply.ambiguity_codes, "7", "ambiguity_codes", has_codes=reply.is_ambiguous)
    _check_codes(reply.invalid_task_codes, "8", "invalid_task_codes", has_codes=reply.is_invalid)
    verification: dict[str, Any] = to_builtins(reply)
    return verification


def _check_codes(codes: Sequence[str], category: str, place: str, *, has_codes: bool) -> None:
    if has_codes is not bool(codes):
        raise InvalidReply(f"expected {'at least one code' if has_codes else 'no codes'} @ {place}")
    if not all(code in TAXONOMY[GENERATION] and code[0] == category for code in codes):
        raise InvalidReply(f"use codes of category {category} such as {category}.1 @ {place}")
