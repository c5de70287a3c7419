"""One contradiction at a time, put into a made-up verdict that has none: a function for each of R1 to R19.

Each changes what its rule is about and nothing that another rule looks at, so that it is caught by that rule alone.
None where the verdict lacks what the rule is about.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

from tests.support.rubric_corpus import Made, write
from tests.support.rubric_plans import flat

EDGE = {"criterion": "80 %", "max_points": 3, "earned_points": 3, "justification": "j", "post_image_earned_points": 2.4}


def _in_payload(change: Callable[[dict[str, Any], Made], bool]) -> Callable[[Made], Made | None]:
    """The change made to a copy; it tells whether there was anything to change."""

    def changed(made: Made) -> Made | None:
        payload = deepcopy(made.payload)
        return replace(made, payload=payload) if made.plan and change(payload, made) else None

    return changed


def _total(payload, made):
    key = "rubric_total_max_points" if made.plan.actions % 2 else "rubric_total_earned_points"
    payload[key] += 0.02  # twice the tolerance
    return True


def _process(payload, made):
    """Not where the last bit of a sum decides, for which both are right."""
    payload["rubric_is_success"] ^= 1
    return abs(made.expected["share"] - float(made.plan.threshold or "0.8")) > 1e-9


def _outcome(payload, made):
    payload["rubric_outcome_verification"]["output_success"] = made.expected["outcome"] is not True
    return True


def _majority(payload, made):
    votes = payload.get("rubric_majority_vote_metadata", {})
    votes["majority_output_success"] = made.expected["outcome"] is not True
    return len(votes) > 1


def _median(payload, made):
    votes = payload.get("rubric_majority_vote_metadata", {"all_scores": [0], "median_instance_idx": 0})
    votes["all_scores"][votes["median_instance_idx"]] += 1e-6
    return len(votes) > 2


def _is_success(payload, made):
    payload["is_success"] = 1 - made.score
    return made.plan.writer == "W"


def _score(made):
    """Not where the criterion is unknown and one of them gives the other score as well."""
    found = made.expected
    process, outcome = found.get("process"), found.get("outcome") is True
    possible = {process, outcome, process and outcome} if made.kind == "WG0" else {bool(found["score"])}
    if made.kind in ("error", "heldout") or bool(1 - made.score) in possible:
        return None
    more = {"is_success": 1 - made.score} if made.kind.startswith("W") and made.plan else {}
    return replace(made, score=1 - made.score, payload=None if made.payload is None else made.payload | more)


def _leaf(payload, wanted):
    return next(filter(wanted, flat(payload["rubric_items"])), None)


def _range(payload, made):
    leaf = _leaf(payload, lambda one: not one.get("penalty") and "post_image_earned_points" in one)
    if leaf is not None:
        leaf["earned_points"] = leaf["max_points"] + 1  # which nothing adds up beside the later points
    return leaf is not None


def _condition(payload, made):
    leaf = _leaf(payload, lambda one: one.get("is_condition_met") is False)  # left out either way
    if leaf is not None:
        del leaf["is_condition_met"]
    return leaf is not None


def _penalty_points(payload, made):
    leaf = _leaf(payload, lambda one: one.get("penalty"))
    if leaf is not None:
        leaf["earned_points"] = leaf["max_points"]
    return leaf is not None


def _penalty_outcome(payload, made):
    """A criterion without points becomes a penalty, which changes no sum; step 7 is made to agree."""
    leaf = _leaf(payload, lambda one: "condition" not in one and not one.get("post_image_earned_points", 0))
    if leaf is None or made.plan.is_action_only or made.expected["outcome"] is not True:
        return False
    leaf |= {"penalty": True, "earned_points": 0}
    payload.get("rubric_intermediate_mm_rubric_steps", {})["step7_requires_penalty"] = True
    return True


def _penalty_wanted(payload, made):
    steps = payload.get("rubric_intermediate_mm_rubric_steps", {})
    steps["step7_requires_penalty"] = not steps.get("step7_requires_penalty")
    return len(steps) > 1


def _alternatives(payload, made):
    """Two more conditions that are not met, where there was none: they are left out of all sums."""
    absent = {"criterion": "c", "max_points": 2, "earned_points": 0, "justification": "j"}
    payload["rubric_items"] += [{**absent, "condition": f"if {n}", "is_condition_met": False} for n in range(2)]
    return _leaf(payload | {"rubric_items": made.payload["rubric_items"]}, lambda one: "condition" in one) is None


def _edge(made):
    """The whole verdict written again for 2.4 of 3 points, which its writer took for less than 0.8."""
    if made.plan is None or made.plan.threshold != "0.8":
        return None
    return write(replace(made.plan, items=[EDGE], is_action_only=False))


def _of_facts(**other: Any) -> Callable[[Made], Made]:
    return lambda made: replace(made, facts=replace(made.facts, **other))


def _answer(made):
    return _of_facts(final_answer="another")(made) if made.kind in ("WG1", "WG2") else None


def _screenshots(made):
    return _of_facts(action_count=made.plan.actions + 1)(made) if made.plan and made.plan.has_steps else None


def _items(*, is_named: bool) -> Callable[[dict[str, Any], Made], bool]:
    """The rubric removed from a file whose name tells its writer, or from one whose name does not."""

    def remove(payload, made):
        del payload["rubric_items"]
        wants_penalty = payload.get("rubric_intermediate_mm_rubric_steps", {}).get("step7_requires_penalty")
        return (made.plan.threshold is not None) is is_named and not wants_penalty

    return remove


INJECTIONS: dict[str, Callable[[Made], Made | None]] = {
    "R1": _in_payload(_total),
    "R2": _in_payload(_process),
    "R3": _in_payload(_outcome),
    "R4": _in_payload(_majority),
    "R5": _in_payload(_median),
    "R6": _in_payload(_is_success),
    "R7": _score,
    "R8": _in_payload(_range),
    "R9": _in_payload(_condition),
    "R10": _in_payload(_penalty_points),
    "R11": _in_payload(_penalty_outcome),
    "R12": _in_payload(_penalty_wanted),
    "R13": _in_payload(_alternatives),
    "R14": _edge,
    "R15": _answer,
    "R16": _screenshots,
    "R17": _of_facts(is_stale=True),
    "R18": _in_payload(_items(is_named=True)),
    "R19": _in_payload(_items(is_named=False)),
}
