"""Keys that nothing reads, at any depth, and schemas that name no type or do not fit the data beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.lint.definition import MODELS, AnswerCheck, Definition, RequestCheck, list_properties
from pytest_webeval.lint.findings import Problem, Severity, Steps
from pytest_webeval.tasks.benchmarks import WebArenaRows, find_benchmark
from pytest_webeval.tasks.expectations import (
    NETWORK_EVALUATOR,
    REQUEST_EVALUATOR,
    RESPONSE_EVALUATOR,
    ExpectedEvent,
    ExpectedRequest,
    ExpectedResponse,
)
from pytest_webeval.tasks.task import Task
from pytest_webeval.values import VALUE_TYPES, list_value_types

# By evaluator: the keys of an entry of `eval`, and those of its `expected`.
_EXPECTED_KEYS: dict[str, Sequence[str]] = {
    RESPONSE_EVALUATOR: ExpectedResponse.KEYS,
    NETWORK_EVALUATOR: ExpectedEvent.__struct_encode_fields__,
    REQUEST_EVALUATOR: ExpectedRequest.__struct_encode_fields__,
}
ENTRY_KEYS = {name: (model.__struct_encode_fields__, _EXPECTED_KEYS.get(name, ())) for name, model in MODELS.items()}
SCHEMAS = ("results_schema", "query_params_schema", "post_data_schema")
SCHEMA_KEYS = ("type", "format", "items", "properties")
# Keywords of JSON Schema that describe a datum. Those that restrict one are not checked.
DESCRIPTIVE = ("$schema", "$id", "$comment", "title", "description", "examples", "default", "deprecated")
RESTRICTIVE = (
    *("required", "enum", "const", "pattern", "minLength", "maxLength", "minimum", "maximum", "multipleOf"),
    *("exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "uniqueItems", "additionalProperties"),
    *("prefixItems", "contains", "minProperties", "maxProperties", "patternProperties", "additionalItems"),
    *("anyOf", "oneOf", "allOf", "not", "if", "then", "else", "$ref", "$defs", "nullable"),
)
CLOSE = 0.87  # how alike the name of an evaluator is to the one that was meant: others are of the user
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


def check_unknown_keys(definition: Definition) -> Iterator[Problem]:
    """Keys that no reader knows, with the nearest that one does."""
    for steps, known in _list_unknown(definition.raw):
        yield Problem(steps, f"unknown key {steps[-1]!r:.80}; {_suggest(steps, known)}")


def remove_unknown_keys(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same definition without them, so that what is right in it can be checked."""
    unknown = [steps for steps, _ in _list_unknown(raw)]
    return _without(raw, unknown) if unknown else raw


def check_repeated_keys(definition: Definition) -> Iterator[Problem]:
    """Keys that an object has twice, of which only the last counts."""
    if definition.repeated:
        for steps, member in _walk(definition.raw, ()):
            _, names = definition.repeated.get(id(member), (member, []))
            for name in names:
                yield Problem((*steps, name), f"the key {name!r:.80} is written twice; keep one, for the last counts")


def check_evaluator_names(definition: Definition) -> Iterator[Problem]:
    """Evaluators whose name is nearly that of one of the package."""
    known = [evaluator.name for evaluator in default_evaluators()]
    for index, entry in enumerate(_list_entries(definition.raw)):
        name = entry.get("evaluator")
        if isinstance(name, str) and name not in known and (nearest := find_nearest(name, known, CLOSE)):
            yield Problem(("eval", index, "evaluator"), f"unknown evaluator {name!r:.80}; use {nearest}")


def check_types(definition: Definition) -> Iterator[Problem]:
    """Types that do not exist. In a posted field or an object such a datum would be compared as a string."""
    for steps, schema in _list_schemas(definition.fields):
        if not isinstance(schema, dict):
            yield Problem(steps, f'invalid schema {schema!r:.80}; use an object such as {{"type": "string"}}')
            continue
        is_refused = steps[-1] == "items" or steps[2:] == ("results_schema",)  # in the answer, and in items
        for key, names in (("type", (*list_value_types(), *CONTAINERS)), ("format", list_value_types())):
            kind = schema.get(key)
            if kind is None or (isinstance(kind, str) and kind in names):
                continue
            nearest = find_nearest(kind, names) if isinstance(kind, str) else None
            problem, use = f"unknown {key} {kind!r:.80}", nearest or f"one of {', '.join(names)}"
            if is_refused or (isinstance(kind, str) and find_nearest(kind, names, MISSPELT)):
                yield Problem((*steps, key), f"{problem}; use {use}")
            else:
                text = f"{problem}: values are compared as strings; use {use}"
                yield Problem((*steps, key), text, is_fatal=False, severity=Severity.HINT)


