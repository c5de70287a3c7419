"""What an item found out about its run, and how it becomes a result file and a record on the report."""

from __future__ import annotations

import time
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field
from functools import cached_property
from typing import Any
from typing import NoReturn

import pytest

from pytest_webeval.errors import EvaluationError
from pytest_webeval.errors import RunExcluded
from pytest_webeval.errors import TaskFailed
from pytest_webeval.errors import WebEvalError
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.case import Case
from pytest_webeval.plugin.runtest.resume import StoredResult
from pytest_webeval.plugin.settings import REDACTING
from pytest_webeval.plugin.settings import Settings
from pytest_webeval.plugin.workspace import Workspace
from pytest_webeval.recordings.run import Run
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.reports.failure_text import evaluator_text
from pytest_webeval.reports.failure_text import failure_text
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import Status
from pytest_webeval.results import TaskResult
from pytest_webeval.safety.deadline import pause_for_debugger
from pytest_webeval.safety.deadline import time_limit
from pytest_webeval.safety.text import sanitize
from pytest_webeval.scoring.merge import merge_results
from pytest_webeval.scoring.score import evaluate
from pytest_webeval.scoring.score import score
from pytest_webeval.scoring.score import validate_result
from pytest_webeval.scoring.task_result import build_error_result
from pytest_webeval.scoring.task_result import exclude
from pytest_webeval.scoring.task_result import failure_details
from pytest_webeval.tasks.task import Expectation


@dataclass
class RecordEvaluation:
    """Gathers what is found out about one run. Call it with an `EvaluatorResult` of your own to record that."""

    case: Case
    workspace: Workspace
    own_evaluators: Callable[[], Iterable[Any]]
    found: list[EvaluatorResult] = field(default_factory=list)
    evaluators: list[Evaluator] = field(default_factory=list)
    scored: TaskResult | None = None
    excluded: RunExcluded | None = None
    stored: StoredResult | None = None
    stopped: BaseException | None = None  # what ended an evaluation, of which nothing may be repeated
    whole: TaskResult | None = None  # the result of the run alone, once somebody asked for it
    reported: int = 0  # how many of the recorded results are in a report

    @property
    def redacting(self) -> Redacting:
        """How secrets are kept out of messages."""
        return self.workspace.config.stash[REDACTING]

    def __call__(self, result: EvaluatorResult) -> EvaluatorResult:
        """Record a result, so that it lands in the run's eval_result.json."""
        checked = validate_result(result, getattr(result, "evaluator_name", "record_evaluation"))
        self.found.append(checked)
        return checked

    def score(self, evaluators: Iterable[Any]) -> TaskResult:
        """Score the whole task and record that. Raises `TaskFailed` unless it is a success."""
        given = list(evaluators)
        with self.evaluating():
            self.scored = self._stored(given) or self._whole(given)
        self.xfail([self.scored.status])
        if self.scored.status is not Status.SUCCESS:
            text = failure_text(self.redacting.redact_for_report(self.scored, self.case.run))
            raise TaskFailed(text, self.case.calls.raised)
        return self.scored

    def xfail(self, statuses: Sequence[Status]) -> None:
        """End the test as an expected failure where an evaluator asked for that, unless there is an error."""
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

    def _stored(self, evaluators: Sequence[Any]) -> TaskResult | None:
        """What an earlier session found, if the same code would look at it."""
        known = {one.name: one for one in map(plain_evaluator, evaluators)}
        if self.stored is None or self.found or self.evaluators:
            return None
        return self.stored.result if self.stored.is_by(known.values()) else None

    @property
    def taken(self) -> StoredResult | None:
        """What was taken from an earlier session, and stands as it did there."""
        is_taken = self.stored is not None and self.scored is self.stored.result
        return self.stored if is_taken and not self.found else None

    def _whole(self, evaluators: Iterable[Any]) -> TaskResult:
        self.evaluators += [plain_evaluator(one) for one in evaluators]
        definition = self.workspace.definition(self.case.run)
        return score(self.case, self.evaluators, definition.checksum, definition.origin)

    def leave_out(self, error: RunExcluded) -> NoReturn:
        """End the test as the session wants it for a run that says nothing about the agent. Raises `Exception`."""
        self.excluded = error
        told = sanitize(self.redacting.text(str(error), self.case.run))
        how = self.workspace.settings.aborted if self.case.run.exclusion else "skip"
        if how == "fail":
            raise TaskFailed(told)
        if how == "xfail":
            pytest.xfail(told)
        pytest.skip(told)

    def _whole_or_nothing(self) -> TaskResult:
        """The result of the run; where it says nothing about the agent, one that is in no count."""
        try:
            return self._whole(self._own_evaluators())
        except (RunExcluded, pytest.skip.Exception) as error:
            return self.left_out(sanitize(str(error)))

    def left_out(self, reason: str) -> TaskResult:
        """The result of a run that is excluded from all counts."""
        run, task = self.case.run, self.case.task
        return exclude(build_error_result(run, task, reason, *self.workspace.source_of(run)), run, reason)

    def _own_evaluators(self) -> Iterable[Any]:
        """The evaluators of the run item. Raises `EvaluationError` if a fixture of a user raises."""
        try:
            return self.own_evaluators()
        except (WebEvalError, pytest.skip.Exception):
            raise
        except (Exception, pytest.fail.Exception) as error:  # pytest would end the session: this is no phase of a test
            reason = f"cannot set up webeval_evaluators: {type(error).__name__}: {error}; fix the fixture"
            raise EvaluationError(reason) from error

    @property
    def result(self) -> TaskResult | None:
        """The result of the run, or None if nothing was checked.

        It is always whole: a few checks of a Python test must not pass for the verdict on the task.
        """
        if not self.found:
            return self.scored
        is_stored = self.stored is not None and self.scored is self.stored.result
        self.whole = self._whole_or_nothing() if is_stored or self.scored is None else self.scored
        return self.added_to(self.whole)

    @property
    def late_result(self) -> TaskResult | None:
        """The result with what a fixture recorded after the test; None if there is no more, or nothing to add it to.

        Nothing can be evaluated any more. A failure is kept all the same, a success alone is no verdict.
        """
        late = self.found[self.reported :]
        whole = self.whole or self.scored
        if not late or self.excluded is not None:
            return None
        if whole is None and all(result.status is Status.SUCCESS for result in self.found):
            return None
        return self.added_to(whole or self._bare.with_changes(status=Status.SUCCESS, error_msg=None))

    @property
    def _bare(self) -> TaskResult:
        return build_error_result(self.case.run, self.case.task, "", *self.workspace.source_of(self.case.run))

    def added_to(self, whole: TaskResult) -> TaskResult:
        """A result of the run together with what a test recorded."""
        looked = whole.webeval | {"explanations": []} | failure_details(self.case, self.found)
        self.reported = len(self.found)
        return merge_results([whole, whole.with_changes(evaluators_results=self.found, webeval=looked)])


