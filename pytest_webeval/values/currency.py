"""Amounts of money; the currency is not checked. Of several amounts in a text a parser would take the first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar
from unicodedata import normalize

from pytest_webeval.errors import EvaluationError
from pytest_webeval.values.base import ParseContext, Value, check_length, check_single, parse_error
from pytest_webeval.values.text import to_text

_MINUS = re.compile(r"[^\d-]*-[^\s\w]?\d")  # directly before the first digits or their currency sign
# (50), ($ 1,234.50), (USD 50) or 50-, but not (about $50), and not 50,- whose dash stands for cents
_MONEY = r"(?:[a-z]{2,3})?[^\s\w()-]?\s*\d[\d.,\s]*(?:[^\s\w()-]|dollars?|euros?|pounds?|[a-z]{2,3})?\s*"
_ACCOUNTED = re.compile(rf"\(\s*{_MONEY}\)|{_MONEY}(?<![.,])-")
_WITH_EXPONENT = re.compile(r"[+-]?\d{1,400}(?:\.\d{0,400})?[eE][+-]?\d{1,4}", re.ASCII)
_LARGEST_EXPONENT = 400
TOLERANCE = Decimal("0.1")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_MARK = (
    r"(?:[$€£¥₹₽₩₺₪₫฿₴¢]|\b(?:usd|eur|gbp|jpy|cny|rmb|inr|cad|aud|chf|rs\.?|dollars?|euros?|pounds?|yen|yuan|rupees?"
    r"|cents?|bucks)\b)"
)
_AMOUNT = re.compile(
    rf"(?P<minus>(?<!\w)-)?(?P<before>{_MARK}\s?(?:-(?=\d))?)?"
    r"(?P<digits>\d{1,3}(?:[ ,']\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*)(?:[.,]-(?!\s?\d))?"
    rf"(?P<after>\s?{_MARK}(?!\s?\d))?"
)
_EITHER = r"(?:or|vs\.?|versus|maybe|perhaps|possibly)"
_BEFORE_A_WORD = r"(?:[.,;:!?(]\s*)?"
_JOINED = re.compile(
    rf"\s*(?:{_BEFORE_A_WORD}(?P<either>{_EITHER}(?:\s+{_EITHER})*(?:\s+up\s+to)?)|{_BEFORE_A_WORD}(?:up\s+)?to"
    rf"|[-\u2010-\u2015\u2212|~?\\\u2192]|->|(?P<slash>/)|(?P<list>[,;&+]|{_BEFORE_A_WORD}and))\s*"
)
# What makes another amount of the one before it. Behind a blank, k, m and b are no factors: $20 M (medium).
_FACTOR = re.compile(
    r"[kmb](?![\w-])|\s*(?:[%‰]|(?:per\s?cent|pct|hundred|thousand|mm|mn|mio|mil|million|bn|bil|billion|tn|trillion)s?\b)"
)
_UNIT = re.compile(r"\s?(?P<percent>%)|[\s-]?(?P<word>[a-z]+)")  # 10%, 3 items and 2-day are no money
# What may follow an amount of a range, as in "$10 to 20 per night", where any other word is a unit.
_NO_UNIT = re.compile(
    r"an?|and|apiece|approximately|at|depending|ea|each|for|in|k|max|million|on|or|per|plus|respectively|thousand|total"
    r"|with"
)


@dataclass(frozen=True, slots=True)
class CurrencyValue(Value):
    """An amount. Of several alternatives only the first counts (spec §5.4, Q22)."""

    type_name: ClassVar[str] = "currency"
    tolerance: ClassVar[str] = f"{TOLERANCE}, whatever the currency"
    only_first: ClassVar[bool] = True

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
        negative = text.startswith("-") or (
            context.signed_currency and (_MINUS.match(text) or _ACCOUNTED.fullmatch(text)) is not None
        )
        text = text.replace("-", "") if negative else text
        amount = _parse_first_amount(text, thousands=context.signed_currency)
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

    @staticmethod
    def is_same(expected: Decimal, actual: Decimal) -> bool:
        """Whether two amounts are at most `TOLERANCE` apart. Raises `EvaluationError` for two infinite ones."""
        if expected.is_infinite() and expected == actual:
            problem = "cannot compare two amounts of more than 308 digits"
            raise EvaluationError(f"{problem}; --webeval-rules=default compares them")
        return abs(expected - actual) <= TOLERANCE


def _round_to_float(amount: Decimal) -> Decimal:
    """What a float keeps of an amount: 17 digits, and no end of one with more than 308."""
    rounded = Decimal(str(float(amount)))
    return amount if rounded == amount else rounded  # of equal ones the one that is written as it was


def _is_written_with_exponent(amount: Decimal) -> bool:
    """Whether a float of this amount, or the text that it was read from, has an exponent."""
    return not -5 < amount.adjusted() < 16 or f"{amount:f}" != str(amount)


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
    matches = _find_amounts(raw)
    amounts = [_read(match) for match in matches]
    check_single(raw, amounts, "amounts")
    check_single(raw, [abs(amount), *map(abs, amounts)], "amounts")  # the parser took another number
    if factor := next(filter(None, (_FACTOR.match(match.string, match.end()) for match in matches)), None):
        problem = f"has '{factor.group().strip()}' behind the amount; write the amount in digits alone"
        raise parse_error(raw, problem, rule="one_value")


def _parse_first_amount(text: str, *, thousands: bool) -> Decimal | None:
    """The first amount in a prepared text; with `thousands` a comma before three digits is no decimal mark."""
    from price_parser.parser import Price

    text = _THOUSANDS.sub("", text) if thousands else text
    # Left to guess, the parser would take "1.234" for a thousand and more.
    decimal_mark = "." if text.rfind(".") > text.rfind(",") else ","
    return Price.fromstring(text, decimal_separator=decimal_mark).amount


def _find_amounts(raw: str) -> list[re.Match[str]]:
    """The amounts that a text names: those with a sign or name of a currency, or else the first number.

    What is joined to one of them as in "$10 - 20" or "10 or 20" is an amount, too.
    """
    chains = list(_split_chains(normalize("NFKC", raw).casefold().replace("\u2019", "'")))
    marked = [chain for chain in chains if any(map(_is_marked, chain))]
    return [match for chain in marked or chains[:1] for match in chain]


def _split_chains(text: str) -> Iterator[list[re.Match[str]]]:
    """The numbers of a text, each with those that are joined to it."""
    chain: list[re.Match[str]] = []
    for match in _AMOUNT.finditer(text):
        if chain and not _is_joined(text, chain[-1], match):
            yield chain
            chain = []
        chain.append(match)
    if chain:
        yield chain


def _is_joined(text: str, left: re.Match[str], right: re.Match[str]) -> bool:
    gap, unit = _JOINED.fullmatch(text, left.end(), right.start()), _UNIT.match(text, right.end())
    if gap is None or (unit is not None and unit["percent"]):
        return False
    if unit is None or gap["either"] or _is_marked(right):
        return True
    if not (_is_marked(left) or gap["slash"]):  # 10 and 3 items, but not 10 / 3 items
        return True
    return not gap["list"] and _NO_UNIT.fullmatch(unit["word"]) is not None  # $10 - 20 each


def _is_marked(match: re.Match[str]) -> bool:
    return bool(match["before"] or match["after"])


def _read(match: re.Match[str]) -> Decimal:
    amount = _parse_first_amount(match["digits"], thousands=True) or Decimal(0)
    return -amount if match["minus"] or "-" in (match["before"] or "") else amount