def check_containers(definition: Definition) -> Iterator[Problem]:
    """Arrays without items, and items or properties without the type that makes them count."""
    for steps, schema in _list_schemas(definition.raw):
        if not isinstance(schema, dict):
            continue
        kind, is_root = schema.get("type"), len(steps) == 3
        if kind == "array" and not schema.get("items"):
            text = "an array without items: its data are compared as strings; write the type of its items"
            yield Problem(steps, text)
        if schema.get("items") and kind != "array" and not (is_root and kind is None):
            yield Problem((*steps, "items"), 'items count only with the type array; write "type": "array"')
        if schema.get("properties") and kind != "object" and not is_root:
            yield Problem((*steps, "properties"), 'properties count only with the type object; write "type": "object"')
        if is_root and steps[-1] == "results_schema" and kind not in ("array", "null", None):
            text = f"the answer of a task is a list, not {kind!r:.80}; use array, or null for no data"
            yield Problem((*steps, "type"), text)


def check_formats(definition: Definition) -> Iterator[Problem]:
    """Formats that contradict the type; the format wins."""
    for steps, schema in _list_schemas(definition.fields):
        if not isinstance(schema, dict):
            continue
        kind, name = schema.get("type"), schema.get("format")
        if name and kind in CONTAINERS:
            text = f"the format of an {kind} is not used; write it at the items or a property"
            yield Problem((*steps, "format"), text)
        elif isinstance(kind, str) and name in CONFLICTS.get(kind, ()):
            text = f"the format {name} contradicts the type {kind}, and the format wins; keep one of them"
            yield Problem((*steps, "format"), text)


def check_keywords(definition: Definition) -> Iterator[Problem]:
    """Keywords of JSON Schema that restrict a datum: nothing checks them."""
    for steps, schema in _list_schemas(definition.fields):
        for name in schema if isinstance(schema, dict) else ():
            if name in RESTRICTIVE:
                yield Problem((*steps, name), f"the keyword {name!r} is not checked; the expected values decide")


def check_properties(answer: AnswerCheck) -> Iterator[Problem]:
    """Members of expected objects that the schema lacks, and properties that no expected object has."""
    items, data = answer.item_schema, answer.expected.retrieved_data or []
    objects = [((*answer.data_steps, index), item) for index, item in enumerate(data) if isinstance(item, dict)]
    if not isinstance(items, dict) or items.get("type") != "object":
        if not isinstance(items, dict) or not {"format", "properties"} & items.keys():
            text = 'an object whose schema has not the type object; write "type": "object"'
            yield from (Problem(steps, text) for steps, _ in objects)
        return
    names = set(list_properties(items))
    for steps, item in objects:
        for name in sorted(item.keys() - names):
            text = f"the schema lacks the property {name!r:.80}, so it is compared as a string; add its type"
            yield Problem((*steps, name), text)
    for name in sorted(names.difference(*(item for _, item in objects))) if objects else ():
        text = f"no expected object has {name!r:.80}, so an answer that follows the schema fails; remove it"
        yield Problem((*answer.steps, "results_schema", "items", "properties", name), text)


def check_posted_properties(request: RequestCheck) -> Iterator[Problem]:
    """Properties whose name is nearly that of a posted field, which is compared as a string then."""
    fields, properties = request.expected.post_data or {}, list_properties(request.config.post_data_schema)
    names = [name for name in fields if not name.startswith(("$", "^"))]
    for name in properties:
        if name not in fields and (nearest := find_nearest(name, names, MISSPELT)) and nearest not in properties:
            steps = (*request.steps, "post_data_schema", "properties", name)
            yield Problem(steps, f"no posted field is {name!r:.80}; use {nearest!r:.80}")


