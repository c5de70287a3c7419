"""Numbers without a unit, in digits or in English words."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_webeval.values.base import Value, check_length, check_single, parse_error
from pytest_webeval.values.number_words import list_numbers
from pytest_webeval.values.text import to_text

if TYPE_CHECKING:
    from pytest_webeval.values.base import ParseContext


_GROUPS_OF_DIGITS = re.compile(r"[^\s\d]*\d{1,3}(?:,? \d{3})+(?:\.\d+)?")  # 1 234 567.5
_MOST_EXACT, _LARGEST = 2**53, sys.float_info.max


@dataclass(frozen=True, slots=True)
class NumberValue(Value):
    """A number, compared without tolerance."""

    type_name: ClassVar[str] = "number"

    @classmethod
    def canonical(cls, raw: object, context: ParseContext) -> float:
        """The number as a float; of a text without digits, the number that its words spell.

        With `ParseContext.exact_numbers` an integer that a float does not hold is an int.
        """
        if isinstance(raw, int | float):
            return _keep_digits(raw, _to_float(raw), context)
        text = to_text(raw, context)
        check_length(text, "number")
        digits = text.replace(",", "").replace(" ", "")
        try:
            number = float(digits)
        except ValueError:
            return _parse_words(text, raw, context)
        if context.one_value and not _GROUPS_OF_DIGITS.fullmatch(text):
            check_single(raw, _list_parts(text), "numbers")
        return _keep_digits(digits, number, context)

    def matches(self, actual: Value) -> bool:
        """Whether the numbers are equal. NaN equals nothing, for which the operator ``in`` would not do."""
        return isinstance(actual, NumberValue) and any(
            expected == candidate for expected in self.alternatives for candidate in actual.alternatives
        )

    def departures(self, context: ParseContext) -> Iterable[str]:
        """`exact_numbers` where the reference would round."""
        if context.exact_numbers and any(isinstance(number, int) for number in self.alternatives):
            yield "exact_numbers"

    def exact_key(self) -> tuple[Any, ...] | None:
        """The number; None for several."""
        return self.alternatives if len(self.alternatives) == 1 else None


def _to_float(number: float) -> float:
    try:
        return float(number)
    except OverflowError as error:
        raise parse_error(number, "is too large for a number; write one below 1e308") from error


def _keep_digits(raw: float | str, number: float, context: ParseContext) -> float:
    """An integer with all of its digits if a float might round it."""
    if not (context.exact_numbers and _MOST_EXACT <= abs(number) <= _LARGEST):
        return number
    exact = Decimal(repr(raw) if isinstance(raw, float) else raw)  # 1e23, which is no integer to a float
    return int(exact) if exact == exact.to_integral_value() else number


def _list_parts(text: str) -> list[float]:
    """The numbers between blanks, which are parts of one only in groups of three digits."""
    numbers = []
    for part in text.split():
        with suppress(ValueError):
            numbers.append(float(part.replace(",", "")))
    return numbers


def _parse_words(text: str, raw: object, context: ParseContext) -> float:
    from word2number.w2n import word_to_num  # type: ignore[import-untyped]

    try:
        if context.one_value and len(numbers := list_numbers(text)) > 1:
            check_single(raw, numbers, "numbers")
            return numbers[0]
        return float(word_to_num(text))
    except (ValueError, IndexError) as error:  # IndexError: "thousand two", where a multiplier is missing
        raise parse_error(raw, "is not a number; write it as 1234.5, without a unit") from error
