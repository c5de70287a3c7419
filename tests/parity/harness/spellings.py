"""The ways to write a value of each type, gathered from the tables of spellings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.parity.harness.leaves import Leaf
from tests.parity.harness.number_spellings import CURRENCY, NUMBER, number_of
from tests.parity.harness.place_spellings import COORDINATES, DISTANCE, PLACE, metres_of, point_of
from tests.parity.harness.text_spellings import ADDRESS, ANY, BOOLEAN, MONTH, TEXT, Spellings, month_of
from tests.parity.harness.time_spellings import DATE, DURATION, day_of, seconds_of


@dataclass(frozen=True)
class Notation:
    """The spellings of one type, and how the measure is read from a task's value (None: it is none)."""

    read: Callable[[Any], Any]
    spellings: Spellings


def _text_of(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


NOTATIONS = {
    "string": Notation(_text_of, TEXT),
    "number": Notation(number_of, NUMBER),
    "integer": Notation(number_of, NUMBER),
    "currency": Notation(number_of, {**NUMBER, **CURRENCY}),
    "date": Notation(day_of, DATE),
    "duration": Notation(seconds_of, DURATION),
    "distance": Notation(metres_of, DISTANCE),
    "coordinates": Notation(point_of, COORDINATES),
    "month": Notation(month_of, MONTH),
    "boolean": Notation(lambda value: value if isinstance(value, bool) else None, BOOLEAN),
    "location-name": Notation(_text_of, {**TEXT, **PLACE}),
    "url": Notation(_text_of, {**ADDRESS, **TEXT}),
}


_MEASURES = NOTATIONS.keys() - {"string", "location-name", "url"}  # the others have these spellings already


def typed_spellings(leaf: Leaf) -> Iterator[tuple[str, Any]]:
    """The value as its type is written, each with the spelling's name; nothing that is the value unchanged."""
    notation = NOTATIONS.get(leaf.type_name, NOTATIONS["string"])
    measure = notation.read(leaf.value)
    if measure is not None:
        yield from _spelled(notation.spellings, measure, leaf.value)


def other_spellings(leaf: Leaf) -> Iterator[tuple[str, Any]]:
    """The value with another JSON type, with its text decorated, or with nothing in its place."""
    yield from _spelled(ANY, leaf.value, leaf.value)
    if _text_of(leaf.value) and leaf.type_name in _MEASURES:
        yield from _spelled(TEXT, leaf.value, leaf.value)


def _spelled(spellings: Spellings, measure: Any, value: Any) -> Iterator[tuple[str, Any]]:
    for name, spell in spellings.items():
        spelled = spell(measure)
        if type(spelled) is not type(value) or spelled != value:
            yield name, spelled
