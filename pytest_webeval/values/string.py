"""Texts, and the patterns that a task author may write in their place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_webeval.errors import ValueParseError
from pytest_webeval.safety.regex import InvalidPattern, PatternTooBig, fullmatch
from pytest_webeval.values.base import ParseContext, Value, looks_like_pattern
from pytest_webeval.values.text import to_text

_PUNCTUATION = "'\"`.,;:!?"
_UNTRUSTED = ParseContext(patterns=False, alternatives=False)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A ``^…$`` text that stands for every text it matches as a whole, ignoring case."""

    text: str

    def __str__(self) -> str:
        return self.text

    def accepts(self, text: str) -> bool:
        """Whether a pattern matches the whole text. Raises `EvaluationError` for one that times out."""
        try:
            return fullmatch(self.text, text, re.IGNORECASE)
        except (InvalidPattern, PatternTooBig):
            return False


@dataclass(frozen=True, slots=True)
class StringValue(Value):
    """A text. Whatever is false, such as ``0`` or ``null``, is the empty text."""

    type_name: ClassVar[str] = "string"
    tolerance: ClassVar[str] = "case, accents and punctuation around it; an expected `^...$` is a regular expression"

    @classmethod
    def canonical(cls, raw: object, context: ParseContext) -> str | Pattern:
        """The prepared text, or the `Pattern` that the text is."""
        text = to_text(raw, context)
        if not raw:
            return ""
        if not isinstance(raw, str):
            return text.lower().strip()
        return Pattern(text) if context.patterns and looks_like_pattern(text) else text

    @staticmethod
    def is_same(expected: str | Pattern, actual: str | Pattern) -> bool:
        """Whether one text is the other, but for punctuation around it, or is accepted by the other as a pattern."""
        if expected == actual:
            return True
        if isinstance(expected, Pattern) or isinstance(actual, Pattern):
            return _accepts(expected, actual) or _accepts(actual, expected)
        return expected.strip(_PUNCTUATION) == actual.strip(_PUNCTUATION)

    def exact_key(self) -> tuple[Any, ...] | None:
        """The text without the punctuation around it; None for a pattern, and for several texts."""
        text = self.alternatives[0]
        return (text.strip(_PUNCTUATION),) if isinstance(text, str) and len(self.alternatives) == 1 else None


def find_equal(raw: object, names: Sequence[str]) -> str | None:
    """The name that an untrusted text equals as a string value does; None for any other text, and for other data."""
    if not isinstance(raw, str):
        return None
    try:
        value = StringValue.read(raw, _UNTRUSTED)
    except ValueParseError:
        return None
    return next((name for name in names if StringValue.read(name, _UNTRUSTED).matches(value)), None)


def _accepts(pattern: str | Pattern, text: str | Pattern) -> bool:
    return isinstance(pattern, Pattern) and pattern.accepts(str(text))
