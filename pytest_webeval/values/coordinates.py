"""Points on the earth, in degrees of latitude and longitude."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

from pytest_webeval.values.base import LONGEST_PARSED, Alternatives, ParseContext, Value, check_single, parse_error
from pytest_webeval.values.text import normalize_text

TOLERANCE = 1e-5

# The parser tries every digit of a number as its first, which takes for ever where there are thousands.
_ENDLESS_NUMBER = re.compile(r"\d{400}")
_NUMBER, _MOST_NUMBERS = re.compile(r"[+-]?\d+(?:\.\d+)?"), 40
_FEWEST_OF_SEVERAL = 4  # numbers of two points
_LONGEST_OF_SEVERAL = 200  # characters; each gap between numbers is parsed on both sides
_NOT_A_POINT = "is not a point; write it as [40.4424, -79.9397]"


@dataclass(frozen=True, slots=True)
class CoordinatesValue(Value):
    """A point. Of several alternatives only the first counts (spec §5.8)."""

    type_name: ClassVar[str] = "coordinates"
    tolerance: ClassVar[str] = f"{TOLERANCE:.5f} degrees in each direction"
    only_first: ClassVar[bool] = True

    @classmethod
    def read(cls, raw: object, context: ParseContext) -> Self:
        """The point of a datum, or of each of its alternatives. A list of two numbers is one point."""
        if isinstance(raw, list | tuple):
            is_pair = len(raw) == 2 and all(isinstance(degrees, str | int | float) for degrees in raw)
            if is_pair and (point := _parse_point(*raw)) is not None:
                return cls((point,))
            if not (context.alternatives or isinstance(raw, Alternatives)):
                raise parse_error(raw, _NOT_A_POINT)
        return super(CoordinatesValue, cls).read(raw, context)

    @classmethod
    def canonical(cls, raw: object, context: ParseContext) -> tuple[float, float]:
        """Latitude and longitude, the latter brought between -180 and 180."""
        searched = _find_numbers(normalize_text(raw, context)) if context.one_value and isinstance(raw, str) else []
        point = _parse_point(*_parse_degrees(raw, context)) if raw else None
        if point is None:
            raise parse_error(raw, _NOT_A_POINT)
        if len(searched) >= _FEWEST_OF_SEVERAL:
            check_single(raw, _list_points(searched), "points")
        return point

    @staticmethod
    def is_same(expected: tuple[float, float], actual: tuple[float, float]) -> bool:
        """Whether two points are at most `TOLERANCE` apart, in latitude and in longitude."""
        return all(abs(left - right) <= TOLERANCE for left, right in zip(expected, actual, strict=True))

    def to_json(self) -> dict[str, float]:
        """The first alternative as an object."""
        latitude, longitude = self.alternatives[0]
        return {"latitude": latitude, "longitude": longitude}


def _parse_degrees(raw: object, context: ParseContext) -> tuple[Any, ...]:
    """What names a point, as the parser takes it: a text, or latitude and longitude."""
    if isinstance(raw, str):
        return (normalize_text(raw, context),)
    if isinstance(raw, dict):
        names = {key: key.lower() for key in raw}
        latitudes = [raw[key] for key, name in names.items() if len(name) > 1 and "latitude".startswith(name)]
        longitudes = [
            raw[key] for key, name in names.items() if name == "lng" or (len(name) > 1 and "longitude".startswith(name))
        ]
        raw = [*latitudes[:1], *longitudes[:1]]
    return tuple(raw) if isinstance(raw, list | tuple) and len(raw) == 2 else ()


def _find_numbers(text: str) -> list[re.Match[str]]:
    """The numbers in a text that may name several points. Raises `ValueParseError` where the search would be long."""
    numbers = list(_NUMBER.finditer(text))
    if len(numbers) > _MOST_NUMBERS:
        raise parse_error(text, f"has more than {_MOST_NUMBERS} numbers; write one point", rule="one_value")
    if len(numbers) >= _FEWEST_OF_SEVERAL and len(text) > _LONGEST_OF_SEVERAL:
        problem = f"has several numbers in more than {_LONGEST_OF_SEVERAL} characters; write one point"
        raise parse_error(text, problem, rule="one_value")
    return numbers


def _list_points(numbers: list[re.Match[str]]) -> list[tuple[float, float]]:
    """The points on both sides of one of the numbers in a text; none for a text with one point."""
    for last, following in pairwise(numbers):
        text = last.string
        before, after = _parse_point(text[: last.end()]), _parse_point(text[following.start() :])
        if before is not None and after is not None:
            return [before, after]
    return []


def _parse_point(*degrees: Any) -> tuple[float, float] | None:
    """The point that a text, or latitude and longitude, name for geopy; None where there is no such point."""
    from geopy.point import Point  # type: ignore[import-untyped]

    texts = [part for part in degrees if isinstance(part, str)]
    if not degrees or any(len(text) > LONGEST_PARSED or _ENDLESS_NUMBER.search(text) for text in texts):
        return None
    try:
        point = Point(*degrees)
    except (ValueError, TypeError, OverflowError):
        return None
    return point.latitude, point.longitude
