"""What a reply comes to: its last line, or the JSON object in it. Anything else is sent back to the model."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Generic, NoReturn, TypeVar

from msgspec import Struct

from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.rubrics.payload import point_count, quote_value
from pytest_webeval.safety.json import load_exact
from pytest_webeval.safety.text import escape_surrogates

Value = TypeVar("Value")
STATUS = {"success": True, "failure": False}  # of WebJudge
LONGEST_REPLY = 200_000  # characters
MOST_DECIMALS = 4  # of points, so that sums stay exact in every JSON reader


class Conclusion(Struct, Generic[Value], frozen=True):
    """The value of the last line of a reply, and the text before that line."""

    value: Value
    reasoning: str


def parse_last_line(text: str, label: str, words: Mapping[str, Value]) -> Conclusion[Value]:
    """What the last line says, which is `label: word`. Raises `InvalidReply`.

    Only the last line counts, as a judge may quote such lines of a page or of an answer before. Quotes around the word,
    `**`, a full stop and the case do not matter; quotes around the line do, for that is how a page is quoted.
    """
    _check_length(text)
    reasoning, _, line = text.strip().rpartition("\n")
    names = "|".join(map(re.escape, words))
    pattern = rf"{re.escape(label)}[ \t]*:[ \t]*([\"'`]?)({names})\1\.?"
    match = re.fullmatch(pattern, line.replace("**", "").strip(), re.IGNORECASE | re.ASCII)
    if match is None:
        expected = " or ".join(f"`{label}: {word}`" for word in words)
        raise InvalidReply(f"the last line is {quote_value(line.strip())}; end with one line {expected}")
    by_name = {word.lower(): value for word, value in words.items()}
    return Conclusion(by_name[match[2].lower()], escape_surrogates(reasoning.strip()))


def parse_json_object(text: str) -> ReplyObject:
    """The one JSON object of a reply, which a code block or a text without braces may surround.

    From the first brace to the last, the text must be that object. An object within a damaged one, or a second one,
    may be a quotation. Raises `InvalidReply`.
    """
    _check_length(text)
    start, end = text.find("{"), text.rfind("}") + 1
    if not 0 <= start < end:
        raise InvalidReply("there is no JSON object in it; reply with one JSON object")
    source = text[start:end]
    try:
        fields, repeated = load_exact(source)
        json.loads(source, parse_constant=_refuse_constant)
    except ValueError as error:
        raise InvalidReply(f"it is not one JSON object: {error}; reply with one JSON object and nothing else") from None
    if repeated:
        raise InvalidReply(f"the key {quote_value(repeated[0])} stands twice in one object; write each key once")
    return ReplyObject(escape_surrogates(fields), source=source)


def _check_length(text: str) -> None:
    if len(text) > LONGEST_REPLY:
        raise InvalidReply(f"it has {len(text):,} characters; use at most {LONGEST_REPLY:,}")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


class ReplyObject(Struct, frozen=True):
    """An object of a reply. Its methods raise `InvalidReply`, which says what the model has to write instead.

    `place` says where it stands, `source` is its text in the reply if it is the outermost one.
    """

    fields: Mapping[str, Any]
    place: str = ""
    source: str = ""

    def text(self, key: str, *, may_be_empty: bool = False) -> str:
        """A text, which may be empty only where that has a meaning."""
        raw = self._member(key)
        if not isinstance(raw, str) or not (raw.strip() or may_be_empty):
            raise self._error(key, raw, "a text" if may_be_empty else "a text that is not empty")
        return raw

    def text_or_null(self, key: str) -> str | None:
        """A text, or None for null."""
        return None if self._member(key) is None else self.text(key)

    def flag(self, key: str) -> bool:
        """True or false."""
        raw = self._member(key)
        if not isinstance(raw, bool):
            raise self._error(key, raw, "true or false")
        return raw

    def flag_or_null(self, key: str) -> bool | None:
        """True, false, or None for null."""
        raw = self._member(key)
        if not (raw is None or isinstance(raw, bool)):
            raise self._error(key, raw, "true, false or null")
        return raw

    def points(self, key: str, most: Decimal) -> Decimal:
        """A number from 0 to `most`, exactly."""
        raw = self._member(key)
        number = point_count(raw)
        if number is None or not 0 <= number <= most or round(number, MOST_DECIMALS) != number:
            raise self._error(key, raw, f"a number from 0 to {most} with at most {MOST_DECIMALS} decimals")
        return number

    def choice(self, key: str, words: Mapping[str, Value]) -> Value:
        """What one of some words stands for."""
        raw = self._member(key)
        if not isinstance(raw, str) or raw not in words:
            raise self._error(key, raw, f"one of {', '.join(map(quote_value, words))}")
        return words[raw]

    def objects(self, key: str, most: int) -> list[ReplyObject]:
        """A list of 1 to `most` objects."""
        raw = self._member(key)
        if not isinstance(raw, list) or not 1 <= len(raw) <= most:
            raise self._error(key, raw, f"a list of 1 to {most} objects")
        for index, item in enumerate(raw):
            if not isinstance(item, dict):
                raise self._error(f"{key}[{index}]", item, "an object")
        return [ReplyObject(item, f"{self.place}{key}[{index}].") for index, item in enumerate(raw)]

    def _member(self, key: str) -> Any:
        if key not in self.fields:
            raise InvalidReply(f"the key {self.place}{key} is missing; add it")
        return self.fields[key]

    def _error(self, key: str, raw: object, expected: str) -> InvalidReply:
        return InvalidReply(f"invalid {self.place}{key} {quote_value(raw)}; use {expected}")
