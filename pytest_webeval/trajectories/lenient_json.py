"""JSON as Python reads it, and a little more, but no number that could not be written again; it says what was odd."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from dataclasses import field
from typing import Any

from pytest_webeval.bounded_json import nests_deeper

MAX_DEPTH = 100  # far more than an action needs, far less than anybody's stack
MAX_DIGITS = 300  # as many as a float can have before its point
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


class NotJson(ValueError):
    """A text that is no JSON, or that nests deeper than `MAX_DEPTH`; says why in a few words."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A JSON value, where in the text it ended, and what is odd about it."""

    value: Any
    end: int
    oddities: tuple[str, ...]


def read_json(text: str, start: int = 0) -> Reading:
    """The one value that begins exactly at `start`; what follows it is not looked at. Raises `NotJson`.

    Control characters within a text are kept. Of a key that is there twice the last counts. NaN, infinities and
    numbers of more than `MAX_DIGITS` digits are null: nobody else could read them, or they are equal to nothing.
    """
    repairs = _Repairs()
    decoder = json.JSONDecoder(
        object_pairs_hook=repairs.object,
        parse_int=repairs.whole,
        parse_float=repairs.fraction,
        parse_constant=repairs.null,
        strict=False,
    )
    try:
        value, end = decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise NotJson(f"{error.msg}, character {error.pos + 1}") from error
    except RecursionError as error:
        raise NotJson(_TOO_DEEP) from error
    if text.count("{", start, end) + text.count("[", start, end) > MAX_DEPTH and nests_deeper(value, MAX_DEPTH):
        raise NotJson(_TOO_DEEP)
    if _CONTROL.search(text, start, end):
        repairs.made["it has control characters"] = None
    return Reading(value, end, tuple(repairs.made))


def shown(value: Any) -> str:
    """The beginning of a JSON value, in printable characters."""
    return f"{json.dumps(value):.70}"


_TOO_DEEP = f"it nests deeper than {MAX_DEPTH} levels"


@dataclass(slots=True)
class _Repairs:
    """What the decoder calls for objects and numbers; remembers once each what it had to mend."""

    made: dict[str, None] = field(default_factory=dict)

    def object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            self.made["it has a key twice, of which the last counts"] = None
        return found

    def whole(self, digits: str) -> int | None:
        return int(digits) if len(digits) <= MAX_DIGITS else self.null(digits)

    def fraction(self, digits: str) -> float | None:
        number = float(digits)
        return number if math.isfinite(number) else self.null(digits)

    def null(self, _: str) -> Any:
        self.made["it has NaN or a number out of all bounds, read as null"] = None
        return None
