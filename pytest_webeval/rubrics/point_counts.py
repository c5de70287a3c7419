"""Numbers of points as a judge wrote them: exact, and of bounded size whatever exponent they come with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal

LARGEST = 10**9
FINEST = 30  # digits after the decimal point
_LONGEST_QUOTE = 80


def point_count(raw: object) -> Decimal | None:
    """The exact number, or None for what is no number of points. A negative one is a number, if an odd one."""
    if isinstance(raw, bool):  # JSON's true is a bool, which Python takes for a number
        return None
    if isinstance(raw, int):
        return Decimal(raw) if abs(raw) <= LARGEST else None
    number = Decimal(repr(raw)) if isinstance(raw, float) else raw
    if not isinstance(number, Decimal) or not number.is_finite():
        return None
    return number if _is_bounded(number) else None


def _is_bounded(number: Decimal) -> bool:
    """Whether writing it out takes few digits; 1e-999999999 must never become a fraction."""
    exponent = number.as_tuple().exponent
    return (
        isinstance(exponent, int) and exponent >= -FINEST and number.adjusted() < 10 and -LARGEST <= number <= LARGEST
    )


def verdict_bit(raw: object) -> bool | None:
    """True for 1 and true, False for 0 and false, None for all else."""
    if isinstance(raw, bool):
        return raw
    number = point_count(raw)
    return bool(number) if number in (0, 1) else None


def quoted(raw: object) -> str:
    """What a stranger wrote, in one short line of ASCII."""
    if isinstance(raw, str):
        return f"{json.dumps(raw[:_LONGEST_QUOTE]):.{_LONGEST_QUOTE}}"
    if isinstance(raw, Mapping):
        return "an object"
    if isinstance(raw, list | tuple):
        return f"a list of {len(raw)}"
    if isinstance(raw, int) and not isinstance(raw, bool):
        return str(raw) if abs(raw) <= LARGEST**2 else "a huge number"
    return f"{raw!s:.{_LONGEST_QUOTE}}" if isinstance(raw, Decimal) else json.dumps(raw, default=repr)
