"""The evaluations of an item, and how they become a result file and a record on the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NoReturn

import pytest
from msgspec import Struct, field

from pytest_webeval.errors import EvaluationError, RunExcluded, TaskFailed, WebEvalError
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.case import Case
from pytest_webeval.plugin.user_code import REDACTING, call_user_hook
from pytest_webeval.plugin.workspace import PytestWorkspace
from pytest_webeval.recordings.run import Run
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.reports.failure_text import evaluator_text, failure_text
from pytest_webeval.results import CAPTURE, EvaluatorResult, Status, TaskResult
from pytest_webeval.safety.deadline import TimeBudget, pause_for_debugger
from pytest_webeval.safety.text import sanitize
from pytest_webeval.scoring.definition import Definition
from pytest_webeval.scoring.score import evaluate, format_timeout, score, validate_result
from pytest_webeval.scoring.task_result import (
    SKIPPED,
    build_error_result,
    build_excluded_result,
    list_capture_problems,
    merge_results,
    name_run_by_label,
)
from pytest_webeval.sessions.runs.classification import Attempt
from pytest_webeval.sessions.runs.stored_results import StoredResult
from pytest_webeval.sessions.settings.settings import Settings
from pytest_webeval.tasks.task import Expectation


class RecordEvaluation(Struct):
    """Collects the evaluations of one run. Call it with an `EvaluatorResult` of your own to record that."""

    case: Case
    workspace: PytestWorkspace
    definition: Definition
    own_evaluators: Callable[[RecordEvaluation], Iterable[Any]]
    results: list[EvaluatorResult] = field(default_factory=list)
    evaluators: list[Evaluator] = field(default_factory=list)
    scored: TaskResult | None = None
    excluded: RunExcluded | None = None
    stored: StoredResult | None = None
    stopped: BaseException | None = None  # what ended an evaluation, of which nothing may be repeated
    run_result: TaskResult | None = None  # the result of the run alone, once somebody asked for it
    reported: int = 0  # how many of the recorded results are in a report

    @property
    def redacting(self) -> Redacting:
        """The redaction of messages."""
        return self.workspace.config.stash[REDACTING]

    @property
    def is_judged(self) -> bool:
        """Whether a judge was asked about the run in this session."""
        judging = self.case.judging
        return judging is not None and (judging.find_latest(self.case.run) is not None or bool(self.case.log.proposals))

    def __call__(self, result: EvaluatorResult) -> EvaluatorResult:
        """Record a result, so that it lands in the run's eval_result.json."""
        checked = validate_result(result, getattr(result, "evaluator_name", "record_evaluation"))
        self.results.append(checked)
        return checked

    def score(self, evaluators: Iterable[Any]) -> TaskResult:
        """Score the whole task and record that. Raises `TaskFailed` unless it is a success."""
        requested = list(evaluators)
        with self.evaluating():
            self.scored = self._reuse_stored(requested) or self._score_run(requested)
        self.xfail([self.scored.status])
        if self.scored.status is not Status.SUCCESS:
            raise TaskFailed(self._describe_failure(self.scored), self.case.calls.raised)
        return self.scored

    def _describe_failure(self, result: TaskResult) -> str:
        """The redacted text of a failure. To redact that of an earlier session, the recording would have to be read."""
        if self.reused is not None and self.reused.seal.text is not None:
            return self.reused.seal.text
        return failure_text(self.redacting.redact_for_report(result, self.case.run))

    def xfail(self, statuses: Sequence[Status]) -> None:
        """End the test as an expected failure if an evaluator called `pytest.xfail`, unless there is an error."""
        if self.case.calls.expected and Status.ERROR not in statuses:
            reasons = "; ".join(dict.fromkeys(self.case.calls.expected))
            pytest.xfail(sanitize(self.redacting.text(reasons, self.case.run)))

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """Remember the exception that ended the evaluation: a skip, or the end of its time."""
        try:
            yield
        except RunExcluded:
            raise
        except BaseException as error:
            self.stopped = error
            raise

    def _reuse_stored(self, evaluators: Sequence[Any]) -> TaskResult | None:
        """The result of an earlier session, if it was made by the same code."""
        by_name = {evaluator.name: evaluator for evaluator in map(unwrap_evaluator, evaluators)}
        if self.stored is None or self.results or self.evaluators:
            return None
        return self.stored.result if self.stored.is_by(by_name.values(), self.case, self.workspace) else None

    @property
    def reused(self) -> StoredResult | None:
        """The result reused from an earlier session."""
        is_taken = self.stored is not None and self.scored is self.stored.result
        return self.stored if is_taken and not self.results else None

    def _score_run(self, evaluators: Iterable[Any]) -> TaskResult:
        self.evaluators += [unwrap_evaluator(evaluator) for evaluator in evaluators]
        return score(self.case, self.evaluators, self.definition.checksum, self.definition.origin)

    def end_as_excluded(self, error: RunExcluded) -> NoReturn:
        """End the test as the session wants it for a run that says nothing about the agent. Raises `Exception`."""
        self.excluded = error
        reason = sanitize(self.redacting.text(str(error), self.case.run))
        treatment = self.workspace.settings.aborted if self.case.run.find_exclusion(self.case.task) else "skip"
        if treatment == "fail":
            raise TaskFailed(reason)
        if treatment == "xfail":
            pytest.xfail(reason)
        pytest.skip(reason)

    def _score_or_exclude(self) -> TaskResult:
        """The result of the run; excluded if it says nothing about the agent."""
        try:
            return self._score_run(self._own_evaluators())
        except (RunExcluded, pytest.skip.Exception) as error:
            return self.build_excluded_result(sanitize(str(error)), getattr(error, "kind", SKIPPED))

    def build_excluded_result(self, reason: str, kind: str = SKIPPED) -> TaskResult:
        """The result of a run that is excluded from all counts, and what it is counted as."""
        source = {"data_checksum": self.definition.checksum, "source": self.definition.origin}
        return build_excluded_result(self.case.run, self.case.task, reason, kind, **source)

    def _own_evaluators(self) -> Iterable[Any]:
        """The evaluators of the run item. Raises `EvaluationError` if a fixture of a user raises."""
        try:
            return self.own_evaluators(self)
        except (WebEvalError, pytest.skip.Exception):
            raise
        except (Exception, pytest.fail.Exception) as error:  # not a phase of a test, so pytest would end the session
            reason = f"cannot set up webeval_evaluators: {type(error).__name__}: {error}; fix the fixture"
            raise EvaluationError(reason) from error

    @property
    def result(self) -> TaskResult | None:
        """The result of the run, or None if nothing was checked.

        It always covers the complete task: a few checks of a Python test must not pass for the verdict on the task.
        """
        if not self.results:
            return self.scored
        is_stored = self.stored is not None and self.scored is self.stored.result
        self.run_result = self._score_or_exclude() if is_stored or self.scored is None else self.scored
        return self.merge_into(self.run_result)

    @property
    def teardown_result(self) -> TaskResult | None:
        """The result with what a fixture recorded after the test; None if there is no more, or nothing to add it to.

        Nothing can be evaluated any more. A failure is kept all the same, a success alone is no verdict.
        """
        new_results = self.results[self.reported :]
        run_result = self.run_result or self.scored
        if not new_results or self.excluded is not None:
            return None
        if run_result is None and all(result.status is Status.SUCCESS for result in self.results):
            return None
        if run_result is None:
            run_result = self.build_error_result("").with_changes(status=Status.SUCCESS, error_msg=None)
        return self.merge_into(run_result)

    def build_error_result(self, message: str) -> TaskResult:
        """The result of the run without a verdict."""
        definition = self.definition
        return build_error_result(self.case.run, self.case.task, message, definition.checksum, definition.origin)

    def merge_into(self, run_result: TaskResult) -> TaskResult:
        """A result of the run merged with the recorded checks."""
        details = run_result.webeval
        if any(result.status is not Status.SUCCESS for result in self.results):
            details = details | {CAPTURE: list_capture_problems(self.case, self.results)}
        self.reported = len(self.results)
        recorded = run_result.with_changes(evaluators_results=self.results, webeval=details)
        return merge_results([run_result, name_run_by_label(recorded, self.case.run)])


