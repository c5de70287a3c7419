"""Schemas that name no type, name one that is not used, or do not fit the data beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_webeval.lint.definition import Definition
from pytest_webeval.lint.findings import Problem, Severity, Steps
from pytest_webeval.lint.keys import RESTRICTIVE, find_nearest, list_schemas
from pytest_webeval.values import VALUE_TYPES

MISSPELT = 0.85
CONTAINERS = ("array", "object")
# What JSON has for a type, and the value types that refuse it or read something else.
TEXTUAL = ("date", "duration", "distance", "url", "markdown", "json", "base64", "location-name", "full_address")
CONFLICTS: Mapping[str, tuple[str, ...]] = {
    "number": (*TEXTUAL, "boolean", "coordinates", "null"),
    "integer": (*TEXTUAL, "boolean", "coordinates", "null"),
    "boolean": tuple(name for name in VALUE_TYPES if name != "boolean"),
    "null": tuple(name for name in VALUE_TYPES if name != "null"),
}


def check_types(definition: Definition) -> Iterator[Problem]:
    """Types that do not exist. In a posted field or an object such a datum would be compared as a string."""
    for steps, schema in list_schemas(definition.fields):
        if not isinstance(schema, dict):
            yield Problem(steps, f'invalid schema {schema!r:.80}; use an object such as {{"type": "string"}}')
            continue
        for key, names in (("type", (*VALUE_TYPES, *CONTAINERS)), ("format", tuple(VALUE_TYPES))):
            kind = schema.get(key)
            if kind is not None and not (isinstance(kind, str) and kind in names):
                text = f"unknown {key} {kind!r:.80}; use {_suggest_type(kind, names)}"
                if _is_refused(steps) or (isinstance(kind, str) and find_nearest(kind, names, MISSPELT)):
                    yield Problem((*steps, key), text)
                else:
                    text = (
                        f"unknown {key} {kind!r:.80}: values are compared as strings; use {_suggest_type(kind, names)}"
                    )
                    yield Problem((*steps, key), text, is_fatal=False, severity=Severity.HINT)


def _is_refused(steps: Steps) -> bool:
    """Whether the evaluators refuse an unknown type at this place of a schema: in the answer and in items."""
    return steps[-1] == "items" or steps[2:] == ("results_schema",)


def _suggest_type(kind: object, names: tuple[str, ...]) -> str:
    nearest = find_nearest(kind, names) if isinstance(kind, str) else None
    return nearest or f"one of {', '.join(names)}"


def check_containers(definition: Definition) -> Iterator[Problem]:
    """Arrays without items, and items or properties without the type that makes them count."""
    for steps, schema in list_schemas(definition.raw):
        if not isinstance(schema, dict):
            continue
        kind, is_root = schema.get("type"), len(steps) == 3
        if kind == "array" and not schema.get("items"):
            yield Problem(
                steps, "an array without items: its data are compared as strings; write the type of its items"
            )
        if schema.get("items") and kind != "array" and not (is_root and kind is None):
            yield Problem((*steps, "items"), 'items count only with the type array; write "type": "array"')
        if schema.get("properties") and kind != "object" and not is_root:
            yield Problem((*steps, "properties"), 'properties count only with the type object; write "type": "object"')
        if is_root and steps[-1] == "results_schema" and kind not in ("array", "null", None):
            yield Problem(
                (*steps, "type"), f"the answer of a task is a list, not {kind!r:.80}; use array, or null for no data"
            )


def check_formats(definition: Definition) -> Iterator[Problem]:
    """Formats that contradict the type; the format wins."""
    for steps, schema in list_schemas(definition.fields):
        if not isinstance(schema, dict):
            continue
        kind, name = schema.get("type"), schema.get("format")
        if name and kind in CONTAINERS:
            yield Problem(
                (*steps, "format"), f"the format of an {kind} is not used; write it at the items or a property"
            )
        elif isinstance(kind, str) and name in CONFLICTS.get(kind, ()):
            text = f"the format {name} contradicts the type {kind}, and the format wins; keep one of them"
            yield Problem((*steps, "format"), text)


def check_keywords(definition: Definition) -> Iterator[Problem]:
    """Keywords of JSON Schema that restrict a datum: nothing checks them."""
    for steps, schema in list_schemas(definition.fields):
        for name in schema if isinstance(schema, dict) else ():
            if name in RESTRICTIVE:
                yield Problem((*steps, name), f"the keyword {name!r} is not checked; the expected values decide")


def check_properties(definition: Definition) -> Iterator[Problem]:
    """Members of expected objects that the schema lacks, and properties that no expected object has."""
    for answer in definition.answers:
        items, data = answer.item_schema, answer.config.expected.retrieved_data or []
        steps = (*answer.steps, "expected", "retrieved_data")
        if isinstance(items, dict) and items.get("type") == "object":
            yield from _compare_properties(data, items, steps, (*answer.steps, "results_schema", "items"))
        elif not isinstance(items, dict) or not {"format", "properties"} & items.keys():
            for index, item in enumerate(data):
                if isinstance(item, dict):
                    yield Problem(
                        (*steps, index), 'an object whose schema has not the type object; write "type": "object"'
                    )


def check_posted_properties(definition: Definition) -> Iterator[Problem]:
    """Properties whose name is nearly that of a posted field, which is compared as a string then."""
    for request in definition.requests:
        fields, schema = request.config.expected.post_data or {}, request.config.post_data_schema or {}
        properties: Any = schema.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        names = [name for name in fields if not name.startswith(("$", "^"))]
        for name in properties:
            if name not in fields and (nearest := find_nearest(name, names, MISSPELT)) and nearest not in properties:
                steps = (*request.steps, "post_data_schema", "properties", name)
                yield Problem(steps, f"no posted field is {name!r:.80}; use {nearest!r:.80}")


def _compare_properties(data: list[Any], schema: Mapping[str, Any], steps: Steps, place: Steps) -> Iterator[Problem]:
    properties = schema.get("properties")
    names = set(properties) if isinstance(properties, dict) else set()
    objects = [(index, item) for index, item in enumerate(data) if isinstance(item, dict)]
    for index, item in objects:
        for name in sorted(item.keys() - names):
            text = f"the schema lacks the property {name!r:.80}, so it is compared as a string; add its type"
            yield Problem((*steps, index, name), text)
    expected = {name for _, item in objects for name in item}
    if objects:
        for name in sorted(names - expected):
            text = f"no expected object has {name!r:.80}, so an answer that follows the schema fails; remove it"
            yield Problem((*place, "properties", name), text)
