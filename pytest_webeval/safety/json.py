"""JSON as Python reads it, and a little more, but no number that cannot be written again; warns of its repairs."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from math import inf, isfinite
from typing import Any

import msgspec
from msgspec import Struct, field

from pytest_webeval.errors import EvaluationError
from pytest_webeval.safety.limits import USUAL, Limits
from pytest_webeval.safety.text import preview

DEEPEST = 100  # levels: a recursive walk of such a value is safe, and no recorder or task needs more


def load_bounded(text: str, limits: Limits, subject: str, *, as_sent: bool = False) -> Any:
    """The value in a text. Raises `ValueError` for invalid JSON, `EvaluationError` beyond the limits.

    Python reads no integer of thousands of digits, which is an error as well: the reference has no verdict on it.

    `subject` names the text in messages. Python's NaN and infinities are null where it is read `as_sent`: they are no
    JSON, and browsers send null for them.
    """
    if may_hold_more(text, limits.values):
        raise EvaluationError(f"{subject} holds more values than {limits.values:,}; {limits.describe('values')}")
    problem = f"{subject} nests deeper than {limits.nesting} levels; {limits.describe('nesting')}"
    try:
        value = json.loads(text, **(_NULLS if as_sent else {}))
    except RecursionError:
        raise EvaluationError(problem) from None
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        raise EvaluationError(f"{subject} holds an integer of too many digits; {_DIGITS}") from error
    if may_nest_deeper(text, limits.nesting) and nests_deeper(value, limits.nesting):
        raise EvaluationError(problem)
    return value


_DIGITS = "Python reads at most 4,300; write it as a string"


def get_member(tree: object, name: str) -> Any:
    """The member of an object; None where the value of a stranger has no such member, or is no object."""
    return tree.get(name) if isinstance(tree, Mapping) else None


def read_number(value: object, least: float = -inf, most: float = inf) -> float | None:
    """The same value if it is a number in a range, and no boolean, which Python takes for one; None for any other."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        return None
    return value


def parse_finite(digits: str) -> float | None:
    """The number that a text writes, None for one beyond all numbers such as 1e999."""
    number = float(digits)
    return number if isfinite(number) else None


_NULLS: dict[str, Any] = {"parse_constant": lambda _: None, "parse_float": parse_finite}


def may_hold_more(text: str, values: int) -> bool:
    """Whether a text may hold so many members and items that as objects they take many times its room."""
    return len(text) > values and text.count(",") + text.count("[") + text.count("{") > values


def may_nest_deeper(text: str, levels: int) -> bool:
    """Whether there are brackets enough in a text."""
    return len(text) > levels and text.count("[") + text.count("{") > levels


def nests_deeper(value: Any, levels: int) -> bool:
    """Level by level, as the stack may not suffice for what a reader written in C went through."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        parents = [each.values() if isinstance(each, dict) else each for each in level]
        level = [child for parent in parents for child in parent if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def is_json(tree: Any, depth: int = DEEPEST) -> bool:
    """Whether something is what JSON can hold, and nested no deeper than that."""
    if type(tree) is dict:
        return depth > 0 and all(type(key) is str and is_json(member, depth - 1) for key, member in tree.items())
    if type(tree) is list:
        return depth > 0 and all(is_json(item, depth - 1) for item in tree)
    return tree is None or type(tree) in (str, int, float, bool)


def is_unicode(text: str) -> bool:
    """Whether a text has no lone surrogate, which pydantic refuses where it checks a length."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def format_validation_error(error: msgspec.ValidationError, root: str = "") -> str:
    """The message of msgspec about invalid data, with its path as this package writes it."""
    problem, _, path = str(error).partition(" - at `")
    where = f"{root}{path.removeprefix('key` in `').removeprefix('$').rstrip('`')}".lstrip(".")
    return f"{problem} @ {where}" if where else problem


MAX_DIGITS = 400  # more than any double has
MAX_EXPONENT = 4  # characters, sign included: an exponent costs nothing to write and everything to expand