def find_nearest(name: str, known: Sequence[str] | Mapping[str, Any], cutoff: float = 0.6) -> str | None:
    """The name that was probably meant."""
    from difflib import get_close_matches  # most names are right

    return next(iter(get_close_matches(name[:80], list(known), 1, cutoff)), None)


def _walk(raw: object, steps: Steps) -> Iterator[tuple[Steps, Any]]:
    """Each object in a definition with its place. Its depth is bounded: JSON that is deeper was not read."""
    if isinstance(raw, dict):
        yield steps, raw
    members = raw.items() if isinstance(raw, dict) else enumerate(raw) if isinstance(raw, list) else ()
    for step, member in members:
        if isinstance(member, dict | list):
            yield from _walk(member, (*steps, step))


def _list_schemas(raw: Mapping[str, Any]) -> Iterator[tuple[Steps, Any]]:
    """Each part of each schema of a definition with its place."""
    for index, entry in enumerate(_list_entries(raw)):
        if entry.get("evaluator") in (RESPONSE_EVALUATOR, NETWORK_EVALUATOR):
            for name in SCHEMAS:
                if entry.get(name) is not None:
                    yield from _list_parts(entry[name], ("eval", index, name))


def _list_parts(schema: Any, steps: Steps) -> Iterator[tuple[Steps, Any]]:
    yield steps, schema
    if isinstance(schema, dict):
        if schema.get("items") is not None:
            yield from _list_parts(schema["items"], (*steps, "items"))
        properties = schema.get("properties")
        for name, part in properties.items() if isinstance(properties, dict) else ():
            yield from _list_parts(part, (*steps, "properties", name))


def _list_entries(raw: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    entries = raw.get("eval")
    return [entry if isinstance(entry, dict) else {} for entry in entries] if isinstance(entries, list) else []


def _list_unknown(raw: Mapping[str, Any]) -> Iterator[tuple[Steps, Sequence[str]]]:
    """The place of each unknown key, with the keys that are known there."""
    if not isinstance(find_benchmark(raw), WebArenaRows):  # rows of other benchmarks may have fields for other programs
        return
    yield from _list_others(raw, Task.__struct_encode_fields__, ())
    for index, entry in enumerate(_list_entries(raw)):
        if (keys := ENTRY_KEYS.get(str(entry.get("evaluator")))) is not None:
            yield from _list_others(entry, keys[0], ("eval", index))
            yield from _list_others(entry.get("expected"), keys[1], ("eval", index, "expected"))
    for steps, schema in _list_schemas(raw):
        yield from _list_others(schema, (*SCHEMA_KEYS, *DESCRIPTIVE, *RESTRICTIVE), steps)


def _list_others(members: object, known: Sequence[str], steps: Steps) -> Iterator[tuple[Steps, Sequence[str]]]:
    if isinstance(members, dict):
        yield from (((*steps, name), known) for name in members if name not in known)


def _suggest(steps: Steps, known: Sequence[str]) -> str:
    """What to do: move the key where another level knows it, or correct it."""
    name = str(steps[-1])
    entry_keys = [keys for keys, _ in ENTRY_KEYS.values()]
    if "expected" in steps and any(name in keys for keys in entry_keys):
        return "move it out of expected, next to it"
    if steps[0] == "eval" and len(steps) == 3 and any(name in keys for _, keys in ENTRY_KEYS.values()):
        return "move it into expected"
    if nearest := find_nearest(name, known):
        return f"use {nearest}"
    names = [key for key in known if key not in DESCRIPTIVE and key not in RESTRICTIVE]
    return f"use one of {', '.join(names)}"


def _without(raw: Any, unknown: Sequence[Steps]) -> Any:
    """A copy without the members at these places."""
    here = {steps[0] for steps in unknown if len(steps) == 1}
    below: dict[str | int, list[Steps]] = {}
    for first, *rest in unknown:
        if rest:
            below.setdefault(first, []).append(tuple(rest))
    members = raw.items() if isinstance(raw, Mapping) else enumerate(raw)
    copy = {step: _without(part, below[step]) if step in below else part for step, part in members if step not in here}
    return copy if isinstance(raw, Mapping) else list(copy.values())
