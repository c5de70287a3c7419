"""What a `RubricEvaluator` makes of a stored verdict, imported where a task asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import EvaluationError, RecordingError, RunUnjudged
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.case import Case
from pytest_webeval.recordings.trajectory.layout import GATED, RUBRIC
from pytest_webeval.recordings.trajectory.recorded import Gate, OutcomeClass, Trajectory
from pytest_webeval.results import EvaluatorResult, Status, WarningKind
from pytest_webeval.rubrics.derivation import derive
from pytest_webeval.rubrics.policy import JUDGE_AGAIN, UnreadableVerdict, VerdictPolicy, parse_fraction
from pytest_webeval.rubrics.score_files import facts_of, ignored_files, stored_verdict
from pytest_webeval.rubrics.stored_verdict import RunFacts, StoredVerdict
from pytest_webeval.rubrics.verdict import Verdict
from pytest_webeval.rubrics.verdict_report import assertions_of, trajectory_metadata, verdict_to_json
from pytest_webeval.tasks.expectations import RubricExpectation
from pytest_webeval.tasks.task import Expectation
from pytest_webeval.values.comparison import failed


class Gating(Struct, frozen=True):
    """What decides about a trajectory without a judge. Reading a property may raise `UnreadableTrajectory`.

    `benchmark` is that of the task's definition, if there is one; `ends` are the actions that end a run in good order.
    """

    trajectory: Trajectory
    benchmark: str
    ends: tuple[str, ...]

    @property
    def is_gated(self) -> bool:
        """Whether the recorder gives no points to some runs without asking a judge."""
        return self.trajectory.is_gated(self.benchmark)

    @property
    def gate(self) -> Gate | None:
        """The gate that the run does not pass, of a benchmark that has any."""
        return self.trajectory.find_gate(self.ends) if self.is_gated else None

    def overrules(self, policy: VerdictPolicy) -> str | None:
        """Why no stored verdict counts, or None: a run over budget of a gated benchmark, or by the session's policy."""
        is_over = self.trajectory.outcome.kind is OutcomeClass.OVER_BUDGET
        return self.trajectory.outcome.message if is_over and (self.is_gated or policy.over_budget == "zero") else None

    @property
    def without_verdict(self) -> str | None:
        """Why the run has no points without a judge, or None if only a judge can decide."""
        if self.trajectory.outcome.kind is OutcomeClass.OVER_BUDGET:
            return self.trajectory.outcome.message
        return self.gate.reason if self.gate else None


def judge_stored_verdict(evaluator: Evaluator, expectation: Expectation, case: Case) -> EvaluatorResult:
    """The result of an evaluator for a stored verdict. Raises `RunUnjudged` for a run that was not judged yet."""
    required = expectation.read_as(RubricExpectation)
    policy = replace(case.requested_policy, strict_texts=case.rules.whole_word_verdicts)
    threshold = policy.threshold if required.threshold is None else parse_fraction(required.threshold)
    policy = replace(policy, threshold=threshold, criterion=required.criterion or policy.criterion)
    return _Judgement(evaluator, policy, _build_gating(case), case).run()


