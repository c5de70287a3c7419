"""What is wrong with an agent's answer, as one sentence."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_webeval.diagnostics.difference import EXTRA, MISSING, MOST_DIFFERENCES
from pytest_webeval.safety.text import ELLIPSIS, list_first, pluralize, preview

LONGEST_VALUE, MOST_VALUES = 80, 3
_DEEPEST, _LARGEST_EXACT = 20, 2**53
_DATA = "retrieved_data"
_WRONG_ORDER = "The answer has the right items in the wrong order."
Differences = Sequence[Mapping[str, Any]]
_ITEM = re.compile(r"retrieved_data\[\d+\]")


def in_agents_words(path: str, words: Mapping[str, str]) -> str:
    """The path of a difference with the name of its field as the agent wrote it."""
    name = re.split(r"[.\[]", path, maxsplit=1)[0]
    return f"{words.get(name, name)}{path[len(name) :]}"


def describe_answer(explanation: Mapping[str, Any], words: Mapping[str, str]) -> str | None:
    """The first difference in the type or the status, or else all about the data.

    None without differences, and where it is not certain what is wrong.
    """
    differences: Differences = explanation.get("differences") or ()
    if not differences:
        return None
    first = differences[0]
    data = [each for each in differences if each["path"].startswith(_DATA)]
    if first["path"] == "agent_response":
        return _describe_no_answer(first)
    if not first["path"].startswith(_DATA):
        return _describe_field(first, in_agents_words(first["path"], words))
    if len(differences) >= MOST_DIFFERENCES:  # those that are not listed may be about the same items
        return f"The answer differs from the expected one in at least {MOST_DIFFERENCES} places."
    return _describe_data(data, words)


def _describe_no_answer(difference: Mapping[str, Any]) -> str:
    actual = difference["actual"]
    if actual is None or actual == "":
        return "The agent gave no answer."
    return f"The answer is not a JSON object with task_type and status: {preview_value(actual)}."


def _describe_field(difference: Mapping[str, Any], name: str) -> str | None:
    expected, actual = preview_value(difference["expected"]), preview_value(difference["actual"])
    if difference["kind"] == MISSING:
        problem = f"has an empty {name}" if difference["actual"] == "" else f"lacks {name}"
        return f"The answer {problem}; expected is {expected}."
    if difference["kind"] == EXTRA:  # of a field that the task should have; the answer may have none either
        return None if difference["actual"] is None else f"The answer has {name} {actual}, which is not expected."
    return None if actual == expected else f"The answer has the {name} {actual} instead of {expected}."


def _describe_data(differences: Differences, words: Mapping[str, str]) -> str | None:
    items = [difference for difference in differences if _ITEM.fullmatch(difference["path"])]
    first = (items or differences)[0]
    path = in_agents_words(first["path"], words)
    if differences[0]["path"] == _DATA:
        return _describe_field(differences[0], in_agents_words(_DATA, words))
    if len(items) < len(differences):  # in lists with an order, only what stands where is known of such items
        return _describe_place(first, path, len(differences) - 1)
    return _describe_items(items)


def _describe_items(differences: Differences) -> str | None:
    """Which items there should be, and which not, wherever they stand; None where cut values may be the same."""
    lacking = Counter(_encode(each["expected"]) for each in differences if each["kind"] != EXTRA)
    added = Counter(_encode(each["actual"]) for each in differences if each["kind"] != MISSING)
    if any(ELLIPSIS in text or text[:1] == "<" for text in lacking.keys() & added.keys()):
        return None
    lacks, has = list((lacking - added).elements()), list((added - lacking).elements())
    if lacks and has:
        lacked, had = _list_values(lacks), _list_values(has)
        return None if lacked == had else f"The answer lacks {lacked} and has {had} instead."
    if lacks:
        return f"The answer lacks {_list_values(lacks)}."
    if has:
        return f"The answer has {_list_values(has)}, which is not expected."
    return _WRONG_ORDER if len(differences) > 1 else None


def _describe_place(difference: Mapping[str, Any], path: str, others: int) -> str | None:
    """An item or a member of one, by its place, and how many more differences there are."""
    expected, actual = preview_value(difference["expected"]), preview_value(difference["actual"])
    more = f"; there {'are' if others > 1 else 'is'} {pluralize(others, 'other difference')}" if others else ""
    if difference["kind"] == MISSING:
        return f"The answer lacks {expected} in {path}{more}."
    if difference["kind"] == EXTRA:
        return f"The answer has {actual} in {path}, which is not expected{more}."
    return None if actual == expected else f"The answer has {actual} instead of {expected} in {path}{more}."


def preview_value(value: Any) -> str:
    """A value as JSON of bounded length; whole numbers have no fraction, down to some depth."""
    return preview(_without_fractions(value, _DEEPEST), LONGEST_VALUE)


def _without_fractions(value: Any, depth: int) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < _LARGEST_EXACT else value
    if not depth:
        return value
    if isinstance(value, list):
        return [_without_fractions(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {name: _without_fractions(member, depth - 1) for name, member in value.items()}
    return value


def _encode(value: Any) -> str:
    """The same text for equal values."""
    try:
        return json.dumps(_without_fractions(value, _DEEPEST), ensure_ascii=False, sort_keys=True)
    except (ValueError, TypeError, RecursionError):
        return repr(type(value))


def _list_values(texts: Sequence[str]) -> str:
    return list_first(texts, MOST_VALUES, lambda text: text if text[:1] == "<" else preview_value(json.loads(text)))
