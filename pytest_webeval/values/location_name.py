"""Names of places, which may be spelled a little differently."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from typing import ClassVar

from pytest_webeval.values.base import Value
from pytest_webeval.values.base import check_length
from pytest_webeval.values.base import check_single
from pytest_webeval.values.base import parse_error
from pytest_webeval.values.text import normalize_text
from pytest_webeval.values.text import to_text

if TYPE_CHECKING:
    from pytest_webeval.values.base import ParseContext


LEAST_LIKENESS = 80
_OR = re.compile(r"\s(?:or|Or)\s")


@dataclass(frozen=True, slots=True)
class LocationNameValue(Value):
    """The name of a place. Whatever is false but null, such as ``0``, is the empty name."""

    type_name: ClassVar[str] = "location-name"
    tolerance: ClassVar[str] = f"names whose sorted words are {LEAST_LIKENESS}% alike"

    @classmethod
    def canonical(cls, raw: object, context: ParseContext) -> str:
        """The prepared text; a pattern is no more than a text."""
        if raw is None:
            raise parse_error(raw, "is not the name of a place; write it as a string")
        text = to_text(raw, context)
        check_length(text, "name of a place")
        if context.one_value and isinstance(raw, str):
            check_single(raw, _list_places(raw, context), "places")
        return text.lower().strip() if raw else ""

    def matches(self, actual: Value) -> bool:
        """Whether any two of the alternatives have their words in common, but for some letters (Q7)."""
        return isinstance(actual, LocationNameValue) and any(
            _is_alike(expected, candidate) for expected in self.alternatives for candidate in actual.alternatives
        )


def _list_places(raw: str, context: ParseContext) -> list[str]:
    """The names between which a text leaves the choice, but for those that are alike. OR is a state."""
    names = [normalize_text(part, context) for part in _OR.split(raw)]
    names = [name for name in names if any(character.isalpha() for character in name)]
    return names if any(not _is_alike(names[0], name) for name in names[1:]) else []


def _is_alike(expected: str, actual: str) -> bool:
    if not (expected and actual):
        return expected == actual
    from thefuzz.fuzz import token_sort_ratio  # type: ignore[import-untyped]  # few answers are places

    likeness: int = token_sort_ratio(expected, actual)  # in whole percent: 79.5 is 80
    return likeness >= LEAST_LIKENESS
