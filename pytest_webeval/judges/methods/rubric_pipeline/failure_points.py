"""Step 9a: where and how the agent failed, in the codes of the taxonomy (`fara_webeval.md` §6.7)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from msgspec import Meta, to_builtins

from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.methods.rubric_pipeline.case import Case, Inquiry, parser_of
from pytest_webeval.judges.methods.rubric_pipeline.criteria import Item
from pytest_webeval.judges.methods.rubric_pipeline.material import (
    Analyses,
    format_evidence,
    format_run,
    format_scores,
    format_task,
)
from pytest_webeval.judges.methods.rubric_pipeline.outcome import Outcome
from pytest_webeval.judges.replies import Note, ReplyForm, Text
from pytest_webeval.rubrics.taxonomy import TAXONOMY

GENERATION = "G2"
_PROGRAMMATIC = ("6.1", "6.2")  # a program detects these, so those of a judge are dropped
_STEPS = re.compile(r"[0-9]{1,4}(?:-[0-9]{1,4})?(?:,[0-9]{1,4}(?:-[0-9]{1,4})?)*")


def list_codes(categories: str) -> str:
    """The codes of some categories with their meanings, a line each."""
    return "\n".join(
        f"{code} {error_type.category}: {error_type.type}"
        for code, error_type in TAXONOMY[GENERATION].items()
        if code[0] in categories
    )


_GUIDANCE = f"""\
List the points at which the agent failed, in the order in which they happened. Name the steps as "5", "5-7" or
"5,8,12", and the most specific code. Write one point for each mistake, at the step where it was made and not where
it became visible. An obstacle that the agent could not control is 3.4. Without a failure, has_failure is false and
failure_points is empty.

Codes:
{list_codes("123456")}"""


class FailurePoint(ReplyForm, frozen=True, kw_only=True):
    step_numbers: Annotated[str, Meta(min_length=1, max_length=200)]
    error_code: Annotated[str, Meta(min_length=3, max_length=5)]
    what_happened: Text
    agent_reasoning: Note
    evidence: Note
    impact: Note


class FailureReply(ReplyForm, frozen=True, kw_only=True):
    reasoning: Text
    has_failure: bool
    failure_points: list[FailurePoint]


def find_failures(case: Case, items: Sequence[Item], analyses: Analyses, outcome: Outcome) -> dict[str, Any]:
    """The points of failure and the first of them; no failure where no reply was valid."""
    inquiry = Inquiry(
        step="failure_points",
        guidance=_GUIDANCE,
        parts=(
            format_task(case.evidence),
            format_outcome(outcome),
            format_scores(items),
            format_evidence(analyses),
            format_run(case.evidence),
        ),
        form=FailureReply,
        parse=parser_of(FailureReply, partial(_read_failures, len(case.evidence.steps))),
    )
    return case.ask_or(inquiry, "points of failure are unknown") or build_analysis("", [])


def format_outcome(outcome: Outcome) -> str:
    """The decision on the outcome, a line."""
    return f"The task was decided to be a {'success' if outcome.success else 'failure'}."


def _read_failures(steps: int, reply: FailureReply) -> dict[str, Any]:
    if reply.has_failure is not bool(reply.failure_points):
        raise InvalidReply("has_failure must be true if and only if failure_points has entries")
    points = [_read_point(steps, index, point) for index, point in enumerate(reply.failure_points)]
    return build_analysis(reply.reasoning, [point for point in points if point["error_code"] not in _PROGRAMMATIC])


def _read_point(steps: int, index: int, point: FailurePoint) -> dict[str, Any]:
    place = f"failure_points[{index}]"
    numbers = "".join(point.step_numbers.split())
    if not _STEPS.fullmatch(numbers) or not all(1 <= number <= steps for number in _list_numbers(numbers)):
        raise InvalidReply(f'use steps from 1 to {steps}, written as "5", "5-7" or "5,8,12" @ {place}.step_numbers')
    error_type = TAXONOMY[GENERATION].get(point.error_code)
    if error_type is None or point.error_code[0] not in "123456":
        raise InvalidReply(f"use a code of the list @ {place}.error_code")
    fields = {"step_numbers": numbers, "error_category": error_type.category, "error_type": error_type.type}
    stored: dict[str, Any] = to_builtins(point) | fields
    return stored


def _list_numbers(steps: str) -> list[int]:
    return [int(number) for number in re.findall(r"[0-9]+", steps)]


def build_analysis(reasoning: str, points: list[dict[str, Any]]) -> dict[str, Any]:
    """The analysis as it is stored: the first failure is the point with the smallest step."""
    first = min(points, key=lambda point: min(_list_numbers(point["step_numbers"])), default=None)
    return {
        "reasoning": reasoning,
        "has_failure": first is not None,
        "failure_points": points,
        "first_failure_step": None if first is None else min(_list_numbers(first["step_numbers"])),
        "first_failure_summary": ""
        if first is None
        else f"[{first['error_code']}] {first['error_type']}: {first['what_happened']}",
    }
