"""What a judge says of why a run failed, and whether its task could be done at all (`fara_webeval.md` §5.3, §6.7)."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from decimal import Decimal
from typing import Any

from pytest_webeval.rubrics.taxonomy import category

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
    earliest step of any point, and `summary` tells of that point. Whether the task is ambiguous or invalid is asked of
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
    """The analysis in a payload, or else in `task_data.json`; None where nobody made one. Takes any JSON.

    Points of failure with a code of `without` do not count; where no other is left, there was no failure.
    """
    places = (payload, _rubric_in(task_data), _object(task_data))
    first, *tasks = (_lookup(places, *names) for names in (_FIRST_FAILURE, _TASK_ONLY, _WITH_TRAJECTORY))
    if not first and not any(tasks):
        return None
    return replace(
        _first_failure(first, without),
        is_ambiguous=_either(one.get("is_ambiguous") for one in tasks),
        ambiguity_codes=_codes(one.get("ambiguity_codes") for one in tasks),
        is_invalid=_either(one.get("is_invalid") for one in tasks),
        invalid_codes=_codes(one.get("invalid_task_codes") for one in tasks),
    )


def _first_failure(first: Mapping[str, Any], without: Collection[str]) -> FailureAnalysis:
    given = [_Point.of(one) for one in _list(first.get("failure_points")) if isinstance(one, Mapping)]
    points = [one for one in given if one.code not in without]
    # Of points that were left out, what the judge says of the first one may be about one of those.
    told = first if len(points) == len(given) else {}
    earliest = min(points, key=lambda one: one.order, default=_Point())
    coded = [one for one in points if one.code]
    return FailureAnalysis(
        has_failure=False if given and not points else _either([first.get("has_failure")]),
        first_step=_whole(told.get("first_failure_step")) if earliest.step is None else earliest.step,
        summary=earliest.summary or _line(told.get("first_failure_summary"), MAX_SUMMARY),
        codes=tuple(one.code for one in coded),
        categories=tuple(one.category for one in coded),
    )


def _rubric_in(task_data: Mapping[str, Any] | None) -> Mapping[str, Any]:
    raw = _object(task_data).get("precomputed_rubric")
    return _object(raw[0] if isinstance(raw, list) and raw else raw)


def _lookup(places: Iterable[Mapping[str, Any]], name: str, step: str) -> Mapping[str, Any]:
    """The first object that has the datum, empty where none does. A rubric has it without the payload's prefix."""
    for place in places:
        steps = [_object(place.get(f"{prefix}intermediate_mm_rubric_steps")).get(step) for prefix in ("rubric_", "")]
        taxonomy = _object(place.get("error_taxonomy")).get(name)
        for found in (place.get(f"rubric_{name}"), place.get(name), taxonomy, *steps):
            if isinstance(found, Mapping) and found:
                return found
    return {}


@dataclass(frozen=True, slots=True)
class _Point:
    """One point of failure."""

    step: int | None = None
    code: str = ""
    category: str = ""
    summary: str = ""

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> _Point:
        code = _code(raw.get("error_code"))
        told = ": ".join(filter(None, (_line(raw.get(key), MAX_SUMMARY) for key in ("error_type", "what_happened"))))
        summary = _line(f"[{code}] {told}" if code else told, MAX_SUMMARY)
        return cls(
            min(_steps(raw.get("step_numbers")), default=None),
            code,
            category(code) or _line(raw.get("error_category"), MAX_NAME),
            summary,
        )

    @property
    def order(self) -> float:
        return math.inf if self.step is None else self.step


def _steps(raw: object) -> Iterator[int]:
    """The numbers in `5`, `5-7` or `5,8,12`, be it text, a number or a list of such."""
    for one in _list(raw) or [raw]:
        if isinstance(one, str | int):
            yield from map(int, _STEP.findall(str(one)))


def _codes(lists: Iterable[object]) -> tuple[str, ...]:
    """The codes of the first list that has any."""
    found = (tuple(filter(None, map(_code, _list(raw)))) for raw in lists)
    return next(filter(None, found), ())


def _code(raw: object) -> str:
    """`6.4` however it is wrapped; what is no code stays visible as it stands."""
    if isinstance(raw, bool) or not isinstance(raw, str | int | float | Decimal):
        return ""
    text = _line(str(raw), MAX_NAME)
    found = _CODE.search(text)
    return found[0] if found else text


def _either(values: Iterable[object]) -> bool | None:
    """True where any says so, else False where any says that; whatever is no boolean says nothing."""
    said = {one for one in values if isinstance(one, bool)}
    return any(said) if said else None


def _line(raw: object, limit: int) -> str:
    """Text on one line that any terminal can show, cut; empty for what is no text."""
    text = " ".join(raw[: 4 * limit].split()) if isinstance(raw, str) else ""
    shown = "".join(filter(str.isprintable, text))
    return shown if len(shown) <= limit else f"{shown[: limit - 3]}..."


def _whole(raw: object) -> int | None:
    return raw if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw < 10**9 else None


def _object(raw: object) -> Mapping[str, Any]:
    return raw if isinstance(raw, Mapping) else {}


def _list(raw: object) -> Sequence[Any]:
    return raw if isinstance(raw, list) else ()
