"""Calendar dates, in any of the usual notations; of ambiguous ones, month first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from datetime import datetime
from datetime import time
from typing import TYPE_CHECKING
from typing import ClassVar

from pytest_webeval.values.base import Value
from pytest_webeval.values.base import check_length
from pytest_webeval.values.base import parse_error
from pytest_webeval.values.text import normalize_text

if TYPE_CHECKING:
    from pytest_webeval.values.base import ParseContext


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
            return parse_date(text, default=context.today)
        except ValueError as error:
            raise parse_error(raw, "is not a date; write it as 2023-01-31") from error

    def to_json(self) -> str:
        """The first alternative as ISO text."""
        day: date = self.alternatives[0]
        return day.isoformat()


def parse_date(text: str, default: date) -> date:
    """The date in a prepared text, its missing parts taken from another. Raises `ValueError`."""
    from dateutil.parser import parse  # type: ignore[import-untyped]

    check_length(text, "date")
    try:
        moment: datetime = parse(text, default=datetime.combine(default, time()), ignoretz=True)
    except ArithmeticError as error:  # over a number of very many digits
        raise ValueError("a number in it is too large") from error
    return moment.date()