class _Judgement(Struct, frozen=True):
    evaluator: Evaluator
    policy: VerdictPolicy
    gating: Gating | None
    case: Case

    def run(self) -> EvaluatorResult:
        try:
            if self.gating and (reason := self.gating.overrules(self.policy)):
                stored = None
                with suppress(RecordingError):  # a verdict that does not count need not be readable
                    stored = stored_verdict(self.case.run, self.policy)
                return self._build_zero_result(self.gating, reason, stored)
            return self._evaluate_verdict()
        except UnreadableVerdict as error:
            metadata = trajectory_metadata(self.case.run.trajectory) | {"status": error.code}
            result = self.evaluator.result([], actual=metadata, normalized=metadata)
            return result.with_changes(**_error_fields(f"{error.code}: {error}"))

    def _evaluate_verdict(self) -> EvaluatorResult:
        gating, case = self.gating, self.case
        if case.run.external and (reason := case.run.external[0].ungraded):
            raise _unjudged_error(case, f"{reason} @ {case.run.external[0].source}")
        # A judge may be asked although there is a verdict. A file that the session names still decides.
        is_judged_again = case.judging is not None and case.judging.judges_again and not case.run.external
        stored = None if is_judged_again else stored_verdict(case.run, self.policy)
        if stored is not None:
            self._check_text(stored)
            result = self._evaluate_stored(stored, facts_of(case.run))
            if result.status is Status.SUCCESS and _is_aborted(case) and not case.run.external:
                problem = f"{stored.source} does not count: the run was aborted; judge the run"
                raise _unjudged_error(case, problem)
            return self._refuse_unproven(result, stored)
        if gating and (reason := gating.without_verdict):
            return self._build_zero_result(gating, reason, stored)
        if case.judging is None or case.run.trajectory is None or _is_aborted(case):
            raise _unjudged_error(case)
        if not case.has_definition:
            case.warn(_OWN_TASK, WarningKind.OWN_DEFINITION)
        live = case.judging.judge(case.run, case.task)
        case.run.mark_judged()
        result = self._evaluate_stored(live.stored, RunFacts())  # what it was asked about is redacted
        report = result.actual or {}
        found = {"success": _SUCCESSES.get(result.status), "criterion": report.get("criterion")}
        report = report | {"judge": live.facts | found}
        return result.with_changes(actual=report, actual_normalized=report)

    def _refuse_unproven(self, result: EvaluatorResult, stored: StoredVerdict) -> EvaluatorResult:
        """The result, unless it is a success that the recording contradicts: an error, not a failure of the agent."""
        case, gating = self.case, self.gating
        if result.status is not Status.SUCCESS or gating is None or case.run.external:
            return result
        problem = gating.trajectory.missing_evidence
        if problem is None or not case.rules.proven_verdicts:
            return result
        case.notice("proven_verdicts", stored.source)
        message = f"inconsistent: {stored.source} has a success, but {problem}; {_RECORD_AGAIN}"
        report = (result.actual or {}) | {"status": "inconsistent"}
        return result.with_changes(actual=report, actual_normalized=report, **_error_fields(message))

    def _evaluate_stored(self, stored: StoredVerdict, facts: RunFacts) -> EvaluatorResult:
        policy, gating, case = self.policy, self.gating, self.case
        try:
            verdict = derive(stored, policy, facts)
        except UnreadableVerdict as error:
            if error.source:
                raise
            raise UnreadableVerdict(error.code, error.problem, where=stored.source) from error
        if policy.strict_texts and "verdict_text_ambiguous" in verdict.flags:
            case.notice("whole_word_verdicts", stored.source)
        if verdict.status == "unscored":
            raise _unjudged_error(case, f"{stored.source}: {verdict.reason}")
        for text in stored.warnings:
            case.warn(text)
        for text, kind in _list_warnings(verdict, stored, gating, case):
            case.warn(text, kind)
        return self._build_result(verdict, stored)

    def _check_text(self, stored: StoredVerdict) -> None:
        """Refuse the free text of a judge where the benchmark stores JSON, unless the session asks for that file."""
        if stored.text is None or not (self.gating and self.gating.is_gated):
            return
        problem = (
            f"{stored.source} holds free text, but {GATED} stores a rubric as JSON: the verdict cannot be recomputed"
        )
        if self.policy.score_file is None:
            advice = f"{JUDGE_AGAIN}, or choose the file with --webeval-score-file"
            raise UnreadableVerdict("score_unreadable", problem, advice)
        self.case.warn(problem)

    def _build_result(self, verdict: Verdict, stored: StoredVerdict) -> EvaluatorResult:
        report = verdict_to_json(verdict, stored, self.case.run.trajectory)
        expected = {"criterion": verdict.criterion, "threshold": float(verdict.threshold)}
        assertions = assertions_of(verdict, report["failure"])
        result = self.evaluator.result(assertions, actual=report, normalized=report, expected=expected)
        if reason := _explain_no_verdict(verdict, stored):
            return result.with_changes(**_error_fields(reason))
        if (result.status is Status.SUCCESS) is not (verdict.score == 1):
            problem = f"the verdict is {verdict.score}, but its assertions say {result.status}"
            raise EvaluationError(f"{problem}; this is a bug in pytest-webeval: report it")
        return result

    def _build_zero_result(self, gating: Gating, reason: str, stored: StoredVerdict | None) -> EvaluatorResult:
        case = self.case
        if stored is not None and stored.score not in (0, None):
            message = f"{stored.source} has the score {stored.score}, which does not count: {reason}"
            case.warn(message, WarningKind.OVERRULED_VERDICT)
        report = trajectory_metadata(case.run.trajectory) | {
            "status": "zero",
            "score": 0,
            "criterion": None,
            "reason": reason,
            "gate": gating.gate.number if gating.gate else None,
            "source": stored.source if stored else None,
        }
        return self.evaluator.result([failed("rubric.score_mismatch", reason)], actual=report, normalized=report)


