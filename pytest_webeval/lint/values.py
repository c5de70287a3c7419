"""Expected values that their type reads as something else, or as equal to values that the author did not mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from itertools import combinations

from msgspec import structs

from pytest_webeval.errors import EvaluationError
from pytest_webeval.lint.definition import (
    ANSWER,
    CONTENT,
    POST,
    QUERY,
    AnswerCheck,
    Datum,
    Definition,
    find_type,
    read_value,
)
from pytest_webeval.lint.findings import Problem
from pytest_webeval.values.base import ParseContext, Value, looks_like_pattern

MOST = 30  # values of a task that are compared with each other, which takes time that grows with their square
# Two days that have no part in common: what differs between them depends on the day.
DAYS = (date(2021, 3, 4), date(2030, 11, 28))
FIRST_ONLY = ("currency", "coordinates")
_NUMBER = re.compile(r"\d[\d.,]*")


def check_lax_values(definition: Definition) -> Iterator[Problem]:
    """Values that stand for others as well: 0 as a string is empty, 0.05 as currency equals 0."""
    context = definition.context if definition.task else None
    for datum in definition.singles:
        explain = EXPLAINERS.get(datum.type_name)
        if context is not None and explain is not None and datum.role != QUERY:
            value = datum.read(context)
            if value is not None and (text := explain(datum, value, context)):
                yield Problem(datum.steps, text)


def _explain_string(datum: Datum, value: Value, context: ParseContext) -> str | None:
    raw = datum.raw
    if isinstance(raw, str):
        is_empty = not looks_like_pattern(raw) and value.matches(type(value).read("", context))
        if is_empty and (raw or datum.role == ANSWER):
            return f"{raw!r:.80} as a string equals null, 0, false and an empty text; write null, or a pattern for it"
        return None
    if not raw:
        problem = f"{raw!r} as a string is the empty text, which null and false are too"
        return f'{problem}; write "{_to_text(raw)}", or its type'
    if isinstance(raw, float) and str(raw) != f"{raw:.15g}":
        return f"{raw!r} as a string is the text '{raw}', which {raw:.15g} does not equal; write its type, or a text"
    if isinstance(raw, dict) and datum.role == POST:
        return "an object as a string is compared as a text; write its type, or a path for each member"
    return None


def _to_text(raw: object) -> str:
    return str(raw).lower() if isinstance(raw, bool) else str(raw)


def _explain_number(datum: Datum, value: Value, context: ParseContext) -> str | None:  # noqa: ARG001  (all have it)
    if isinstance(datum.raw, str) and not _NUMBER.search(datum.raw):
        return f"{datum.raw!r:.80} is read as {value.to_json():g}; write the number"
    if isinstance(datum.raw, bool):
        return f"{datum.raw!r} is read as {value.to_json():g}; write the number, or the type boolean"
    return None


def _explain_currency(datum: Datum, value: Value, context: ParseContext) -> str | None:
    right = structs.replace(context, signed_currency=True, exact_numbers=True)
    strict = read_value(datum.type_name, datum.raw, right)
    if strict is not None and strict != value:
        return f"{datum.raw!r:.80} is read as {value.to_json()}; write {strict.to_json()}"
    if isinstance(datum.raw, str) and len(_NUMBER.findall(datum.raw)) > 1:
        return f"{datum.raw!r:.80} is read as {value.to_json()}, its first number; write one amount"
    zero = read_value(datum.type_name, 0, context)
    if zero is not None and value != zero and value.matches(zero):
        return f"{datum.raw!r:.80} equals 0 within the tolerance of currency; use number"
    return None


def _explain_boolean(datum: Datum, value: Value, context: ParseContext) -> str | None:  # noqa: ARG001
    if not isinstance(datum.raw, bool):
        truth = _to_text(value.to_json())
        return f"{datum.raw!r:.80} as boolean is {truth}, as are other numbers and words; write true or false"
    return None


EXPLAINERS: Mapping[str, Callable[[Datum, Value, ParseContext], str | None]] = {
    "string": _explain_string,
    "number": _explain_number,
    "integer": _explain_number,
    "currency": _explain_currency,
    "boolean": _explain_boolean,
}


def check_partial_dates(definition: Definition) -> Iterator[Problem]:
    """Dates whose missing parts are those of the day of the evaluation."""
    for datum in definition.singles:
        if datum.type_name == "date":
            days = [datum.read(structs.replace(definition.context, today=day)) for day in DAYS]
            if days[0] != days[1]:
                text = f"{datum.raw!r:.80} depends on the day of the evaluation; write the full date"
                yield Problem(datum.steps, text)


def check_alternatives(definition: Definition) -> Iterator[Problem]:
    """Alternatives that are the same value, or that nothing reads."""
    for datum in definition.data:
        if not isinstance(datum.raw, list) or datum.role in (QUERY, CONTENT) or len(datum.raw) < 2:
            continue
        if datum.type_name in FIRST_ONLY and (datum.type_name == "currency" or isinstance(datum.raw[0], list)):
            text = f"of alternatives of the type {datum.type_name} only the first counts; write one value"
            yield Problem(datum.steps, text)
        else:
            yield from _list_equal(datum.single, definition.context, "alternatives")


def check_equal_answers(definition: Definition) -> Iterator[Problem]:
    """Answers that are written differently and are the same value: naming one of them twice would pass."""
    for answer in definition.answers:
        data = [
            datum for datum in answer.data if datum.steps[:-1] == answer.data_steps and not isinstance(datum.raw, list)
        ]
        yield from _list_equal(data, definition.context, "answers")


def _list_equal(data: Sequence[Datum], context: ParseContext, noun: str) -> Iterator[Problem]:
    values = [(datum, value) for datum in data[:MOST] if (value := datum.read(context)) is not None]
    for (first, first_value), (second, second_value) in combinations(values, 2):
        is_equal = False
        with suppress(EvaluationError):
            is_equal = first_value.matches(second_value)
        if is_equal and (noun == "alternatives" or first.raw != second.raw):
            text = f"the {noun} {first.raw!r:.80} and {second.raw!r:.80} are equal as {first.type_name}"
            yield Problem(second.steps, f"{text}; write one of them")


def check_order(answer: AnswerCheck) -> Iterator[Problem]:
    """Lists whose order counts although the type has none, or of fewer than two answers."""
    if answer.config.ordered:
        place, text = (*answer.steps, "ordered"), ""
        if find_type(answer.item_schema) == "string_list":
            text = "ordered does not reach into a string_list, which is sorted; use an array of strings"
        elif not any(isinstance(step, int) and step for datum in answer.data for step in datum.steps[4:]):
            text = "ordered has no effect on fewer than two answers; remove it"
        if text:
            yield Problem(place, text)


def check_posted_filters(definition: Definition) -> Iterator[Problem]:
    """Paths with a filter whose only hit equals nothing (Q21)."""
    for datum in definition.data:
        key = str(datum.steps[4]) if len(datum.steps) == 5 else ""
        is_list = datum.role == CONTENT and isinstance(datum.raw, list)
        if datum.role in (POST, CONTENT) and "?(" in key and not is_list:
            text = "a filter with one hit equals nothing but a list; expect a list, with the type array"
            yield Problem(datum.steps, text)
