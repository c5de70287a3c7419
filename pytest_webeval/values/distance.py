"""Distances: "5 km", "1/2 mile", "5k", compared with tolerance."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from token import NUMBER
from tokenize import TokenError, TokenInfo
from typing import Any, ClassVar

from pytest_webeval.errors import EvaluationError
from pytest_webeval.safety.deadline import time_limit
from pytest_webeval.values.base import ParseContext, Value, check_length, check_single, parse_error
from pytest_webeval.values.text import normalize_text

SECONDS = 2.0
# No length needs larger ones, and no calculation with these takes long.
_MOST_BITS, _LARGEST_UNIT_POWER = 2**15, 2_000

_ENDLESS = ("inf", "infinity", "nan")
_NOT_A_CALCULATION = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    SyntaxError,
    TokenError,
    TypeError,
    ValueError,
)


# A number and a unit, as most distances are written. The factors are those of pint, whose units take longer to load
# than a hundred runs take to score.
_PLAIN = re.compile(r"(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})? ?([a-z]{1,10})", re.ASCII)
_FACTORS = {
    **dict.fromkeys(("m", "meter", "meters", "metre", "metres"), 1),
    **dict.fromkeys(("km", "kilometer", "kilometers", "kilometre", "kilometres"), 1000.0),
    **dict.fromkeys(("mi", "mile", "miles"), 1609.344),
    **dict.fromkeys(("ft", "foot", "feet"), 0.30479999999999996),
    **dict.fromkeys(("yd", "yard", "yards"), 0.9144),
    **dict.fromkeys(("cm", "centimeter", "centimeters", "centimetre", "centimetres"), 0.01),
}


def parse_metres(text: str) -> Decimal:
    """What a text comes to in metres. Raises `ValueError` for no length, `EvaluationError` for endless work."""
    plain = _PLAIN.fullmatch(text)
    factor = _FACTORS.get(plain[3]) if plain is not None else None
    if plain is None or factor is None:
        return calculate_metres(text)
    whole, fraction, _ = plain.groups()
    return Decimal(str((float(whole + fraction) if fraction else int(whole)) * factor))


def calculate_metres(text: str) -> Decimal:
    """The same for any calculation with lengths, by pint."""
    from pint.errors import PintError
    from pint.pint_eval import build_eval_tree, plain_tokenizer
    from pint.util import string_preprocessor

    registry, _ = _load_units()
    for preprocessor in registry.preprocessors:  # percent signs
        text = preprocessor(text)
    try:
        with time_limit(SECONDS, f"the distance {text[:80]!r} timed out after {SECONDS:g} s; write it as 1.5 km"):
            calculation = build_eval_tree(plain_tokenizer(string_preprocessor(text)))
            length = calculation.evaluate(_parse_operand, _OPERATORS)
            return Decimal(str(length.m_as("meter")))
    except (PintError, *_NOT_A_CALCULATION) as error:
        raise ValueError("not a length") from error


def _parse_operand(token: TokenInfo) -> Any:
    if token.type != NUMBER:
        return _parse_unit(token.string)
    try:
        return int(token.string)
    except ValueError:  # a fraction, or more digits than Python makes an int of
        return float(token.string)


def _parse_unit(word: str) -> Any:
    """One of the unit that a word names, or the number that it is."""
    if word in _ENDLESS:
        return float(word)
    registry, unit_names = _load_units()
    if word == "dimensionless":
        return registry.Quantity(1)
    if word in unit_names:
        return registry.Quantity(1, word)
    for prefix, unit, _ in registry.parse_unit_name(word):
        if unit in unit_names:
            return registry.Quantity(1, prefix + unit)
    raise ValueError(f"unknown unit {word!r}")


@cache
def _load_units() -> tuple[Any, frozenset[str]]:
    """The units of pint, and the names that they have before pint has read any text."""
    from pint import UnitRegistry

    registry: Any = UnitRegistry(cache_folder=None)
    return registry, frozenset(registry)


def _check_size(result: Any) -> Any:
    powers = (abs(power) for _, power in result.unit_items()) if hasattr(result, "unit_items") else ()
    if _count_bits(result) > _MOST_BITS or any(power > _LARGEST_UNIT_POWER for power in powers):
        raise ValueError("the calculation is too large")
    return result


def _count_bits(operand: Any) -> int:
    magnitude = getattr(operand, "magnitude", operand)
    return magnitude.bit_length() if isinstance(magnitude, int) else 0


def _bound_power(base: Any, exponent: Any) -> Any:
    plain = exponent.to_root_units().magnitude if hasattr(exponent, "to_root_units") else exponent
    if _count_bits(base) * abs(plain) > _MOST_BITS:
        raise ValueError("the power is too large")
    return _check_size(base**exponent)


def _bound_operation(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda left, right: _check_size(operation(left, right))


_OPERATORS = {
    "**": _bound_power,
    "": _bound_operation(operator.mul),
    "*": _bound_operation(operator.mul),
    "/": _bound_operation(operator.truediv),
    "//": _bound_operation(operator.floordiv),
    "+": _bound_operation(operator.add),
    "-": _bound_operation(operator.sub),
}


LONGEST = 200  # characters; the parser takes seconds for thousands of them
_SLACK_METRES, _SLACK_SHARE = Decimal(10), Decimal("0.02")
_RANGE = re.compile(r"(\d[\d.]*\s*[a-z]+)\s*-\s*(\d[\d.]*\s*[a-z]+)")  # 5 km - 6 km, a difference to the parser
_KILO = re.compile(r"(?<=\d)\s*k(?=\s|$)")


@dataclass(frozen=True, slots=True)
class DistanceValue(Value):
    """A distance in metres. `matches` allows ten metres or a fiftieth of the longer one (spec §5.7)."""

    type_name: ClassVar[str] = "distance"
    tolerance: ClassVar[str] = f"{_SLACK_METRES} metres, or {_SLACK_SHARE:.0%} of the longer one"

    @classmethod
    def canonical(cls, raw: object, context: ParseContext) -> Decimal:
        """Metres, of a length or of a calculation with lengths; a number without a unit is invalid."""
        if not isinstance(raw, str):
            raise parse_error(raw, "is not a distance; write it as the string '1.5 km'")
        check_length(raw, "distance", LONGEST)
        text = _KILO.sub(" km", normalize_text(raw, context))
        try:
            distance = parse_metres(text)
        except ValueError as error:
            raise parse_error(raw, "is not a distance; write it as 1.5 km") from error
        if not (distance.is_finite() or context.infinities):
            raise parse_error(raw, "is an infinite distance; write a finite one", rule="finite_quantities")
        if context.one_value and (range_ := _RANGE.search(text)):
            check_single(raw, range_.groups(), "distances")
        return distance

    @staticmethod
    def is_same(expected: Decimal, actual: Decimal) -> bool:
        """Whether two distances are near enough."""
        return abs(expected - actual) <= max(_SLACK_METRES, _SLACK_SHARE * max(expected, actual))

    def matches(self, actual: Value) -> bool:
        """Whether any two of the alternatives are near enough.

        A finite distance is near every infinite one. Raises `EvaluationError` for two infinite ones, and for NaN.
        """
        try:
            return super(DistanceValue, self).matches(actual)
        except InvalidOperation as error:
            distances = f"{self.to_json()} m and {actual.to_json()} m"
            raise EvaluationError(f"cannot compare the distances {distances}; write finite ones") from error
