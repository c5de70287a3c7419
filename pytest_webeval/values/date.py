"""Calendar dates, in any of the usual notations; of ambiguous ones, month first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import ClassVar

from pytest_webeval.values.base import ParseContext, Value, check_length, check_single, parse_error
from pytest_webeval.values.text import normalize_text

_GAP = re.compile(r"(?:\band\b|[\W_])+", re.ASCII)  # between two dates, or between parts of one
_MOST_GAPS = 40
_NO_DATE = re.compile(r"\d{0,6}")  # a number alone may be a year or a time
_ANY_DAYS = date(2000, 1, 1), date(2003, 2, 2)


@dataclass(frozen=True, slots=True)
class DateValue(Value):
    """A date. What a partial one such as ``March 2022`` leaves open is taken from `ParseContext.today`."""

    type_name: ClassVar[str] = "date"

    @classmethod
    def canonical(cls, raw: object, context: ParseContext) -> date:
        """The date that a text names; a number names none."""
        if not isinstance(raw, str):
            raise parse_error(raw, "is not a date; write it as the string '2023-01-31'")
        text = normalize_text(raw, context).replace(",", ", ").replace(",  ", ", ")
        try:
            day = parse_date(text, default=context.today)
        except ValueError as error:
            raise parse_error(raw, "is not a date; write it as 2023-01-31") from error
        if context.one_value:
            check_single(raw, list_dates(text, context.today), "dates")
        return day


def parse_date(text: str, default: date) -> date:
    """The date in a prepared text, its missing parts taken from another. Raises `ValueError`."""
    from dateutil.parser import parse  # type: ignore[import-untyped]

    check_length(text, "date")
    try:
        moment: datetime = parse(text, default=datetime.combine(default, time()), ignoretz=True)
    except ArithmeticError as error:  # over a number of very many digits
        raise ValueError("a number in it is too large") from error
    return moment.date()


def list_dates(text: str, default: date) -> list[date]:
    """The different dates in a prepared text that the parser takes for one; none if there is only one.

    Raises `ValueParseError` for a text with very many parts.
    """
    gaps = list(_GAP.finditer(text))
    if len(gaps) > _MOST_GAPS:
        raise parse_error(text, f"has more than {_MOST_GAPS} parts; write one date", rule="one_value")
    for gap in gaps:
        pair = _parse_pair(text[: gap.start()], text[gap.end() :], None if "and" not in gap[0] else default)
        if pair is not None and pair[0] != pair[1]:
            return list(pair)
    return []


def _parse_pair(left: str, right: str, default: date | None) -> tuple[date, date] | None:
    """The dates of two parts of a text; without a default only of parts that name a day, a month and a year."""
    if default is None:
        days = [*_parse_complete(left), *_parse_complete(right)]
        return (days[0], days[1]) if len(days) == len((left, right)) else None
    try:
        first = parse_date(left, default)
        return first, parse_date(right, default=first)
    except ValueError:
        return None


def _parse_complete(text: str) -> Iterator[date]:
    if _NO_DATE.fullmatch(text):
        return
    try:
        days = {parse_date(text, default) for default in _ANY_DAYS}
    except ValueError:
        return
    if len(days) == 1:
        yield from days
