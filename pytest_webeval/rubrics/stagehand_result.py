"""What Stagehand's verifier stored about a run, in the terms of a rubric judge.

The keys are those of `EvaluationResult` in `lib/v3/verifier/types.ts` of browserbase/stagehand (npm 3.5.0 to 3.7.3),
and what `packages/evals` and `packages/evaluator` write around them since September 2026 (pull request 2901).
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pytest_webeval.rubrics.payload import as_bool
from pytest_webeval.rubrics.payload import point_count
from pytest_webeval.rubrics.payload import quote_value
from pytest_webeval.rubrics.policy import UnreadableVerdict
from pytest_webeval.rubrics.stagehand_points import PROCESS_RULES
from pytest_webeval.rubrics.stagehand_points import CriterionScore
from pytest_webeval.rubrics.stagehand_points import find_process_rule
from pytest_webeval.rubrics.stagehand_points import read_scores
from pytest_webeval.rubrics.stored_verdict import ScoreFileName
from pytest_webeval.rubrics.stored_verdict import StoredVerdict
from pytest_webeval.safety.json import load_exact

_INCONSISTENT = "inconsistent"
# What `rubricVerifier.ts` stores as a finding in place of a judge that did not answer, word for word.
_NO_REPLY = frozenset(
    f"The {call} call did not return a parseable response."
    for call in ("fused judgment", "outcome verification", "outcome-only verification")
)


@dataclass(frozen=True, slots=True)
class StagehandResult:
    """One file of `scores/`. `ungraded` says why it is no verdict on the agent, None for a verdict.

    `process` is the stored score, None where none is stored; `rule` is the name of the rule that gives it.
    """

    source: str
    fields: Mapping[str, Any]
    ungraded: str | None = None
    scores: tuple[CriterionScore, ...] = ()
    process: Decimal | None = None
    rule: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def outcome(self) -> bool | None:
        """Whether the task was achieved; None if the run was not graded."""
        return None if self.ungraded else as_bool(self.fields.get("outcomeSuccess"))

    @property
    def to_verdict(self) -> StoredVerdict:
        """The same as the evaluator of rubrics derives verdicts from."""
        return StoredVerdict(self.source, ScoreFileName("other"), None, build_payload(self), None, self.warnings)


def read_result(source: str, content: bytes) -> StagehandResult:
    """What a result file says. Raises `UnreadableVerdict` for a damaged one and for one that contradicts itself."""
    try:
        fields, repeated = load_exact(content.decode("utf-8"))
    except ValueError as error:
        raise _build_error(source, f"is not valid JSON: {error}") from error
    if not isinstance(fields, dict):
        raise _build_error(source, f"holds {quote_value(fields)}, expected a JSON object")
    warnings = tuple(
        f"{source}: duplicate key {quote_value(key)} in one object; the last value counts" for key in repeated[:3]
    )
    if reason := _find_ungraded(source, fields):
        return StagehandResult(source, fields, ungraded=reason, warnings=warnings)
    return _read_graded(source, fields, warnings)


def _read_graded(source: str, fields: Mapping[str, Any], warnings: tuple[str, ...]) -> StagehandResult:
    if as_bool(fields.get("outcomeSuccess")) is None:
        raw = quote_value(fields.get("outcomeSuccess"))
        raise _build_error(source, f"has {raw} as outcomeSuccess, expected true or false")
    try:
        scores = read_scores(fields.get("perCriterion"))
    except UnreadableVerdict as error:
        raise UnreadableVerdict(error.code, f"{source}: {error}; judge the run again") from error
    process = _read_process(source, fields)
    rule = find_process_rule(scores, process) if scores else None
    result = StagehandResult(source, fields, None, scores, process, rule, warnings)
    if problems := list(find_contradictions(result)):
        raise UnreadableVerdict(
            _INCONSISTENT, f"{source} contradicts itself: {'; '.join(problems)}; judge the run again"
        )
    return result


def _read_process(source: str, fields: Mapping[str, Any]) -> Decimal | None:
    raw = fields.get("processScore")
    number = point_count(raw)
    if raw is not None and (number is None or not 0 <= number <= 1):
        raise _build_error(source, f"has {quote_value(raw)} as processScore, expected a number from 0 to 1")
    return number


def _build_error(source: str, problem: str) -> UnreadableVerdict:
    return UnreadableVerdict("score_unreadable", f"{source} {problem}; judge the run again")


def _find_ungraded(source: str, fields: Mapping[str, Any]) -> str | None:
    """Why a file is not a verdict on the agent: since pull request 2901 it says so, before it has a substitute.

    Raises `UnreadableVerdict` for a file that says both.
    """
    if fields.get("graded") is False:
        if "outcomeSuccess" in fields or "processScore" in fields:
            raise UnreadableVerdict(
                _INCONSISTENT,
                f"{source} contradicts itself: graded is false, but it has an outcome or a score; judge the run again",
            )
        return f"the verifier failed: {_read_text(fields, 'verifierError') or 'it gave no reason'}"
    if as_bool(fields.get("outcomeSuccess")) is not False:
        return None
    steps = _as_object(fields.get("rawSteps"))
    if steps.get("backend") == "legacy" and steps.get("legacyEvaluation") == "INVALID":
        return f"the judge reached no result: {_read_text(fields, 'explanation') or 'it gave no reason'}"
    findings = fields.get("findings")
    first = findings[0] if isinstance(findings, list) and len(findings) == 1 else None
    text = _as_object(first).get("description")
    return f"the judge failed: {text}" if isinstance(text, str) and text in _NO_REPLY else None


def find_contradictions(result: StagehandResult) -> Iterator[str]:
    """Where a graded result contradicts itself, each in a few words."""
    fields = result.fields
    for score in result.scores:
        if score.earned is not None and score.earned > score.maximum:
            yield f"{quote_value(score.criterion)} has {score.earned} of {score.maximum} points"
    if result.scores and result.rule is None:
        yield f"processScore is {result.process}, which the points give by no rule of its writers"
    if fields.get("graded") not in (None, True):
        yield f"graded is {quote_value(fields.get('graded'))}, but it has an outcome"
    yield from _check_state(fields)
    yield from _check_judge(fields)


def _check_state(fields: Mapping[str, Any]) -> Iterator[str]:
    """`outcomeState` decides `outcomeSuccess` (`outcomeChecks.ts`); evals may only turn it down afterwards."""
    state, outcome = fields.get("outcomeState"), fields.get("outcomeSuccess")
    is_supported = state == "supported"
    is_overruled = is_supported and not outcome and isinstance(fields.get("judge"), Mapping)
    if state is not None and is_supported is not outcome and not is_overruled:
        yield f"outcomeState is {quote_value(state)}, but outcomeSuccess is {quote_value(outcome)}"
    legacy = _as_object(fields.get("rawSteps")).get("legacyEvaluation")
    if legacy in ("YES", "NO", "INVALID") and (legacy == "YES") is not outcome:
        yield f"legacyEvaluation is {legacy}, but outcomeSuccess is {quote_value(outcome)}"


def _check_judge(fields: Mapping[str, Any]) -> Iterator[str]:
    """Evals reject successes of the judge and never turn its failures into successes (`verifierGates.ts`)."""
    judged = as_bool(_as_object(fields.get("judge")).get("outcomeSuccess"))
    if judged is False and fields.get("outcomeSuccess") is True:
        yield "judge.outcomeSuccess is false, but outcomeSuccess is true"


def build_payload(result: StagehandResult) -> dict[str, Any]:
    """The result with the keys of a rubric judge, of which verdicts are derived."""
    fields = result.fields
    steps, failure = _as_object(fields.get("rawSteps")), fields.get("firstPointOfFailure")
    reasoning = _read_text(fields, "explanation") or _read_text(steps, "reasoning")
    payload: dict[str, Any] = {"outcome_success": result.outcome, "outcome_reasoning": reasoning}
    if result.scores:
        payload["rubric_items"] = list(_build_items(result))
    if isinstance(failure, Mapping):
        payload["rubric_first_point_of_failure"] = {"has_failure": True, "failure_points": [_build_point(failure)]}
    if isinstance(fields.get("taskValidity"), Mapping):
        payload["rubric_task_verification"] = _build_validity(fields["taskValidity"])
    return payload


def _build_items(result: StagehandResult) -> Iterator[dict[str, Any]]:
    """The criteria with the points that the writer's rule counts; what it excludes is a condition that is not met."""
    rule = PROCESS_RULES[result.rule or next(iter(PROCESS_RULES))]
    for score in result.scores:
        earned, maximum = rule(score)
        item = {"criterion": score.criterion, "max_points": score.maximum, "post_image_earned_points": earned}
        excluded = {"condition": "", "is_condition_met": False} if maximum < score.maximum else {}
        yield item | excluded | {"post_image_justification": score.explanation}


def _build_point(failure: Mapping[str, Any]) -> dict[str, Any]:
    keys = {"stepIndex": "step_numbers", "errorCode": "error_code", "category": "error_category"}
    return {name: failure.get(key) for key, name in keys.items()} | {"what_happened": failure.get("description")}


def _build_validity(validity: Mapping[str, Any]) -> dict[str, Any]:
    keys = {"isAmbiguous": "is_ambiguous", "isInvalid": "is_invalid"}
    codes = {"ambiguityCodes": "ambiguity_codes", "invalidTaskCodes": "invalid_task_codes"}
    return {name: validity.get(key) for key, name in (keys | codes).items()}


def _read_text(fields: Mapping[str, Any], key: str) -> str:
    text = fields.get(key)
    return text.strip() if isinstance(text, str) else ""


def _as_object(raw: object) -> Mapping[str, Any]:
    return raw if isinstance(raw, Mapping) else {}
