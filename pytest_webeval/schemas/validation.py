"""What is wrong with a JSON value by a schema, in the messages of this package: what is wrong @ where."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice
from typing import Any

from msgspec import Struct

from pytest_webeval.safety.text import format_fields, name_first, pluralize, preview, truncate
from pytest_webeval.schemas.registry import load_schema

MOST_PROBLEMS = 1_000  # of one value; nobody reads more, and a file may have millions
_LONGEST_VALUE, _LONGEST_NAME, _LONGEST_PATH = 60, 40, 300
_NAMED = 5  # unknown fields in one message
_PLAIN_NAME = re.compile(r"[\w@^$-]+")
_KINDS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}


class Problem(Struct, frozen=True):
    """What is wrong, and the path of the value; the path of the document itself is empty."""

    text: str
    path: str = ""

    def __str__(self) -> str:
        return f"{self.text} @ {self.path}" if self.path else self.text


TOO_DEEP = Problem("it nests deeper than can be checked")


def find_problems(name: str, value: Any, most: int = MOST_PROBLEMS) -> list[Problem]:
    """The problems of a value by the schema of that name, each once, sorted by place; none for a valid value.

    Of more than `most` problems some are left out.
    """
    try:
        errors = sorted(islice(_build_validator(name).iter_errors(value), most), key=_sort_key)
        # Its own messages may quote a value of any length.
        problems = (Problem(MESSAGES[each.validator](each), format_path(each.absolute_path)) for each in errors)
        return list(dict.fromkeys(problems))
    except RecursionError:
        return [TOO_DEEP]


def _sort_key(error: Any) -> list[tuple[int, str]]:
    """The place: jsonschema takes some fields in the order of a set, which differs between processes."""
    return [(part, "") if isinstance(part, int) else (-1, part) for part in error.absolute_path]


@cache
def _build_validator(name: str) -> Any:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # imports much, for one command

    return Draft202012Validator(load_schema(name))


def format_path(parts: Iterable[str | int]) -> str:
    """The path of a value as messages have it: `task_results[4].run`."""
    path = "".join(map(_format_part, parts)).lstrip(".")
    return truncate(path, _LONGEST_PATH)


def _format_part(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if _PLAIN_NAME.fullmatch(part[:_LONGEST_PATH]) else f"[{preview(part, _LONGEST_NAME)}]"


def _quote(value: Any) -> str:
    if isinstance(value, dict | list):
        return _KINDS["object" if isinstance(value, dict) else "array"]
    return preview(value, _LONGEST_VALUE)


def _wrong_type(error: Any) -> str:
    kinds = [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
    *first, last = (_KINDS[kind] for kind in kinds)
    expected = f"{', '.join(first)} or {last}" if first else last
    return f"expected {expected}, got {_quote(error.instance)}"


def _no_alternative(error: Any) -> str:
    """Of alternatives each of which requires a field, or of usual values and other spellings of them."""
    values = error.validator_value[0].get("enum")
    if values is not None:
        return _not_allowed(error, values)
    names = [name for branch in error.validator_value for name in branch["required"]]
    return f"lacks each of {format_fields(names)}; one of them is required"


def _unknown(error: Any) -> str:
    known = error.schema.get("properties", {})
    names = [name for name in error.instance if name not in known]
    from difflib import get_close_matches  # few files have unknown fields

    nearest = dict.fromkeys(match for name in names[:_NAMED] for match in get_close_matches(name[:80], known, 1))
    hint = f"; did you mean {', '.join(map(repr, nearest))}?" if nearest else ""
    quoted = name_first((preview(name, _LONGEST_NAME) for name in names), _NAMED, _LONGEST_NAME, len(names))
    return f"unknown field{'s' if len(names) > 1 else ''} {quoted}{hint}"


def _not_allowed(error: Any, values: Iterable[Any]) -> str:
    return f"expected one of {', '.join(map(_quote, values))}, got {_quote(error.instance)}"


def _expecting(text: str) -> Callable[[Any], str]:
    """The message about a single value; `{}` in the text is what the schema has for it."""
    return lambda error: f"expected {text.format(_quote(error.validator_value))}, got {_quote(error.instance)}"


def _counting(text: str) -> Callable[[Any], str]:
    """The message about the length of a list."""
    return lambda error: f"expected {text} {pluralize(error.validator_value, 'item')}, got {len(error.instance)}"


# By the keyword of the schema that a value violates. A test names a schema that uses any other.
MESSAGES: dict[str, Callable[[Any], str]] = {
    "additionalProperties": _unknown,
    "anyOf": _no_alternative,
    "const": _expecting("{}"),
    "enum": lambda error: _not_allowed(error, error.validator_value),
    "maxItems": _counting("at most"),
    "maximum": _expecting("at most {}"),
    "minItems": _counting("at least"),
    "minLength": _expecting("a text"),
    "minimum": _expecting("at least {}"),
    "pattern": _expecting("a text that matches {}"),
    "required": lambda error: (
        f"lacks {format_fields([name for name in error.validator_value if name not in error.instance])}"
    ),
    "type": _wrong_type,
}
