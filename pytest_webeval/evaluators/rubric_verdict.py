"""What a `RubricEvaluator` makes of a stored verdict, imported where a task asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace
from typing import Annotated
from typing import Any
from typing import Literal

from pydantic import BaseModel
from pydantic import ConfigDict
from pydantic import Field

from pytest_webeval.errors import EvaluationError
from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import RunExcluded
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.case import Case
from pytest_webeval.recordings.trajectory.layout import SCORES
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import Status
from pytest_webeval.rubrics.derivation import derive
from pytest_webeval.rubrics.gating import GATED
from pytest_webeval.rubrics.gating import Gating
from pytest_webeval.rubrics.policy import UnreadableVerdict
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rubrics.policy import parse_fraction
from pytest_webeval.rubrics.score_files import RUBRIC
from pytest_webeval.rubrics.score_files import facts_of
from pytest_webeval.rubrics.score_files import ignored_files
from pytest_webeval.rubrics.score_files import stored_verdict
from pytest_webeval.rubrics.stored_verdict import StoredVerdict
from pytest_webeval.rubrics.verdict import Verdict
from pytest_webeval.rubrics.verdict_report import assertions_of
from pytest_webeval.rubrics.verdict_report import trajectory_metadata
from pytest_webeval.rubrics.verdict_report import verdict_to_json
from pytest_webeval.tasks.task import Expectation
from pytest_webeval.values.comparison import failed


class RubricExpectation(BaseModel):
    """Configuration of a RubricEvaluator: what counts, and the share of the points that a run needs for `process`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    evaluator: str
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    criterion: Literal["outcome", "process", "both", "safe_outcome"] | None = None

    def over(self, policy: VerdictPolicy) -> VerdictPolicy:
        """The policy of the session with what this expectation asks for instead."""
        threshold = policy.threshold if self.threshold is None else parse_fraction(self.threshold)
        return replace(policy, threshold=threshold, criterion=self.criterion or policy.criterion)


def judged(evaluator: Evaluator, expectation: Expectation, case: Case) -> EvaluatorResult:
    """What an evaluator has to say of a stored verdict. Raises `RunExcluded` for what nobody judged yet."""
    policy = expectation.read_as(RubricExpectation).over(case.policy)
    return _Judgement(evaluator, policy, _gating(case), case).run()


@dataclass(frozen=True, slots=True)
class _Judgement:
    evaluator: Evaluator
    policy: VerdictPolicy
    gating: Gating | None
    case: Case

    def run(self) -> EvaluatorResult:
        try:
            if self.gating and (told := self.gating.overrules(self.policy)):
                return self._zero(self.gating, told, _readable(self.case, self.policy))
            return self._of_verdict()
        except UnreadableVerdict as error:
            found = trajectory_metadata(self.case.run.trajectory) | {"status": error.code}
            told = f"{error.code}: {error}"
            return self.evaluator.result([], actual=found, normalized=found).with_changes(**_erred(told))

    def _of_verdict(self) -> EvaluatorResult:
        policy, gating, case = self.policy, self.gating, self.case
        stored = stored_verdict(case.run, policy)
        if stored is None and gating and (told := gating.without_verdict):
            return self._zero(gating, told, stored)
        if stored is None:
            raise _not_judged(case)
        if stored.text is not None and gating and gating.is_gated:
            self._check_text(stored)
        verdict = _derived(stored, policy, case)
        if policy.strict_texts and "verdict_text_ambiguous" in verdict.flags:
            case.notice("verdict_words", stored.source)
        if verdict.status == "unscored":
            raise _not_judged(case, f"{stored.source}: {verdict.reason}")
        case.warnings.extend([*stored.warnings, *_oddities(verdict, stored, gating, case)])
        return self._judged(verdict, stored)

    def _check_text(self, stored: StoredVerdict) -> None:
        """Refuse the free text of a judge where the benchmark stores JSON, unless the session asks for that file."""
        problem = f"{stored.source} holds free text, but {GATED} stores a rubric as JSON: nothing can be derived again"
        if self.policy.score_file is None:
            told = f"{problem}; have the run judged again, or choose the file with --webeval-score-file"
            raise UnreadableVerdict("score_unreadable", told)
        self.case.warnings.append(problem)

    def _judged(self, verdict: Verdict, stored: StoredVerdict) -> EvaluatorResult:
        found = verdict_to_json(verdict, stored, self.case.run.trajectory)
        wanted = {"criterion": verdict.criterion, "threshold": float(verdict.threshold)}
        assertions = assertions_of(verdict, found["failure"])
        result = self.evaluator.result(assertions, actual=found, normalized=found, expected=wanted)
        if told := _no_verdict(verdict, stored):
            return result.with_changes(**_erred(told))
        if (result.status is Status.SUCCESS) is not (verdict.score == 1):
            told = f"the verdict is {verdict.score}, but its assertions say {result.status}"
            raise EvaluationError(f"{told}; this is a fault of pytest-webeval: report it")
        return result

    def _zero(self, gating: Gating, told: str, stored: StoredVerdict | None) -> EvaluatorResult:
        case = self.case
        if stored is not None and stored.score not in (0, None):
            case.warnings.append(f"{stored.source} has the score {stored.score}, which does not count: {told}")
        gate = gating.gate
        found = trajectory_metadata(case.run.trajectory) | {
            "status": "zero",
            "score": 0,
            "criterion": None,
            "reason": told,
        }
        found |= {"gate": gate.number if gate else None, "source": stored.source if stored else None}
        return self.evaluator.result([failed("rubric.score_mismatch", told)], actual=found, normalized=found)


