"""A rubric that was made for a task: without old scores, and with the scores of a judge."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from pytest_webeval.rubrics.policy import UnreadableVerdict
from pytest_webeval.rubrics.rubric_items import RubricItem, flatten_items
from pytest_webeval.safety.files import sha256

_SCORES = frozenset(
    {
        "earned_points",
        "justification",
        "is_condition_met",
        "condition_disambiguation_reasoning",
        "reality_notes",
        "post_image_justification",
        "post_image_earned_points",
    }
)


class InvalidRubric(ValueError):
    """A rubric that a judge cannot be asked about. The message says why."""


class TaskRubric(Struct, frozen=True):
    """The items of a rubric without scores and penalties; `criteria` are those of nested groups too, in order."""

    items: list[dict[str, Any]]
    criteria: tuple[RubricItem, ...]

    @property
    def sha256(self) -> str:
        """Of the items, as the key of a question has it."""
        return sha256(json.dumps(self.items, sort_keys=True, separators=(",", ":")).encode())

    def to_prompt(self) -> str:
        """The criteria with their numbers, for a judge."""
        return json.dumps(list(map(_describe, self._list_leaves())), ensure_ascii=False, indent=1)

    def graft(self, scores: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The items with the scores of a judge, those of the first criterion first."""
        return _graft(self.items, iter(scores))

    def _list_leaves(self) -> Iterator[tuple[int, dict[str, Any]]]:
        return enumerate(_walk(self.items), 1)


def parse_rubric(raw: Mapping[str, Any]) -> TaskRubric:
    """The rubric of a task. Raises `InvalidRubric`."""
    try:
        flatten_items(raw.get("items"))  # which also checks how deep they nest
        items = _strip(json.loads(json.dumps(raw["items"], allow_nan=False, default=to_number)))
        return TaskRubric(items, flatten_items(items))
    except (UnreadableVerdict, ValueError, TypeError) as error:
        raise InvalidRubric(f"the rubric of the task cannot be used: {error}") from error


def to_number(points: Decimal) -> int | float:
    """Points as JSON has them."""
    return int(points) if points == int(points) else float(points)


def _strip(items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {key: _strip(value) if key == "items" and value else value for key, value in item.items() if key not in _SCORES}
        for item in items
        if item.get("penalty") is not True
    ]


def _walk(items: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for item in items:
        if item.get("items") is None:
            yield item
        else:
            yield from _walk(item["items"])


def _graft(items: Sequence[dict[str, Any]], scores: Iterator[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {**item, **next(scores)} if item.get("items") is None else {**item, "items": _graft(item["items"], scores)}
        for item in items
    ]


def _describe(pair: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    number, item = pair
    keys = ("criterion", "description", "condition", "max_points")
    return {"number": number} | {key: item[key] for key in keys if key in item}
