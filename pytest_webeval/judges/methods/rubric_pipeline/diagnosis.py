"""Why: where and how the agent failed (step 9a), and whether the task could be understood and done (9b, 10).

Both are said in the codes of the taxonomy (`fara_webeval.md` §6.7).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from msgspec import Meta, to_builtins

from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.methods.replies import Label, Note, ReplyForm, Text
from pytest_webeval.judges.methods.rubric_pipeline.case import Analyses, Case, Item, Step
from pytest_webeval.judges.questions import Role
from pytest_webeval.rubrics.taxonomy import TAXONOMY

_GENERATION = "G2"
_PROGRAMMATIC = ("6.1", "6.2")  # a program detects these, so those of a judge are dropped
_STEPS = re.compile(r"[0-9]{1,4}(?:-[0-9]{1,4})?(?:,[0-9]{1,4}(?:-[0-9]{1,4})?)*")


def _list_codes(categories: str) -> str:
    return "\n".join(
        f"{code} {error_type.category}: {error_type.type}"
        for code, error_type in TAXONOMY[_GENERATION].items()
        if code[0] in categories
    )


_FIND = f"""\
List the points at which the agent failed, in the order in which they happened. Name the steps as "5", "5-7" or
"5,8,12", and the most specific code. Write one point for each mistake, at the step where it was made and not where
it became visible. An obstacle that the agent could not control is 3.4. Without a failure, has_failure is false and
failure_points is empty.

Codes:
{_list_codes("123456")}"""
_CODES = f"""\
A task is ambiguous if details that a user would care about have several sensible readings. It is invalid if it
cannot or must not be done at all. An open detail that any sensible choice satisfies makes no task ambiguous.

Codes of ambiguity:
{_list_codes("7")}
Codes of invalid tasks:
{_list_codes("8")}"""
_TASK_ONLY = f"""\
Judge the task itself, without any run of it.
{_CODES}"""
_WITH_RUN = f"""\
Judge the task itself, with what the run shows about the real sites. Mistakes of the agent say nothing about it.
{_CODES}"""


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


class ValidityReply(ReplyForm, frozen=True, kw_only=True):
    reasoning_is_ambiguous: Text
    is_ambiguous: bool
    ambiguity_codes: list[Label]
    reasoning_is_invalid: Text
    is_invalid: bool
    invalid_task_codes: list[Label]


_FAILURES = Step("failure_points", _FIND, FailureReply)
_VALIDITY = Step("task_validity", _TASK_ONLY, ValidityReply, Role.TEXT)
_VALIDITY_WITH_RUN = Step("task_validity_with_run", _WITH_RUN, ValidityReply, Role.TEXT)
_UNKNOWN: dict[str, Any] = {
    "reasoning_is_ambiguous": "",
    "is_ambiguous": None,
    "ambiguity_codes": [],
    "reasoning_is_invalid": "",
    "is_invalid": None,
    "invalid_task_codes": [],
}


def format_run(case: Case, items: Sequence[Item], analyses: Analyses, *, success: bool) -> tuple[str, ...]:
    """What was decided about a run, what the screenshots show, and what the agent did."""
    decision = f"The task was decided to be a {'success' if success else 'failure'}."
    return decision, *case.describe(items, analyses)


def find_failures(case: Case, parts: Sequence[str]) -> dict[str, Any]:
    """The points of failure and the first of them; no failure where no reply was valid."""
    request = case.build_request(_FAILURES, partial(_read_failures, len(case.evidence.steps)), *parts)
    return case.ask_or(request, "points of failure are unknown") or _build_analysis("", [])


def _read_failures(steps: int, reply: FailureReply) -> dict[str, Any]:
    if reply.has_failure is not bool(reply.failure_points):
        raise InvalidReply("has_failure must be true if and only if failure_points has entries")
    points = [_read_point(steps, index, point) for index, point in enumerate(reply.failure_points)]
    return _build_analysis(reply.reasoning, [point for point in points if point["error_code"] not in _PROGRAMMATIC])


def _read_point(steps: int, index: int, point: FailurePoint) -> dict[str, Any]:
    place = f"failure_points[{index}]"
    numbers = "".join(point.step_numbers.split())
    if not _STEPS.fullmatch(numbers) or not all(1 <= number <= steps for number in _list_numbers(numbers)):
        raise InvalidReply(f'use steps from 1 to {steps}, written as "5", "5-7" or "5,8,12" @ {place}.step_numbers')
    error_type = TAXONOMY[_GENERATION].get(point.error_code)
    if error_type is None or point.error_code[0] not in "123456":
        raise InvalidReply(f"use a code of the list @ {place}.error_code")
    fields = {"step_numbers": numbers, "error_category": error_type.category, "error_type": error_type.type}
    stored: dict[str, Any] = to_builtins(point) | fields
    return stored


def _list_numbers(steps: str) -> list[int]:
    return [int(number) for number in re.findall(r"[0-9]+", steps)]


def _build_analysis(reasoning: str, points: list[dict[str, Any]]) -> dict[str, Any]:
    """The analysis as it is stored: the first failure is the point with the smallest step."""
    first = min(points, key=lambda point: min(_list_numbers(point["step_numbers"])), default=None)
    summary = "" if first is None else f"[{first['error_code']}] {first['error_type']}: {first['what_happened']}"
    return {
        "reasoning": reasoning,
        "has_failure": first is not None,
        "failure_points": points,
        "first_failure_step": None if first is None else min(_list_numbers(first["step_numbers"])),
        "first_failure_summary": summary,
    }


def verify_with_run(case: Case, parts: Sequence[str]) -> dict[str, Any]:
    """Whether the task is ambiguous or invalid, by the run; unknown where no reply was valid."""
    return _verify(case, _VALIDITY_WITH_RUN, parts)


def verify_task(case: Case) -> dict[str, Any]:
    """Whether the task is ambiguous or invalid, by its text alone; unknown where no reply was valid."""
    verification = _verify(case, _VALIDITY)
    flags = [verification["is_ambiguous"], verification["is_invalid"]]
    is_flagged = None if None in flags else any(flags)
    return verification | {
        "result_type": "task_verification",
        "verifier_name": "rubric-pipeline",
        "score": None if is_flagged is None else float(not is_flagged),
        "reasoning": {None: "", True: "FLAGGED", False: "OK"}[is_flagged],
        "metadata": {},
    }


def _verify(case: Case, step: Step[ValidityReply], parts: Sequence[str] = ()) -> dict[str, Any]:
    request = case.build_request(step, _read_validity, *parts)
    return case.ask_or(request, "whether the task is valid is unknown") or _UNKNOWN


def _read_validity(reply: ValidityReply) -> dict[str, Any]:
    for codes, category, place, has_codes in (
        (reply.ambiguity_codes, "7", "ambiguity_codes", reply.is_ambiguous),
        (reply.invalid_task_codes, "8", "invalid_task_codes", reply.is_invalid),
    ):
        if has_codes is not bool(codes):
            raise InvalidReply(f"expected {'at least one code' if has_codes else 'no codes'} @ {place}")
        if not all(code in TAXONOMY[_GENERATION] and code[0] == category for code in codes):
            raise InvalidReply(f"use codes of category {category} such as {category}.1 @ {place}")
    verification: dict[str, Any] = to_builtins(reply)
    return verification
