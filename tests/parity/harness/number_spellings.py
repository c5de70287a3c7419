"""How people and programs write numbers and amounts of money."""

from __future__ import annotations

from typing import Any

from tests.parity.harness.text_spellings import Spellings

_SMALL = (  # noqa: SIM905  (a list of names reads better so)
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
_ARABIC = {ord(str(digit)): 0x660 + digit for digit in range(10)}
_FULL_WIDTH = {ord(str(digit)): 0xFF10 + digit for digit in range(10)}
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SWAPPED_MARKS = str.maketrans(",.", ".,")

NUMBER: Spellings = {
    "text": str,
    "thousands commas": lambda n: f"{n:,}",
    "thousands dots": lambda n: f"{n:,}".translate(_SWAPPED_MARKS),
    "thousands blanks": lambda n: f"{n:,}".replace(",", " "),
    "thousands thin blanks": lambda n: f"{n:,}".replace(",", "\u202f"),
    "thousands apostrophes": lambda n: f"{n:,}".replace(",", "'"),
    "thousands underscores": lambda n: f"{n:_}",
    "misplaced comma": lambda n: f"{n},0",
    "float": float,
    "one decimal": lambda n: f"{n:.1f}",
    "two decimals": lambda n: f"{n:.2f}",
    "decimal comma": lambda n: f"{n:.2f}".replace(".", ","),
    "exponent": lambda n: f"{n:e}",
    "plus": lambda n: f"+{n}",
    "negative": lambda n: -n,
    "negative text": lambda n: f"-{n}",
    "minus sign": lambda n: f"\u2212{n}",
    "one more": lambda n: n + 1,
    "one less": lambda n: n - 1,
    "slightly more": lambda n: n + 1e-9,
    "ten times": lambda n: n * 10,
    "with a unit": lambda n: f"{n} items",
    "unit before": lambda n: f"items: {n}",
    "percent": lambda n: f"{n}%",
    "hash": lambda n: f"#{n}",
    "about": lambda n: f"~{n}",
    "full stop": lambda n: f"{n}.",
    "in words": lambda n: in_words(n),  # noqa: PLW0108  (defined below)
    "capital words": lambda n: in_words(n).title(),
    "words and unit": lambda n: f"{in_words(n)} orders",
    "words in a sentence": lambda n: f"There are {in_words(n)} of them.",
    "minus in words": lambda n: f"minus {in_words(n)}",
    "full-width digits": lambda n: str(n).translate(_FULL_WIDTH),
    "Arabic digits": lambda n: str(n).translate(_ARABIC),
    "superscript digits": lambda n: str(n).translate(_SUPERSCRIPT),
    "leading zeros": lambda n: f"00{n}",
    "blanks around": lambda n: f" {n}\n",
    "blanks inside": lambda n: " ".join(str(n)),
    "fraction": lambda n: f"{n}/1",
    "range": lambda n: f"{n}-{n + 1}",
    "hexadecimal": lambda n: hex(int(n)),
    "thousand k": lambda n: f"{n / 1000}k",
    "yes or no": lambda n: "no" if n == 0 else "yes",
    "none or some": lambda n: "none" if n == 0 else "some",
    "parentheses": lambda n: f"({n})",
    "not a number": lambda _: "nan",
}
CURRENCY: Spellings = {
    "dollar": lambda n: f"${n:.2f}",
    "dollar and blank": lambda n: f"$ {n:,.2f}",
    "dollar behind": lambda n: f"{n:.2f}$",
    "US dollar": lambda n: f"US${n:,.2f}",
    "code": lambda n: f"USD {n:.2f}",
    "code behind": lambda n: f"{n:.2f} usd",
    "euro": lambda n: f"{n:,.2f} €".translate(_SWAPPED_MARKS),
    "pound": lambda n: f"£{n:.2f}",
    "Swiss": lambda n: f"CHF {n:,.2f}".replace(",", "’"),  # noqa: RUF001
    "Indian": lambda n: f"₹{n:,.2f}",
    "dollars": lambda n: f"{n:.2f} dollars",
    "rounded": lambda n: f"${round(n)}",
    "thousands, no cents": lambda n: f"${int(n):,}",
    "three decimals": lambda n: f"{n:.3f}",
    "thousands and cents": lambda n: f"{n:,.2f}",
    "within tolerance": lambda n: round(n + 0.1, 2),
    "within tolerance below": lambda n: f"{n - 0.1:.2f}",
    "beyond tolerance": lambda n: round(n + 0.11, 2),
    "beyond tolerance below": lambda n: f"${n - 0.11:.2f}",
    "cents": lambda n: f"{round(n * 100)}¢",
    "negative dollar": lambda n: f"-${n:.2f}",
    "minus inside": lambda n: f"$-{n:.2f}",
    "in parentheses": lambda n: f"(${n:.2f})",
    "two amounts": lambda n: f"${n:.2f} - ${n + 5:.2f}",
    "after a text": lambda n: f"Grand total: ${n:,.2f}",
    "after a number": lambda n: f"2 items, ${n:.2f}",
    "about so much": lambda n: f"about {n:.2f}",
    "dollar, full stop": lambda n: f"${n:.2f}.",
    "free": lambda _: "free",
    "dollars in words": lambda n: f"{in_words(int(n))} dollars",
    "with tax": lambda n: f"${n:.2f} (incl. tax)",
    "no-break blank": lambda n: f"$\u00a0{n:.2f}",
    "other": lambda n: n * 2 + 1,
}


def in_words(number: float) -> str:
    """The number in English words, to the hundred thousands."""
    whole = abs(int(number))
    if whole < 20:
        return _SMALL[whole]
    if whole < 100:
        return _TENS[whole // 10] + (f"-{_SMALL[whole % 10]}" if whole % 10 else "")
    size, name = (1000, "thousand") if whole >= 1000 else (100, "hundred")
    rest = f" and {in_words(whole % size)}" if whole % size else ""
    return f"{in_words(whole // size)} {name}{rest}"


def number_of(value: Any) -> float | None:
    """The number, if it is one."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
