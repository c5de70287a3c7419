"""What every value type shares: alternatives, and reading as a task or as an agent wrote it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any, ClassVar, Self

from msgspec import Struct, field

from pytest_webeval.errors import ValueParseError
from pytest_webeval.safety.limits import INI, USUAL
from pytest_webeval.safety.text import pluralize, shorten_repr

_OF_JSON = (bool, int, float, str, list, tuple, dict)
# Third-party parsers take time that grows faster than their input.
LONGEST_PARSED = 10_000


def parse_error(raw: object, problem: str, rule: str | None = None) -> ValueParseError:
    """The error for a datum that starts by showing it: ``parse_error(5, "is not a date")``."""
    return ValueParseError(f"{shorten_repr(raw, limit=None)} {problem}", rule)


def check_single(raw: object, values: Iterable[object], plural: str) -> None:
    """Raise `ValueParseError` for a text that names several values, of which none is the answer."""
    different = list(dict.fromkeys(values))
    if len(different) > 1:
        names = ", ".join(map(str, different))
        raise parse_error(raw, f"names several {plural}: {names}; write one", rule="one_value")


def check_length(text: str, kind: str, limit: int = LONGEST_PARSED) -> None:
    """Raise `ValueParseError` for a text that no parser should be given."""
    if len(text) > limit:
        raise parse_error(text, f"is too long for a {kind}: {len(text)} characters; write at most {limit}")


class Alternatives(tuple[Any, ...]):
    """Raw values of which any one will do, put together by us and not by an agent: several hits of a path."""

    __slots__ = ()


def present_day() -> date:
    """The date on the clock and in the time zone of this machine."""
    return datetime.now().astimezone().date()


class ParseContext(Struct, frozen=True):
    """How raw data is read, which depends on who wrote it.

    `patterns` and `alternatives` say whether ``^…$`` texts and lists of two or more are taken as such, `infinities`
    whether a measure without end is one: they are for what a task author wrote, who with `known_sites` may only write
    URLs of sites that `derender` knows. `nonfinite` says whether NaN and infinities are data (Q56). `signed_currency`
    reads the sign and the thousands separators of an amount wherever they stand (Q22), `exact_money` all of its digits,
    where the reference keeps those of a float (Q57), `exact_numbers` all digits of an integer and the exponent of money
    (Q66). `single_decoding` decodes a query once (Q60). With `one_value` a text that names two different values is none
    (Q5), with `foreign_letters` a letter of another script is not the Latin one that it looks or sounds like (Q67).
    `derender` replaces site addresses in a text by their placeholders. `today` fills in what a partial date leaves open
    (Q44). `longest` is how many characters are read.
    """

    patterns: bool = True
    alternatives: bool = True
    infinities: bool = True
    nonfinite: bool = True
    known_sites: bool = False
    signed_currency: bool = False
    exact_money: bool = True
    single_decoding: bool = False
    exact_numbers: bool = False
    one_value: bool = False
    foreign_letters: bool = False
    derender: Callable[[str], str] = str
    today: date = field(default_factory=present_day)
    longest: int = USUAL.string_length


def _holds_nonfinite(raw: object) -> bool:
    """Whether a datum is NaN or an infinity, or holds one at any depth."""
    pending = [raw]
    while pending:
        match pending.pop():
            case float() as number if not isfinite(number):
                return True
            case dict() as members:
                pending.extend(members.values())
            case list() | tuple() as items:
                pending.extend(items)
    return False


def looks_like_pattern(raw: object) -> bool:
    """Whether a datum has the form ``^…$`` (spec §5.1 step 1: tested before trimming)."""
    return isinstance(raw, str) and len(raw) >= 2 and raw[0] == "^" and raw[-1] == "$"


@dataclass(frozen=True, slots=True)
class Value(ABC):
    """A datum in canonical form. ``==`` is exact; tolerance and patterns are for `matches`."""

    alternatives: tuple[Any, ...]

    type_name: ClassVar[str]
    tolerance: ClassVar[str] = "none"  # by how much equal values may differ, in the words of the manual
    only_first: ClassVar[bool] = False  # whether only the first of several alternatives counts

    @classmethod
    def read(cls, raw: object, context: ParseContext) -> Self:
        """The canonical value of a datum, or of each of its alternatives. Raises `ValueParseError`."""
        if isinstance(raw, Alternatives) or (isinstance(raw, list | tuple) and context.alternatives):
            if len(raw) < 2:
                problem = f"a list of {pluralize(len(raw), 'item')} is not a {cls.type_name}"
                raise ValueParseError(f"{problem}; write one value, or at least two alternatives")
            return cls(tuple(cls._canonical(alternative, context) for alternative in raw))
        return cls((cls._canonical(raw, context),))

    @classmethod
    def _canonical(cls, raw: object, context: ParseContext) -> Any:
        if isinstance(raw, str) and len(raw) > context.longest:
            hint = f"the limit is {context.longest:,}; raise string_length in {INI} if you trust the source"
            raise ValueParseError(f"a text of {len(raw):,} characters is too long; {hint}")
        if not (context.nonfinite or isinstance(raw, str)) and _holds_nonfinite(raw):
            raise parse_error(raw, "is or contains NaN or an infinity; write a finite number", rule="finite_numbers")
        return cls.canonical(raw, context)

    @classmethod
    @abstractmethod
    def canonical(cls, raw: object, context: ParseContext) -> Any:
        """The canonical form of one datum. Raises `ValueParseError`."""

    @staticmethod
    def is_same(expected: Any, actual: Any) -> bool:
        """Whether a canonical form is what a task asks for with another one."""
        return expected is actual or bool(expected == actual)

    def matches(self, actual: Value) -> bool:
        """Whether the actual value of an agent is what this expected value asks for."""
        if type(actual) is not type(self):
            return False
        if self.only_first:
            return self.is_same(self.alternatives[0], actual.alternatives[0])
        return any(
            self.is_same(expected, candidate) for expected in self.alternatives for candidate in actual.alternatives
        )

    def exact_key(self) -> tuple[Any, ...] | None:
        """What all values share that this one matches or that match it; None if that is more than one key."""
        is_exact = type(self).matches is Value.matches and type(self).is_same is Value.is_same and not self.only_first
        is_key = is_exact and len(self.alternatives) == 1 and isinstance(self.alternatives[0], Hashable)
        return self.alternatives if is_key else None

    def departures(self, context: ParseContext) -> Iterable[str]:  # noqa: ARG002  (few types have any)
        """Switches of the rule set by which it may be another value than that of the reference."""
        return ()

    def to_json(self) -> Any:
        """The first alternative for reports: a plain JSON value, or the text of what JSON has no type for."""
        first = self.alternatives[0]
        if isinstance(first, Decimal):
            return f"{first:f}"  # with all its digits, which a JSON number might not keep
        return first if first is None or isinstance(first, _OF_JSON) else str(first)
