"""Yes or no."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pytest_webeval.values.base import ParseContext, Value, parse_error
from pytest_webeval.values.text import normalize_text

_WORDS = {
    **dict.fromkeys(("true", "yes", "y", "1", "t", "on"), True),
    **dict.fromkeys(("false", "no", "n", "0", "f", "off"), False),
}


@dataclass(frozen=True, slots=True)
class BooleanValue(Value):
    """A truth value, which a number and a few words may stand for."""

    type_name: ClassVar[str] = "boolean"

    @classmethod
    def canonical(cls, raw: object, context: ParseContext) -> bool:
        """The truth value; any number but zero is true."""
        if isinstance(raw, bool | int | float):
            return bool(raw)
        truth = _WORDS.get(normalize_text(raw, context)) if isinstance(raw, str) else None
        if truth is None:
            raise parse_error(raw, "is not a boolean; write it as true or false")
        return truth