RECORDER = pytest.StashKey[RecordEvaluation]()
UNREADABLE = pytest.StashKey[bool]()  # whether the fixture webeval_run could not load its run


def forget(run: Run) -> None:
    """Let go of what was read of a run, so that a session needs room for one recording. Who asks reads it again."""
    kept = [name for name in vars(run) if isinstance(getattr(type(run), name, None), cached_property)]
    for name in kept:
        del vars(run)[name]


@dataclass(frozen=True, slots=True)
class Checker:
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
        expectations = [one for one in self.record.case.task.expectations if one.evaluator == self.evaluator.name]
        if config:
            expectations = [Expectation(self.evaluator.name, 0, {"evaluator": self.evaluator.name} | config)]
        if not expectations:
            raise TaskFailed(f"task {self.record.case.run.task_id} expects nothing of {self.evaluator.name}")
        self.record.evaluators.append(self.evaluator)
        known, raised = {self.evaluator.name: self.evaluator}, self.record.case.calls.raised
        before = len(raised)
        try:
            with self.record.evaluating():
                results = [self.record(evaluate(one, self.record.case, known)) for one in expectations]
        except RunExcluded as error:
            self.record.leave_out(error)
        self.record.xfail([one.status for one in results])
        if wrong := [one for one in results if one.status is not Status.SUCCESS]:
            told = [self.record.redacting.redact_evaluation(one, self.record.case.run) for one in wrong]
            raise TaskFailed("\n".join(map(evaluator_text, told)), raised[before:])
        return results


def plain_evaluator(given: Any) -> Evaluator:
    """The evaluator itself, whether a fixture returned it bound or bare."""
    found: Evaluator = given.evaluator if isinstance(given, Checker) else given
    return found


USED = pytest.StashKey[float]()  # seconds that the steps of a test took so far
LEAST = 0.01  # seconds for a step after one that used them all up


@contextmanager
def run_time_limit(item: pytest.Item, settings: Settings) -> Iterator[None]:
    """Let a step of a test take what is left of the time of its run. Raises `EvaluationError`.

    Only what has to do with the run counts: what a fixture of a user's own sets up may take as long as it likes.
    """
    if not settings.timeout or item.config.getoption("usepdb", default=False):
        yield
        return
    used, began = item.stash.get(USED, 0.0), time.monotonic()
    try:
        with time_limit(max(settings.timeout - used, LEAST), _told(settings.timeout)):
            yield
    finally:
        item.stash[USED] = used + time.monotonic() - began


def _told(seconds: float) -> str:
    told = f"scoring took longer than {seconds:g} s and was ended"
    return f"{told}; look for what is odd in the run, or raise --webeval-timeout"


class PauseTimeLimitInDebugger:
    """Stops the clock for who sits at a debugger."""

    def pytest_enter_pdb(self) -> None:
        """Called by pytest when a test asks for the debugger."""
        pause_for_debugger()
