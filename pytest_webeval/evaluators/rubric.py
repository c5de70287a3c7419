"""The verdict of a rubric judge, derived again from what it stored (`fara_webeval.md` §4-6). No judge is asked."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace
from typing import Annotated
from typing import Any
from typing import ClassVar
from typing import Literal

from pydantic import BaseModel
from pydantic import ConfigDict
from pydantic import Field

from pytest_webeval.comparison import failed
from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import RunExcluded
from pytest_webeval.evaluators.base import Case
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import Status
from pytest_webeval.rubrics.assertions import assertions_of
from pytest_webeval.rubrics.base import StoredVerdict
from pytest_webeval.rubrics.base import VerdictPolicy
from pytest_webeval.rubrics.base import VerdictUnreadable
from pytest_webeval.rubrics.base import share
from pytest_webeval.rubrics.derivation import Verdict
from pytest_webeval.rubrics.derivation import derive
from pytest_webeval.rubrics.description import about
from pytest_webeval.rubrics.description import described
from pytest_webeval.rubrics.stored import RUBRIC
from pytest_webeval.rubrics.stored import facts_of
from pytest_webeval.rubrics.stored import stored_verdict
from pytest_webeval.tasks import Expectation
from pytest_webeval.trajectories.directory import SCORES
from pytest_webeval.trajectories.outcome import Gate
from pytest_webeval.trajectories.outcome import OutcomeClass
from pytest_webeval.trajectories.outcome import gate_of
from pytest_webeval.trajectories.trajectory import Trajectory


class RubricExpectation(BaseModel):
    """Configuration of a RubricEvaluator: what counts, and the share of the points that a run needs for `process`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    evaluator: str
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    criterion: Literal["outcome", "process", "both", "safe_outcome"] | None = None

    def over(self, policy: VerdictPolicy) -> VerdictPolicy:
        """The policy of the session with what this expectation asks for instead."""
        threshold = policy.threshold if self.threshold is None else share(self.threshold)
        return replace(policy, threshold=threshold, criterion=self.criterion or policy.criterion)


@dataclass(frozen=True)
class RubricEvaluator(Evaluator):
    """Evaluator for verdicts that a judge stored; checked for contradictions, never asked of a model."""

    name: ClassVar[str] = "RubricEvaluator"

    def evaluate(self, expectation: Expectation, case: Case) -> EvaluatorResult:
        """An assertion for each signal, leaf and check. Raises `RunExcluded` for what nobody judged yet."""
        policy = expectation.read_as(RubricExpectation).over(case.policy)
        stored = stored_verdict(case.run, policy)
        if zero := _zero_without_judge(case, stored):
            return self._zero(zero, case, stored)
        if stored is None:
            raise _not_judged(case)
        verdict = _derived(stored, policy, case)
        if policy.strict_texts and "verdict_text_ambiguous" in verdict.flags:
            case.notice("verdict_words", stored.source)
        if verdict.status == "unscored":
            raise _not_judged(case, f"{stored.source}: {verdict.reason}")
        case.warnings.extend(stored.warnings)
        case.warnings.extend(f"{stored.source}: {one.rule}: {one.message}" for one in _odd(verdict))
        return self._judged(verdict, stored, case)

    def _judged(self, verdict: Verdict, stored: StoredVerdict, case: Case) -> EvaluatorResult:
        found = described(verdict, stored, case.run.trajectory)
        wanted = {"criterion": verdict.criterion, "threshold": float(verdict.threshold)}
        result = self.result(assertions_of(verdict), actual=found, normalized=found, expected=wanted)
        if told := _no_verdict(verdict, stored):
            return result.model_copy(update={"status": Status.ERROR, "score": 0.0, "error_msg": told})
        return result

    def _zero(self, told: dict[str, Any], case: Case, stored: StoredVerdict | None) -> EvaluatorResult:
        if stored is not None and stored.score not in (0, None):
            case.warnings.append(
                f"{stored.source} has the score {stored.score}, which does not count: {told['reason']}"
            )
        found = about(case.run.trajectory) | {"status": "zero", "score": 0, "criterion": None, **told}
        found["source"] = stored.source if stored else None
        return self.result([failed("rubric.score_mismatch", told["reason"])], actual=found, normalized=found)


def _derived(stored: StoredVerdict, policy: VerdictPolicy, case: Case) -> Verdict:
    try:
        return derive(stored, policy, facts_of(case.run))
    except VerdictUnreadable as error:
        raise VerdictUnreadable(error.code, f"{error}; have the run judged again @ {stored.source}") from error


def _zero_without_judge(case: Case, stored: StoredVerdict | None) -> dict[str, Any] | None:
    """Why a trajectory has no points whatever a judge says (`fara_webeval.md` §4.2-4.4), or None."""
    trajectory = case.run.trajectory
    if trajectory is None:
        return None
    is_gated = trajectory.place.benchmark_kind == "webtailbench"
    gate = _gate(trajectory, case) if is_gated else None
    found = {"gate": gate.number, "reason": gate.reason} if gate else {"gate": None}
    if trajectory.outcome.kind is not OutcomeClass.OVER_BUDGET:
        return found if gate and stored is None else None
    if is_gated or stored is None or case.policy.over_budget == "zero":
        return found | {"reason": trajectory.outcome.message}
    return None


def _gate(trajectory: Trajectory, case: Case) -> Gate | None:
    if case.rules.stop_terminates and "nonstandard_stop" in trajectory.flags:
        case.notice("stop_terminates", "the last action")
    ends = ("terminate", "stop") if case.rules.stop_terminates else ("terminate",)
    return gate_of(trajectory.steps, len(trajectory.answer.screenshots), ends)


def _not_judged(case: Case, found: str = "") -> RunExcluded | RecordingError:
    """What nobody judged: no fault of a trajectory, but of a run whose task expects a verdict."""
    if case.run.trajectory is None:
        return RecordingError(found or f"there is no {case.run.path / RUBRIC}; have the run judged")
    told = found or f"there is no verdict in {SCORES}/ and no {RUBRIC}; have the run judged"
    return RunExcluded(f"not scored: {told}")


def _odd(verdict: Verdict) -> list[Any]:
    return [one for one in verdict.checks if not one.is_contradiction]


def _no_verdict(verdict: Verdict, stored: StoredVerdict) -> str | None:
    """Why what is stored is no verdict on the agent, or None."""
    if verdict.status == "judge_error":
        return f"judge_error: the judge failed: {verdict.reason} @ {stored.source}; have the run judged again"
    # Points that cannot be are odd beside a verdict of the judge's own (R8), and all there is where that is missing.
    is_bare = stored.score is None and verdict.writer == "unknown"
    wrong = [one for one in verdict.checks if one.is_contradiction or (is_bare and one.rule == "R8")]
    if wrong:
        told = "; ".join(f"{one.rule}: {one.message}" for one in wrong)
        return f"inconsistent: {stored.source} contradicts itself: {told}; have the run judged again"
    return None
