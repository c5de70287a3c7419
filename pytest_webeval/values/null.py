"""Nothing, and the ways to write it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pytest_webeval.values.base import ParseContext, Value, parse_error

_WORDS = frozenset({"", "n/a", "na", "nan", "null", "none"})


@dataclass(frozen=True, slots=True)
class NullValue(Value):
    """The absence of a value. Zero and false are values."""

    type_name: ClassVar[str] = "null"

    @classmethod
    def canonical(cls, raw: object, context: ParseContext) -> None:
        """None, for null, an empty text, object or list, and words such as ``n/a``."""
        if raw is None or raw == {} or (raw == [] and context.alternatives):
            return
        if isinstance(raw, str) and "/".join(part.strip() for part in raw.lower().split("/")) in _WORDS:
            return
        raise parse_error(raw, "is not null; write it as null")
