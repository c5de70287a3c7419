"""Amounts of money; the currency is not checked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar

from pytest_webeval.errors import EvaluationError
from pytest_webeval.values.amounts import find_factor, list_amounts, parse_first_amount
from pytest_webeval.values.base import Value, check_length, check_single, parse_error
from pytest_webeval.values.text import to_text

if TYPE_CHECKING:
    from pytest_webeval.values.base import ParseContext


_MINUS = re.compile(r"[^\d-]*-[^\s\w]?\d")  # directly before the first digits or their currency sign
# (50), ($ 1,234.50), (USD 50) or 50-, but not (about $50), and not 50,- whose dash stands for cents
_MONEY = r"(?:[a-z]{2,3})?[^\s\w()-]?\s*\d[\d.,\s]*(?:[^\s\w()-]|dollars?|euros?|pounds?|[a-z]{2,3})?\s*"
_ACCOUNTED = re.compile(rf"\(\s*{_MONEY}\)|{_MONEY}(?<![.,])-")
_WITH_EXPONENT = re.compile(r"[+-]?\d{1,400}(?:\.\d{0,400})?[eE][+-]?\d{1,4}", re.ASCII)
_LARGEST_EXPONENT = 400
TOLERANCE = Decimal("0.1")


@dataclass(frozen=True, slots=True)
class CurrencyValue(Value):
    """An amount. Of several alternatives only the first counts (spec §5.4, Q22)."""

    type_name: ClassVar[str] = "currency"
    tolerance: ClassVar[str] = f"{TOLERANCE}, whatever the currency"

    @classmethod
    def canonical(cls, raw: object, context: ParseContext) -> Decimal:
        """The first amount that a text names; ``free`` is zero, and only a minus in front of all else counts.

        With `ParseContext.signed_currency` a minus at the amount counts as well, as do parentheses around all, and a
        comma before three digits is not a decimal mark. With `ParseContext.exact_numbers` a number keeps its exponent.
        """
        if context.exact_numbers and (exact := _parse_number(raw)) is not None:
            return exact if context.exact_money else _round_to_float(exact)
        text = to_text(raw, context)
        check_length(text, "amount")
        negative = text.startswith("-") or (context.signed_currency and _is_debt(text))
        text = text.replace("-", "") if negative else text
        amount = parse_first_amount(text, thousands=context.signed_currency)
        if amount is None:
            raise parse_error(raw, "is not an amount of money; write it as 1234.50")
        if context.one_value and isinstance(raw, str):
            _check_single(raw, amount)
        amount = amount if context.exact_money else _round_to_float(amount)
        return amount.copy_negate() if negative and amount else amount  # copied, for a minus would round

    def departures(self, context: ParseContext) -> Iterable[str]:
        """`signed_currency`, and `exact_money` or `exact_numbers` where the reference would keep less of a number."""
        if context.signed_currency:
            yield "signed_currency"
        if context.exact_numbers and any(map(_is_written_with_exponent, self.alternatives)):
            yield "exact_numbers"
        if context.exact_money and any(_round_to_float(amount) != amount for amount in self.alternatives):
            yield "exact_money"

    def matches(self, actual: Value) -> bool:
        """Whether the first amounts are at most `TOLERANCE` apart. Raises `EvaluationError` for two infinite ones."""
        if not isinstance(actual, CurrencyValue):
            return False
        expected_amount, actual_amount = self.alternatives[0], actual.alternatives[0]
        if expected_amount.is_infinite() and expected_amount == actual_amount:
            raise EvaluationError(
                "cannot compare two amounts of more than 308 digits; --webeval-rules=default compares them"
            )
        difference: Decimal = expected_amount - actual_amount
        return abs(difference) <= TOLERANCE

    def to_json(self) -> str:
        """The first alternative in decimal digits, which a JSON number might not keep."""
        return f"{self.alternatives[0]:f}"


def _round_to_float(amount: Decimal) -> Decimal:
    """What a float keeps of an amount: 17 digits, and no end of one with more than 308."""
    rounded = Decimal(str(float(amount)))
    return amount if rounded == amount else rounded  # of equal ones the one that is written as it was


def _is_written_with_exponent(amount: Decimal) -> bool:
    """Whether a float of this amount, or the text that it was read from, has an exponent."""
    return not -5 < amount.adjusted() < 16 or f"{amount:f}" != str(amount)


def _is_debt(text: str) -> bool:
    """Whether an amount has a minus of its own, or parentheses around it or a minus behind it as in accounts."""
    return _MINUS.match(text) is not None or _ACCOUNTED.fullmatch(text) is not None


def _parse_number(raw: object) -> Decimal | None:
    """The amount of a number, or of a text with an exponent, whose first digits are another amount."""
    is_number = isinstance(raw, int | float) and not isinstance(raw, bool)
    if not (is_number or (isinstance(raw, str) and _WITH_EXPONENT.fullmatch(raw.strip()))):
        return None
    try:
        amount = Decimal(str(raw).strip())
    except ValueError as error:  # more digits than Python writes
        raise parse_error(raw, "has too many digits for an amount of money; write a shorter one") from error
    if not amount.is_finite() or abs(amount.adjusted()) > _LARGEST_EXPONENT:
        raise parse_error(raw, "is not an amount of money; write it as 1234.50")
    return amount


def _check_single(raw: str, amount: Decimal) -> None:
    amounts = list_amounts(raw)
    check_single(raw, amounts, "amounts")
    check_single(raw, [abs(amount), *map(abs, amounts)], "amounts")  # the parser took another number
    if factor := find_factor(raw):
        problem = f"has '{factor}' behind the amount; write the amount in digits alone"
        raise parse_error(raw, problem, rule="one_value")
