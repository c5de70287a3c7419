"""The points that Stagehand's verifier gave by criterion, and the rules by which its writers add them up."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pytest_webeval.rubrics.payload import point_count
from pytest_webeval.rubrics.payload import quote_value
from pytest_webeval.rubrics.policy import UnreadableVerdict

TOLERANCE = 1e-6  # writers divide in binary floating point
_ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class CriterionScore:
    """The points for one criterion.

    `earned` is None where the judge gave none: because the condition is not met, which `is_applicable` says, or because
    it did not score the criterion. `is_grounded` is False where the judge saw no evidence.
    """

    criterion: str
    maximum: Decimal
    earned: Decimal | None
    explanation: str
    is_applicable: bool = True
    is_grounded: bool = True


def read_scores(raw: object) -> tuple[CriterionScore, ...]:
    """The entries of `perCriterion`, none where the judge stored none. Raises `UnreadableVerdict`."""
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
    maximum = _read_points(entry, "maxPoints", place) or _ZERO
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


def _read_points(entry: Mapping[str, Any], key: str, place: str, *, is_optional: bool = False) -> Decimal | None:
    """The points, which the verifier keeps between 0 and the maximum."""
    raw = entry.get(key)
    if raw is None and is_optional:
        return None
    number = point_count(raw)
    if number is None or number < 0:
        raise _build_error(f"{place}.{key}", raw, "a number of points")
    return number


def _build_error(place: str, raw: object, expected: str) -> UnreadableVerdict:
    return UnreadableVerdict("score_unreadable", f"expected {expected}, got {quote_value(raw)} @ {place}")


Part = tuple[Decimal, Decimal]  # what a criterion adds: earned points, and to the maximum
ProcessRule = Callable[[CriterionScore], Part]


def count_applicable(score: CriterionScore) -> Part:
    """A criterion that was not scored has 0 points: 3.6.0 to 3.7.3 (`rubricVerifier.ts`)."""
    return (score.earned or _ZERO, score.maximum) if score.is_applicable else (_ZERO, _ZERO)


def count_scored(score: CriterionScore) -> Part:
    """A criterion that was not scored does not count: `packages/evaluator` (52138a821)."""
    return (_ZERO, _ZERO) if score.earned is None else (score.earned, score.maximum)


def count_grounded(score: CriterionScore) -> Part:
    """Points without evidence do not count, their maximum does: the strict score of pull request 2901."""
    earned, maximum = count_applicable(score)
    return (earned if score.is_grounded else _ZERO, maximum)


def count_grounded_scored(score: CriterionScore) -> Part:
    """The strict score of August 2026 (`verifierGates.ts`, 2c22cc814): also without criteria that were not scored."""
    return (_ZERO, _ZERO) if score.earned is None else count_grounded(score)


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
    maximum = sum((maximum for _, maximum in parts), _ZERO)
    return float(sum((earned for earned, _ in parts), _ZERO) / maximum) if maximum > 0 else 0.0


def find_process_rule(scores: Sequence[CriterionScore], stored: Decimal | None) -> str | None:
    """The name of the rule by which the process score was stored, or None if no rule gives it.

    Without a stored score it is the first rule.
    """
    if stored is None:
        return next(iter(PROCESS_RULES))
    shares = ((name, add_up_share(scores, rule)) for name, rule in PROCESS_RULES.items())
    return next((name for name, share in shares if abs(share - float(stored)) <= TOLERANCE), None)
