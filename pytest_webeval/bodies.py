"""Fields of a posted form, a JSON object or a multipart message (spec §3.3)."""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

from pytest_webeval.bounded_json import read_json
from pytest_webeval.errors import EvaluationError
from pytest_webeval.limits import USUAL
from pytest_webeval.limits import Limits
from pytest_webeval.multipart import Field
from pytest_webeval.multipart import fields_as_reference
from pytest_webeval.multipart import fields_as_written
from pytest_webeval.network import BODY_TYPES
from pytest_webeval.network import Body

# To the reference quotes are part of a boundary, so that it finds no part by it.
_BOUNDARY = re.compile(r'boundary=(?="([^"]+)")?([^\s;]+)')


@dataclass(frozen=True, slots=True)
class Fields:
    """Names and values of a body: the `first` value of each name, and all values of those that were `repeated`.

    `for_reference` holds those that the reference finds in the same multipart message, where they are others (Q53).
    """

    first: dict[str, Any]
    repeated: dict[str, list[str]] = field(default_factory=dict)
    is_multipart: bool = False
    for_reference: Fields | None = None


def fields_of(body: Body | None, limits: Limits = USUAL) -> Fields | None:
    """Names and values in a body, or None where it is of no kind that can be read.

    Raises `EvaluationError` for one that is beyond the limits.
    """
    if body is None or not body.text:
        return None
    for marker, read in _READERS.items():
        if marker in body.mime and (found := read(body, limits)) is not None:
            return found  # of a type that names several, one that cannot be read leaves the others
    return None


def _form(body: Body, limits: Limits) -> Fields:
    if body.text.count("&") >= limits.values:
        raise EvaluationError(f"a posted form holds more fields than {limits.values:,}; {limits.told('values')}")
    found = parse_qs(body.text, keep_blank_values=True)
    repeated = {name: values for name, values in found.items() if len(values) > 1}
    return Fields({name: values[0] for name, values in found.items()}, repeated)


def _json(body: Body, limits: Limits) -> Fields | None:
    try:
        found = read_json(body.text, limits, "a JSON body in the trace", as_sent=True)
    except ValueError:
        return None
    return Fields(found) if isinstance(found, dict) else None


def _multipart(body: Body, limits: Limits) -> Fields | None:
    boundary = _BOUNDARY.search(body.mime)
    if boundary is None:
        return None
    quoted, as_it_stands = boundary.groups()
    for_reference = _latest(fields_as_reference(body.text, _delimiter(as_it_stands, body, limits)))
    found = _latest(fields_as_written(body.text, _delimiter(quoted or as_it_stands, body, limits)))
    return found if found == for_reference else replace(found, for_reference=for_reference)


def _delimiter(boundary: str, body: Body, limits: Limits) -> str:
    """What stands before each part. Raises `EvaluationError` where there are too many."""
    delimiter = f"--{boundary}"
    if body.text.count(delimiter) > limits.values:
        raise EvaluationError(f"a multipart body holds more parts than {limits.values:,}; {limits.told('values')}")
    return delimiter


def _latest(found: Iterable[Field]) -> Fields:
    """Of a form the reference takes the first value, of a multipart message the last (spec §3.3)."""
    every: dict[str, list[str]] = {}
    for name, value in found:
        every.setdefault(name, []).append(value)
    repeated = {name: values for name, values in every.items() if len(values) > 1}
    return Fields({name: values[-1] for name, values in every.items()}, repeated, is_multipart=True)


_READERS: dict[str, Callable[[Body, Limits], Fields | None]] = dict(
    zip(BODY_TYPES, (_form, _json, _multipart), strict=True)
)
