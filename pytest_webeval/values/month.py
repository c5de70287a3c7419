"""Months of the year."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from pytest_webeval.values.base import ParseContext, Value, check_single, parse_error
from pytest_webeval.values.date import list_dates, parse_date
from pytest_webeval.values.text import to_text

# Not `calendar.month_name`, which follows the locale.
_NAMES = "January February March April May June July August September October November December".split()  # noqa: SIM905  (a table in one line)
# Numbers of months, where 5/6 and 5-6 are days of one.
_NUMBERS = re.compile(r"\d{1,2}(?:(?:\s*[,;&]\s*|\s+-\s+|\s+and\s+|\s+)\d{1,2})+", re.ASCII)
_AND = re.compile(r"[\s,;]{0,3}\b(?:and|or)\b\s*|\s*&\s*")
# A month between them: May, May 2024 or 6, but not May 5, which "May 5 and 6" names days of.
_MONTH = re.compile(rf"\d{{1,2}}|(?:{'|'.join(name[:3].lower() for name in _NAMES)})[a-z]*\.?(?:,? \d{{4}})?", re.ASCII)
_A_FIRST_OF_JANUARY = date(2000, 1, 1)


@dataclass(frozen=True, slots=True)
class MonthValue(Value):
    """A month, by its English name."""

    type_name: ClassVar[str] = "month"

    @classmethod
    def canonical(cls, raw: object, context: ParseContext) -> str:
        """The name of the month with a number, in a name or in a date; a date without a month is in January."""
        try:
            number = int(raw) if isinstance(raw, int | float) else _parse_month(to_text(raw, context), context)
        except (ValueError, OverflowError) as error:  # OverflowError: infinity has no int
            raise parse_error(raw, "is not a month; write it as May or 5") from error
        is_whole = not isinstance(raw, float) or raw.is_integer()
        if not is_whole or not 1 <= number <= len(_NAMES):
            raise parse_error(raw, "is not the number of a month; write one from 1 to 12")
        return _NAMES[number - 1]


def _parse_month(text: str, context: ParseContext) -> int:
    try:
        return int(text)
    except ValueError:
        month = parse_date(text, default=_A_FIRST_OF_JANUARY).month
    if context.one_value:
        _check_single(text)
    return month


def _check_single(text: str) -> None:
    parts = re.findall(r"\d+", text) if _NUMBERS.fullmatch(text) else _AND.split(text)
    numbers = []
    if all(map(_MONTH.fullmatch, parts)):
        numbers = [int(part) if part.isdecimal() else parse_date(part, _A_FIRST_OF_JANUARY).month for part in parts]
    if not (numbers and all(1 <= number <= len(_NAMES) for number in numbers)):
        numbers = [day.month for day in list_dates(text, _A_FIRST_OF_JANUARY)]
    check_single(text, [_NAMES[number - 1] for number in numbers], "months")