def load_exact(text: str) -> tuple[Any, tuple[str, ...]]:
    """The value in a text, and keys that stand twice in one object, of which the last counts. Raises `ValueError`.

    Numbers with a point or exponent are `Decimal`. NaN and infinities, which Python writes though JSON has none, are
    their names, so that nobody takes them for numbers.
    """
    if may_hold_more(text, USUAL.values):
        raise ValueError(f"it holds more than {USUAL.values:,} values")
    repeated: list[str] = []

    def build_object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            repeated.extend(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        return members

    try:
        value = json.loads(
            text.removeprefix("\ufeff"),
            parse_float=lambda number: Decimal(_check_digits(number)),
            parse_int=lambda number: int(_check_digits(number)),
            parse_constant=str,
            object_pairs_hook=build_object,
        )
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    if nests_deeper(value, DEEPEST):
        raise ValueError(_TOO_DEEP)
    return value, tuple(repeated)


_TOO_DEEP = f"it nests deeper than {DEEPEST} levels"


def _check_digits(number: str) -> str:
    exponent = number.lower().partition("e")[2]
    if len(number) > MAX_DIGITS or len(exponent) > MAX_EXPONENT:
        raise ValueError(f"the number {number:.40} is out of range")
    return number


_LARGE = 32 * 2**20  # bytes; as Python's objects they would take many times that


def to_strict_json(content: bytes, limits: Limits) -> bytes | None:
    """The same without NaN and infinities, which are null, and halves of surrogate pairs, which are U+FFFD.

    None for invalid JSON, and for a text that is too large to be read that way.
    """
    if len(content) > _LARGE or content.count(b",") > limits.values:
        return None
    try:
        value = json.loads(content.decode(), parse_constant=lambda _: None, parse_float=parse_finite)
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


LENIENT_DIGITS = 300  # as many as a float can have before its point
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


class InvalidJson(ValueError):
    """A text that is not JSON, or that nests deeper than `DEEPEST`; the message says why."""


class RepairedObject(dict[str, Any]):
    """An object with members that are null because they were no finite numbers, or lists of such: `nonfinite`."""

    __slots__ = ("nonfinite",)

    def __init__(self, members: dict[str, Any], nonfinite: frozenset[str]) -> None:
        super().__init__(members)
        self.nonfinite = nonfinite


class LenientJson(Struct, frozen=True):
    """A JSON value, where in the text it ends, warnings about repairs, and whether numbers became null."""

    value: Any
    end: int
    warnings: tuple[str, ...]
    has_nonfinite: bool = False


def load_lenient(text: str, start: int = 0, most_values: int = USUAL.values) -> LenientJson:
    """The one value that begins exactly at `start`; what follows it is not inspected. Raises `InvalidJson`.

    A text that may hold more than `most_values` is not read: as objects they would fill the memory.

    Control characters within a text are kept. Of a key that is there twice the last counts. NaN, infinities and
    numbers of more than `LENIENT_DIGITS` digits are null: nobody else could read them, or they are equal to nothing. An
    object that had such a member is a `RepairedObject`.
    """
    if not start and may_hold_more(text, most_values):  # what follows the first value is counted with it
        raise InvalidJson(f"it holds more than {most_values:,} values")
    repairs = _Repairs()
    decoder = json.JSONDecoder(
        object_pairs_hook=repairs.build_object,
        parse_int=repairs.parse_integer,
        parse_float=repairs.parse_float,
        parse_constant=repairs.replace_by_null,
        strict=False,
    )
    try:
        value, end = decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise InvalidJson(f"{error.msg}, character {error.pos + 1}") from error
    except RecursionError as error:
        raise InvalidJson(_TOO_DEEP) from error
    if text.count("{", start, end) + text.count("[", start, end) > DEEPEST and nests_deeper(value, DEEPEST):
        raise InvalidJson(_TOO_DEEP)
    if _CONTROL.search(text, start, end):
        repairs.warnings["it has control characters"] = None
    if repairs.has_nonfinite:
        values = [value]
        _replace_nonfinite(values)  # those in no object
        (value,) = values
    return LenientJson(value, end, tuple(repairs.warnings), repairs.has_nonfinite)


def shorten_json(value: Any) -> str:
    """The beginning of a JSON value, in printable characters."""
    return preview(value, 70, "", is_ascii=True)


class _Repairs(Struct):
    """What the decoder calls for objects and numbers; holds one warning for each kind of repair."""

    warnings: dict[str, None] = field(default_factory=dict)

    @property
    def has_nonfinite(self) -> bool:
        return _NONFINITE_WARNING in self.warnings

    def build_object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            self.warnings["it has a duplicate key; the last value counts"] = None
        if not self.has_nonfinite:
            return members
        # Each list is looked through once: those of inner objects are repaired by then.
        numbers = [key for key, value in members.items() if value is _NONFINITE]
        lists = [key for key, value in members.items() if type(value) is list and _replace_nonfinite(value)]
        is_finite = not (numbers or lists)
        return members if is_finite else RepairedObject(members | dict.fromkeys(numbers), frozenset(numbers + lists))

    def parse_integer(self, digits: str) -> Any:
        return int(digits) if len(digits) <= LENIENT_DIGITS else self.replace_by_null(digits)

    def parse_float(self, digits: str) -> Any:
        number = float(digits)
        return number if math.isfinite(number) else self.replace_by_null(digits)

    def replace_by_null(self, _: str) -> object:
        """A mark for what is null as soon as its object is complete."""
        self.warnings[_NONFINITE_WARNING] = None
        return _NONFINITE


_NONFINITE = object()
_NONFINITE_WARNING = "it has NaN or an out-of-range number, read as null"


def _replace_nonfinite(items: list[Any]) -> bool:
    """Put null in place of each mark in a list, and in lists within it. Whether there was one."""
    pending, is_replaced = [items], False
    while pending:
        level = pending.pop()
        for index, item in enumerate(level):
            if item is _NONFINITE:
                level[index], is_replaced = None, True
            elif type(item) is list:
                pending.append(item)
    return is_replaced


def list_texts(tree: Any) -> list[str]:
    """The texts in some JSON without the names of members, in the order in which `replace_texts` takes others."""
    if isinstance(tree, Mapping):
        return [text for value in tree.values() for text in list_texts(value)]
    if isinstance(tree, list | tuple):
        return [text for value in tree for text in list_texts(value)]
    return [tree] if isinstance(tree, str) else []


def replace_texts(tree: Any, texts: Iterator[str]) -> Any:
    """The same JSON with other texts."""
    if isinstance(tree, Mapping):
        return {name: replace_texts(value, texts) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [replace_texts(value, texts) for value in tree]
    return next(texts) if isinstance(tree, str) else tree


# How MessagePack begins a number of 64 bits that is NaN or infinite. Other bytes may look the same.
_NONFINITE_BYTES = re.compile(rb"\xcb[\x7f\xff][\xf0-\xff]")


def to_compact_json(tree: Any) -> bytes | None:
    """The bytes of plain JSON; None for what cannot be spelled so: a whole number that is long, half a surrogate pair.

    None for NaN and infinities as well, of which JSON knows none: msgspec would write null for them.
    """
    try:
        return None if _NONFINITE_BYTES.search(msgspec.msgpack.encode(tree)) else msgspec.json.encode(tree)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None


def copy_small(tree: Any, longest: int, deepest: int) -> Any | None:
    """A copy of plain JSON with at most so many bytes and levels of brackets, lists instead of tuples; or else None."""
    encoded = to_compact_json(tree)
    if encoded is None or len(encoded) > longest or encoded.count(b"[") + encoded.count(b"{") > deepest:
        return None
    return msgspec.json.decode(encoded)
