"""Replies in JSON: exactly one object, of bounded size, and of the form that was requested."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, NoReturn, TypeVar

import msgspec
from msgspec import Meta, Struct

from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.safety.json import format_validation_error, nests_deeper, parse_finite
from pytest_webeval.safety.text import escape_surrogates, shorten_repr

LONGEST_REPLY = 400_000  # characters
_DEEPEST = 20
_MOST_DIGITS = 15

Text = Annotated[str, Meta(min_length=1, max_length=20_000, pattern=r"\S")]
Note = Annotated[str, Meta(max_length=20_000)]  # may be empty
Label = Annotated[str, Meta(min_length=1, max_length=2_000, pattern=r"\S")]
Number = Annotated[float, Meta(ge=0, le=1_000_000)]
Index = Annotated[int, Meta(ge=0)]


class ReplyForm(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Base of the forms of replies. Its fields are those of the JSON object."""


Form = TypeVar("Form", bound=ReplyForm)


@cache
def build_schema(form: type[ReplyForm]) -> Mapping[str, Any]:
    """The JSON Schema of a form, an object at its root."""
    (root,), components = msgspec.json.schema_components([form], ref_template="#/$defs/{name}")
    definitions = {name: _without_docs(component) for name, component in components.items()}
    main = definitions.pop(root["$ref"].rpartition("/")[2])
    return main | {"$defs": definitions} if definitions else main


def _without_docs(component: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in component.items() if key not in ("title", "description")}


def parse_reply(text: str, form: type[Form]) -> Form:
    """The reply as its form has it. Raises `InvalidReply`."""
    try:
        reply: Form = msgspec.convert(parse_object(text), form)
    except msgspec.ValidationError as error:
        raise InvalidReply(format_validation_error(error)) from error
    return reply


def parse_object(text: str) -> dict[str, Any]:
    """The one JSON object that a reply is, without the marks of a Markdown code block. Raises `InvalidReply`."""
    if len(text) > LONGEST_REPLY:
        raise InvalidReply(f"the reply has {len(text):,} characters; use at most {LONGEST_REPLY:,}")
    try:
        value = json.loads(
            _strip_code_block(text),
            object_pairs_hook=_build_object,
            parse_int=_parse_integer,
            parse_float=_parse_number,
            parse_constant=_refuse_constant,
        )
    except RecursionError as error:
        raise InvalidReply("the JSON nests too deep") from error
    except json.JSONDecodeError as error:
        raise InvalidReply(f"the reply is not one JSON object: {error}") from error
    if not isinstance(value, dict):
        raise InvalidReply(f"the reply is {shorten_repr(value)}; reply with one JSON object")
    if nests_deeper(value, _DEEPEST):
        raise InvalidReply("the JSON nests too deep")
    tree: dict[str, Any] = escape_surrogates(value)
    return tree


def check_indices(indices: Sequence[int], expected: Sequence[int]) -> None:
    """Raise `InvalidReply` unless a reply has the expected criteria, each once and in order."""
    if list(indices) != list(expected):
        raise InvalidReply(
            f"criterion_idx must be {', '.join(map(str, expected))}, each once and in this order;"
            f" the reply has {', '.join(map(str, indices[:100])) or 'no entries'}"
        )


def _strip_code_block(text: str) -> str:
    stripped = text.strip()
    if not (stripped.startswith("```") and stripped.endswith("```")):
        return stripped
    return stripped.removesuffix("```").partition("\n")[2]


def _build_object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise InvalidReply("an object has a duplicate key; write each key once")
    return members


def _parse_integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise InvalidReply(f"the number {digits[:40]} is out of range")
    return int(digits)


def _parse_number(digits: str) -> float:
    number = parse_finite(digits)
    if number is None:
        raise InvalidReply(f"the number {digits[:40]} is out of range")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidReply(f"invalid number {name}; JSON has no such value")