def _is_aborted(case: Case) -> bool:
    """Whether the files of a run say that it was aborted, which excludes it only where no definition decides."""
    trajectory = case.run.trajectory
    return trajectory is not None and trajectory.outcome.kind is OutcomeClass.ABORTED


def _error_fields(message: str) -> dict[str, Any]:
    return {"status": Status.ERROR, "score": 0.0, "error_msg": message}


def _build_gating(case: Case) -> Gating | None:
    """What decides without a judge; None where the run is not a trajectory, or where a file of the session decides.

    That is a label of a person, or any verdict on an aborted run, whose own files may be incomplete.
    """
    trajectory = case.run.trajectory
    if trajectory is None or case.run.is_labelled or _is_aborted(case):
        return None
    if case.rules.stop_terminates and "nonstandard_stop" in trajectory.flags:
        case.notice("stop_terminates", "the last action")
    ends = ("terminate", "stop") if case.rules.stop_terminates else ("terminate",)
    return Gating(trajectory, getattr(case.task, "benchmark", ""), ends)


_OWN_TASK = (
    "the judge was shown the task text of the run directory, where the agent could have written it; pass its "
    "definition with --webeval-tasks"
)
_SUCCESSES = {Status.SUCCESS: True, Status.FAILURE: False}
_RECORD_AGAIN = "record the run again"  # what readers advise where no judge can help


def _list_warnings(
    verdict: Verdict, stored: StoredVerdict, gating: Gating | None, case: Case
) -> Iterator[tuple[str, str]]:
    """Warnings that do not change the verdict, each with its kind."""
    source, other = stored.source, WarningKind.OTHER
    for check in verdict.checks:
        if not check.is_contradiction:
            yield f"{source}: {check.rule}: {check.message}", check.rule
    if others := ignored_files(case.run, stored):
        advice = "" if case.run.external else "; choose with --webeval-score-file"
        yield f"{source} counts, not {', '.join(others)}{advice}", WarningKind.SEVERAL_VERDICTS
    if gating and verdict.status != "gate" and (gate := gating.gate):
        yield f"{source} has a verdict, but the benchmark itself gives 0 points: {gate.reason}", other
    if "violation_unknown" in verdict.flags:
        yield f"{source} has no result on critical point violations; counted as no violation", other


def _unjudged_error(case: Case, problem: str = "") -> RunUnjudged | RecordingError:
    """The error of a run that was not judged. It excludes a trajectory; any other run needs a verdict."""
    trajectory = case.run.trajectory
    if trajectory is None:
        return RecordingError(problem or f"missing file: {case.run.path / RUBRIC}; judge the run")
    return RunUnjudged(problem or trajectory.reason_unjudged)


def _explain_no_verdict(verdict: Verdict, stored: StoredVerdict) -> str | None:
    """Why the stored data are not a verdict on the agent, or None."""
    if verdict.status == "judge_error":
        return f"judge_error: the judge failed: {verdict.reason} @ {stored.source}; {JUDGE_AGAIN}"
    # Impossible points (R8) are a warning if the judge wrote a verdict, and an error if points are all there is.
    is_verdict_missing = stored.score is None and verdict.writer == "unknown"
    wrong = [check for check in verdict.checks if check.is_contradiction or (is_verdict_missing and check.rule == "R8")]
    if wrong:
        contradictions = "; ".join(f"{check.rule}: {check.message}" for check in wrong)
        advice = "" if contradictions.endswith(_RECORD_AGAIN) else f"; {JUDGE_AGAIN}"
        return f"inconsistent: {stored.source} contradicts itself: {contradictions}{advice}"
    return None
