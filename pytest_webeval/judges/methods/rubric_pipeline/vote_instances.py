"""What each vote adds up to, and which of them is the median (`fara_webeval.md` §6.2, §6.3 rule 8)."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from pytest_webeval.judges.methods.rubric_pipeline.criteria import Item, add_points, is_met
from pytest_webeval.judges.methods.rubric_pipeline.rescoring import Rescoring
from pytest_webeval.judges.methods.rubric_pipeline.side_effects import SideEffects
from pytest_webeval.rubrics.consistency import median_index
from pytest_webeval.rubrics.rubric_items import Points

_SHIFT = 1e-12  # of all points: far below the tolerance of any check, far above the noise of binary fractions


class VoteInstance(Struct, frozen=True):
    """One vote on the points: the criteria and penalties, what they add up to, and the replies behind them."""

    items: tuple[Item, ...]
    points: Points
    summary: tuple[dict[str, Any], ...]
    reasoning: str
    penalties: tuple[Item, ...]

    @property
    def score(self) -> float:
        """The share of the points as it is stored."""
        return self.points.float_share


def build_instances(
    rescorings: Sequence[Rescoring], effects: Sequence[SideEffects], threshold: Decimal
) -> list[VoteInstance]:
    """The votes in order."""
    return [_build_instance(*pair, threshold) for pair in zip(rescorings, effects, strict=True)]


def _build_instance(rescoring: Rescoring, effects: SideEffects, threshold: Decimal) -> VoteInstance:
    items = settle_edge((*rescoring.items, *effects.penalties), threshold)
    return VoteInstance(items, add_points(items), rescoring.summary, effects.reasoning, effects.penalties)


def find_median(instances: Sequence[VoteInstance]) -> int:
    """The index of the median vote, the earlier one of equals."""
    index = median_index([instance.score for instance in instances])
    if index is None:
        raise ValueError("there are no votes")
    return index


def settle_edge(items: tuple[Item, ...], threshold: Decimal) -> tuple[Item, ...]:
    """The criteria, so that binary fractions give the exact verdict: 2.4 of 3 points miss 0.8 in a program's sums.

    One number of points is shifted by a trillionth of all points where that is necessary (R14).
    """
    points = add_points(items)
    if not points.is_edge(threshold):
        return items
    shift = points.float_maximum * _SHIFT * (1 if points.reaches(threshold) else -1)
    for index, item in enumerate(items):
        shifted = float(item["post_image_earned_points"]) + shift
        if is_met(item) and item.get("penalty") is not True and 0 <= shifted <= item["max_points"]:
            return (*items[:index], {**item, "post_image_earned_points": shifted}, *items[index + 1 :])
    return items
