"""Fields of a posted form, a JSON object or a multipart message (spec §3.3)."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs

from pytest_webeval.network import Body

_BOUNDARY = re.compile(r"boundary=([^\s;\"]+)")
_PART_NAME = re.compile(r'(?<![\w-])name="([^"]*)"')


def fields_of(body: Body | None) -> dict[str, Any] | None:
    """Names and values in a body, or None where it holds none that can be read."""
    if body is None or not body.text:
        return None
    for marker, read in _READERS.items():
        if marker in body.mime:
            return read(body)
    return None


def _form(body: Body) -> dict[str, Any]:
    return {name: values[0] for name, values in parse_qs(body.text, keep_blank_values=True).items()}


def _json(body: Body) -> dict[str, Any] | None:
    try:
        found = json.loads(body.text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _multipart(body: Body) -> dict[str, Any] | None:
    boundary = _BOUNDARY.search(body.mime)
    if boundary is None:
        return None
    fields: dict[str, Any] = {}
    for part in body.text.split(f"--{boundary.group(1)}"):
        head, _, value = part.replace("\r\n", "\n").lstrip("\n").partition("\n\n")
        if name := _PART_NAME.search(head):
            fields[name.group(1)] = value.rstrip("\n")
    return fields or None


_READERS = {
    "application/x-www-form-urlencoded": _form,
    "application/json": _json,
    "multipart/form-data": _multipart,
}
