"""Nothing, and the ways to write it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pytest_webeval.values.base import Value, parse_error

if TYPE_CHECKING:
    from pytest_webeval.values.base import ParseContext


_WORDS = frozenset({"", "n/a", "na", "nan", "null", "none"})


@dataclass(frozen=True, slots=True)
class NullValue(Value):
    """The absence of a value. Zero and false are values."""

    type_name: ClassVar[str] = "null"

    @classmethod
    def canonical(cls, raw: object, context: ParseContext) -> None:
        """None, for null, an empty text, object or list, and words such as ``n/a``."""
        if raw is None or raw == {} or (isinstance(raw, str) and _normalize_word(raw) in _WORDS):
            return
        if raw == [] and context.alternatives:
            return
        raise parse_error(raw, "is not null; write it as null")


def _normalize_word(text: str) -> str:
    return "/".join(part.strip() for part in text.lower().split("/"))