RECORDER = pytest.StashKey[RecordEvaluation]()
REPORTED = pytest.StashKey[RecordEvaluation | None]()  # the recorder whose outcome a report has
SCORING = pytest.StashKey[pytest.CallInfo[None]]()  # how a live test was scored, whatever its agent raised
ATTEMPT = pytest.StashKey[Attempt]()  # what the fixture webeval_run loaded, or why it could not


def forget(item: pytest.Item, *keys: pytest.StashKey[Any]) -> None:
    """Release what was kept with an item, which itself stays to the end of the session."""
    for key in keys:
        if key in item.stash:
            del item.stash[key]


class Checker(Struct, frozen=True):
    """An evaluator bound to the run of the test. `check()` evaluates, records and fails with the reason.

    In a conftest.py, `return webeval_response.using(MyEvaluator())` puts another evaluator in its place.
    """

    evaluator: Evaluator
    record: RecordEvaluation

    def using(self, evaluator: Evaluator) -> Checker:
        """The same fixture with another evaluator."""
        return Checker(evaluator, self.record)

    def check(self, **config: Any) -> list[EvaluatorResult]:
        """Evaluate the task's own expectations for this evaluator, or one given here. Raises `TaskFailed`."""
        expectations = [
            expectation
            for expectation in self.record.case.run.list_expectations(self.record.case.task)
            if expectation.evaluator == self.evaluator.name
        ]
        if config:
            expectations = [Expectation(self.evaluator.name, 0, {"evaluator": self.evaluator.name} | config)]
        if not expectations:
            raise TaskFailed(f"task {self.record.case.run.task_id} has no expectation for {self.evaluator.name}")
        self.record.evaluators.append(self.evaluator)
        by_name, raised = {self.evaluator.name: self.evaluator}, self.record.case.calls.raised
        raised_before = len(raised)
        try:
            with self.record.evaluating():
                results = [
                    self.record(evaluate(expectation, self.record.case, by_name)) for expectation in expectations
                ]
        except RunExcluded as error:
            self.record.end_as_excluded(error)
        self.record.xfail([result.status for result in results])
        if failed_results := [result for result in results if result.status is not Status.SUCCESS]:
            redacted = [
                self.record.redacting.redact_evaluation(result, self.record.case.run) for result in failed_results
            ]
            raise TaskFailed("\n".join(map(evaluator_text, redacted)), raised[raised_before:])
        return results


