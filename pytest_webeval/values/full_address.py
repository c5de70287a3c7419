"""Postal addresses in the United States, as objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

from pytest_webeval.errors import EvaluationError
from pytest_webeval.values.base import ParseContext, Value, parse_error
from pytest_webeval.values.string import StringValue
from pytest_webeval.values.text import normalize_text

# The parser takes time that grows with the square of the length.
_LONGEST_PART = 500


class Address(NamedTuple):
    """An address as the United States Postal Service writes it, in lower case but for the state."""

    house_number: str
    street: str
    city: str
    state: str
    postcode: str


@dataclass(frozen=True, slots=True)
class FullAddressValue(Value):
    """An address. Who is found there may be given by `name`, and does not count (spec §5.12)."""

    type_name: ClassVar[str] = "full_address"
    only_first: ClassVar[bool] = True

    @classmethod
    def canonical(cls, raw: object, context: ParseContext) -> Address:
        """The address of an object with the fields of `Address`.

        Raises `EvaluationError` where the libraries that know addresses are not installed.
        """
        _load_libraries()
        if not isinstance(raw, dict) or not raw.keys() >= set(Address._fields):
            raise parse_error(
                raw, f"is not a valid US postal address; write an object with {', '.join(Address._fields)}"
            )
        if not all(_is_short(raw[part]) for part in Address._fields):
            raise parse_error(
                raw, f"is not a valid US postal address; write its parts in at most {_LONGEST_PART} characters each"
            )
        if raw.get("name"):
            StringValue.read(raw["name"], context)
        address = _normalize_address(raw)
        if address is None:
            raise parse_error(raw, "is not a valid US postal address; check its parts")
        return Address(*(normalize_text(part, context) for part in address))._replace(state=address.state)

    def to_json(self) -> dict[str, str]:
        """The first alternative as an object."""
        address: Address = self.alternatives[0]
        return address._asdict()


def _is_short(part: object) -> bool:
    try:
        return len(str(part)) <= _LONGEST_PART
    except (RecursionError, ValueError):  # nested too deep, or an int with too many digits
        return False


@cache
def _load_libraries() -> tuple[Callable[[dict[str, Any]], dict[str, Any]], Callable[[str], Any], type[Exception]]:
    """What normalizes an address, what finds a state, and the error of the former."""
    try:
        from scourgify import normalize_address_record  # type: ignore[import-untyped]
        from scourgify.address_constants import NormalizationConfig  # type: ignore[import-untyped]
        from scourgify.exceptions import AddressNormalizationError  # type: ignore[import-untyped]
        from us.states import lookup  # type: ignore[import-untyped]
    except ImportError as error:
        raise EvaluationError(
            f"values of type full_address need {error.name}; pip install 'pytest-webeval[address]'"
        ) from error
    if NormalizationConfig().config:
        problem = "address_constants.yaml, in ./config or in ADDRESS_CONFIG, changes how addresses are parsed"
        raise EvaluationError(f"{problem}; remove it, or run pytest in another directory")
    return normalize_address_record, lookup, AddressNormalizationError


def _normalize_address(raw: dict[str, Any]) -> Address | None:
    normalize, find_state, error_type = _load_libraries()
    lines = {"address_line_1": f"{raw['house_number']} {raw['street']}", "address_line_2": None}
    try:
        record = normalize(lines | {"city": raw["city"], "state": raw["state"], "postal_code": raw["postcode"]})
        state = find_state(record["state"])
    except (error_type, AttributeError, LookupError, TypeError, ValueError):
        return None
    house_number, _, street = record["address_line_1"].partition(" ")
    if not street or state is None:
        return None
    return Address(house_number, street, record["city"], state.abbr, record["postal_code"])
