"""The beginning of a body as a report shows it: fields of a form, JSON as a tree, or text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct, field

from pytest_webeval.errors import EvaluationError
from pytest_webeval.recordings.network.bodies import Body
from pytest_webeval.recordings.network.form_fields import list_fields
from pytest_webeval.redaction.json import is_plain_text
from pytest_webeval.safety.json import load_bounded, may_nest_deeper
from pytest_webeval.safety.limits import Limits
from pytest_webeval.safety.text import ELLIPSIS, truncate

LONGEST_BODY = 20_000  # characters of a body, as of all lengths here
LONGEST_VALUE = 2_000
MARGIN = 1_000  # of a longer body that are redacted and not shown: secrets are known by what stands around them
_LONGEST_TYPE = 100
_LONGEST_FORM = 200_000  # of a longer form only the beginning is read
# What is searched as it was meant, not as it was escaped, and numbers that a page may take for infinite.
_UNUSUAL = re.compile(r"\\|\d{200}|[eE][+-]?\d{2}")
_OVERHEAD = 20  # of a name with its value in JSON
_TEXT_TYPES = ("text/", "json", "xml", "javascript", "x-www-form-urlencoded", "multipart/form-data")
_LIMITS = Limits(values=10_000, nesting=50)
FIELDS, JSON, TEXT, BINARY, UNREADABLE = "fields", "json", "text", "binary", "unreadable"


class Room(Struct):
    """How many characters an event may still take, and each of its bodies.

    `is_strict` says that any name in JSON may be that of a secret.
    """

    left: int
    longest_body: int = LONGEST_BODY
    is_strict: bool = False

    def cut(self, text: str, longest: int) -> str:
        """The beginning of a text that there is room for."""
        limit = min(longest, max(self.left, 0))
        if len(text) > limit:
            text = truncate(text, limit, is_marker_extra=True)
        self.left -= len(text) + _OVERHEAD
        return text


def describe_body(read: Callable[[], Body | None], name: str, room: Room) -> dict[str, Any] | None:
    """The beginning of a body below a name that the redaction knows; None without a body.

    `form` says how it is shown: `fields`, `json` and `text`; `binary` and `unreadable` are not. JSON is a tree, or the
    text itself where that has no marks of secrets: then the page reads it. A long text has `MARGIN` more characters
    than are shown: `trim_body` removes them after the redaction.
    """
    try:
        body = read()
        if body is None:
            return None
        is_text = not body.mime or any(text_type in body.mime.lower() for text_type in _TEXT_TYPES)
        text = body.read_uncounted() if is_text else ""
    except EvaluationError:
        return {"form": UNREADABLE}
    described = {"type": room.cut(body.mime, _LONGEST_TYPE)}
    if not is_text:
        return described | {"form": BINARY}
    mime = body.mime if "boundary" in body.mime else body.mime.lower()  # a boundary has its own case
    return described | {"length": len(text)} | _describe_text(Body(mime, text), name, room) if text else None


def _describe_text(body: Body, name: str, room: Room) -> dict[str, Any]:
    if fields := list_fields(Body(body.mime, body.text[:_LONGEST_FORM])):
        return {"form": FIELDS, name: list_pairs(fields, room)}
    longest = min(room.longest_body, max(room.left, 0))
    is_cut = len(body.text) > longest
    room.left -= min(len(body.text), longest)
    if "json" in body.mime and not is_cut:
        if not room.is_strict and _is_plain_json(body.text):
            return {"form": JSON, name: body.text}
        with suppress(ValueError, EvaluationError):
            tree = load_bounded(body.text, _LIMITS, "a body", as_sent=True)
            if isinstance(tree, dict | list):
                return {"form": JSON, name: tree}
    cut = {"cut": True} if is_cut else {}
    return {"form": TEXT, name: {"text": body.text[: longest + MARGIN] if is_cut else body.text}} | cut


def list_pairs(pairs: Sequence[tuple[str, str]], room: Room) -> list[dict[str, str]]:
    """The first names and values that there is room for, and how many more there are."""
    listed: list[dict[str, str]] = []
    for name, value in pairs:
        if room.left <= 0:
            break
        listed.append({"name": room.cut(name, LONGEST_VALUE), "value": room.cut(value, LONGEST_VALUE)})
    omitted = len(pairs) - len(listed)
    return [*listed, {"name": f"{ELLIPSIS} and {omitted:,} more", "value": ""}] if omitted else listed


def _is_plain_json(text: str) -> bool:
    """Whether JSON stays a text: an object or a list that does not nest deep, without escapes or marks of secrets."""
    is_tree = text.lstrip()[:1] in ("{", "[") and not may_nest_deeper(text, _LIMITS.nesting)
    if not is_tree or _UNUSUAL.search(text) or not is_plain_text(text):
        return False
    return _is_json(text)


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text.encode(), type=msgspec.Raw)
    except (ValueError, RecursionError):
        return False
    return True


class HeaderPool(Struct, frozen=True):
    """Headers of the requests of one task, each once: most requests have most of them in common."""

    entries: list[dict[str, str]] = field(default_factory=list)
    _indices: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, pairs: Sequence[tuple[str, str]], room: Room) -> list[int]:
        """The positions in the pool of those that there is room for; a last entry says how many were left out."""
        indices = []
        for entry in list_pairs(pairs, room):
            index = self._indices.setdefault((entry["name"], entry["value"]), len(self.entries))
            if index == len(self.entries):
                self.entries.append(entry)
            indices.append(index)
        return indices


def trim_body(body: Mapping[str, Any] | None, name: str) -> dict[str, Any] | None:
    """The same body after the redaction, without the margin. JSON that a replacement made invalid is a text."""
    if body is None:
        return None
    if body.get("form") == JSON and isinstance(body[name], str) and not _is_json(body[name]):
        return {**body, "form": TEXT, name: {"text": body[name]}}
    if not body.get("cut"):
        return dict(body)
    text = body[name]["text"]
    return {**body, name: {"text": text if len(text) <= MARGIN else f"{text[:-MARGIN]}{ELLIPSIS}"}}
