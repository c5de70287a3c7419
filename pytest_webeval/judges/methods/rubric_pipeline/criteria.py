"""The criteria: of a rubric that was made for the task, or written now (steps 0a, 0b), and what they add up to.

They are a flat list, without points until somebody gave them (§6.1).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType, to_builtins

from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.methods.replies import Label, ReplyForm, Text
from pytest_webeval.judges.methods.rubric_pipeline.case import Case, Item, Step, format_rubric
from pytest_webeval.judges.methods.rubric_pipeline.critical_points import format_critical_point
from pytest_webeval.judges.methods.scored_rubrics import list_leaves, to_number
from pytest_webeval.rubrics.payload import point_count
from pytest_webeval.rubrics.policy import UnreadableVerdict
from pytest_webeval.rubrics.rubric_items import Points, add_up, flatten_items
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.text import truncate

MOST_CRITERIA = 100
_LONGEST_TEXT = 4_000  # characters of a criterion, of a description
_CREATE = """\
Write the rubric of the task: the criteria by which the work of any agent on it is scored.
- Cover what the task asks for explicitly, and nothing else. Use few criteria that do not overlap, so that one
  mistake costs points once.
- Separate the use of the requested site from finding or doing the thing there. For a list of three or more items,
  write one criterion for each item.
- Read casual words generously: "find", "look up" or "check" do not demand addresses or long explanations. Results
  on the way to the answer need not be reported.
- "If X, do Y, else Z" becomes two criteria with conditions that exclude each other. A request to report that
  something is not available stays within its criterion. Leave out the condition of all other criteria.
- A description says what earns full, partial and no credit. Credit never depends on crossing a critical point, on
  data that the user did not give, or on one of several sensible readings of an open detail.
- Points are small numbers such as 1 to 5, by importance. Leave earned_points and justification empty."""
_REFORMULATE = """\
Examine the rubric for demands that the agent cannot control or that depend on each other.
- Relax a criterion so that an honest attempt earns full credit where nothing suitable is available, a site blocks
  the agent, the named thing does not exist any more, or the platform cannot do it.
- Split a criterion that several external causes could spoil. Merge criteria that ask for the same, except those for
  the single items of a list.
- Keep conditions and the total weight of each goal.
If changes are necessary, set needs_reformulation and give the complete rubric; otherwise reformulated_rubric is
null."""


class CriterionReply(ReplyForm, frozen=True, kw_only=True):
    criterion: Label
    description: Text
    condition: Label | UnsetType | None = UNSET
    max_points: Annotated[float, Meta(gt=0, le=100)]
    earned_points: Annotated[str, Meta(max_length=0)] = ""
    justification: Annotated[str, Meta(max_length=0)] = ""


class RubricReply(ReplyForm, frozen=True, kw_only=True):
    items: list[CriterionReply]


class DependencyReply(ReplyForm, frozen=True, kw_only=True):
    reasoning: Text
    needs_reformulation: bool
    reformulated_rubric: RubricReply | None


_RUBRIC = Step("rubric", _CREATE, RubricReply)
_DEPENDENCIES = Step("dependencies", _REFORMULATE, DependencyReply)


def find_rubric(case: Case) -> tuple[Item, ...]:
    """The criteria of the given rubric without its points, or else of one that is written now.

    A rubric that somebody scored already is scored again. Raises `JudgeFailed`.
    """
    if case.evidence.rubric is not None:
        try:
            return unscored_items(case.evidence.rubric)
        except ValueError as error:
            case.calls.note("rubric", f"another rubric was written, as that of the task is invalid: {error}")
    items = case.calls.ask(case.build_request(_RUBRIC, _read_rubric, format_critical_point(case.critical_point)))
    return case.calls.ask(case.build_request(_DEPENDENCIES, _read_reformulation, format_rubric(items))) or items


def _read_rubric(reply: RubricReply) -> tuple[Item, ...]:
    raw = to_builtins(reply)
    for item in raw["items"]:
        if item.get("condition", "") is None:
            del item["condition"]
    try:
        return unscored_items(raw)
    except ValueError as error:
        raise InvalidReply(str(error)) from error


def _read_reformulation(reply: DependencyReply) -> tuple[Item, ...]:
    if not reply.needs_reformulation:
        return ()
    if reply.reformulated_rubric is None:
        raise InvalidReply("needs_reformulation is true; give the complete reformulated_rubric")
    return _read_rubric(reply.reformulated_rubric)


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
    """The points of scored criteria."""
    return add_up(flatten_items(list(items)), "post_image")
