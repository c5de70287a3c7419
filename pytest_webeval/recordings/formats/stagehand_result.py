"""What Stagehand's verifier stored about a run, as a judgement with the points of a rubric.

The keys are those of `EvaluationResult` in `lib/v3/verifier/types.ts` of browserbase/stagehand (npm 3.5.0 to 3.7.3),
and what `packages/evals` and `packages/evaluator` write around them since September 2026 (pull request 2901).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_webeval.recordings.trajectory.recorded import Judgement
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from pytest_webeval.safety.json import read_number
from pytest_webeval.safety.text import preview, to_line

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
        raise _build_points_error("perCriterion", raw, "a list of criteria")
    return tuple(_read_score(entry, f"perCriterion[{index}]") for index, entry in enumerate(raw))


def _read_score(entry: object, place: str) -> CriterionScore:
    if not isinstance(entry, Mapping):
        raise _build_points_error(place, entry, "an object with criterion and maxPoints")
    criterion = entry.get("criterion")
    if not isinstance(criterion, str) or not criterion.strip():
        raise _build_points_error(f"{place}.criterion", criterion, "a string")
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
    raw = entry.get(key)
    if raw is None and is_optional:
        return None
    if (points := read_number(raw, 0, MOST_POINTS)) is None:
        raise _build_points_error(f"{place}.{key}", raw, "a number of points")
    return points


def _build_points_error(place: str, raw: object, expected: str) -> UnreadableTrajectory:
    return UnreadableTrajectory("score_unreadable", f"expected {expected}, got {quote_json(raw)} @ {place}")


def quote_json(raw: object) -> str:
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


JUDGE = "stagehand verifier"
# What `rubricVerifier.ts` stores in place of a judge that did not answer, word for word: a finding, and its reasoning.
_NO_REPLY = {
    "The fused judgment call did not return a parseable response.": (
        "Fused judgment LLM call failed; returning evidence-insufficient result."
    ),
    "The outcome verification call did not return a parseable response.": (
        "Outcome LLM call failed; defaulting to output_success=false."
    ),
    "The outcome-only verification call did not return a parseable response.": (
        "Outcome-only LLM call failed; defaulting to output_success=false."
    ),
}
MOST_REASON = 300  # characters of why there is no verdict
MOST_GATES = 3  # in a reason
_GATE = re.compile("[a-z_]{1,40}")


def read_judgement(source: str, fields: Mapping[str, Any], gates: Mapping[str, Any] | None = None) -> Judgement:
    """The judgement in a result file. Raises `UnreadableTrajectory` for one without a verdict.

    `gates` is the content of `gates.json`: what the evals checked after the judge (`verifierGates.ts`, 2c22cc814).
    """
    if reason := _find_ungraded(fields):
        return Judgement(source=source, judge=JUDGE, ungraded=reason)
    judged = fields.get("outcomeSuccess")
    if not isinstance(judged, bool):
        raise _build_error(f"{source} has {quote_json(judged)} as outcomeSuccess, expected true or false")
    try:
        scores = read_scores(fields.get("perCriterion"))
    except UnreadableTrajectory as error:
        raise _build_error(f"{source}: {error}") from error
    process = fields.get("processScore")
    if process is not None and read_number(process, 0, 1) is None:
        raise _build_error(f"{source} has {quote_json(process)} as processScore, expected a number from 0 to 1")
    rule = find_process_rule(scores, process) if scores else None
    success, reasoning = judged and not _list_gates(gates), _compose_reasoning(fields, gates)
    problems = (*_list_contradictions(fields, scores, process, rule), *_check_gates(fields, gates))
    rubric = {"outcome_success": success, "outcome_reasoning": reasoning}
    return Judgement(
        source=source,
        judge=JUDGE,
        success=success,
        reasoning=reasoning,
        # Points of a result that contradicts itself are not added up again: it is an error whatever they are.
        rubric=rubric | _build_rubric(fields, scores, rule) if rule and not problems else None,
        notes=dict(_list_notes(fields, gates)),
        contradictions=problems,
    )


def _build_error(problem: str) -> UnreadableTrajectory:
    return UnreadableTrajectory("score_unreadable", f"{problem}; judge the run again")


def _find_ungraded(fields: Mapping[str, Any]) -> str | None:
    """Why a result is not a verdict on the agent: since pull request 2901 it says so, before it has a substitute."""
    if fields.get("graded") is False and not {"outcomeSuccess", "processScore"} & fields.keys():
        return f"the verifier failed: {_read_reason(fields, 'verifierError')}"
    if fields.get("outcomeSuccess") is not False:
        return None
    steps = _as_object(fields.get("rawSteps"))
    if steps.get("backend") == "legacy" and steps.get("legacyEvaluation") == "INVALID":
        return f"the judge reached no result: {_read_reason(fields, 'explanation')}"
    text = _find_lost_reply(fields)
    return f"the judge failed: {text}" if text else None


def _find_lost_reply(fields: Mapping[str, Any]) -> str | None:
    """The finding that says that the judge did not reply, if the result is nothing but the substitute for its reply.

    A judge can be talked into a finding, so one is not enough: the writer gives no points either, and its own reason.
    """
    findings = fields.get("findings")
    finding = _as_object(findings[0] if isinstance(findings, list) and len(findings) == 1 else None)
    text = finding.get("description")
    if not isinstance(text, str) or text not in _NO_REPLY or finding.get("category") != "verifier_uncertainty":
        return None
    reasons = (_as_object(fields.get("rawSteps")).get("reasoning"), fields.get("explanation"))
    return text if _NO_REPLY[text] in reasons and _has_no_points(fields) else None


def _has_no_points(fields: Mapping[str, Any]) -> bool:
    scores = fields.get("perCriterion")
    entries = [_as_object(entry) for entry in scores] if isinstance(scores, list) else []
    is_unscored = all(entry.get("evidenceInsufficient") is True and not entry.get("earnedPoints") for entry in entries)
    return is_unscored and not fields.get("processScore") and (scores is None or isinstance(scores, list))


def _list_contradictions(
    fields: Mapping[str, Any], scores: Sequence[CriterionScore], process: float | None, rule: str | None
) -> Iterator[str]:
    for score in scores:
        if score.earned is not None and score.earned > score.maximum:
            yield f"{quote_json(score.criterion)} has {score.earned:g} of {score.maximum:g} points"
    if scores and rule is None:
        yield f"processScore is {process}, which the points give by no rule of its writers"
    if fields.get("graded") not in (None, True):
        yield f"graded is {quote_json(fields.get('graded'))}, but it has an outcome or a score"
    yield from _check_state(fields)
    if _as_object(fields.get("judge")).get("outcomeSuccess") is False and fields.get("outcomeSuccess") is True:
        yield "judge.outcomeSuccess is false, but outcomeSuccess is true"


def _check_state(fields: Mapping[str, Any]) -> Iterator[str]:
    """`outcomeState` decides `outcomeSuccess` (`outcomeChecks.ts`); evals may only turn it down afterwards."""
    state, outcome = fields.get("outcomeState"), fields.get("outcomeSuccess")
    is_supported = state == "supported"
    is_overruled = is_supported and not outcome and isinstance(fields.get("judge"), Mapping)
    if state is not None and is_supported is not outcome and not is_overruled:
        yield f"outcomeState is {quote_json(state)}, but outcomeSuccess is {quote_json(outcome)}"
    legacy = _as_object(fields.get("rawSteps")).get("legacyEvaluation")
    if legacy in ("YES", "NO", "INVALID") and (legacy == "YES") is not outcome:
        yield f"legacyEvaluation is {legacy}, but outcomeSuccess is {quote_json(outcome)}"


def _list_gates(gates: Mapping[str, Any] | None) -> list[str]:
    """The checks of the evals that rejected a success of the judge."""
    names = _as_object(gates).get("outcomeGates")
    texts = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    return [name for name in texts if _GATE.fullmatch(name)]


def _compose_reasoning(fields: Mapping[str, Any], gates: Mapping[str, Any] | None) -> str:
    """Why the outcome is what it is: gates that rejected a success first, for the judge had no part in that."""
    reason = _read_text(fields, "explanation") or _read_text(_as_object(fields.get("rawSteps")), "reasoning")
    if not (names := _list_gates(gates)):
        return reason
    listed = ", ".join(names[:MOST_GATES])
    failed = f"gate{'s' if len(names) > 1 else ''} {listed} failed"
    return f"{failed}; the judge accepted the run: {reason}" if reason else failed


def _check_gates(fields: Mapping[str, Any], gates: Mapping[str, Any] | None) -> Iterator[str]:
    """`gates.json` repeats the outcome of the judge, and the one after the gates, which only reject successes."""
    if gates is None:
        return
    judge = fields.get("judge")
    judged = _as_object(judge if isinstance(judge, Mapping) else fields).get("outcomeSuccess")
    outcome = judged is True and not _list_gates(gates)
    expected = {"judgeOutcomeSuccess": judged, "outcomeSuccess": outcome}
    for key, value in expected.items():
        if gates.get(key) is not value:
            yield f"{key} in gates.json is {quote_json(gates.get(key))}, expected {quote_json(value)}"
    if isinstance(judge, Mapping) and fields.get("outcomeSuccess") is not outcome:
        yield f"outcomeSuccess is {quote_json(fields.get('outcomeSuccess'))}, but by gates.json {quote_json(outcome)}"


def _list_notes(fields: Mapping[str, Any], gates: Mapping[str, Any] | None) -> Iterator[tuple[str, bool]]:
    for key, name in (("isAmbiguous", "task_ambiguous"), ("isInvalid", "task_invalid")):
        if isinstance(answer := _as_object(fields.get("taskValidity")).get(key), bool):
            yield name, answer
    yield from ((f"gate_{name}", True) for name in _list_gates(gates))


def is_invalid_task(fields: Mapping[str, Any]) -> bool:
    """Whether the judge says that nobody can do the task."""
    return _as_object(fields.get("taskValidity")).get("isInvalid") is True


def _build_rubric(fields: Mapping[str, Any], scores: Sequence[CriterionScore], rule: str) -> dict[str, Any]:
    """The result without its outcome, with the keys of a rubric judge, of which verdicts are derived."""
    rubric: dict[str, Any] = {"rubric_items": _build_items(scores, rule)}
    failure, validity = fields.get("firstPointOfFailure"), fields.get("taskValidity")
    if isinstance(failure, Mapping):
        rubric["rubric_first_point_of_failure"] = {
            "has_failure": True,
            "failure_points": [_rename(failure, _POINT_KEYS)],
        }
    if isinstance(validity, Mapping):
        rubric["rubric_task_verification"] = _rename(validity, _VALIDITY_KEYS)
    return rubric


def _rename(fields: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {name: fields.get(key) for key, name in names.items()}


def _build_items(scores: Sequence[CriterionScore], rule: str) -> list[dict[str, Any]]:
    """The criteria with the points that the writer's rule counts; what it excludes is a condition that is not met."""
    items = []
    for score in scores:
        earned, maximum = PROCESS_RULES[rule](score)
        item = {"criterion": score.criterion, "max_points": score.maximum, "post_image_earned_points": earned}
        excluded = {"condition": "", "is_condition_met": False} if maximum < score.maximum else {}
        items.append(item | excluded | {"post_image_justification": score.explanation})
    return items


_POINT_KEYS = {
    "stepIndex": "step_numbers",
    "errorCode": "error_code",
    "category": "error_category",
    "description": "what_happened",
}
_VALIDITY_KEYS = {
    "isAmbiguous": "is_ambiguous",
    "isInvalid": "is_invalid",
    "ambiguityCodes": "ambiguity_codes",
    "invalidTaskCodes": "invalid_task_codes",
}


def _read_text(fields: Mapping[str, Any], key: str) -> str:
    text = fields.get(key)
    return text.strip() if isinstance(text, str) else ""


def _read_reason(fields: Mapping[str, Any], key: str) -> str:
    return to_line(_read_text(fields, key), MOST_REASON) or "it gave no reason"


def _as_object(raw: object) -> Mapping[str, Any]:
    return raw if isinstance(raw, Mapping) else {}
