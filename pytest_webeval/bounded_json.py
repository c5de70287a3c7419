"""JSON that a stranger wrote, read whole as Python reads it, unless it would fill the memory or the stack."""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import isfinite
from typing import Any

from pytest_webeval.errors import EvaluationError
from pytest_webeval.limits import Limits


def read_json(text: str, limits: Limits, what: str, *, as_sent: bool = False) -> Any:
    """The value in a text. Raises `ValueError` for what is no JSON, `EvaluationError` for one beyond the limits.

    `what` is what the message calls the text. Python's NaN and infinities are null where it is read `as_sent`: they are
    no JSON, and browsers send null for them.
    """
    if holds_more(text, limits.values):
        raise EvaluationError(f"{what} holds more values than {limits.values:,}; {limits.told('values')}")
    told = f"{what} nests deeper than {limits.nesting} levels; {limits.told('nesting')}"
    try:
        found = json.loads(text, **(_NULLS if as_sent else {}))
    except RecursionError:
        raise EvaluationError(told) from None
    if may_nest_deeper(text, limits.nesting) and nests_deeper(found, limits.nesting):
        raise EvaluationError(told)
    return found


def finite(digits: str) -> float | None:
    """The number that a text writes, None for one beyond all numbers such as 1e999."""
    number = float(digits)
    return number if isfinite(number) else None


_NULLS: dict[str, Any] = {"parse_constant": lambda _: None, "parse_float": finite}


def holds_more(text: str, values: int) -> bool:
    """Whether a text may hold so many members and items that as objects they take many times its room."""
    return len(text) > values and text.count(",") + text.count("[") + text.count("{") > values


def may_nest_deeper(text: str, levels: int) -> bool:
    """Whether there are brackets enough in a text."""
    return len(text) > levels and text.count("[") + text.count("{") > levels


def nests_deeper(value: Any, levels: int) -> bool:
    """Level by level, as the stack may not suffice for what a reader written in C went through."""
    level = [value]
    for _ in range(levels):
        level = [child for parent in level for child in _children(parent) if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def _children(parent: dict[str, Any] | list[Any]) -> Iterable[Any]:
    if isinstance(parent, dict):
        return parent.values()
    return parent if isinstance(parent, list) else ()
