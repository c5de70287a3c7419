"""Rubrics of judges: one that was made for a task, without old scores, and those that a judge scored."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from pytest_webeval.rubrics.consistency import median_index
from pytest_webeval.rubrics.policy import UnreadableVerdict
from pytest_webeval.rubrics.rubric_items import Points, RubricItem, flatten_items
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


class TaskRubric(Struct, frozen=True):
    """The items of a rubric without scores and penalties; `criteria` are those of nested groups too, in order."""

    items: list[dict[str, Any]]
    criteria: tuple[RubricItem, ...]

    @property
    def sha256(self) -> str:
        """Of the items, as the key of a question has it."""
        return sha256(json.dumps(self.items, sort_keys=True, separators=(",", ":")).encode())

    def to_prompt(self) -> str:
        keys = ("criterion", "description", "condition", "max_points")
        leaves = [
            {"number": number} | {key: item[key] for key in keys if key in item}
            for number, item in enumerate(list_leaves(self.items), 1)
        ]
        return json.dumps(leaves, ensure_ascii=False, indent=1)


def parse_rubric(raw: Mapping[str, Any]) -> TaskRubric:
    """The rubric of a task. Raises `ValueError` for one that a judge cannot be asked about."""
    try:
        flatten_items(raw.get("items"))  # which also checks how deep they nest
        items = _strip(json.loads(json.dumps(raw["items"], allow_nan=False, default=to_number)))
        return TaskRubric(items, flatten_items(items))
    except (UnreadableVerdict, ValueError, TypeError) as error:
        raise ValueError(f"the rubric of the task cannot be used: {error}") from error


def to_number(points: Decimal) -> int | float:
    """Points as JSON has them."""
    return int(points) if points == int(points) else float(points)


def _strip(items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {key: _strip(value) if key == "items" and value else value for key, value in item.items() if key not in _SCORES}
        for item in items
        if item.get("penalty") is not True
    ]


def list_leaves(items: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The criteria of nested groups in order. How deep they nest is checked before."""
    for item in items:
        if item.get("items") is None:
            yield item
        else:
            yield from list_leaves(item["items"])


def graft(items: Sequence[Mapping[str, Any]], scores: Iterator[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The items with the scores of a judge, those of the first criterion first."""
    return [
        {**item, **next(scores)} if item.get("items") is None else {**item, "items": graft(item["items"], scores)}
        for item in items
    ]


class ScoredRubric(Struct, frozen=True, kw_only=True):
    """The criteria with their points, and what they add up to."""

    items: Sequence[Mapping[str, Any]]
    points: Points

    @property
    def score(self) -> float:
        """The share of the points as it is stored."""
        return self.points.float_share

    def to_json(self) -> dict[str, Any]:
        """As the rubric verifier stores each of its rubrics."""
        return {
            "items": list(self.items),
            "total_max_points": to_number(self.points.maximum),
            "total_earned_points": to_number(self.points.earned),
        }


def find_median(rubrics: Sequence[ScoredRubric]) -> int:
    """The index of the rubric with the median score, the earlier one of equals."""
    return median_index([rubric.score for rubric in rubrics]) or 0


class RubricVerdict(Struct, frozen=True, kw_only=True):
    """What votes on rubric and outcome come to: the points of the median, and the outcome of most of them.

    `verification` is the outcome as the rubric verifier stores it, `votes` are all votes on it, None for a missing one.
    """

    rubrics: Sequence[ScoredRubric]
    median: int
    threshold: Decimal
    verification: Mapping[str, Any]
    votes: Sequence[bool | None]

    def to_payload(self, steps: Mapping[str, Any], **facts: object) -> dict[str, Any]:
        """The payload that the rubric verifier stores (`fara_webeval.md` §5.3)."""
        success, chosen = self.verification["output_success"], self.rubrics[self.median]
        scores = [rubric.score for rubric in self.rubrics]
        return {
            "is_success": int(success),
            "success_criterion": "outcome",
            **facts,
            "outcome_success": success,
            "outcome_reasoning": self.verification["reasoning"],
            "outcome_primary_intent": self.verification["primary_intent"],
            "rubric_is_success": int(chosen.points.reaches(self.threshold)),
            "rubric_items": list(chosen.items),
            "rubric_total_max_points": to_number(chosen.points.maximum),
            "rubric_total_earned_points": to_number(chosen.points.earned),
            "rubric_outcome_verification": self.verification,
            "rubric_intermediate_mm_rubric_steps": steps,
            "rubric_majority_vote_metadata": {
                "n_instances": len(self.votes),
                "median_instance_idx": self.median,
                "all_scores": scores,
                "median_score": scores[self.median],
                "outcome_votes": list(self.votes),
                "majority_output_success": success,
            },
            "rubric_all_rubric_dicts": [rubric.to_json() for rubric in self.rubrics],
            "rubric_all_scores_list": scores,
        }
