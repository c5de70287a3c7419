"""Markdown, which two authors indent, bullet and break differently."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from pytest_webeval.values.base import ParseContext, Value, parse_error

_BLANK_LINES = re.compile(r"\n{3,}")
_HEADING = re.compile(r"^([^\S\n]*#{1,6})[ \t]+", re.MULTILINE)
_BULLET = re.compile(r"^([^\S\n]*)[*+][ \t]+", re.MULTILINE)
_INDENTED_BULLET = re.compile(r"^[ \t]+-", re.MULTILINE)

# Each also takes what is never closed, to the end, so that no later bracket has to search for its end again.
_BRACKETS = re.compile(r"\[([^\]]+)(\]?)")
_PARENTHESES = re.compile(r"\(([^)]+)(\)?)")


@dataclass(frozen=True, slots=True)
class MarkdownValue(Value):
    """A text in Markdown. Case, accents and site addresses stay as they are (spec §5.13, Q18)."""

    type_name: ClassVar[str] = "markdown"

    @classmethod
    def canonical(cls, raw: object, context: ParseContext) -> str:  # noqa: ARG003  every type is read the same way
        """The text with its line breaks, blanks, headings, bullets and links written one way."""
        if not isinstance(raw, str) or not raw.strip():
            raise parse_error(raw, "is not Markdown; write it as a string")
        text = raw.strip().replace("\r\n", "\n").replace("\r", "\n")
        text = "\n".join(line.rstrip(" \t") for line in text.split("\n"))
        text = _BLANK_LINES.sub("\n\n", text)
        text = _HEADING.sub(r"\1 ", text)
        text = _INDENTED_BULLET.sub("  -", _BULLET.sub(r"\1- ", text))
        text = _BRACKETS.sub(lambda match: f"[{' '.join(match[1].split())}]" if match[2] else match[0], text)
        return _PARENTHESES.sub(lambda match: f"({match[1].strip() or match[1][-1]})" if match[2] else match[0], text)
