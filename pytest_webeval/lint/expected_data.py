"""Each expected datum of a task with its place and its type: what most checks go through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import WebEvalError
from pytest_webeval.evaluators.network.event_matcher import URL_HEADERS
from pytest_webeval.lint.definition import Definition, RequestCheck
from pytest_webeval.lint.findings import Steps
from pytest_webeval.values import VALUE_TYPES, value_type
from pytest_webeval.values.base import ParseContext, Value

ANSWER, POST, QUERY, HEADER, COOKIE, CONTENT = "answer", "post", "query", "header", "cookie", "content"
NO_ALTERNATIVES = ("coordinates",)  # a list of two is one point


class Datum(Struct, frozen=True):
    """One expected value. `role` says where it is expected, `type_name` how it is compared: empty for exactly."""

    steps: Steps
    raw: Any
    role: str
    type_name: str = "string"

    def read(self, context: ParseContext) -> Value | None:
        """The value, None where it has no type or is invalid."""
        return read_value(self.type_name, self.raw, context)

    @property
    def single(self) -> list[Datum]:
        """The alternatives as data of their own; of any other datum, the datum."""
        if not isinstance(self.raw, list) or self.type_name in NO_ALTERNATIVES or self.role == CONTENT:
            return [self]
        return [Datum((*self.steps, index), raw, self.role, self.type_name) for index, raw in enumerate(self.raw)]


def read_value(type_name: str, raw: Any, context: ParseContext) -> Value | None:
    """A datum as a type reads it, None where it cannot."""
    kind = value_type(type_name)
    try:
        return None if kind is None or raw is None else kind.read(raw, context)
    except WebEvalError:
        return None


def find_type(schema: object) -> str:
    """The type that a part of a schema names; a string where it names none, or none that exists."""
    kind = (schema.get("format") or schema.get("type") or "string") if isinstance(schema, dict) else "string"
    return kind if isinstance(kind, str) and kind in VALUE_TYPES else "string"


def list_data(definition: Definition) -> Iterator[Datum]:
    """All expected data: lists of alternatives are one datum, members of objects and arrays are one each."""
    for answer in definition.answers:
        items, steps = answer.config.expected.retrieved_data or [], (*answer.steps, "expected", "retrieved_data")
        for index, item in enumerate(items):
            yield from _list_typed((*steps, index), item, ANSWER, answer.item_schema)
    for request in definition.requests:
        yield from _list_of_request(request)


def list_singles(definition: Definition) -> Iterator[Datum]:
    """The same with each alternative as a datum of its own."""
    return (single for datum in list_data(definition) for single in datum.single)


def _list_of_request(request: RequestCheck) -> Iterator[Datum]:
    event, steps = request.config.expected, (*request.steps, "expected")
    types = list_properties(request.config.post_data_schema)
    for name, raw in (event.post_data or {}).items():
        yield from _list_typed((*steps, "post_data", name), raw, POST, types.get(name))
    types = list_properties(request.config.query_params_schema)
    for name, values in (event.query_params or {}).items():
        kind = find_type(types[name].get("items")) if isinstance(types.get(name), dict) else "string"
        for index, raw in enumerate(values if isinstance(values, list) else []):
            yield Datum((*steps, "query_params", name, index), raw, QUERY, kind)
    for name, raw in (event.headers or {}).items():
        if name not in URL_HEADERS:
            yield Datum((*steps, "headers", name), raw, HEADER)
    for name, raw in (event.response_cookies or {}).items():
        yield Datum((*steps, "response_cookies", name), raw, COOKIE)
    for name, raw in (event.response_content or {}).items():
        yield Datum((*steps, "response_content", name), raw, CONTENT, "")


def list_properties(schema: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The types that a schema names, by their names."""
    properties = (schema or {}).get("properties")
    return properties if isinstance(properties, dict) else {}


def _list_typed(steps: Steps, raw: Any, role: str, schema: Any) -> Iterator[Datum]:
    """A datum, or those that a schema makes of it, as `ValueParser` does."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind == "object" and isinstance(raw, dict):
        types = list_properties(schema)
        for name, member in raw.items():
            yield from _list_typed((*steps, name), member, role, types.get(name))
    elif kind == "object" and isinstance(raw, list):
        for index, alternative in enumerate(raw):
            yield from _list_typed((*steps, index), alternative, role, schema)
    elif kind == "array" and isinstance(raw, list):
        for index, item in enumerate(raw):
            yield from _list_typed((*steps, index), item, role, schema.get("items"))
    else:
        yield Datum(steps, raw, role, find_type(schema))
