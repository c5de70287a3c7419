"""The schema of expected data that a definition leaves out, by the types that the data have in JSON."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

JSON_TYPES: dict[type, str] = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    dict: "object",
    list: "array",
}
_DEEPEST = 50
_ADVICE = "write results_schema"


def infer_results_schema(data: list[Any] | None) -> dict[str, Any]:
    """The schema of a list of data; the type `null` for none. Raises `ValueError` for data of several types."""
    if not data:
        return {"type": "null"}
    alternatives = [each for datum in data for each in (datum if isinstance(datum, list) else [datum])]
    return {"type": "array", "items": _infer(alternatives, "retrieved_data", 1)}


def _infer(values: Iterable[Any], where: str, depth: int) -> dict[str, Any]:
    """One schema for all values. Null, and the items of an empty list, are of any type: without others it is empty."""
    by_type: dict[str, list[Any]] = {}
    for value in values:
        if kind := JSON_TYPES.get(type(value)):
            by_type.setdefault(kind, []).append(value)
    if not by_type:
        return {}
    if depth > _DEEPEST:
        raise ValueError(f"retrieved_data nests deeper than {_DEEPEST} levels; {_ADVICE}")
    kind, *others = by_type
    if others:
        raise ValueError(f"{where} has data of the types {kind} and {others[0]}; {_ADVICE}")
    return {"type": kind} | _infer_inner(kind, by_type[kind], depth + 1)


def _infer_inner(kind: str, values: Iterable[Any], depth: int) -> dict[str, Any]:
    """What the schema of lists or objects says of what they hold; nothing for other types."""
    if kind == "array":
        return {"items": _infer(chain.from_iterable(values), "a list", depth)}
    if kind != "object":
        return {}
    members: dict[str, list[Any]] = {}
    for name, value in chain.from_iterable(map(dict.items, values)):
        members.setdefault(name, []).append(value)
    return {"properties": {name: _infer(each, f"{name!r:.80}", depth) for name, each in members.items()}}