def unwrap_evaluator(fixture_value: Any) -> Evaluator:
    """The evaluator itself, also where a fixture returned a checker with it."""
    evaluator: Evaluator = fixture_value.evaluator if isinstance(fixture_value, Checker) else fixture_value
    return evaluator


BUDGET = pytest.StashKey[TimeBudget]()  # of a test, for steps that share it


def run_time_limit(item: pytest.Item, settings: Settings) -> AbstractContextManager[None]:
    """Let a step of a test take what is left of the time of its run. Raises `EvaluationError`.

    Only work on the run counts: the setup of user fixtures has no limit.
    """
    if item.config.getoption("usepdb", default=False):
        return nullcontext()
    if BUDGET not in item.stash:
        item.stash[BUDGET] = TimeBudget(settings.timeout, format_timeout(settings.timeout))
    return item.stash[BUDGET].limit()


def renew_time_limit(item: pytest.Item) -> None:
    """Let the next step of a test have all of the time of its run again."""
    forget(item, BUDGET)


def call_scored_hook(item: pytest.Item, run: Run, unredacted: TaskResult, settings: Settings) -> str | None:
    """Call the hook of users with the result of a run. Returns what went wrong, or None."""
    hook, result = item.ihook.pytest_webeval_scored, unredacted
    if any("result" in implementation.argnames for implementation in hook.get_hookimpls()):
        renew_time_limit(item)
        try:
            with run_time_limit(item, settings):
                result, _ = item.config.stash[REDACTING].redact_with_attachment(unredacted, run, {}, None)
        except EvaluationError as error:
            return str(error)
    return call_user_hook(hook, item=item, run=run, result=result, unredacted=unredacted)


class PauseTimeLimitInDebugger:
    """Stops the clock while a debugger runs."""

    def pytest_enter_pdb(self) -> None:
        """Called by pytest when a test asks for the debugger."""
        pause_for_debugger()
