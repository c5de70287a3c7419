"""Authorization codes of OAuth: an opaque `code` in a query, a form or JSON that also has `state` or `grant_type`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pytest_webeval.redaction.names import is_code
from pytest_webeval.redaction.names import is_next_to_code
from pytest_webeval.redaction.names import is_opaque

AUTHORIZATION_CODE = "authorization code"
_REACH = 2_000  # characters before and behind a code that are searched for the other parameter

_NAME = r"(?:state|grant[_-]?type)"
# The other parameter, named as in a form, JSON, an entry of a list, a part of a multipart form or XML.
_RELATED_PARAMETER = re.compile(
    rf"(?<![\w.-]){_NAME}(?:=|[\"']?\s{{0,8}}[:,]|\\{{1,8}}[\"']\s{{0,8}}[:,])"
    rf"|%(?:25){{0,2}}(?:2[2367]|3F){_NAME}%(?:25){{0,2}}(?:3D|3A|2[27])"
    rf"|name=\\{{0,8}}[\"']{_NAME}|<{_NAME}>",
    re.IGNORECASE,
)
# What a query, a form or an object does not go beyond.
_LINE, _BRACES = re.compile(r"[\s\"'<>]"), re.compile(r"[{}]")


def is_authorization_code(text: str, start: int, end: int) -> bool:
    """Whether the value of a `code` at this position of a text is an authorization code."""
    if not is_opaque(text[start:end]):
        return False
    before, behind = text[max(start - _REACH, 0) : start], text[end : end + _REACH]
    edge = _LINE if before.endswith(("=", "%3D", "%3d")) and not before.endswith("value=") else _BRACES
    if before.rstrip("\"'\\ \n[").endswith(('value":', "value':", 'value\\":', "value=")):
        edge = re.compile(r"[\[\]]")  # entries of a list
    parts = edge.split(before)[-1], edge.split(behind, maxsplit=1)[0]
    return any(_RELATED_PARAMETER.search(part) for part in parts)


def has_authorization_code(entries: Sequence[Any]) -> bool:
    """Whether entries with name and value, as recordings list those of queries and forms, may have one among them."""
    names = [entry["name"] for entry in entries if isinstance(entry, dict) and isinstance(entry.get("name"), str)]
    return any(map(is_code, names)) and any(map(is_next_to_code, names))
