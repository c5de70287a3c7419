"""Values in JSON data: where they stand, what they mean, and how else that is written, by the type of the value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, timedelta
from math import isfinite
from typing import Any, NamedTuple

from pytest_webeval.errors import WebEvalError
from pytest_webeval.safety.json import DEEPEST
from pytest_webeval.tasks.task import Task
from pytest_webeval.values import value_type
from pytest_webeval.values.base import ParseContext

Path = tuple[int | str, ...]


def format_path(path: Path) -> str:
    """A path as messages write it: `[0].price`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def list_values(data: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Each value that is neither an object nor a list, with its path. What lies too deep is one value."""
    members = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else None
    if members is None or len(path) == DEEPEST:
        yield path, data
        return
    for step, member in members:
        yield from list_values(member, (*path, step))


def replace_value(data: Any, path: Path, value: Any) -> Any:
    """A copy of JSON data with another value at a path."""
    if not path:
        return value
    step, remaining = path[0], path[1:]
    if isinstance(data, list):
        return [replace_value(item, remaining, value) if index == step else item for index, item in enumerate(data)]
    return {key: replace_value(member, remaining, value) if key == step else member for key, member in data.items()}


OTHER_TEXT = "audit-other"
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_US_DATE = re.compile(r"(\d\d)/(\d\d)/(\d{4})")
_PRICE = re.compile(r"[$€£] ?\d[\d,]*(\.\d\d?)?|\d{1,3}(,\d{3})*\.\d\d")
_DURATION = re.compile(r"\d+ ?h(ours?)?( ?\d+ ?m(in(utes?)?)?)?|\d+ ?min(utes?)?")
_DISTANCE = re.compile(r"(\d+(?:\.\d+)?) ?km")
_MONEY = re.compile(r"\b(price|cost|costs|spen[dt]|paid|pay|amount|revenue|refund|dollars?|usd)\b|\$", re.IGNORECASE)
_WORDS_OF_BOOLEANS = ("yes", "no", "true", "false")
_LEAST_CUT = 6  # characters of a text of which the half is another answer


class Spelling(NamedTuple):
    """Another way to write a value, and what is different about it."""

    name: str
    value: Any


Pairs = Iterable[tuple[str, Any]]


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
        return guessed or ("boolean" if text in _WORDS_OF_BOOLEANS else "string")
    is_number = kind in ("number", "integer", "string") and isinstance(value, int | float)
    return "currency" if is_number and _MONEY.search(topic) else kind


def list_equal(value: Any, kind: str) -> list[Spelling]:
    """Other spellings of a value."""
    spell, parsed = _EQUAL.get(kind), _parse(value, kind)
    if spell is None or parsed is None:
        return []
    try:
        return _list_differing(spell(value, parsed), value)
    except (ArithmeticError, ValueError, TypeError):
        return []


def list_other(value: Any, kind: str) -> list[Spelling]:
    """Values that mean something else, none of them the value itself."""
    parsed = _parse(value, kind)
    change = _OTHER.get(kind) if parsed is not None else None
    try:
        if change is not None:
            return _list_differing(change(value, parsed), value)
    except (ArithmeticError, ValueError, TypeError):
        pass
    return _list_differing([("another value", OTHER_TEXT)], value)


def _parse(value: Any, kind: str) -> Any:
    """The canonical form of a value, None where it has none or is a pattern."""
    parser = value_type(kind)
    try:
        return parser.read(value, ParseContext(patterns=False)).alternatives[0] if parser else None
    except (WebEvalError, ArithmeticError, ValueError, IndexError):
        return None


def _list_differing(pairs: Pairs, value: Any) -> list[Spelling]:
    return [Spelling(name, other) for name, other in pairs if type(other) is not type(value) or other != value]


# Each of these gets a value as it was written, and its canonical form.


def _spell_number(_: Any, number: Any) -> Pairs:
    whole = int(number) if number == int(number) else number
    yield "as a text", str(whole)
    yield "with blanks", f" {whole} "
    yield "as a number", whole
    if abs(whole) >= 1_000:
        yield "with thousands separators", f"{whole:,}"


def _spell_currency(_: Any, amount: Any) -> Pairs:
    if amount >= 0:
        yield "with a dollar sign", f"${amount:,.2f}"
        yield "with two digits", f"{amount:.2f}"
        yield "as a number", float(amount)


def _spell_date(raw: Any, day: Any) -> Pairs:
    if re.search(r"\d{4}", str(raw)) and re.search(r"\b\d{1,2}\b", str(raw)):  # a complete one
        yield "as an ISO date", day.isoformat()
        yield "in English", f"{day:%B} {day.day}, {day.year}"
        yield "with the day first", f"{day.day} {day:%b} {day.year}"


def _spell_duration(_: Any, duration: Any) -> Pairs:
    if minutes := round(duration.total_seconds() / 60):
        yield "in minutes", f"{minutes} minutes"
        yield "in hours and minutes", f"{minutes // 60}h {minutes % 60}m"
        yield "as a clock", f"{minutes // 60}:{minutes % 60:02}:00"


def _change_duration(_: Any, duration: Any) -> Pairs:
    minutes = round(duration.total_seconds() / 60)
    yield "a longer duration", f"{minutes * 3 + 120} minutes"
    yield "another unit", f"{minutes} hours"


def _spell_distance(raw: Any, _: Any) -> Pairs:
    if match := _DISTANCE.fullmatch(str(raw).strip().lower()):
        yield "in metres", f"{round(float(match[1]) * 1000)} m"


def _change_distance(raw: Any, _: Any) -> Pairs:
    yield "a longer distance", "98765 km"
    if match := _DISTANCE.fullmatch(str(raw).strip().lower()):
        yield "another unit", f"{match[1]} m"


def _spell_url(raw: Any, _: Any) -> Pairs:
    if isinstance(raw, str) and raw.startswith("http") and "?" not in raw:
        yield "with a slash at the end", raw.rstrip("/") + "/"


def _spell_text(raw: Any, _: Any) -> Pairs:
    if isinstance(raw, str):
        yield "in capitals", raw.upper()
        yield "with blanks", f"  {raw} "


def _change_text(raw: Any, _: Any) -> Pairs:
    """Another text, and one that only begins like the value; of digits another number."""
    yield "another value", OTHER_TEXT
    text = str(raw).strip()
    if text.isascii() and text.isdigit():
        yield "another number", f"1{text}0"
    elif len(text) >= _LEAST_CUT and text.isascii():
        yield "the first half", text[: len(text) // 2].strip()


_EQUAL: Mapping[str, Callable[[Any, Any], Pairs]] = {
    **dict.fromkeys(("string", "location-name", "full_address"), _spell_text),
    **dict.fromkeys(("number", "integer"), _spell_number),
    "currency": _spell_currency,
    "boolean": lambda _, truth: [
        ("as a boolean", truth),
        ("as a word", "yes" if truth else "no"),
        ("as a word in capitals", "True" if truth else "False"),
    ],
    "date": _spell_date,
    "duration": _spell_duration,
    "distance": _spell_distance,
    "url": _spell_url,
}
_OTHER: Mapping[str, Callable[[Any, Any], Pairs]] = {
    "string": _change_text,
    **dict.fromkeys(
        ("number", "integer"), lambda _, number: [("another number", number * 3 + 7), ("one more", number + 1)]
    ),
    "currency": lambda _, amount: [
        ("another amount", float(amount) + 17),
        ("a hundred times as much", float(amount) * 100 + 1),
    ],
    "boolean": lambda _, truth: [("the opposite", not truth)],
    "date": lambda _, day: [
        ("another year", (day + timedelta(days=400)).isoformat()),
        ("the next day", (day + timedelta(days=1)).isoformat()),
    ],
    "duration": _change_duration,
    "distance": _change_distance,
    "url": lambda raw, _: [("a page below", f"{str(raw).rstrip('/')}/{OTHER_TEXT}")],
}
_WORD = re.compile(r"[^\W_]+")
# Words that stand in many an intent and are values of many a form.
_COMMON = frozenset(
    _WORD.findall(
        "a all an and any as at be by for from i in is it me my new no not of off on one or the to true false with yes"
    )
)


def list_words(text: str) -> list[str]:
    """The words and numbers of a text, in lower case."""
    return [word.lower() for word in _WORD.findall(text)]


def carries_meaning(value: Any, task: Task) -> bool:
    """Whether all words of a value stand in the intent or in what the task's template was filled with.

    Of a date in figures, the words that name its month and its day. Other values are incidental, as a token is.
    """
    if value is None or isinstance(value, bool):
        return False
    words, filled = list_words(str(value)), list_values(getattr(task, "instantiation_dict", None))
    texts = (task.intent, *(str(each) for _, each in filled if each is not None))
    topic = {word for text in texts for word in list_words(text)}
    if _COMMON.issuperset(words):
        return False
    figures = _US_DATE.sub(r"\3-\1-\2", str(value).strip())
    if topic.issuperset(words) or not _ISO_DATE.fullmatch(figures):
        return topic.issuperset(words)
    try:
        day = date.fromisoformat(figures)
    except ValueError:
        return False
    return {f"{day:%B}".lower(), str(day.day)} <= topic


def change_value(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        other = value * 3 + 7
        is_other = isinstance(other, int) or (isfinite(other) and other != value)
        return other if is_other else 7
    text = str(value) if value is not None else ""
    if text.isascii() and text.isdigit() and len(text) < 16:
        return str(int(text) * 3 + 7)
    if _US_DATE.fullmatch(text):
        return f"{text[:6]}{int(text[6:]) - 13:04}"
    if _ISO_DATE.fullmatch(text):
        return f"{int(text[:4]) - 13:04}{text[4:8]}01"
    return f"{OTHER_TEXT}-2" if text == OTHER_TEXT else OTHER_TEXT
