"""Lists that a text enumerates with commas, in any order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pytest_webeval.values.base import ParseContext, Value, parse_error
from pytest_webeval.values.text import to_text


@dataclass(frozen=True, slots=True)
class StringListValue(Value):
    """Texts in any order, each as often as it is named (spec §5.13)."""

    type_name: ClassVar[str] = "string_list"

    @classmethod
    def canonical(cls, raw: object, context: ParseContext) -> tuple[str, ...]:
        """The prepared texts between the commas, sorted."""
        parts = [part.strip() for part in to_text(raw, context).split(",")] if raw else []
        if not any(parts):
            raise parse_error(raw, "is an empty list; write it as a,b,c")
        return tuple(sorted(filter(None, parts)))

    def to_json(self) -> list[str]:
        """The first alternative as a list."""
        return list(self.alternatives[0])
