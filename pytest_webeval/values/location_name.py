"""Names of places, which may be spelled a little differently."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from pytest_webeval.values.base import ParseContext, Value, check_length, parse_error
from pytest_webeval.values.text import normalize_text, to_text

LEAST_LIKENESS = 80
_OR = re.compile(r"\s(?:or|Or)\s")


class _Choice(str):
    """A text of an agent that leaves the choice between places, unless it is a name such as "Do or Die Cafe"."""

    __slots__ = ()


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
        name = text.lower().strip() if raw else ""
        return _Choice(name) if context.one_value and isinstance(raw, str) and _is_choice(raw, context) else name

    @staticmethod
    def is_same(expected: str, actual: str) -> bool:
        """Whether two names have their words in common, but for some letters (Q7).

        With `ParseContext.one_value` a name with "or" between places matches only a name that has this word itself.
        """
        return _is_alike(expected, actual) and not (isinstance(actual, _Choice) and _OR.search(expected) is None)

    def departures(self, context: ParseContext) -> Iterable[str]:
        """`one_value` where the text may name several places."""
        if context.one_value and any(isinstance(name, _Choice) for name in self.alternatives):
            yield "one_value"

    def to_json(self) -> str:
        """The first alternative."""
        return str(self.alternatives[0])


def _is_choice(raw: str, context: ParseContext) -> bool:
    """Whether "or" stands between names that are not alike. OR is a state."""
    names = [normalize_text(part, context) for part in _OR.split(raw)]
    names = [name for name in names if any(character.isalpha() for character in name)]
    return any(not _is_alike(names[0], name) for name in names[1:])


def _is_alike(expected: str, actual: str) -> bool:
    if not (expected and actual):
        return expected == actual
    from thefuzz.fuzz import token_sort_ratio  # type: ignore[import-untyped]  # few answers are places

    likeness: int = token_sort_ratio(expected, actual)  # in whole percent: 79.5 is 80
    return likeness >= LEAST_LIKENESS
