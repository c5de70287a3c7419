"""Fields of a posted form, a JSON object or a multipart message (spec §3.3)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field
from typing import Any
from urllib.parse import parse_qs

from pytest_webeval.bounded_json import read_json
from pytest_webeval.errors import EvaluationError
from pytest_webeval.limits import USUAL
from pytest_webeval.limits import Limits
from pytest_webeval.network import Body

_BOUNDARY = re.compile(r"boundary=([^\s;]+)")  # quotes are part of it, so that none of its parts is found
_PART_NAME = re.compile(r'(?<![\w-])name="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Fields:
    """Names and values of a body: the `first` value of each name, and all values of those that were `repeated`."""

    first: dict[str, Any]
    repeated: dict[str, list[str]] = field(default_factory=dict)


def fields_of(body: Body | None, limits: Limits = USUAL) -> Fields | None:
    """Names and values in a body, or None where it holds none that can be read.

    Raises `EvaluationError` for one that is beyond the limits.
    """
    if body is None or not body.text:
        return None
    for marker, read in _READERS.items():
        if marker in body.mime:
            return read(body, limits)
    return None


def _form(body: Body, limits: Limits) -> Fields:
    if body.text.count("&") >= limits.values:
        raise EvaluationError(f"a posted form holds more fields than {limits.values:,}; {limits.told('values')}")
    found = parse_qs(body.text, keep_blank_values=True)
    repeated = {name: values for name, values in found.items() if len(values) > 1}
    return Fields({name: values[0] for name, values in found.items()}, repeated)


def _json(body: Body, limits: Limits) -> Fields | None:
    try:
        found = read_json(body.text, limits, "a JSON body in the trace")
    except ValueError:
        return None
    return Fields(found) if isinstance(found, dict) else None


def _multipart(body: Body, limits: Limits) -> Fields | None:
    boundary = _BOUNDARY.search(body.mime)
    if boundary is None:
        return None
    delimiter = f"--{boundary.group(1)}"
    if body.text.count(delimiter) > limits.values:
        raise EvaluationError(f"a multipart body holds more parts than {limits.values:,}; {limits.told('values')}")
    found: dict[str, list[str]] = {}
    for part in body.text.split(delimiter):
        head, _, value = part.replace("\r\n", "\n").lstrip("\n").partition("\n\n")
        if name := _PART_NAME.search(head):
            found.setdefault(name.group(1), []).append(value.rstrip("\n"))
    repeated = {name: values for name, values in found.items() if len(values) > 1}
    # Of a form the reference takes the first value, of a multipart message the last (spec §3.3).
    return Fields({name: values[-1] for name, values in found.items()}, repeated)


_READERS: dict[str, Callable[[Body, Limits], Fields | None]] = {
    "application/x-www-form-urlencoded": _form,
    "application/json": _json,
    "multipart/form-data": _multipart,
}
BODY_TYPES = tuple(_READERS)  # in the order in which they are looked for
