"""The keys of a task definition with types, defaults and meanings, as the manual and the JSON Schema have them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT, UNSET, Meta, Struct, UnsetType

from pytest_webeval.tasks import expectations
from pytest_webeval.tasks.lenient_models import inner_struct
from pytest_webeval.tasks.task import DefinedTask

EVALUATORS: dict[str, type[Struct]] = {
    expectations.RESPONSE_EVALUATOR: expectations.ResponseExpectation,
    expectations.NETWORK_EVALUATOR: expectations.NetworkExpectation,
    expectations.REQUEST_EVALUATOR: expectations.RequestPatternExpectation,
    expectations.RUBRIC_EVALUATOR: expectations.RubricExpectation,
}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_TYPES = {bool: "boolean", dict: "object", float: "number", int: "integer", list: "array", str: "string"}
# As WebArena-Verified does, definitions may have a text for a number, and a number or a text for a boolean.
_ALSO = {"boolean": ("integer", "string"), "integer": ("string",), "number": ("string",)}
_DIGITS = r"^\s*-?[0-9]+\s*$"


class Key(Struct, frozen=True):
    """A key: JSON types, and what it is without a value. Values of `choices` are the only ones, in any case."""

    name: str
    types: tuple[str, ...]
    meaning: str
    default: Any = ...
    choices: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    inner: type[Struct] | None = None
    at_least: int | None = None
    items: Mapping[str, Any] = {}
    values: Mapping[str, Any] = {}

    @property
    def is_required(self) -> bool:
        """Whether a definition must have it."""
        return self.default is ...


_CHOICES = {"task_type": tuple(map(str.lower, expectations.TASK_TYPES)), "status": expectations.STATUSES}
_EXAMPLES = {"http_method": METHODS, "method": METHODS, "evaluator": tuple(EVALUATORS)}


def list_keys(struct: type[Struct]) -> list[Key]:
    """The keys of a struct, in its order."""
    annotations = get_type_hints(struct, include_extras=True)
    return [_build_key(field, annotations[field.name]) for field in msgspec.structs.fields(struct)]


def _build_key(field: msgspec.structs.FieldInfo, annotation: Any) -> Key:
    kind, *notes = get_args(annotation) if get_origin(annotation) is Annotated else [annotation]
    about = next(note for note in notes if isinstance(note, Meta))
    members = [kind] if get_origin(kind) not in (Union, UnionType) else get_args(kind)
    literals = tuple(value for member in members if get_origin(member) is Literal for value in get_args(member))
    inner = inner_struct(kind)
    return Key(
        field.encode_name,
        tuple(dict.fromkeys(_name_type(member) for member in members if member is not UnsetType)),
        about.description or "",
        _read_default(field),
        literals or _CHOICES.get(field.encode_name, ()),
        _EXAMPLES.get(field.encode_name, ()),
        inner if issubclass(inner, Struct) else None,
        about.ge if isinstance(about.ge, int) else about.min_length,
        next((_describe_items(get_args(member)[0]) for member in members if get_origin(member) is list), {}),
        next((_describe_values(get_args(member)[1]) for member in members if get_origin(member) is dict), {}),
    )


def _describe_items(annotation: Any) -> dict[str, Any]:
    """The schema of the items of a list."""
    kind, *notes = get_args(annotation) if get_origin(annotation) is Annotated else [annotation]
    if kind is not str:
        return {}
    shortest = next((note.min_length for note in notes if note.min_length is not None), None)
    return {"type": "string"} if shortest is None else {"type": "string", "minLength": shortest}


def _describe_values(annotation: Any) -> dict[str, Any]:
    """The schema of the values of an object that are texts or lists of texts; nothing for values of any type."""
    members = get_args(annotation)
    items = next((_describe_items(get_args(member)[0]) for member in members if get_origin(member) is list), {})
    return {"type": list(map(_name_type, members)), "items": items} if members else {}


def _name_type(member: Any) -> str:
    if member is NoneType:
        return "null"
    if get_origin(member) is Literal:
        return "string"
    kind = get_origin(member) or member
    return "object" if issubclass(kind, Struct) else _TYPES[kind]


def _read_default(field: msgspec.structs.FieldInfo) -> Any:
    """The default; `...` for a required field, and None for one that stands for nothing in particular."""
    if field.default_factory is not NODEFAULT:
        return field.default_factory()
    return ... if field.required else None if field.default is UNSET else field.default


def build_definitions(value_types: Sequence[str]) -> dict[str, Any]:
    """The parts of the JSON Schema that are about tasks in the form of WebArena-Verified."""
    task = _build_object("a task of WebArena-Verified, or of one's own", list_keys(DefinedTask))
    task["properties"]["task_id"]["minLength"] = 1
    task["properties"]["eval"] |= {"items": {"$ref": "#/$defs/expectation"}, "minItems": 1}
    entries = {_name_part(name): _build_entry(name, struct) for name, struct in EVALUATORS.items()}
    return {
        "webarena_verified": task,
        "expectation": _build_expectation(),
        **entries,
        "value_schema": _build_value_schema(value_types),
    }


def _name_part(evaluator: str) -> str:
    """`network_event_expectation` for the evaluator of that name."""
    return f"{re.sub('(?<=[a-z])(?=[A-Z])', '_', evaluator.removesuffix('Evaluator')).lower()}_expectation"


def _build_expectation() -> dict[str, Any]:
    """An entry, which the name of its evaluator decides about. Those of one's own read their other keys themselves."""
    names = {"enum": list(EVALUATORS)}
    about = "name of the evaluator; one of your own reads its other keys itself"
    rules = (
        {
            "if": {"type": "object", "properties": {"evaluator": {"const": name}}, "required": ["evaluator"]},
            "then": {"$ref": f"#/$defs/{_name_part(name)}"},
        }
        for name in EVALUATORS
    )
    return {
        "type": "object",
        "properties": {"evaluator": {"type": "string", "description": about, "anyOf": [names, True]}},
        "required": ["evaluator"],
        "allOf": list(rules),
    }


