"""A judge that replies to every step of the pipeline as a plan says, and what the pipeline then has to come to."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

from pytest_webeval.judges.methods.rubric_pipeline.method import METHOD
from pytest_webeval.judges.questions import Question
from pytest_webeval.judges.verdicts import JudgedVerdict, JudgeSettings
from pytest_webeval.rubrics.derivation import Verdict, derive
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rubrics.score_files import read_score_file
from pytest_webeval.rubrics.stored_verdict import RunFacts
from tests.unit.judges.scripted import calls_of, evidence

KINDS = (
    "NO_CRITICAL_POINT",
    "NO_PERMISSION_INFO_PROVIDED_TASK_SPECIFIED",
    "PERMISSION_GRANTED_MISSING_INFO_TASK_UNDERSPECIFIED",
)
PENALTY = {
    "criterion": "Penalize the second atlas in the cart",
    "description": "It was not requested.",
    "post_image_justification": "It is still there.",
    "post_image_earned_points": 0,
}


@dataclass(frozen=True)
class Criterion:
    """What a rubric and its judge say of one criterion. `seen` has the points of each vote."""

    text: str
    maximum: float
    earned: float
    seen: tuple[float, ...]
    condition: str | None = None
    is_met: bool | None = None

    @property
    def is_counted(self) -> bool:
        return self.condition is None or self.is_met is True

    def unscored(self) -> dict[str, Any]:
        condition = {} if self.condition is None else {"condition": self.condition}
        return {"criterion": self.text, "description": f"Full: {self.text}", **condition, "max_points": self.maximum}


@dataclass(frozen=True)
class Plan:
    """What decides a verdict. `penalties` has the points of a penalty for each vote, 0 for none."""

    criteria: tuple[Criterion, ...]
    outcomes: tuple[bool, ...]
    penalties: tuple[float, ...]
    relevance: tuple[tuple[int, ...], ...]
    violation: bool = False
    kind: str = "NO_CRITICAL_POINT"
    is_precomputed: bool = False
    is_reformulated: bool = False
    threshold: str = "0.8"

    @property
    def votes(self) -> int:
        return len(self.outcomes)

    @property
    def outcome(self) -> bool:
        return self.outcomes.count(True) * 2 > self.votes

    @property
    def shares(self) -> list[Fraction]:
        return [self._share(vote) for vote in range(self.votes)]

    @property
    def process(self) -> bool:
        """Whether the median share reaches the threshold, in exact fractions."""
        return sorted(self.shares)[self.votes // 2] >= Fraction(Decimal(self.threshold))

    def _share(self, vote: int) -> Fraction:
        counted = [criterion for criterion in self.criteria if criterion.is_counted]
        maximum = sum(map(_exact, [*(criterion.maximum for criterion in counted), self.penalties[vote]]), Fraction(0))
        earned = sum((_exact(criterion.seen[vote]) for criterion in counted), Fraction(0))
        return earned / maximum if maximum else Fraction(0)

    def rubric(self) -> dict[str, Any] | None:
        """One that was made for the task, with points that somebody gave before and a penalty."""
        if not self.is_precomputed:
            return None
        scored = [criterion.unscored() | {"earned_points": 1, "justification": "old"} for criterion in self.criteria]
        penalty = {"criterion": "Penalize", "max_points": 2, "earned_points": 0, "justification": "o", "penalty": True}
        items = [*scored[:1], {"criterion": "group", "items": scored[1:]}, penalty]
        return json.loads(json.dumps({"items": items, "total_max_points": 99.5}), parse_float=Decimal)


def _exact(points: float) -> Fraction:
    return Fraction(Decimal(repr(points)))


def make_plan(seed: int) -> Plan:
    """The same plan for the same seed."""
    chance = Random(seed)
    votes, steps = chance.choice((1, 3)), chance.randint(1, 9)
    count, pair = chance.randint(1, 4), chance.random() < 0.4
    criteria = [_make_criterion(chance, f"criterion number {index}", votes) for index in range(count)]
    if pair:
        met = chance.random() < 0.5
        criteria += [
            _make_criterion(chance, f"alternative {side}", votes, f"if it is {side}", side == met)
            for side in (True, False)
        ]
    elif chance.random() < 0.3:
        criteria.append(_make_criterion(chance, "when sold out", votes, "it is sold out", chance.random() < 0.5))
    chance.shuffle(criteria)
    has_penalty = chance.random() < 0.3
    return Plan(
        criteria=tuple(criteria),
        outcomes=tuple(chance.random() < 0.5 and not has_penalty for _ in range(votes)),
        penalties=tuple(has_penalty * chance.choice((0, 1, 2, 0.6)) for _ in range(votes)),
        relevance=tuple(tuple(chance.randint(1, 10) for _ in criteria) for _ in range(steps)),
        violation=chance.random() < 0.3,
        kind=chance.choice(KINDS),
        is_precomputed=chance.random() < 0.4,
        is_reformulated=chance.random() < 0.5,
        threshold=chance.choice(("0.8", "0.8", "0.5", "0.75", "1", "0.9")),
    )


def _make_criterion(chance: Random, text: str, votes: int, *condition: Any) -> Criterion:
    maximum = chance.choice((1, 2, 3, 4, 5, 3.0, 1.5, 2.5, 0.7))
    shares = (0, 0.3, 0.5, 0.75, 0.8, 0.8, 0.9, 1, 1, 1)
    earned, *seen = (round(maximum * chance.choice(shares), 3) for _ in range(votes + 1))
    return Criterion(text, maximum, earned, tuple(seen), *condition)


SIMPLE = Plan(
    criteria=(Criterion("find the atlas", 3, 2, (3,)), Criterion("report its price", 2, 2, (1.5,))),
    outcomes=(True,),
    penalties=(0,),
    relevance=((7, 2), (8, 9), (1, 3)),
)


def reply_to(plan: Plan, question: Question) -> str:
    """The reply of a judge that follows the plan."""
    return json.dumps(_REPLIES[question.step](plan, question))


def judge(plan: Plan, judge: Any, **settings: Any) -> tuple[JudgedVerdict, Any]:
    """The verdict of the pipeline on the run of a plan, and its calls."""
    calls = calls_of(judge, METHOD.name, METHOD.version, **settings)
    run = evidence(len(plan.relevance), rubric=plan.rubric())
    return METHOD.judge(run, calls, JudgeSettings(votes=plan.votes, threshold=Decimal(plan.threshold))), calls


def derive_again(plan: Plan, verdict: JudgedVerdict) -> Verdict:
    """What the reader of score files derives from the file of a verdict."""
    content = json.dumps(verdict.to_score_file(), allow_nan=False).encode()
    facts = RunFacts(evidence().answer, len(plan.relevance), is_stale=False)
    return derive(read_score_file(f"scores/{verdict.file_name}", content), VerdictPolicy(), facts)


def _requested(question: Question) -> list[int]:
    numbers = re.findall(r"(?m)in this order: ([0-9, ]+)$", question.messages[1].text)[-1]
    return [int(number) for number in numbers.split(",")]


def _image(question: Question) -> int:
    return int(re.findall(r"\d+", next(question.images).name)[0])


def _critical_point(plan: Plan, _: Question) -> Any:
    return {
        "classification_reasoning": "by its words",
        "critical_point_type": plan.kind,
        "irreversible_action_present": plan.kind != KINDS[0],
        "irreversible_action_description": "",
        "missing_user_information": ["address"],
        "underspecified_aspects": [],
        "expected_behavior": ["stop there"],
        "confidence": "SURE",
    }


def _rubric(plan: Plan, _: Question) -> Any:
    items = [criterion.unscored() for criterion in plan.criteria]
    return {"items": [{"condition": None, **item} for item in items] if plan.is_reformulated else items}


def _dependencies(plan: Plan, question: Question) -> Any:
    rubric = _rubric(plan, question) if plan.is_reformulated else None
    return {"reasoning": "r", "needs_reformulation": plan.is_reformulated, "reformulated_rubric": rubric}


def _action_scores(plan: Plan, _: Question) -> Any:
    return {
        "items": [
            {
                "criterion": criterion.text.upper(),
                "justification": "by its actions",
                "earned_points": criterion.earned,
                "is_condition_met": None if criterion.condition is None else True,
            }
            for criterion in plan.criteria
        ]
    }


def _relevance(plan: Plan, question: Question) -> Any:
    row = plan.relevance[_image(question)]
    return {"scores": {f"criterion_{index}" if index % 2 else str(index): score for index, score in enumerate(row)}}


def _evidence(plan: Plan, question: Question) -> Any:
    return {
        "analyses": [
            {
                "criterion_idx": index,
                "screenshot_evidence": "a price",
                "criterion_analysis": "as requested",
                "discrepancies": "none",
                "environment_issues_confirmed": False,
                "condition_verification": plan.criteria[index].is_met,
            }
            for index in _requested(question)
        ]
    }


def _conditions(plan: Plan, question: Question) -> Any:
    return {
        "disambiguation": [
            {
                "criterion_idx": index,
                "condition": plan.criteria[index].condition,
                "reasoning": "by the last screenshot",
                "is_condition_met": plan.criteria[index].is_met,
            }
            for index in _requested(question)
        ]
    }


def _reality(plan: Plan, _: Question) -> Any:
    return {"reality_checks": [{"criterion_idx": index, "reality_notes": ""} for index in range(len(plan.criteria))]}


def _rescoring(plan: Plan, question: Question) -> Any:
    return {
        "items": [
            {
                "criterion_idx": index,
                "applicable_evidence": "screenshot 1",
                "post_image_justification": "as shown",
                "post_image_earned_points": plan.criteria[index].seen[question.sample],
            }
            for index in _requested(question)
        ]
    }


def _side_effects(plan: Plan, question: Question) -> Any:
    points = plan.penalties[question.sample]
    penalties = [PENALTY | {"max_points": points}] if points else []
    return {"reasoning": "by the cart", "requires_penalty": bool(points), "penalty_criteria": penalties}


def _outcome(plan: Plan, question: Question) -> Any:
    success = plan.outcomes[question.sample]
    return {"primary_intent": "the price", "reasoning": f"vote {question.sample}", "output_success": success}


def _violation(plan: Plan, _: Question) -> Any:
    return {"reasoning": "step 1", "cp_violation": plan.violation}


def _failure_points(plan: Plan, _: Question) -> Any:
    point = {"what_happened": "w", "agent_reasoning": "", "evidence": "", "impact": ""}
    steps = len(plan.relevance)
    points = [
        point | {"step_numbers": str(steps), "error_code": "1.4"},
        point | {"step_numbers": "1", "error_code": "6.2"},
    ]
    return {"reasoning": "r", "has_failure": not plan.outcome, "failure_points": [] if plan.outcome else points}


def _validity(plan: Plan, _: Question) -> Any:
    return {
        "reasoning_is_ambiguous": "clear",
        "is_ambiguous": False,
        "ambiguity_codes": [],
        "reasoning_is_invalid": "gone",
        "is_invalid": plan.violation,
        "invalid_task_codes": ["8.1"] if plan.violation else [],
    }


_REPLIES = {
    "critical_point": _critical_point,
    "rubric": _rubric,
    "dependencies": _dependencies,
    "action_scores": _action_scores,
    "relevance": _relevance,
    "evidence": _evidence,
    "single_evidence": _evidence,
    "conditions": _conditions,
    "reality": _reality,
    "rescoring": _rescoring,
    "side_effects": _side_effects,
    "outcome": _outcome,
    "violation": _violation,
    "failure_points": _failure_points,
    "task_validity_with_run": _validity,
    "task_validity": _validity,
}
STEPS = tuple(_REPLIES)
