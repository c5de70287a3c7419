"""Texts that a site keeps in base64, such as the contents of a file."""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import dataclass
from typing import ClassVar

from pytest_webeval.safety.regex import InvalidPattern, PatternTooBig, fullmatch
from pytest_webeval.values.base import ParseContext, Value, looks_like_pattern, parse_error
from pytest_webeval.values.string import Pattern


@dataclass(frozen=True, slots=True)
class ContentPattern(Pattern):
    """A ``^…$`` text that stands for every content that it matches as a whole, and for itself if it was encoded."""

    encoded: bool = False

    def accepts(self, text: str) -> bool:
        """Whether all of a content matches; case counts, and a dot is any character."""
        if self.encoded and text == self.text:
            return True
        try:
            return fullmatch(self.text, text, re.DOTALL)
        except (InvalidPattern, PatternTooBig):
            return False


@dataclass(frozen=True, slots=True)
class Base64Value(Value):
    """What a base64 text holds, character by character (spec §5.13)."""

    type_name: ClassVar[str] = "base64"
    tolerance: ClassVar[str] = "an expected `^...$` is a regular expression of the content"

    @classmethod
    def canonical(cls, raw: object, context: ParseContext) -> str | ContentPattern:
        """The content with its line breaks written one way, or the pattern that a task writes for it."""
        if not isinstance(raw, str) or not raw.strip():
            raise parse_error(raw, "is not base64; write it as a padded string")
        if context.patterns and looks_like_pattern(raw.strip()):
            return ContentPattern(raw.strip())
        try:
            content = b64decode(raw.strip(), validate=True).decode().replace("\r\n", "\n").replace("\r", "\n").strip()
        except ValueError as error:
            raise parse_error(raw, "is not base64 of UTF-8; write it in the standard alphabet, padded") from error
        return ContentPattern(content, encoded=True) if context.patterns and looks_like_pattern(content) else content

    @staticmethod
    def is_same(expected: str | ContentPattern, actual: str | ContentPattern) -> bool:
        """Whether one content is the other, or is accepted by the other as a pattern."""
        written_the_same = type(expected) is type(actual) and str(expected) == str(actual)
        return written_the_same or _accepts(expected, actual) or _accepts(actual, expected)


def _accepts(pattern: str | ContentPattern, content: str | ContentPattern) -> bool:
    return isinstance(pattern, ContentPattern) and pattern.accepts(str(content))
