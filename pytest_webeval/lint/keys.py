"""Keys that nothing reads, at any depth: a misspelt one checks nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_webeval.evaluators import EVALUATORS
from pytest_webeval.lint.definition import Definition
from pytest_webeval.lint.findings import Problem, Steps
from pytest_webeval.tasks.benchmarks import WebArenaRows, find_benchmark
from pytest_webeval.tasks.expectations import (
    NETWORK_EVALUATOR,
    REQUEST_EVALUATOR,
    RESPONSE_EVALUATOR,
    RUBRIC_EVALUATOR,
    ExpectedEvent,
    ExpectedRequest,
    ExpectedResponse,
    NetworkExpectation,
    RequestPatternExpectation,
    ResponseExpectation,
    RubricExpectation,
)
from pytest_webeval.tasks.task import Task

# By evaluator: the keys of an entry of `eval`, and those of its `expected`.
ENTRY_KEYS: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    RESPONSE_EVALUATOR: (ResponseExpectation.__struct_encode_fields__, ExpectedResponse.KEYS),
    NETWORK_EVALUATOR: (NetworkExpectation.__struct_encode_fields__, ExpectedEvent.__struct_encode_fields__),
    REQUEST_EVALUATOR: (RequestPatternExpectation.__struct_encode_fields__, ExpectedRequest.__struct_encode_fields__),
    RUBRIC_EVALUATOR: (RubricExpectation.__struct_encode_fields__, ()),
}
SCHEMAS = ("results_schema", "query_params_schema", "post_data_schema")
SCHEMA_KEYS = ("type", "format", "items", "properties")
# Keywords of JSON Schema that describe a datum. Those that restrict one are not checked (see `schemas.py`).
DESCRIPTIVE = ("$schema", "$id", "$comment", "title", "description", "examples", "default", "deprecated")
RESTRICTIVE = (
    *("required", "enum", "const", "pattern", "minLength", "maxLength", "minimum", "maximum", "multipleOf"),
    *("exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "uniqueItems", "additionalProperties"),
    *("prefixItems", "contains", "minProperties", "maxProperties", "patternProperties", "additionalItems"),
    *("anyOf", "oneOf", "allOf", "not", "if", "then", "else", "$ref", "$defs", "nullable"),
)
CLOSE = 0.87  # how alike the name of an evaluator is to the one that was meant: others are of the user


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
        for steps, member in walk(definition.raw, ()):
            _, names = definition.repeated.get(id(member), (member, []))
            for name in names:
                yield Problem((*steps, name), f"the key {name!r:.80} is written twice; keep one, for the last counts")


def check_evaluator_names(definition: Definition) -> Iterator[Problem]:
    """Evaluators whose name is nearly that of one of the package."""
    for index, entry in enumerate(_list_entries(definition.raw)):
        name = entry.get("evaluator")
        if isinstance(name, str) and name not in EVALUATORS and (nearest := find_nearest(name, EVALUATORS, CLOSE)):
            yield Problem(("eval", index, "evaluator"), f"unknown evaluator {name!r:.80}; use {nearest}")


def find_nearest(name: str, known: Sequence[str] | Mapping[str, Any], cutoff: float = 0.6) -> str | None:
    """The name that was probably meant."""
    from difflib import get_close_matches  # most names are right

    return next(iter(get_close_matches(name[:80], list(known), 1, cutoff)), None)


def walk(raw: object, steps: Steps) -> Iterator[tuple[Steps, Any]]:
    """Each object in a definition with its place. Its depth is bounded: JSON that is deeper was not read."""
    if isinstance(raw, dict):
        yield steps, raw
    members = raw.items() if isinstance(raw, dict) else enumerate(raw) if isinstance(raw, list) else ()
    for step, member in members:
        if isinstance(member, dict | list):
            yield from walk(member, (*steps, step))


def list_schemas(raw: Mapping[str, Any]) -> Iterator[tuple[Steps, Any]]:
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
    for steps, schema in list_schemas(raw):
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
