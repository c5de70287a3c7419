"""What is left to chance in the made-up verdicts of rubric judges: criteria, votes, thresholds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any


@dataclass(frozen=True)
class Plan:
    """What decides a verdict. It can be written again with one thing changed."""

    writer: str
    generation: str
    criterion: str
    threshold: str | None
    items: list[dict[str, Any]]
    is_action_only: bool
    others: tuple[float, ...]  # how the other instances compare: below 0 a lower share, above 0 a higher one
    position: int  # of this instance among them
    votes: tuple[bool | None, ...]
    has_steps: bool
    violation: bool | None
    answer: str = "12.50 EUR"
    actions: int = 3


def planned(chance: Random, writer: str, generation: str) -> Plan:
    """A plan for one of the writers of rubric verdicts."""
    is_action_only = chance.random() < 0.05
    has_metadata = writer == "W" and chance.random() < 0.85  # not where a cached rubric was used again
    instances = chance.choice((1, 3, 5)) if has_metadata else 0
    return Plan(
        writer,
        generation,
        chance.choice(("outcome", "process", "both")),
        chance.choice(("0.8", "0.8", "0.8", "0.5", "0.75", "1.0", None)),
        _items(chance, is_action_only=is_action_only),
        is_action_only,
        tuple(sign * chance.random() for sign in [-1, 1] * (instances // 2)),
        chance.randrange(max(instances, 1)),
        tuple(chance.choices((True, False, None), (6, 5, 1))[0] for _ in range(max(instances, 1))),
        has_metadata,
        chance.choice((True, False, False, None)) if generation == "G2" else None,
        actions=chance.randint(1, 30),
    )


def _items(chance: Random, *, is_action_only: bool) -> list[dict[str, Any]]:
    items = [_item(chance, depth=0) for _ in range(chance.randint(1, 4))]
    if chance.random() < 0.4:
        met = chance.randrange(3)  # of two alternatives the first, the second or neither
        items += [_leaf(chance, condition=f"if {number}", is_condition_met=number == met) for number in range(2)]
    if chance.random() < 0.25:
        items.append(_leaf(chance, penalty=True))
    leaves = list(flat(items))
    scored = [leaf for leaf in leaves if not leaf.get("penalty")]
    if is_action_only:
        for leaf in leaves:
            del leaf["post_image_earned_points"]
    elif len(scored) > 1 and chance.random() < 0.1:
        del chance.choice(scored)["post_image_earned_points"]
    return items


def _item(chance: Random, depth: int) -> dict[str, Any]:
    if depth < 3 and chance.random() < 0.2:
        inner = [_item(chance, depth + 1) for _ in range(chance.randint(1, 3))]
        return {"criterion": "a group", "max_points": 99, "items": inner}  # whose own points are ignored
    if chance.random() < 0.1:
        return _leaf(chance, condition="if so", is_condition_met=chance.random() < 0.5)
    return _leaf(chance)


def _leaf(chance: Random, **more: Any) -> dict[str, Any]:
    maximum = chance.choice((1, 2, 3, 4, 5, 3.0, 1.5, 2.5, 0.7))
    earned, seen = (round(maximum * chance.choice((0, 0.3, 0.5, 0.75, 0.8, 0.9, 1, 1, 1)), 3) for _ in range(2))
    is_zero = more.get("penalty") or more.get("is_condition_met") is False
    return {
        "criterion": f"criterion {chance.randrange(1000)}",
        "description": "d",
        "max_points": maximum,
        "earned_points": 0 if is_zero else earned,
        "justification": "j",
        "post_image_justification": "p",
        "post_image_earned_points": 0.0 if is_zero else seen,
        **more,
    }


def flat(items: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The leaves of nested groups in their order."""
    for item in items:
        yield from flat(item["items"]) if "items" in item else (item,)
