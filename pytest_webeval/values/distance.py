"""Distances: "5 km", "1/2 mile", "5k", compared with tolerance."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from decimal import InvalidOperation
from typing import TYPE_CHECKING
from typing import ClassVar

from pytest_webeval.errors import EvaluationError
from pytest_webeval.values.base import Value
from pytest_webeval.values.lengths import metres
from pytest_webeval.values.refusal import refuse_overlong
from pytest_webeval.values.refusal import unreadable
from pytest_webeval.values.text import prepared

if TYPE_CHECKING:
    from pytest_webeval.values.base import Reading

LONGEST = 200  # characters; the parser takes seconds for thousands of them
_SLACK_METRES, _SLACK_SHARE = Decimal(10), Decimal("0.02")
_KILO = re.compile(r"(?<=\d)\s*k(?=\s|$)")


@dataclass(frozen=True, slots=True)
class DistanceValue(Value):
    """A distance in metres. `matches` allows ten metres or a fiftieth of the longer one (spec §5.7)."""

    type_name: ClassVar[str] = "distance"

    @classmethod
    def canonical(cls, raw: object, reading: Reading) -> Decimal:
        """Metres, of a length or of a calculation with lengths; a number without a unit is none."""
        if not isinstance(raw, str):
            raise unreadable(raw, "is not a distance; write it as the text '1.5 km'")
        refuse_overlong(raw, "distance", LONGEST)
        try:
            distance = metres(_KILO.sub(" km", prepared(raw, reading)))
        except ValueError as error:
            raise unreadable(raw, "is not a distance; write it as 1.5 km") from error
        if not (distance.is_finite() or reading.infinities):
            raise unreadable(raw, "is a distance without end; write a finite one", rule="finite_measures")
        return distance

    def matches(self, actual: Value) -> bool:
        """Whether any two of the alternatives are near enough.

        A finite distance is near every infinite one. Raises `EvaluationError` for two infinite ones, and for NaN.
        """
        if not isinstance(actual, DistanceValue):
            return False
        try:
            return any(_near(one, other) for one in self.alternatives for other in actual.alternatives)
        except InvalidOperation as error:
            shown = f"{self.to_json()} m and {actual.to_json()} m"
            raise EvaluationError(f"the distances {shown} cannot be compared; write finite ones") from error

    def to_json(self) -> str:
        """The first alternative in metres, with all its digits."""
        return f"{self.alternatives[0]:f}"


def _near(one: Decimal, other: Decimal) -> bool:
    return abs(one - other) <= max(_SLACK_METRES, _SLACK_SHARE * max(one, other))
