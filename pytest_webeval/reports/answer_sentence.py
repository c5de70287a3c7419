"""What is wrong with an agent's answer, as one sentence."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from pytest_webeval.diagnostics.difference import EXTRA
from pytest_webeval.diagnostics.difference import MISSING
from pytest_webeval.safety.text import preview

LONGEST_VALUE, MOST_VALUES = 80, 3
_DATA = "retrieved_data"
_WRONG_ORDER = "The answer has the right items in the wrong order."
Differences = Sequence[Mapping[str, Any]]
_ITEM = re.compile(r"retrieved_data\[\d+\]")


def in_agents_words(path: str, words: Mapping[str, str]) -> str:
    """The path of a difference with the name of its field as the agent wrote it."""
    name = re.split(r"[.\[]", path, maxsplit=1)[0]
    return f"{words.get(name, name)}{path[len(name) :]}"


def describe_answer(explanation: Mapping[str, Any], words: Mapping[str, str]) -> str | None:
    """The first difference in the type or the status, or else all about the data. None without differences."""
    differences: Differences = explanation.get("differences") or ()
    if not differences:
        return None
    first = differences[0]
    if first["path"] == "agent_response":
        return _describe_no_answer(first)
    if not first["path"].startswith(_DATA):
        return _describe_field(first, in_agents_words(first["path"], words))
    return _describe_data([each for each in differences if each["path"].startswith(_DATA)], words)


def _describe_no_answer(difference: Mapping[str, Any]) -> str:
    if difference["kind"] == MISSING:
        return "The agent gave no answer."
    return f"The answer is not a JSON object with task_type and status: {preview_value(difference['actual'])}."


def _describe_field(difference: Mapping[str, Any], name: str) -> str:
    if difference["kind"] == MISSING:
        return f"The answer lacks {name}; expected is {preview_value(difference['expected'])}."
    actual = preview_value(difference["actual"])
    if difference["kind"] == EXTRA:
        return f"The answer has {name} {actual}, which is not expected."
    return f"The answer has the {name} {actual} instead of {preview_value(difference['expected'])}."


def _describe_data(differences: Differences, words: Mapping[str, str]) -> str:
    if not all(_ITEM.fullmatch(difference["path"]) for difference in differences):
        first, path = differences[0], in_agents_words(differences[0]["path"], words)
        return _describe_field(first, path) if first["path"] == _DATA else _describe_inner(first, path)
    lacking = Counter(_encode(each["expected"]) for each in differences if each["kind"] != EXTRA)
    added = Counter(_encode(each["actual"]) for each in differences if each["kind"] != MISSING)
    lacks, has = list((lacking - added).elements()), list((added - lacking).elements())
    if lacks and has:
        return f"The answer lacks {_list_values(lacks)} and has {_list_values(has)} instead."
    if lacks:
        return f"The answer lacks {_list_values(lacks)}."
    return f"The answer has {_list_values(has)}, which is not expected." if has else _WRONG_ORDER


def _describe_inner(difference: Mapping[str, Any], path: str) -> str:
    """A member of an item."""
    expected, actual = preview_value(difference["expected"]), preview_value(difference["actual"])
    if difference["kind"] == MISSING:
        return f"The answer lacks {expected} in {path}."
    if difference["kind"] == EXTRA:
        return f"The answer has {actual} in {path}, which is not expected."
    return f"The answer has {actual} instead of {expected} in {path}."


def preview_value(value: Any) -> str:
    """A value as JSON of bounded length; a whole number has no fraction."""
    return preview(int(value) if isinstance(value, float) and value.is_integer() else value, LONGEST_VALUE)


def _encode(value: Any) -> str:
    """The same text for equal values."""
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    except (ValueError, TypeError, RecursionError):
        return repr(type(value))


def _list_values(texts: Sequence[str]) -> str:
    """The first values, and how many more there are."""
    first = ", ".join(preview_value(json.loads(text)) if text[:1] != "<" else text for text in texts[:MOST_VALUES])
    return f"{first} and {len(texts) - MOST_VALUES} more" if len(texts) > MOST_VALUES else first
