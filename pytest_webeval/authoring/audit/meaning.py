"""Whether a value of a request carries what the task asks for, or is incidental as a token is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from math import isfinite
from typing import Any

from pytest_webeval.authoring.audit.spellings import OTHER_TEXT
from pytest_webeval.tasks.task import Task

_WORD = re.compile(r"[^\W_]+")
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_US_DATE = re.compile(r"(\d\d)/(\d\d)/(\d{4})")


def list_words(text: str) -> list[str]:
    """The words and numbers of a text, in lower case."""
    return [word.lower() for word in _WORD.findall(text)]


# Words that stand in many an intent and are values of many a form.
_COMMON = frozenset(
    list_words(
        "a all an and any as at be by for from i in is it me my new no not of off on one or the to true false with yes"
    )
)


def carries_meaning(value: Any, task: Task) -> bool:
    """Whether all words of a value stand in the intent or in what the task's template was filled with."""
    if value is None or isinstance(value, bool):
        return False
    words = list_words(str(value))
    telling = [word for word in words if word not in _COMMON]
    topic = set(list_words(task.intent)) | {
        word for text in _list_texts(getattr(task, "instantiation_dict", None)) for word in list_words(text)
    }
    return bool(telling) and (topic.issuperset(words) or _is_date_of(str(value), topic))


def _is_date_of(text: str, topic: set[str]) -> bool:
    """Whether a date in figures stands in words that name its month and its day."""
    figures = _US_DATE.sub(r"\3-\1-\2", text.strip())
    if not _ISO_DATE.fullmatch(figures):
        return False
    try:
        day = date.fromisoformat(figures)
    except ValueError:
        return False
    return {f"{day:%B}".lower(), str(day.day)} <= topic


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for member in value:
            yield from _list_texts(member)
    elif value is not None:
        yield str(value)


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
