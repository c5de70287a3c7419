"""Replies in JSON: the object in one, whose members are read one by one, or the form that it fills in.

Anything else is sent back to the model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, NoReturn, TypeVar

import msgspec
from msgspec import Meta, Struct

from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.methods.conclusions import check_length
from pytest_webeval.rubrics.payload import point_count, quote_value
from pytest_webeval.safety.json import format_validation_error, load_exact, nests_deeper, parse_finite
from pytest_webeval.safety.text import escape_surrogates, shorten_repr

Value = TypeVar("Value")
LONGEST_FORM = 400_000  # characters of a reply that fills in a form
MOST_DECIMALS = 4  # of points, so that sums stay exact in every JSON reader
_DEEPEST = 20
_MOST_DIGITS = 15


def parse_json_object(text: str) -> ReplyObject:
    """The one JSON object of a reply, which a code block or a text without braces may surround.

    From the first brace to the last, the text must be that object. An object within a damaged one, or a second one,
    may be a quotation. Raises `InvalidReply`.
    """
    check_length(text)
    start, end = text.find("{"), text.rfind("}") + 1
    if not 0 <= start < end:
        raise InvalidReply("there is no JSON object in it; reply with one JSON object")
    source = text[start:end]
    try:
        fields, repeated = load_exact(source)
        json.loads(source, parse_constant=_refuse_constant)
    except ValueError as error:
        raise InvalidReply(f"it is not one JSON object: {error}; reply with one JSON object and nothing else") from None
    if repeated:
        raise InvalidReply(f"the key {quote_value(repeated[0])} stands twice in one object; write each key once")
    return ReplyObject(escape_surrogates(fields), source=source)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


class ReplyObject(Struct, frozen=True):
    """An object of a reply. Its methods raise `InvalidReply`, which says what the model has to write instead.

    `place` says where it stands, `source` is its text in the reply if it is the outermost one.
    """

    fields: Mapping[str, Any]
    place: str = ""
    source: str = ""

    def text(self, key: str, *, may_be_empty: bool = False) -> str:
        """A text, which may be empty only where that has a meaning."""
        expected = "a text" if may_be_empty else "a text that is not empty"
        text = self._read(key, str, expected)
        if not (text.strip() or may_be_empty):
            raise self._error(key, text, expected)
        return text

    def text_or_null(self, key: str) -> str | None:
        return None if self._read(key, object) is None else self.text(key)

    def flag(self, key: str) -> bool:
        return self._read(key, bool, "true or false")

    def flag_or_null(self, key: str) -> bool | None:
        return None if self._read(key, object) is None else self._read(key, bool, "true, false or null")

    def points(self, key: str, most: Decimal) -> Decimal:
        """A number from 0 to `most`, exactly."""
        raw = self._read(key, object)
        number = point_count(raw)
        if number is None or not 0 <= number <= most or round(number, MOST_DECIMALS) != number:
            raise self._error(key, raw, f"a number from 0 to {most} with at most {MOST_DECIMALS} decimals")
        return number

    def choice(self, key: str, words: Mapping[str, Value]) -> Value:
        """What one of some words stands for."""
        expected = f"one of {', '.join(map(quote_value, words))}"
        word = self._read(key, str, expected)
        if word not in words:
            raise self._error(key, word, expected)
        return words[word]

    def objects(self, key: str, most: int) -> list[ReplyObject]:
        """A list of 1 to `most` objects."""
        raw = self._read(key, object)
        if not isinstance(raw, list) or not 1 <= len(raw) <= most:
            raise self._error(key, raw, f"a list of 1 to {most} objects")
        for index, item in enumerate(raw):
            if not isinstance(item, dict):
                raise self._error(f"{key}[{index}]", item, "an object")
        return [ReplyObject(item, f"{self.place}{key}[{index}].") for index, item in enumerate(raw)]

    def _read(self, key: str, kind: type[Value], expected: str = "") -> Value:
        if key not in self.fields:
            raise InvalidReply(f"the key {self.place}{key} is missing; add it")
        raw = self.fields[key]
        if not isinstance(raw, kind):
            raise self._error(key, raw, expected)
        return raw

    def _error(self, key: str, raw: object, expected: str) -> InvalidReply:
        return InvalidReply(f"invalid {self.place}{key} {quote_value(raw)}; use {expected}")


def build_object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of an object with exactly these members, in the order in which the model writes them."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


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
    definitions = {
        name: {key: value for key, value in component.items() if key not in ("title", "description")}
        for name, component in components.items()
    }
    main = definitions.pop(root["$ref"].rpartition("/")[2])
    return main | {"$defs": definitions} if definitions else main


def parse_reply(text: str, form: type[Form]) -> Form:
    """The reply as its form has it. Raises `InvalidReply`."""
    try:
        reply: Form = msgspec.convert(parse_object(text), form)
    except msgspec.ValidationError as error:
        raise InvalidReply(format_validation_error(error)) from error
    return reply


def parse_object(text: str) -> dict[str, Any]:
    """The one JSON object that a reply is, without the marks of a Markdown code block. Raises `InvalidReply`."""
    if len(text) > LONGEST_FORM:
        raise InvalidReply(f"the reply has {len(text):,} characters; use at most {LONGEST_FORM:,}")
    source = text.strip()
    if source.startswith("```") and source.endswith("```"):
        source = source.removesuffix("```").partition("\n")[2]
    try:
        value = json.loads(
            source,
            object_pairs_hook=_build_object,
            parse_int=_parse_integer,
            parse_float=_parse_number,
            parse_constant=_refuse_number,
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


def _refuse_number(name: str) -> NoReturn:
    raise InvalidReply(f"invalid number {name}; JSON has no such value")
