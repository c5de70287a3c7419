"""JSON that a stranger wrote, read with exact numbers and within bounds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

MAX_DEPTH = 100  # whoever walks such a value may do so recursively
MAX_DIGITS = 400  # more than any double has
MAX_EXPONENT = 4  # characters, sign included: an exponent costs nothing to write and everything to expand


def read_exact(text: str) -> tuple[Any, tuple[str, ...]]:
    """The value in a text, and keys that stand twice in one object, of which the last counts. Raises `ValueError`.

    Numbers with a point or exponent are `Decimal`. NaN and infinities, which Python writes though JSON has none, are
    their names, so that nobody takes them for numbers.
    """
    repeated: list[str] = []

    def joined(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            repeated.extend(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        return found

    try:
        found = json.loads(
            text.removeprefix("\ufeff"),
            parse_float=lambda number: Decimal(_bounded(number)),
            parse_int=lambda number: int(_bounded(number)),
            parse_constant=str,
            object_pairs_hook=joined,
        )
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    if not _is_shallow(found):
        raise ValueError(_TOO_DEEP)
    return found, tuple(repeated)


_TOO_DEEP = f"it is nested more than {MAX_DEPTH} deep"


def _bounded(number: str) -> str:
    exponent = number.lower().partition("e")[2]
    if len(number) > MAX_DIGITS or len(exponent) > MAX_EXPONENT:
        raise ValueError(f"no judge gives the number {number:.40}")
    return number


def _is_shallow(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _children(outer)]
        if not level:
            return True
    return False


def _children(value: Any) -> Sequence[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else ()
