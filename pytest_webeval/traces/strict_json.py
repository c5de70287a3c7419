"""JSON as Python reads it, written again as the standard has it, so that a stricter reader can take it."""

from __future__ import annotations

import json

from pytest_webeval.bounded_json import finite
from pytest_webeval.limits import Limits

_LARGE = 32 * 2**20  # bytes; as Python's objects they would take many times that


def as_strict_json(content: bytes, limits: Limits) -> bytes | None:
    """The same without NaN and infinities, which are null, and halves of surrogate pairs, which are U+FFFD.

    None for what is no JSON even so, and for what is too large to be read that way.
    """
    if len(content) > _LARGE or content.count(b",") > limits.values:
        return None
    try:
        found = json.loads(content.decode(), parse_constant=lambda _: None, parse_float=finite)
        text = json.dumps(found, ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
