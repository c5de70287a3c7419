"""Other spellings of a value that mean the same, and values that mean something else, by the type of the value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import WebEvalError
from pytest_webeval.values import value_type
from pytest_webeval.values.base import ParseContext

OTHER_TEXT = "audit-other"
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_PRICE = re.compile(r"[$€£] ?\d[\d,]*(\.\d\d?)?|\d{1,3}(,\d{3})*\.\d\d")
_DURATION = re.compile(r"\d+ ?h(ours?)?( ?\d+ ?m(in(utes?)?)?)?|\d+ ?min(utes?)?")
_DISTANCE = re.compile(r"(\d+(?:\.\d+)?) ?km")
_ABOUT_MONEY = re.compile(
    r"\b(price|cost|costs|spen[dt]|paid|pay|amount|revenue|refund|dollars?|usd)\b|\$", re.IGNORECASE
)
_WORDS = {"yes": True, "no": False, "true": True, "false": False}
_LEAST_CUT = 6  # characters of a text of which the half is another answer


class Spelling(Struct, frozen=True):
    """Another way to write a value, and what is different about it."""

    name: str
    value: Any


class Reading(Struct, frozen=True):
    """A value as it was written, and its canonical form."""

    raw: Any
    parsed: Any


def find_kind(schema: Mapping[str, Any]) -> str:
    """The type that a schema names, as the evaluator looks it up."""
    kind = schema.get("format") or schema.get("type") or "string"
    return kind if isinstance(kind, str) else "string"


def guess_kind(value: Any, kind: str, topic: str) -> str:
    """The type of what a value means: a text may be a date, a price or a duration, and a number may be an amount.

    The topic is what the value is about, in words: its name, or what the task asks for.
    """
    if kind == "string" and isinstance(value, str):
        text = value.strip().lower()
        patterns = {"date": _ISO_DATE, "currency": _PRICE, "duration": _DURATION}
        guessed = next((name for name, pattern in patterns.items() if pattern.fullmatch(text)), None)
        return guessed or ("boolean" if text in _WORDS else "string")
    is_amount = (
        kind in ("number", "integer", "string") and isinstance(value, int | float) and _ABOUT_MONEY.search(topic)
    )
    return "currency" if is_amount else kind


def _parse(value: Any, kind: str) -> Any:
    """The canonical form of a value, None where it has none or is a pattern."""
    parser = value_type(kind)
    try:
        return parser.read(value, ParseContext(patterns=False)).alternatives[0] if parser else None
    except (WebEvalError, ArithmeticError, ValueError, IndexError):
        return None


def _spell_number(reading: Reading) -> Iterator[Spelling]:
    whole = int(reading.parsed) if reading.parsed == int(reading.parsed) else reading.parsed
    yield Spelling("as a text", str(whole))
    yield Spelling("with blanks", f" {whole} ")
    yield Spelling("as a number", whole)
    if abs(whole) >= 1_000:
        yield Spelling("with thousands separators", f"{whole:,}")


def _spell_currency(reading: Reading) -> Iterator[Spelling]:
    if reading.parsed < 0:
        return
    yield Spelling("with a dollar sign", f"${reading.parsed:,.2f}")
    yield Spelling("with two digits", f"{reading.parsed:.2f}")
    yield Spelling("as a number", float(reading.parsed))


def _spell_boolean(reading: Reading) -> Iterator[Spelling]:
    yield Spelling("as a boolean", reading.parsed)
    yield Spelling("as a word", "yes" if reading.parsed else "no")
    yield Spelling("as a word in capitals", "True" if reading.parsed else "False")


def _spell_date(reading: Reading) -> Iterator[Spelling]:
    raw = str(reading.raw)
    if re.search(r"\d{4}", raw) and re.search(r"\b\d{1,2}\b", raw):  # a complete one
        yield Spelling("as an ISO date", reading.parsed.isoformat())
        yield Spelling("in English", f"{reading.parsed:%B} {reading.parsed.day}, {reading.parsed.year}")
        yield Spelling("with the day first", f"{reading.parsed.day} {reading.parsed:%b} {reading.parsed.year}")


def _spell_duration(reading: Reading) -> Iterator[Spelling]:
    minutes = round(reading.parsed.total_seconds() / 60)
    if minutes:
        yield Spelling("in minutes", f"{minutes} minutes")
        yield Spelling("in hours and minutes", f"{minutes // 60}h {minutes % 60}m")
        yield Spelling("as a clock", f"{minutes // 60}:{minutes % 60:02}:00")


def _spell_distance(reading: Reading) -> Iterator[Spelling]:
    match = _DISTANCE.fullmatch(str(reading.raw).strip().lower())
    if match:
        yield Spelling("in metres", f"{round(float(match[1]) * 1000)} m")


def _spell_url(reading: Reading) -> Iterator[Spelling]:
    if isinstance(reading.raw, str) and reading.raw.startswith("http") and "?" not in reading.raw:
        yield Spelling("with a slash at the end", reading.raw.rstrip("/") + "/")


def _spell_text(reading: Reading) -> Iterator[Spelling]:
    if isinstance(reading.raw, str):
        yield Spelling("in capitals", reading.raw.upper())
        yield Spelling("with blanks", f"  {reading.raw} ")


_EQUAL: Mapping[str, Callable[[Reading], Iterator[Spelling]]] = {
    "string": _spell_text,
    "number": _spell_number,
    "integer": _spell_number,
    "currency": _spell_currency,
    "boolean": _spell_boolean,
    "date": _spell_date,
    "duration": _spell_duration,
    "distance": _spell_distance,
    "url": _spell_url,
    "location-name": _spell_text,
    "full_address": _spell_text,
}


def list_equal(value: Any, kind: str) -> list[Spelling]:
    """Other spellings of a value."""
    spell, parsed = _EQUAL.get(kind), _parse(value, kind)
    if spell is None or parsed is None:
        return []
    try:
        return [spelling for spelling in spell(Reading(value, parsed)) if _is_other(spelling.value, value)]
    except (ArithmeticError, ValueError, TypeError):
        return []


def _is_other(first: Any, second: Any) -> bool:
    return type(first) is not type(second) or first != second


def _change_number(reading: Reading) -> Iterator[Spelling]:
    yield Spelling("another number", reading.parsed * 3 + 7)
    yield Spelling("one more", reading.parsed + 1)


def _change_currency(reading: Reading) -> Iterator[Spelling]:
    yield Spelling("another amount", float(reading.parsed) + 17)
    yield Spelling("a hundred times as much", float(reading.parsed) * 100 + 1)


def _change_boolean(reading: Reading) -> Iterator[Spelling]:
    yield Spelling("the opposite", not reading.parsed)


def _change_date(reading: Reading) -> Iterator[Spelling]:
    yield Spelling("another year", (reading.parsed + timedelta(days=400)).isoformat())
    yield Spelling("the next day", (reading.parsed + timedelta(days=1)).isoformat())


def _change_duration(reading: Reading) -> Iterator[Spelling]:
    minutes = round(reading.parsed.total_seconds() / 60)
    yield Spelling("a longer duration", f"{minutes * 3 + 120} minutes")
    yield Spelling("another unit", f"{minutes} hours")


def _change_distance(reading: Reading) -> Iterator[Spelling]:
    match = _DISTANCE.fullmatch(str(reading.raw).strip().lower())
    yield Spelling("a longer distance", "98765 km")
    if match:
        yield Spelling("another unit", f"{match[1]} m")


def _change_url(reading: Reading) -> Iterator[Spelling]:
    yield Spelling("a page below", f"{str(reading.raw).rstrip('/')}/{OTHER_TEXT}")


def _change_other(_: Reading) -> Iterator[Spelling]:
    yield Spelling("another value", OTHER_TEXT)


def _change_text(reading: Reading) -> Iterator[Spelling]:
    """Another text, and one that only begins like the value; of digits another number."""
    yield Spelling("another value", OTHER_TEXT)
    text = str(reading.raw).strip()
    if text.isascii() and text.isdigit():
        yield Spelling("another number", f"1{text}0")
    elif len(text) >= _LEAST_CUT and text.isascii():
        yield Spelling("the first half", text[: len(text) // 2].strip())


_OTHER: Mapping[str, Callable[[Reading], Iterator[Spelling]]] = {
    "string": _change_text,
    "number": _change_number,
    "integer": _change_number,
    "currency": _change_currency,
    "boolean": _change_boolean,
    "date": _change_date,
    "duration": _change_duration,
    "distance": _change_distance,
    "url": _change_url,
}


def list_other(value: Any, kind: str) -> list[Spelling]:
    """Values that mean something else, none of them the value itself."""
    parsed = _parse(value, kind)
    change = _OTHER.get(kind, _change_other) if parsed is not None else _change_other
    try:
        changed = list(change(Reading(value, parsed)))
    except (ArithmeticError, ValueError, TypeError):
        changed = list(_change_other(Reading(value, parsed)))
    return [spelling for spelling in changed if _is_other(spelling.value, value)]
