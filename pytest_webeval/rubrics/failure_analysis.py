"""What a judge says of why a run failed, and whether its task could be done at all (`fara_webeval.md` §5.3, §6.7)."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from pytest_webeval.rubrics.taxonomy import category
from pytest_webeval.safety.text import truncate

MAX_SUMMARY, MAX_NAME = 300, 80
_CODE = re.compile(r"(?<![0-9.])[0-9](?:\.[0-9]){1,2}(?!\.?[0-9])")
_STEP = re.compile(r"(?<![0-9.])[0-9]{1,9}(?!\.?[0-9])")
# Each datum with its name among the intermediate steps.
_FIRST_FAILURE = ("first_point_of_failure", "step9_first_point_of_failure")
_TASK_ONLY = ("task_verification", "step10_task_verification")
_WITH_TRAJECTORY = ("task_verification_with_trajectory", "step9b_task_verification_with_trajectory")


@dataclass(frozen=True, slots=True)
class FailureAnalysis:
    """A judge's analysis; None and empty where it says nothing.

    `codes` are the error codes of all points of failure in order, `categories` theirs one by one. `first_step` is the
    earliest step of any point, and `summary` describes that point. Whether the task is ambiguous or invalid is asked of
    the task alone first, then of the task with the run.
    """

    has_failure: bool | None = None
    first_step: int | None = None
    summary: str = ""
    codes: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    is_ambiguous: bool | None = None
    ambiguity_codes: tuple[str, ...] = ()
    is_invalid: bool | None = None
    invalid_codes: tuple[str, ...] = ()


def failure_of(
    payload: Mapping[str, Any], task_data: Mapping[str, Any] | None, without: Collection[str] = ()
) -> FailureAnalysis | None:
    """The analysis in a payload, or else in `task_data.json`; None if there is no analysis. Takes any JSON.

    Points of failure with a code of `without` do not count; where no other is left, there was no failure.
    """
    data = _as_object(task_data)
    rubric = data.get("precomputed_rubric")
    places = (payload, _as_object(rubric[0] if isinstance(rubric, list) and rubric else rubric), data)
    first, *tasks = (_lookup(places, *names) for names in (_FIRST_FAILURE, _TASK_ONLY, _WITH_TRAJECTORY))
    if not first and not any(tasks):
        return None
    return replace(
        _first_failure(first, without),
        is_ambiguous=_combine_answers(task.get("is_ambiguous") for task in tasks),
        ambiguity_codes=_parse_codes(task.get("ambiguity_codes") for task in tasks),
        is_invalid=_combine_answers(task.get("is_invalid") for task in tasks),
        invalid_codes=_parse_codes(task.get("invalid_task_codes") for task in tasks),
    )


def _first_failure(first: Mapping[str, Any], without: Collection[str]) -> FailureAnalysis:
    all_points = [_Point.of(raw) for raw in _as_list(first.get("failure_points")) if isinstance(raw, Mapping)]
    points = [point for point in all_points if point.code not in without]
    # The judge's text on the first point may be about an excluded point.
    analysis = first if len(points) == len(all_points) else {}
    earliest = min(points, key=lambda point: math.inf if point.step is None else point.step, default=_Point())
    coded, step = [point for point in points if point.code], earliest.step
    if step is None:
        raw = analysis.get("first_failure_step")
        step = raw if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw < 10**9 else None
    return FailureAnalysis(
        has_failure=False if all_points and not points else _combine_answers([first.get("has_failure")]),
        first_step=step,
        summary=earliest.summary or _format_line(analysis.get("first_failure_summary"), MAX_SUMMARY),
        codes=tuple(point.code for point in coded),
        categories=tuple(point.category for point in coded),
    )


def _lookup(places: Iterable[Mapping[str, Any]], name: str, step: str) -> Mapping[str, Any]:
    """The first object that has the datum, empty where none does. A rubric has it without the payload's prefix."""
    for place in places:
        steps = [_as_object(place.get(f"{prefix}intermediate_mm_rubric_steps")).get(step) for prefix in ("rubric_", "")]
        taxonomy = _as_object(place.get("error_taxonomy")).get(name)
        for candidate in (place.get(f"rubric_{name}"), place.get(name), taxonomy, *steps):
            if isinstance(candidate, Mapping) and candidate:
                return candidate
    return {}


@dataclass(frozen=True, slots=True)
class _Point:
    step: int | None = None
    code: str = ""
    category: str = ""
    summary: str = ""

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> _Point:
        """Its step is the first of the numbers in `5`, `5-7` or `5,8,12`, be it text, a number or a list of such."""
        code, numbers = _parse_code(raw.get("error_code")), raw.get("step_numbers")
        parts = [str(part) for part in _as_list(numbers) or [numbers] if isinstance(part, str | int)]
        texts = [_format_line(raw.get(key), MAX_SUMMARY) for key in ("error_type", "what_happened")]
        description = ": ".join(filter(None, texts))
        return cls(
            min((int(number) for part in parts for number in _STEP.findall(part)), default=None),
            code,
            category(code) or _format_line(raw.get("error_category"), MAX_NAME),
            _format_line(f"[{code}] {description}" if code else description, MAX_SUMMARY),
        )


def _parse_codes(lists: Iterable[object]) -> tuple[str, ...]:
    """The codes of the first list that has any."""
    code_lists = (tuple(filter(None, map(_parse_code, _as_list(raw)))) for raw in lists)
    return next(filter(None, code_lists), ())


def _parse_code(raw: object) -> str:
    """`6.4` however it is wrapped; any other text is shown unchanged."""
    if isinstance(raw, bool) or not isinstance(raw, str | int | float | Decimal):
        return ""
    text = _format_line(str(raw), MAX_NAME)
    match = _CODE.search(text)
    return match[0] if match else text


def _combine_answers(values: Iterable[object]) -> bool | None:
    """True if any is true, else False if any is false; values other than booleans are ignored."""
    answers = {answer for answer in values if isinstance(answer, bool)}
    return any(answers) if answers else None


def _format_line(raw: object, limit: int) -> str:
    """Text on one line that any terminal can show, truncated; empty for other values."""
    text = " ".join(raw[: 4 * limit].split()) if isinstance(raw, str) else ""
    printable = "".join(filter(str.isprintable, text))
    return truncate(printable, limit, "...")


def _as_object(raw: object) -> Mapping[str, Any]:
    return raw if isinstance(raw, Mapping) else {}


def _as_list(raw: object) -> Sequence[Any]:
    return raw if isinstance(raw, list) else ()
