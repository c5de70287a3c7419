"""What the answer of a golden run suggests: the expected data and a schema, typed where the texts leave no doubt."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from pytest_webeval.authoring.addresses import Addresses
from pytest_webeval.errors import RecordingError, ValueParseError
from pytest_webeval.safety.text import shorten_repr
from pytest_webeval.values import value_type
from pytest_webeval.values.base import ParseContext, looks_like_pattern

NO_DATA: dict[str, Any] = {"type": "null"}
_DEEPEST = 8
_TEXT_TYPE = "string"
_JSON_TYPES: dict[str, tuple[type, ...]] = {"boolean": (bool,), "number": (int, float), _TEXT_TYPE: ()}
_LONGEST = 64  # characters of a text that is no mere text
_EMPTY: tuple[Any, ...] = (None, "", [], {})
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]*"
_UNIT = "(?:d|days?|h|hrs?|hours?|m|mins?|minutes?|s|secs?|seconds?)"
_ORDER = re.compile(
    r"\b(?:in order|order(?:ed)? by|sort(?:ed)?|rank(?:ed)?|ascending|descending|first)\b", re.IGNORECASE
)


class Kind(Struct, frozen=True):
    """A type of data: its schema, the texts that can only be of it, and how a definition writes those."""

    schema: dict[str, str]
    pattern: re.Pattern[str]
    write: Callable[[Any], Any]
    question: str = ""

    def accepts(self, item: Any) -> bool:
        """Whether a datum is of this type in JSON, or a text that looks like it and is of it."""
        if type(item) in _JSON_TYPES[self.schema["type"]]:
            return True
        if not isinstance(item, str) or len(item) > _LONGEST or self.pattern.fullmatch(item.strip()) is None:
            return False
        kind = value_type(self.schema.get("format", self.schema["type"]))
        try:
            return kind is not None and bool(kind.read(item, ParseContext()).alternatives)
        except ValueParseError:
            return False


def _write_number(text: str) -> int | float:
    plain = text.strip().replace(",", "")
    return float(plain) if "." in plain else int(plain)


def _write_date(text: str) -> str:
    from pytest_webeval.values.date import DateValue

    return str(DateValue.read(text, ParseContext()).to_json())


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_NUMBER = r"(?:0|[1-9]\d{0,14}|[1-9]\d{0,2}(?:,\d{3}){1,4})(?:\.\d{1,10})?"
# From the strictest to the loosest; the first that accepts all items is the type of the data.
KINDS = (
    Kind(
        {"type": "boolean"},
        _compile("yes|no|true|false"),
        lambda text: text.strip().lower() in {"yes", "true"},
        "yes or no: half of all guesses are right, so require a request as well",
    ),
    Kind({"type": "number"}, _compile(f"-?{_NUMBER}"), _write_number),
    Kind(
        {"type": "number", "format": "currency"},
        _compile(rf"-?(?:[$€£]|US\$)\s?{_NUMBER}"),
        lambda text: _write_number(re.sub(r"[^0-9.,-]", "", text)),
    ),
    Kind(
        {"type": _TEXT_TYPE, "format": "date"},
        _compile(rf"\d{{4}}-\d\d-\d\d|{_MONTH}\.? \d{{1,2}}, \d{{4}}|\d{{1,2}} {_MONTH}\.? \d{{4}}"),
        _write_date,
    ),
    Kind(
        {"type": _TEXT_TYPE, "format": "date"},
        _compile(r"\d{1,2}/\d{1,2}/\d{4}"),
        _write_date,
        "a date, read with the month first",
    ),
    Kind(
        {"type": _TEXT_TYPE, "format": "duration"},
        _compile(rf"\d{{1,6}}(?:\.\d+)?\s?{_UNIT}(?:,?\s?\d{{1,6}}(?:\.\d+)?\s?{_UNIT})*"),
        str.strip,
        "a duration, compared with a tolerance of 10%",
    ),
    Kind({"type": _TEXT_TYPE, "format": "distance"}, _compile(r"\d{1,9}(?:\.\d+)?\s?(?:km|mi|miles?)"), str.strip),
)


class ProposedAnswer(Struct, frozen=True):
    """`retrieved_data`, `results_schema` and `ordered` of a definition, and what its author should check."""

    data: list[Any] | None
    schema: dict[str, Any]
    is_ordered: bool = False
    notes: tuple[str, ...] = ()


def propose_answer(answers: Sequence[Any], addresses: Addresses, intent: str) -> ProposedAnswer:
    """What the data of each golden run suggest. Raises `RecordingError` for data that no task can expect."""
    lists = [_to_list(answer) for answer in answers]
    if not any(lists):
        return ProposedAnswer(None, NO_DATA)
    schema, write, notes = _guess([item for items in lists for item in items], addresses, 0)
    written = [[write(item) for item in items] for items in lists]
    data, is_ordered, more_notes = _merge(written, intent)
    return ProposedAnswer(data, {"type": "array", "items": schema}, is_ordered, (*notes, *more_notes))


def _to_list(answer: Any) -> list[Any]:
    if answer in _EMPTY and answer is not False:
        return []
    items = answer if isinstance(answer, list) else [answer]
    for item in items:
        if isinstance(item, list):
            raise RecordingError(f"the answer has a list in a list: {shorten_repr(item)}; give one list of data")
    return items


Writer = Callable[[Any], Any]


def _guess(items: Sequence[Any], addresses: Addresses, depth: int) -> tuple[dict[str, Any], Writer, list[str]]:
    """The schema of data of one kind, how they are written, and what to check."""
    present = [item for item in items if item is not None]
    if present and depth < _DEEPEST and all(isinstance(item, Mapping) for item in present):
        return _guess_object(present, addresses, depth)
    if present and depth < _DEEPEST and all(isinstance(item, list) for item in present):
        inner, write, notes = _guess([member for item in present for member in item], addresses, depth + 1)
        return {"type": "array", "items": inner}, lambda item: item and [write(member) for member in item], notes
    return _guess_scalar(present, addresses)


def _guess_object(
    items: Sequence[Mapping[str, Any]], addresses: Addresses, depth: int
) -> tuple[dict[str, Any], Writer, list[str]]:
    columns: dict[str, list[Any]] = {}
    for item in items:
        for name, member in item.items():
            columns.setdefault(name, []).append(member)
    guesses = {name: _guess(column, addresses, depth + 1) for name, column in columns.items()}
    schema = {"type": "object", "properties": {name: guess[0] for name, guess in guesses.items()}}
    notes = [f"{name}: {note}" for name, guess in guesses.items() for note in guess[2]]
    return schema, lambda item: item and {name: guesses[name][1](member) for name, member in item.items()}, notes


def _guess_scalar(items: Sequence[Any], addresses: Addresses) -> tuple[dict[str, Any], Writer, list[str]]:
    kind = next((kind for kind in KINDS if items and all(map(kind.accepts, items))), None)
    if kind is not None:
        write = kind.write
        notes = [kind.question] if kind.question else []
        return dict(kind.schema), lambda item: write(item) if isinstance(item, str) else item, notes
    if items and all(_is_site_url(item, addresses) for item in items):
        return {"type": _TEXT_TYPE, "format": "url"}, addresses.derender, []
    notes = []
    if any(isinstance(item, str) and len(item.split()) > 12 for item in items):
        notes.append("a long text: only the same words pass, so ask for less")
    if any(map(looks_like_pattern, items)):  # what an agent wrote is never a pattern
        notes.append("the answer looks like a pattern, and is escaped")

    def write_text(item: Any) -> Any:
        return f"^{re.escape(item)}$" if looks_like_pattern(item) else addresses.derender(item)

    return {"type": _TEXT_TYPE}, write_text, notes


def _is_site_url(item: Any, addresses: Addresses) -> bool:
    """Whether a text is nothing but a URL at a site of the task."""
    if not isinstance(item, str) or not item.startswith(("http://", "https://")) or len(item.split()) != 1:
        return False
    from pytest_webeval.values.url import UrlValue  # answers are seldom URLs

    context = ParseContext(known_sites=True, derender=addresses.derender)
    try:
        return addresses.locate(item).site is not None and bool(UrlValue.read(item, context).alternatives)
    except (ValueError, ValueParseError):
        return False


def _merge(answers: Sequence[list[Any]], intent: str) -> tuple[list[Any] | None, bool, list[str]]:
    """One list of data for all runs, whether its order counts, and what to check."""
    first = answers[0]
    spellings = [list(map(_spell, items)) for items in answers]
    if all(sorted(spelling) == sorted(spellings[0]) for spelling in spellings):
        if len(first) < 2 or any(spelling != spellings[0] for spelling in spellings):
            return first, False, []
        if _ORDER.search(intent):
            return first, True, ["ordered: the intent seems to ask for an order; without one, remove it"]
        return first, False, ['no order is required; if the task asks for one, add "ordered": true']
    if all(len(items) == 1 and not isinstance(items[0], dict) for items in answers):
        alternatives: dict[str, Any] = {}
        for items in answers:
            alternatives.setdefault(_spell(items[0]), items[0])
        return [list(alternatives.values())], False, ["the answers of the runs differ; each of them is an alternative"]
    return first, False, ["the answers of the runs differ; these are those of the first"]


def _spell(item: Any) -> str:
    return json.dumps(item, sort_keys=True).casefold()
