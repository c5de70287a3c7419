"""The points that Stagehand's verifier gave by criterion, and the rules by which its writers add them up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from pytest_webeval.safety.text import preview

TOLERANCE = 1e-6  # writers divide in binary floating point
MOST_POINTS = 10**9


@dataclass(frozen=True, slots=True)
class CriterionScore:
    """The points for one criterion.

    `earned` is None where the judge gave none: because the condition is not met, which `is_applicable` says, or because
    it did not score the criterion. `is_grounded` is False where the judge saw no evidence.
    """

    criterion: str
    maximum: float
    earned: float | None
    explanation: str
    is_applicable: bool = True
    is_grounded: bool = True


def read_scores(raw: object) -> tuple[CriterionScore, ...]:
    """The entries of `perCriterion`, none where the judge stored none. Raises `UnreadableTrajectory`."""
    if raw is None:
        return ()
    if not isinstance(raw, list):
        raise _build_error("perCriterion", raw, "a list of criteria")
    return tuple(_read_score(entry, f"perCriterion[{index}]") for index, entry in enumerate(raw))


def _read_score(entry: object, place: str) -> CriterionScore:
    if not isinstance(entry, Mapping):
        raise _build_error(place, entry, "an object with criterion and maxPoints")
    criterion = entry.get("criterion")
    if not isinstance(criterion, str) or not criterion.strip():
        raise _build_error(f"{place}.criterion", criterion, "a string")
    earned = _read_points(entry, "earnedPoints", place, is_optional=True)
    maximum = _read_points(entry, "maxPoints", place) or 0.0
    explanation = entry.get("explanation")
    return CriterionScore(
        criterion=criterion,
        maximum=maximum,
        earned=earned,
        explanation=explanation if isinstance(explanation, str) else "",
        is_applicable=earned is not None or not _is_condition_unmet(entry),
        is_grounded=entry.get("evidenceInsufficient") is not True,
    )


def _is_condition_unmet(entry: Mapping[str, Any]) -> bool:
    """Whether a criterion without points is not applicable.

    By the type's documentation in 3.5.0 to 3.7.3 it is; but all that its verifier stores that way are criteria that
    were not scored, with `evidenceInsufficient`. `packages/evaluator` says `conditionMet`.
    """
    is_met = entry.get("conditionMet")
    return is_met is False or (is_met is None and entry.get("evidenceInsufficient") is not True)


def _read_points(entry: Mapping[str, Any], key: str, place: str, *, is_optional: bool = False) -> float | None:
    """The points, which the verifier keeps between 0 and the maximum."""
    raw = entry.get(key)
    if raw is None and is_optional:
        return None
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not 0 <= raw <= MOST_POINTS:
        raise _build_error(f"{place}.{key}", raw, "a number of points")
    return raw


def _build_error(place: str, raw: object, expected: str) -> UnreadableTrajectory:
    return UnreadableTrajectory("score_unreadable", f"expected {expected}, got {quote_json(raw)} @ {place}")


def quote_json(raw: object) -> str:
    """Untrusted JSON in one short line of ASCII."""
    return preview(raw, 60, is_ascii=True)


Part = tuple[float, float]  # what a criterion adds: earned points, and to the maximum
ProcessRule = Callable[[CriterionScore], Part]


def count_applicable(score: CriterionScore) -> Part:
    """A criterion that was not scored has 0 points: 3.6.0 to 3.7.3 (`rubricVerifier.ts`)."""
    return (score.earned or 0.0, score.maximum) if score.is_applicable else (0.0, 0.0)


def count_scored(score: CriterionScore) -> Part:
    """A criterion that was not scored does not count: `packages/evaluator` (52138a821)."""
    return (0.0, 0.0) if score.earned is None else (score.earned, score.maximum)


def count_grounded(score: CriterionScore) -> Part:
    """Points without evidence do not count, their maximum does: the strict score of pull request 2901."""
    earned, maximum = count_applicable(score)
    return (earned if score.is_grounded else 0.0, maximum)


def count_grounded_scored(score: CriterionScore) -> Part:
    """The strict score of August 2026 (`verifierGates.ts`, 2c22cc814): also without criteria that were not scored."""
    return (0.0, 0.0) if score.earned is None else count_grounded(score)


# The first that gives the stored process score is taken for the writer's.
PROCESS_RULES: Mapping[str, ProcessRule] = {
    "applicable": count_applicable,
    "scored": count_scored,
    "grounded": count_grounded,
    "grounded_scored": count_grounded_scored,
}


def add_up_share(scores: Sequence[CriterionScore], rule: ProcessRule) -> float:
    """The share of the points by a rule; 0 where there are none to earn."""
    parts = [rule(score) for score in scores]
    maximum = sum(maximum for _, maximum in parts)
    return sum(earned for earned, _ in parts) / maximum if maximum > 0 else 0.0


def find_process_rule(scores: Sequence[CriterionScore], stored: float | None) -> str | None:
    """The name of the rule by which the process score was stored, or None if no rule gives it.

    Without a stored score it is the first rule.
    """
    if stored is None:
        return next(iter(PROCESS_RULES))
    shares = ((name, add_up_share(scores, rule)) for name, rule in PROCESS_RULES.items())
    return next((name for name, share in shares if abs(share - stored) <= TOLERANCE), None)
