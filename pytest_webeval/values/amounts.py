"""Which amounts of money a text names, where a parser would take the first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from unicodedata import normalize

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


def parse_first_amount(text: str, *, thousands: bool) -> Decimal | None:
    """The first amount in a prepared text; with `thousands` a comma before three digits is no decimal mark."""
    from price_parser.parser import Price

    text = _THOUSANDS.sub("", text) if thousands else text
    # Left to guess, the parser would take "1.234" for a thousand and more.
    decimal_mark = "." if text.rfind(".") > text.rfind(",") else ","
    return Price.fromstring(text, decimal_separator=decimal_mark).amount


def list_amounts(raw: str) -> list[Decimal]:
    """The amounts that a text names: those with a sign or name of a currency, or else the first number.

    What is joined to one of them as in "$10 - 20" or "10 or 20" is an amount, too.
    """
    return [_read(match) for match in _find_amounts(raw)]


def find_factor(raw: str) -> str | None:
    """What stands behind one of these amounts and makes another of it, such as `k` or `million`; None without that."""
    factors = (_FACTOR.match(match.string, match.end()) for match in _find_amounts(raw))
    return next((factor.group().strip() for factor in factors if factor is not None), None)


def _find_amounts(raw: str) -> list[re.Match[str]]:
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
    amount = parse_first_amount(match["digits"], thousands=True) or Decimal(0)
    return -amount if match["minus"] or "-" in (match["before"] or "") else amount
