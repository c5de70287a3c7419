"""Replies in JSON: the object in one, whose members are read one by one, or the form that it fills in.

Anything else is sent back to the model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from types import NoneType
from typing import Annotated, Any, Literal, NoReturn, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.methods.conclusions import check_length
from pytest_webeval.rubrics.payload import quote_value
from pytest_webeval.safety.json import format_validation_error, load_exact
from pytest_webeval.safety.text import escape_surrogates, shorten_repr

LONGEST_OBJECT = 400_000  # characters


def find_object(text: str) -> str:
    """The one JSON object of a reply, which a code block or a text without braces may surround. Raises `InvalidReply`.

    From the first brace to the last, the text must be that object. An object within a damaged one, or a second one,
    may be a quotation.
    """
    check_length(text, LONGEST_OBJECT)
    start, end = text.find("{"), text.rfind("}") + 1
    if not 0 <= start < end:
        raise InvalidReply("there is no JSON object in it; reply with one JSON object")
    return text[start:end]


def load_object(source: str) -> dict[str, Any]:
    """The object that a text is. Raises `InvalidReply`."""
    try:
        value, repeated = load_exact(source)
        json.loads(source, parse_constant=_refuse)
    except ValueError as error:
        raise InvalidReply(f"the reply is not one JSON object: {error}") from None
    if not isinstance(value, dict):
        raise InvalidReply(f"the reply is {shorten_repr(value)}; reply with one JSON object")
    if repeated:
        raise InvalidReply(f"the key {quote_value(repeated[0])} stands twice in one object; write each key once")
    fields: dict[str, Any] = escape_surrogates(value)
    return fields


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


Text = Annotated[str, Meta(min_length=1, max_length=20_000, pattern=r"\S")]
Note = Annotated[str, Meta(max_length=20_000)]  # may be empty
Label = Annotated[str, Meta(min_length=1, max_length=2_000, pattern=r"\S")]
Number = Annotated[float, Meta(ge=0, le=1_000_000)]
Index = Annotated[int, Meta(ge=0)]


class ReplyForm(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Base of the forms of replies. Its fields are those of the JSON object."""


Form = TypeVar("Form", bound=ReplyForm)


_PLAIN = {str: "string", float: "number", int: "integer", bool: "boolean", NoneType: "null"}


@cache
def build_plain_schema(kind: Any) -> dict[str, Any]:
    """The JSON Schema of a form, or of a member of one, without what limits texts and numbers."""
    if isinstance(kind, type) and issubclass(kind, ReplyForm):
        properties = {name: build_plain_schema(hint) for name, hint in get_type_hints(kind).items()}
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        return schema | {"additionalProperties": False}
    if get_origin(kind) is list:
        return {"type": "array", "items": build_plain_schema(*get_args(kind))}
    if get_origin(kind) is Literal:
        return {"type": "string", "enum": list(get_args(kind))}
    types = [_PLAIN[each] for each in get_args(kind) or (kind,)]
    return {"type": types if len(types) > 1 else types[0]}


@cache
def build_schema(form: type[ReplyForm]) -> Mapping[str, Any]:
    """The JSON Schema of a form, an object at its root."""
    (root,), components = msgspec.json.schema_components([form], ref_template="#/$defs/{name}")
    definitions = {
        name: {key: value for key, value in component.items() if key not in ("title", "description")}
        for name, component in components.items()
    }
    main = definitions.pop(root["$ref"].rpartition("/")[2])
    return main | {"$defs": definitions} if definitions else main


def parse_reply(text: str, form: type[Form]) -> Form:
    """The reply as its form has it. Raises `InvalidReply`.

    Nothing but the marks of a code block may surround it: an object within a text may be a quotation.
    """
    check_length(text, LONGEST_OBJECT)
    source = text.strip()
    if source.startswith("```") and source.endswith("```"):
        source = source.removesuffix("```").partition("\n")[2]
    return fill_in(form, source)


def fill_in(form: type[Form], source: str) -> Form:
    """A form with the members of an object. Raises `InvalidReply`."""
    try:
        return msgspec.convert(load_object(source), form)
    except msgspec.ValidationError as error:
        raise InvalidReply(format_validation_error(error)) from error


def check_indices(indices: Sequence[int], expected: Sequence[int]) -> None:
    """Raise `InvalidReply` unless a reply has the expected criteria, each once and in order."""
    if list(indices) != list(expected):
        raise InvalidReply(
            f"criterion_idx must be {', '.join(map(str, expected))}, each once and in this order;"
            f" the reply has {', '.join(map(str, indices[:100])) or 'no entries'}"
        )
