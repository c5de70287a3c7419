"""Numbers without a unit, in digits or in English words, of which a parser would add up several."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from pytest_webeval.values.base import ParseContext, Value, check_length, check_single, parse_error
from pytest_webeval.values.text import to_text

_GROUPS_OF_DIGITS = re.compile(r"[^\s\d]*\d{1,3}(?:,? \d{3})+(?:\.\d+)?")  # 1 234 567.5
_MOST_EXACT, _LARGEST = 2**53, sys.float_info.max
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[a-z]+|[^\s\w]")
_SCALES = ("hundred", "thousand", "million", "billion")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_UNITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


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
            try:
                return _keep_digits(raw, float(raw), context)
            except OverflowError as error:
                raise parse_error(raw, "is too large for a number; write one below 1e308") from error
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

    @staticmethod
    def is_same(expected: float, actual: float) -> bool:
        """Whether the numbers are equal. NaN equals nothing, itself included."""
        return expected == actual

    def departures(self, context: ParseContext) -> Iterable[str]:
        """`exact_numbers` where the reference would round."""
        if context.exact_numbers and any(isinstance(number, int) for number in self.alternatives):
            yield "exact_numbers"

    def exact_key(self) -> tuple[Any, ...] | None:
        """The number; None for several."""
        return self.alternatives if len(self.alternatives) == 1 else None


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
        if context.one_value and len(numbers := _list_numbers(text)) > 1:
            check_single(raw, numbers, "numbers")
            return numbers[0]
        return float(word_to_num(text))
    except (ValueError, IndexError) as error:  # IndexError: "thousand two", where a multiplier is missing
        raise parse_error(raw, "is not a number; write it as 1234.5, without a unit") from error


def _list_numbers(text: str) -> list[float]:
    """The numbers in a prepared text, in digits or in words: "five or six" has two, "two hundred and five" has one."""
    from word2number.w2n import word_to_num

    numbers = []
    for words in _split_numbers(text):
        try:
            numbers.append(float(words.replace(",", "") if words[0].isdigit() else word_to_num(words)))
        except (ValueError, IndexError):
            continue
    return numbers


def _split_numbers(text: str) -> Iterator[str]:
    from word2number.w2n import american_number_system

    number: list[str] = []
    for word in _TOKEN.findall(text):
        if word == "and" and number and number[-1] in _SCALES:
            continue  # two hundred and five
        if number and not (word in american_number_system and _continues(number, word)):
            yield " ".join(number)
            number = []
        if word in american_number_system:
            number.append(word)
        elif word[0].isdigit():
            yield word
    if number:
        yield " ".join(number)


def _continues(number: list[str], word: str) -> bool:
    """Whether a word goes on with the number of the words before it, as English spells numbers."""
    if "point" in number:
        return word not in _SCALES
    if word == "point":
        return True
    if word in _SCALES:
        scales = [each for each in number if each in _SCALES]
        larger = [at for at, each in enumerate(scales) if _SCALES.index(each) > _SCALES.index(word)]
        return word not in (scales[larger[-1] + 1 :] if larger else scales)
    return number[-1] in _SCALES or (number[-1] in _TENS and word in _UNITS)