def _erred(told: str) -> dict[str, Any]:
    return {"status": Status.ERROR, "score": 0.0, "error_msg": told}


def _gating(case: Case) -> Gating | None:
    """What decides without a judge; nothing where the run is no trajectory."""
    trajectory = case.run.trajectory
    if trajectory is None:
        return None
    if case.rules.stop_terminates and "nonstandard_stop" in trajectory.flags:
        case.notice("stop_terminates", "the last action")
    ends = ("terminate", "stop") if case.rules.stop_terminates else ("terminate",)
    return Gating(trajectory, getattr(case.task, "benchmark", ""), ends)


def _readable(case: Case, policy: VerdictPolicy) -> StoredVerdict | None:
    """The stored verdict if it can be read: one that does not count need not."""
    try:
        return stored_verdict(case.run, policy)
    except RecordingError:
        return None


_AGAIN = "have the run judged again"


def _derived(stored: StoredVerdict, policy: VerdictPolicy, case: Case) -> Verdict:
    try:
        return derive(stored, policy, facts_of(case.run))
    except UnreadableVerdict as error:
        raise UnreadableVerdict(error.code, _located(str(error), stored.source)) from error


def _located(message: str, source: str) -> str:
    """A message with advice and source; each stands in it once, whoever wrote it."""
    advised = message if _AGAIN in message else f"{message}; {_AGAIN}"
    return advised if source in message else f"{advised} @ {source}"


def _oddities(verdict: Verdict, stored: StoredVerdict, gating: Gating | None, case: Case) -> Iterator[str]:
    """What a reader of the verdict should know that does not change it."""
    for one in verdict.checks:
        if not one.is_contradiction:
            yield f"{stored.source}: {one.rule}: {one.message}"
    if others := ignored_files(case.run, stored):
        yield f"{stored.source} counts, not {', '.join(others)}; choose with --webeval-score-file"
    if gating and verdict.status != "gate" and (gate := gating.gate):
        yield f"{stored.source} holds a verdict, but the benchmark itself gives no points: {gate.reason}"
    if "violation_unknown" in verdict.flags:
        yield f"{stored.source} does not say whether a critical point was violated; taken for no"


def _not_judged(case: Case, found: str = "") -> RunExcluded | RecordingError:
    """What nobody judged: no fault of a trajectory, but of a run whose task expects a verdict."""
    if case.run.trajectory is None:
        return RecordingError(found or f"there is no {case.run.path / RUBRIC}; have the run judged")
    others = ignored_files(case.run, None)
    told = f"{' or '.join(others)} counts only where --webeval-score-file names it" if others else "have the run judged"
    return RunExcluded(f"not scored: {found or f'there is no verdict in {SCORES}/; {told}'}")


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
