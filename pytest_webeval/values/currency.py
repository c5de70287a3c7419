"""Amounts of money; the currency is not checked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING
from typing import ClassVar

from pytest_webeval.errors import EvaluationError
from pytest_webeval.values.base import Value
from pytest_webeval.values.base import check_length
from pytest_webeval.values.base import parse_error
from pytest_webeval.values.text import to_text

if TYPE_CHECKING:
    from pytest_webeval.values.base import ParseContext


_MINUS = re.compile(r"[^\d-]*-[^\s\w]?\d")  # directly before the first digits or their currency sign
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
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
        comma before three digits is not a decimal mark.
        """
        text = to_text(raw, context)
        check_length(text, "amount")
        negative = text.startswith("-") or (context.signed_currency and _is_debt(text))
        text = text.replace("-", "") if negative else text
        amount = _parse_first_amount(_THOUSANDS.sub("", text) if context.signed_currency else text)
        if amount is None:
            raise parse_error(raw, "is not an amount of money; write it as 1234.50")
        amount = amount if context.exact_money else _round_to_float(amount)
        return amount.copy_negate() if negative and amount else amount  # copied, for a minus would round

    def departures(self, context: ParseContext) -> Iterable[str]:
        """`signed_currency`, and `exact_money` where the reference would keep fewer digits."""
        if context.signed_currency:
            yield "signed_currency"
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


def _is_debt(text: str) -> bool:
    """Whether an amount has a minus of its own, or parentheses around it as in accounts."""
    return _MINUS.match(text) is not None or (text.startswith("(") and text.endswith(")"))


def _parse_first_amount(text: str) -> Decimal | None:
    from price_parser.parser import Price

    # Left to guess, the parser would take "1.234" for a thousand and more.
    decimal_mark = "." if text.rfind(".") > text.rfind(",") else ","
    return Price.fromstring(text, decimal_separator=decimal_mark).amount
