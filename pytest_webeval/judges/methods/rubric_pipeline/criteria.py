"""Rubrics as the pipeline uses them: a flat list of criteria, without points until somebody gave them (§6.1)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from pytest_webeval.judges.methods.scored_rubrics import list_leaves, to_number
from pytest_webeval.rubrics.payload import point_count
from pytest_webeval.rubrics.policy import UnreadableVerdict
from pytest_webeval.rubrics.rubric_items import Points, flatten_items, points_of
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.text import truncate

Item = Mapping[str, Any]
MOST_CRITERIA = 100
_LONGEST_TEXT = 4_000  # characters of a criterion, of a description


def unscored_items(rubric: Mapping[str, Any]) -> tuple[Item, ...]:
    """The criteria of a rubric without points, groups and penalties. Raises `ValueError` for an invalid rubric."""
    try:
        flatten_items(rubric.get("items"))
    except UnreadableVerdict as error:
        raise ValueError(str(error)) from error
    items = tuple(_strip(item) for item in list_leaves(rubric["items"]) if item.get("penalty") is not True)
    if not 0 < len(items) <= MOST_CRITERIA:
        raise ValueError(f"the rubric has {len(items)} criteria; use 1 to {MOST_CRITERIA}")
    for index, item in enumerate(items):
        if not item["max_points"] > 0:
            raise ValueError(f"max_points must be more than 0 @ items[{index}]")
    return items


def _strip(item: Item) -> Item:
    condition = {"condition": _read_text(item, "condition")} if "condition" in item else {}
    return {
        "criterion": truncate(item["criterion"], _LONGEST_TEXT),
        "description": _read_text(item, "description"),
        **condition,
        "max_points": to_number(point_count(item["max_points"]) or Decimal(0)),
        "earned_points": "",
        "justification": "",
    }


def _read_text(item: Item, key: str) -> str:
    text = item.get(key)
    return truncate(text, _LONGEST_TEXT) if isinstance(text, str) else ""


def is_conditional(item: Item) -> bool:
    return "condition" in item


def list_conditional(items: Sequence[Item]) -> list[int]:
    return [index for index, item in enumerate(items) if is_conditional(item)]


def is_met(item: Item) -> bool:
    """Whether a criterion counts: it has no condition, or its condition holds."""
    return not is_conditional(item) or item.get("is_condition_met") is True


def digest_rubric(items: Sequence[Item]) -> str:
    """SHA-256 of the criteria without their points."""
    keys = ("criterion", "description", "condition", "max_points")
    return sha256(json.dumps([{key: item.get(key) for key in keys} for item in items]).encode())


def add_points(items: Sequence[Item]) -> Points:
    """The points of scored criteria: those after the screenshots, or those for the actions as long as these are all."""
    points = points_of(flatten_items(list(items)))
    if points is None:
        raise ValueError("the criteria have no points")
    return points
