"""The schema of expected data that a definition leaves out, by the types that the data have in JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

JSON_TYPES: dict[type, str] = {bool: "boolean", int: "number", float: "number", str: "string"}
_DEEPEST = 50
_ADVICE = "write results_schema"


def infer_results_schema(data: list[Any] | None) -> dict[str, Any]:
    """The schema of a list of data; the type `null` for none. Raises `ValueError` for data of several types."""
    if not data:
        return {"type": "null"}
    alternatives = (each for datum in data for each in (datum if isinstance(datum, list) else [datum]))
    return {"type": "array", "items": _combine((_infer(each, 1) for each in alternatives), "retrieved_data")}


def _infer(datum: object, depth: int) -> dict[str, Any]:
    if depth > _DEEPEST:
        raise ValueError(f"retrieved_data nests deeper than {_DEEPEST} levels; {_ADVICE}")
    if isinstance(datum, dict):
        return {"type": "object", "properties": {name: _infer(value, depth + 1) for name, value in datum.items()}}
    if isinstance(datum, list):
        return {"type": "array", "items": _combine((_infer(each, depth + 1) for each in datum), "a list")}
    return {"type": JSON_TYPES[type(datum)]} if type(datum) in JSON_TYPES else {}


def _combine(schemas: Iterable[dict[str, Any]], where: str) -> dict[str, Any]:
    """One schema for all of these. That of null, or of the items of an empty list, is empty and says nothing."""
    combined: dict[str, Any] = {}
    for schema in schemas:
        if not combined:
            combined = schema
        elif not schema or schema == combined:
            continue
        elif schema["type"] != combined["type"]:
            raise ValueError(f"{where} has data of the types {combined['type']} and {schema['type']}; {_ADVICE}")
        else:
            combined = _merge(combined, schema)
    return combined


def _merge(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """One schema for two of the same type, which are those of objects or of lists."""
    if first["type"] == "array":
        return {"type": "array", "items": _combine((first["items"], second["items"]), "a list")}
    names = dict.fromkeys((*first["properties"], *second["properties"]))
    parts = ([each["properties"][name] for each in (first, second) if name in each["properties"]] for name in names)
    return {
        "type": "object",
        "properties": {name: _combine(schemas, f"{name!r:.80}") for name, schemas in zip(names, parts, strict=True)},
    }
