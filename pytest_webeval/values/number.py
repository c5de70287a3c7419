"""Numbers without a unit, in digits or in English words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from typing import Any
from typing import ClassVar

from pytest_webeval.values.base import Value
from pytest_webeval.values.base import check_length
from pytest_webeval.values.base import parse_error
from pytest_webeval.values.text import to_text

if TYPE_CHECKING:
    from pytest_webeval.values.base import ParseContext


@dataclass(frozen=True, slots=True)
class NumberValue(Value):
    """A number, compared without tolerance."""

    type_name: ClassVar[str] = "number"

    @classmethod
    def canonical(cls, raw: object, context: ParseContext) -> float:
        """The number as a float; of a text without digits, the number that its words spell."""
        if isinstance(raw, int | float):
            return _to_float(raw)
        text = to_text(raw, context)
        check_length(text, "number")
        try:
            return float(text.replace(",", "").replace(" ", ""))
        except ValueError:
            return _parse_words(text, raw)

    def matches(self, actual: Value) -> bool:
        """Whether the numbers are equal. NaN equals nothing, for which the operator ``in`` would not do."""
        return isinstance(actual, NumberValue) and any(
            expected == candidate for expected in self.alternatives for candidate in actual.alternatives
        )

    def exact_key(self) -> tuple[Any, ...] | None:
        """The number; None for several."""
        return self.alternatives if len(self.alternatives) == 1 else None


def _to_float(number: float) -> float:
    try:
        return float(number)
    except OverflowError as error:
        raise parse_error(number, "is too large for a number; write one below 1e308") from error


def _parse_words(text: str, raw: object) -> float:
    from word2number.w2n import word_to_num  # type: ignore[import-untyped]

    try:
        return float(word_to_num(text))
    except (ValueError, IndexError) as error:  # IndexError: "thousand two", where a multiplier is missing
        raise parse_error(raw, "is not a number; write it as 1234.5, without a unit") from error
