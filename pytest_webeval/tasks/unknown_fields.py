"""Fields of a definition that nothing reads: one that is misspelt must not be passed over without a hint."""

from __future__ import annotations

from typing import Annotated, Any, get_args, get_origin

import msgspec
from msgspec import Struct

from pytest_webeval.safety.text import describe_unknown_keys


def describe_unknown_fields(kind: type, raw: object, where: str) -> str | None:
    """What is wrong with the fields that a struct does not have, and the nearest that it has; None if it has all.

    The first object with such fields counts: the definition itself, or one in it that is a struct as well.
    """
    if not isinstance(raw, dict) or not issubclass(kind, Struct):
        return None
    if kind.__struct_config__.forbid_unknown_fields:
        names = [name for name in raw if isinstance(name, str)]  # as all are in JSON
        if problem := describe_unknown_keys(names, kind.__struct_encode_fields__, where or "the definition"):
            return problem
    parts = ((inner_struct(field.type), field.encode_name) for field in msgspec.structs.fields(kind))
    problems = (describe_unknown_fields(part, raw.get(name), f"{where}.{name}".lstrip(".")) for part, name in parts)
    return next(filter(None, problems), None)


def inner_struct(annotation: Any) -> type:
    """The struct that a field is, without what its annotation says of it; `object` for any other field."""
    kind = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    return kind if isinstance(kind, type) else object


def add_unknown_fields(problem: str, unknown: str | None, *, is_about_unknown: bool) -> str:
    """A problem of a definition together with its unknown fields, where it is about something else."""
    if unknown is None:
        return problem
    return unknown if is_about_unknown else f"{problem}; {unknown}"