def _build_entry(name: str, struct: type[Struct]) -> dict[str, Any]:
    keys = list_keys(struct)
    entry = _build_object(f"configuration of {name}", keys)
    entry["properties"]["evaluator"] = {"const": name, "description": keys[0].meaning}
    return entry


def _build_object(about: str, keys: Sequence[Key]) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": "object",
        "description": about,
        "properties": {key.name: _build_property(key) for key in keys},
        "required": [key.name for key in keys if key.is_required],
        "additionalProperties": False,
    }
    if any(key.name == "task_type" for key in keys):
        _allow_earlier_name(schema)
    return schema


def _allow_earlier_name(schema: dict[str, Any]) -> None:
    """The type of a response had another name once."""
    types = schema["properties"]["task_type"]
    schema["properties"]["performed_operation"] = types | {
        "description": "the earlier name of `task_type`",
        "deprecated": True,
    }
    schema["required"].remove("task_type")
    schema["anyOf"] = [{"required": ["task_type"]}, {"required": ["performed_operation"]}]


def _build_property(key: Key) -> dict[str, Any]:
    if key.inner is not None:
        return _build_object(key.meaning, list_keys(key.inner))
    types = list(dict.fromkeys((*key.types, *(more for kind in key.types for more in _ALSO.get(kind, ())))))
    schema: dict[str, Any] = {"type": types[0] if len(types) == 1 else types, "description": key.meaning}
    if not key.is_required and key.default is not None and key.at_least is None:  # others stand for no value
        schema["default"] = key.default
    if key.name.endswith("_schema"):
        schema["$ref"] = "#/$defs/value_schema"
    if key.items:
        schema["items"] = dict(key.items)
    if key.values:
        schema["additionalProperties"] = dict(key.values)
    return schema | _limit(key, types)


def _limit(key: Key, types: Iterable[str]) -> dict[str, Any]:
    """Which values a key may have, or usually has."""
    if "null" in key.types and key.choices:
        return {"enum": [*key.choices, None]}
    if key.choices:  # editors offer the first, and readers do not mind the case
        return {"anyOf": [{"enum": list(key.choices)}, {"pattern": f"^({'|'.join(map(_ignore_case, key.choices))})$"}]}
    if key.examples:
        return {"anyOf": [{"enum": list(key.examples)}, True]}
    limit: dict[str, Any] = {"pattern": _DIGITS} if key.types == ("integer",) else {}
    if key.at_least is not None:
        limit["minimum" if "integer" in types else "minLength"] = key.at_least
    return limit


def _ignore_case(text: str) -> str:
    return "".join(f"[{letter.upper()}{letter.lower()}]" if letter.isalpha() else letter for letter in text)


def _build_value_schema(value_types: Sequence[str]) -> dict[str, Any]:
    """What says of which type data are: objects and arrays, and value types in their leaves."""
    inner = {"$ref": "#/$defs/value_schema"}
    return {
        "properties": {
            "type": {"description": "JSON type, or value type", "enum": ["array", "object", *value_types]},
            "format": {"description": "value type, which counts before `type`", "enum": list(value_types)},
            "items": {"description": "schema of the items of an array", **inner},
            "properties": {"description": "schemas of the members of an object", "additionalProperties": inner},
        }
    }
