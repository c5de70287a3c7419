"""A thousand made-up verdicts of all writers and generations, with what their writer concluded.

The arithmetic of the writers is repeated here in plain floats, apart from the code under test.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

from pytest_webeval.recordings.trajectory.layout import ScoreFileName
from pytest_webeval.rubrics.stored_verdict import RunFacts, StoredVerdict
from tests.support.rubric_plans import Plan, flat, planned

SIZE = 1000
RUBRIC_WRITERS = (("W", "G0"), ("W", "G1"), ("W", "G2"), ("T", "G1"), ("T", "G2"))
OTHERS = ("gate", "error", "webvoyager", "om2w", "heldout")
GATES = (
    "No actions found in the trajectory.",
    'The last action must be "terminate".',
    "Actions and screenshots mismatch",
)
# What a judge wrote, the score that its benchmark stores, and whether a careful reader would say the same.
WEBVOYAGER = (
    ("All steps are there.\nSUCCESS", 1, True),
    ("The answer is missing: NOT SUCCESS", 0, True),
    ("UNSUCCESSFUL", 1, False),
    ("It is either SUCCESS or NOT SUCCESS. Here: SUCCESS", 0, False),
)
OM2W = (
    ('Thoughts: done\nStatus: "success"', 1, True),
    ('Thoughts: not done\nStatus: "failure"', 0, True),
    ('Thoughts: not done\nStatus: "unsuccessful"', 1, False),
)


@dataclass(frozen=True)
class Made:
    """A stored verdict as JSON values, and what follows from it."""

    kind: str
    name: ScoreFileName
    score: float | None
    payload: dict[str, Any] | None
    facts: RunFacts
    expected: dict[str, Any]
    text: str | None = None
    plan: Plan | None = None

    def stored(self) -> StoredVerdict:
        """As the reader of score files hands it on."""
        payload = None if self.payload is None else json.loads(json.dumps(self.payload), parse_float=Decimal)
        score = json.loads(json.dumps(self.score), parse_float=Decimal)
        return StoredVerdict("scores/made.json", self.name, score, payload, self.text)


def corpus() -> Iterator[Made]:
    """The same verdicts each time, the kinds taking turns."""
    for seed in range(SIZE):
        chance = Random(seed)
        turn = seed % (3 * len(RUBRIC_WRITERS) + len(OTHERS))
        if turn < 3 * len(RUBRIC_WRITERS):
            yield write(planned(chance, *RUBRIC_WRITERS[turn % len(RUBRIC_WRITERS)]))
        else:
            yield _other(chance, OTHERS[turn - 3 * len(RUBRIC_WRITERS)])


def totals(items: list[dict[str, Any]], key: str) -> tuple[float, float]:
    """EARNED and MAX as a writer adds them up."""
    earned = maximum = 0
    for leaf in flat(items):
        if "condition" not in leaf or leaf.get("is_condition_met") is True:
            earned, maximum = earned + leaf.get(key, 0), maximum + leaf["max_points"]
    return earned, maximum


def _majority(votes: tuple[bool | None, ...]) -> bool | None:
    yes, no = votes.count(True), votes.count(False)
    return None if (yes + no) * 2 <= len(votes) else yes > no


def write(plan: Plan) -> Made:
    """The verdict that a writer stores for what the plan says."""
    earned, maximum = totals(plan.items, "earned_points" if plan.is_action_only else "post_image_earned_points")
    share = earned / maximum if maximum > 0 else 0.0
    process, outcome = share >= float(plan.threshold or "0.8"), _majority(plan.votes)
    score = int({"outcome": outcome is True, "process": process, "both": process and outcome is True}[plan.criterion])
    found = {"score": score, "process": process, "outcome": outcome, "violation": plan.violation}
    found |= {"earned": earned, "maximum": maximum, "share": share}
    payload = _payload(plan, found) | (_of_webtailbench(plan, found) if plan.writer == "W" else _of_script(plan))
    name = (
        ScoreFileName("other") if plan.threshold is None else ScoreFileName("mmrubric", Decimal(plan.threshold), 5, 3)
    )
    facts = RunFacts(plan.answer, plan.actions, is_stale=False)
    return Made(plan.writer + plan.generation, name, score, payload, facts, found, plan=plan)


def _payload(plan: Plan, found: dict[str, Any]) -> dict[str, Any]:
    verification = {"primary_intent": "i", "reasoning": "r", "output_success": found["outcome"]}
    payload = {
        "outcome_success": found["outcome"],
        "outcome_reasoning": "",
        "outcome_primary_intent": "i",
        "rubric_is_success": int(found["process"]),
        "rubric_total_max_points": found["maximum"],
        "rubric_total_earned_points": found["earned"],
        "rubric_items": plan.items,
        "rubric_outcome_verification": verification,
    }
    if plan.generation != "G0":
        payload["success_criterion"] = plan.criterion
    if plan.generation == "G2":
        verification |= {"cp_type_used": "NO_CRITICAL_POINT", "cp_violation": plan.violation}
        payload["rubric_cp_classification"] = {"critical_point_type": "NO_CRITICAL_POINT"}
    if plan.generation == "G1":
        payload["rubric_first_point_of_failure"] = {"has_failure": False}
    return payload


def _of_script(plan: Plan) -> dict[str, Any]:
    more = {"cp_type_used": None, "cp_violation": plan.violation} if plan.generation == "G2" else {}
    return {"error_taxonomy": {"first_point_of_failure": None}} | more


def _of_webtailbench(plan: Plan, found: dict[str, Any]) -> dict[str, Any]:
    payload: dict[str, Any] = {"is_success": found["score"]}
    if plan.generation != "G0":
        payload["final_answer"] = plan.answer
    if plan.has_steps:
        payload["rubric_intermediate_mm_rubric_steps"] = {
            "step1_num_screenshots": plan.actions,
            "step2_relevance_scores": {"screenshot_0": {"0": 7, "screenshot_idx": 0}},
            "step7_requires_penalty": any(leaf.get("penalty") for leaf in flat(plan.items)),
            "step7_reasoning": "nothing was left behind",
            "step8_outcome_verification": {"output_success": found["outcome"]},
        }
        payload["rubric_majority_vote_metadata"] = _votes(plan, found)
    return payload


def _votes(plan: Plan, found: dict[str, Any]) -> dict[str, Any]:
    share = found["share"]
    scores = [share + other * (share if other < 0 else 1 - share) for other in plan.others]
    scores.insert(plan.position, share)
    median = sorted((score, index) for index, score in enumerate(scores))[len(scores) // 2][1]
    return {
        "n_instances": len(plan.votes),
        "median_instance_idx": median,
        "all_scores": scores,
        "median_score": scores[median],
        "outcome_votes": list(plan.votes),
        "majority_output_success": found["outcome"],
    }


def _other(chance: Random, kind: str) -> Made:
    rubric, facts = ScoreFileName("mmrubric", Decimal("0.8"), 5, 3), RunFacts("12.50 EUR", 3, is_stale=False)
    if kind == "gate":
        told = {"verifier_reasoning": chance.choice(GATES), "verifier_success": False}
        return Made(kind, rubric, 0, told, facts, {"score": 0, "status": "gate", "reason": told["verifier_reasoning"]})
    if kind == "error":
        told = {"rubric_error": "no answer", "rubric_total_max_points": 1, "rubric_total_earned_points": 0}
        told |= {"is_success": 0, "outcome_success": False, "rubric_is_success": 0}
        return Made(kind, rubric, 0, told, facts, {"score": None, "status": "judge_error", "reason": "no answer"})
    if kind == "heldout":
        signals = {
            key: chance.choice((0, 1, True, False, "0", "1")) for key in ("mm_is_success", "verifier_is_success")
        }
        told = signals | {"rubric_is_success": 1, "rubric_outcome_verification": {"output_success": True}}
        score = chance.choice((0, 1, 1.0))
        found = {"score": int(score), "outcome": True, "process": True}
        return Made(kind, ScoreFileName("heldout", Decimal("0.8"), 5, 3), score, told, facts, found)
    text, score, is_plain = chance.choice(WEBVOYAGER if kind == "webvoyager" else OM2W)
    method = ScoreFileName("webjudge", Decimal(3), method="WebJudge_Online_Mind2Web_eval")
    name = ScoreFileName("gpt_eval") if kind == "webvoyager" else method
    flags = () if is_plain else ("verdict_text_ambiguous",)
    found = {"score": score, "outcome": bool(score), "flags": flags}
    return Made(kind, name, float(score) if kind == "webvoyager" else score, None, facts, found, text=text)
