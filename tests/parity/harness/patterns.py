"""Texts that a regular expression of a task definition accepts."""

from __future__ import annotations

import re
from re import _constants as opcodes
from re import _parser as parser
from typing import Any

FILLERS = ("x", "", "1", "x1")  # what "anything" becomes, first choice first
_CATEGORIES = {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "x", "CATEGORY_NOT_SPACE": "x"}


def is_pattern(text: Any) -> bool:
    """Whether the value is a text that the reference takes for a regular expression."""
    return isinstance(text, str) and len(text) > 1 and text.startswith("^") and text.endswith("$")


def accepted_text(pattern: str) -> str:
    """A short text that the pattern accepts. Raises `ValueError` for a pattern that none of our guesses fits."""
    accepted = accepted_texts(pattern)
    if not accepted:
        raise ValueError(f"no accepted text found for {pattern}")
    return accepted[0]


def accepted_texts(pattern: str) -> list[str]:
    """Different texts that the pattern accepts, the plainest first and the empty one last; only a few are tried."""
    tree = parser.parse(pattern)
    guesses = dict.fromkeys(_spelled(tree, filler, branch) for filler in FILLERS for branch in (0, -1))
    accepted = (text for text in guesses if re.fullmatch(pattern, text, re.IGNORECASE | re.DOTALL))
    return sorted(accepted, key=lambda text: not text)


def _spelled(tree: Any, filler: str, branch: int) -> str:
    """The tree as text. A last "anything" is left out, but not behind a slash, which URLs lose at their end."""
    nodes = [node for node in tree if node[0] is not opcodes.AT]
    if len(nodes) > 1 and _is_anything(nodes[-1]) and nodes[-1][1][0] == 0 and nodes[-2][0] is opcodes.LITERAL:
        nodes = nodes if nodes[-2][1] == ord("/") else nodes[:-1]
    return "".join(_spelled_node(node, filler, branch) for node in nodes)


def _spelled_node(node: Any, filler: str, branch: int) -> str:
    kind, value = node
    if kind in {opcodes.ANY, opcodes.NOT_LITERAL} or _is_anything(node):
        return filler
    if kind in {opcodes.MAX_REPEAT, opcodes.MIN_REPEAT}:
        return _spelled(value[2], filler, branch) * value[0]
    if kind in _INNER:
        return _spelled(_INNER[kind](value, branch), filler, branch)
    return _LEAVES[kind](value) if kind in _LEAVES else ""  # nothing for what must not follow


def _is_anything(node: Any) -> bool:
    """Whether it is a repeated dot."""
    return node[0] in {opcodes.MAX_REPEAT, opcodes.MIN_REPEAT} and list(node[1][2]) == [(opcodes.ANY, None)]


def _spelled_class(members: Any) -> str:
    kind, value = members[0]
    if kind is opcodes.NEGATE:
        return "x"
    if kind is opcodes.RANGE:
        return chr(value[0])
    return _CATEGORIES[str(value)] if kind is opcodes.CATEGORY else chr(value)


_LEAVES = {opcodes.LITERAL: chr, opcodes.IN: _spelled_class}
_INNER = {
    opcodes.BRANCH: lambda value, branch: value[1][branch],
    opcodes.SUBPATTERN: lambda value, _: value[-1],
    opcodes.ASSERT: lambda value, _: [node for node in value[1] if not _is_anything(node)],
}
