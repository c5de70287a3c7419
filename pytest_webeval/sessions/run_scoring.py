"""Scores one run of a session as its item would: reads it, decides, redacts, writes. Whoever asks gets its outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pytest_webeval.errors import EvaluationError, RecordingError, RunExcluded
from pytest_webeval.evaluators import EVALUATORS
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.calls import EvaluatorCalls
from pytest_webeval.evaluators.case import Case
from pytest_webeval.recordings.labels import parse_task_id
from pytest_webeval.recordings.run import Run
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.results import TaskResult
from pytest_webeval.safety.deadline import TimeBudget
from pytest_webeval.scoring.definition import Definition
from pytest_webeval.scoring.score import format_timeout, score
from pytest_webeval.scoring.task_result import add_inputs
from pytest_webeval.sessions.classification import Classifier, format_error
from pytest_webeval.sessions.fingerprints import Fingerprints
from pytest_webeval.sessions.record_payload import RunOutcome, build_outcome, build_unchanged_outcome
from pytest_webeval.sessions.run_outcome import (
    NO_PAGE,
    Classification,
    RedactedRun,
    Storage,
    WrittenPage,
    WrittenRun,
    redact,
    write,
)
from pytest_webeval.sessions.seal import Seal
from pytest_webeval.sessions.stored_results import VERDICTS, PreviousSession, StoredResult, describe_state
from pytest_webeval.sessions.workspace import Workspace
from pytest_webeval.stores.store import StoredObject
from pytest_webeval.summary.row_database import EarlierRow


class RunToScore(Struct, frozen=True):
    """A directory of a session. `problem` is why it cannot be scored at all."""

    path: str
    problem: str | None = None
    earlier: EarlierRow | None = None  # of an earlier session
    objects: tuple[StoredObject, ...] = ()  # of a store, for a worker on another machine


class Attempt(Struct):
    """What came of one run before it is classified. `error` is what ended it."""

    run: Run | None = None
    definition: Definition | None = None
    case: Case | None = None
    result: TaskResult | None = None
    stored: StoredResult | None = None
    error: Exception | None = None


class RunScorer(Struct, frozen=True, eq=False, dict=True):
    """One per process. `modules` is the checksum of modules of users that decide, empty without any.

    It is None where nobody wants to reuse results. `returning` redacts those that whoever asks from Python gets.
    """

    workspace: Workspace
    evaluators: Sequence[Evaluator]
    modules: str | None = ""
    write_page: Callable[[WrittenRun, Path], WrittenPage] | None = None
    returning: RedactionPolicy | None = None

    def score(self, target: RunToScore) -> RunOutcome | None:
        """What came of a run; None for one outside the subset. It is written by now.

        Raises `SettingsError` if it cannot be written, where somebody asks from Python.
        """
        path = Path(target.path)
        with self.workspace.open_run(path):
            attempt = self._read(path, target)
            if self._is_outside(path, attempt):
                return None
            stored = attempt.stored
            if stored is not None and self._stands_unread(stored):
                return build_unchanged_outcome(stored, ())
            try:
                return self._write(attempt, path)
            finally:
                self._forget(attempt)

    def score_unwritten(self, path: Path) -> TaskResult:
        """The redacted result of a run, which goes nowhere."""
        with self.workspace.open_run(path):
            attempt = self._read(path, RunToScore(str(path)))
            try:
                return self._redact_returned(self._classify_in_time(attempt, path).classification, path)
            finally:
                self._forget(attempt)

    @cached_property
    def has_own_code(self) -> bool:
        """Whether users wrote evaluators or formats, which may read any file of a run."""
        ours = set(EVALUATORS.values())
        return bool(self.workspace.formats) or any(type(evaluator) not in ours for evaluator in self.evaluators)

    def _forget(self, attempt: Attempt) -> None:
        if attempt.run is not None:
            attempt.run.release()
        self.workspace.redacting.forget()

    @property
    def _budget(self) -> TimeBudget:
        seconds = self.workspace.settings.timeout
        return TimeBudget(seconds, format_timeout(seconds))

    def _read(self, path: Path, target: RunToScore) -> Attempt:
        """Load a run and score it, or find its result of an earlier session."""
        attempt, budget, workspace = Attempt(), self._budget, self.workspace
        try:
            if target.problem is not None:
                raise RecordingError(target.problem)
            run = attempt.run = workspace.run(path)
            if self._is_outside(path, attempt):
                return attempt
            with budget.limit():
                definition = attempt.definition = workspace.tasks.definition(run)
                attempt.stored = self._find_stored(target.earlier, run, definition)
                if attempt.stored is None:
                    run.check()
            if attempt.stored is None or not self._stands_unread(attempt.stored):
                self._decide(attempt, run, definition, budget)
        except Exception as error:  # noqa: BLE001  (of a library, or of code of users: an error of this run alone)
            attempt.error = error
        return attempt

    def _decide(self, attempt: Attempt, run: Run, definition: Definition, budget: TimeBudget) -> None:
        """Let the evaluators decide, unless an earlier session did with the same ones."""
        calls = EvaluatorCalls(self.workspace.here)
        case = attempt.case = self.workspace.build_case(run, definition, calls)
        if attempt.stored is not None:
            if attempt.stored.is_by(self.evaluators, case, self.workspace):
                return
            attempt.stored = None
        with budget.limit():
            attempt.result = score(case, self.evaluators, definition.checksum, definition.origin)

    def _is_outside(self, path: Path, attempt: Attempt) -> bool:
        """Whether the subset does not have the task of a run. A broken run without a number may be of any task."""
        subset = self._subset_ids
        if subset is None:
            return False
        task_id = parse_task_id(path) if attempt.run is None else attempt.run.task_id
        return task_id is not None and str(task_id) not in subset

    @cached_property
    def _subset_ids(self) -> frozenset[str] | None:
        subset = self.workspace.tasks.subset
        return None if subset is None else frozenset(map(str, subset.task_ids))

    def _find_stored(self, earlier: EarlierRow | None, run: Run, definition: Definition) -> StoredResult | None:
        return None if self._previous is None else self._previous.check(earlier, self.modules, run, definition)

    @cached_property
    def _previous(self) -> PreviousSession | None:
        return PreviousSession(self.workspace, self._fingerprints) if self.workspace.settings.reuse else None

    def _stands_unread(self, stored: StoredResult) -> bool:
        """Whether nothing has to be read or written for a result of an earlier session."""
        return not self.modules and self.workspace.settings.report is None and stored.data_checksum is None

    @cached_property
    def _fingerprints(self) -> Fingerprints:
        return Fingerprints(self.workspace)

    @cached_property
    def _classifier(self) -> Classifier:
        return Classifier(self.workspace)

    def _write(self, attempt: Attempt, path: Path) -> RunOutcome:
        redacted = self._classify_in_time(attempt, path)
        written = write(redacted, self.workspace.result_places, lambda *_: None)
        outcome = build_outcome(written, self._write_page(written, path))
        if self.returning is None:
            return outcome
        classification = redacted.classification
        if isinstance(written.error, RecordingError):  # nothing can be written into the directory of this run
            classification = self._classify_unread(replace(attempt, error=written.error), path)
        elif written.error is not None:
            raise written.error
        return replace(outcome, result=self._redact_returned(classification, path))

    def _classify_in_time(self, attempt: Attempt, path: Path) -> RedactedRun:
        """Classify and redact: what takes too long is an error of the run."""
        try:
            with self._budget.limit():
                return redact(self._classify(attempt, path), self.workspace.redacting)
        except EvaluationError as error:
            return redact(self._classifier.classify_timeout(path, str(error)), self.workspace.redacting)

    def _redact_returned(self, classification: Classification, path: Path) -> TaskResult:
        try:
            with self._budget.limit():
                return self._returning.redact_for_file(classification.result, classification.run)
        except EvaluationError as error:
            return self._classifier.classify_timeout(path, str(error)).result

    @cached_property
    def _returning(self) -> Redacting:
        """What redacts the results for whoever asks from Python. With the policy of files, it does that once."""
        redacting, policy = self.workspace.redacting, self.returning or RedactionPolicy()
        return replace(redacting, is_leaving=True) if policy == redacting.policy else Redacting(policy, is_leaving=True)

    def describe_lost(self, path: Path, message: str) -> RunOutcome:
        """A run that killed whoever scored it. It is not read again, and may do better in another session."""
        attempt = Attempt(error=EvaluationError(message))
        with self.workspace.open_run(path):
            outcome = self._write(attempt, path)
        return replace(outcome, payload=replace(outcome.payload, is_disturbed=True))

    def _write_page(self, written: WrittenRun, path: Path) -> WrittenPage:
        try:
            with self._budget.limit():
                return NO_PAGE if self.write_page is None else self.write_page(written, path)
        except EvaluationError:
            return NO_PAGE

    def _classify(self, attempt: Attempt, path: Path) -> Classification:
        run, definition, case = attempt.run, attempt.definition, attempt.case
        if run is None or definition is None or case is None:
            return self._classify_unread(attempt, path)
        place = self.workspace.result_path(path)
        if attempt.stored is not None:
            stored = attempt.stored
            return Classification(stored.result, place, run, definition.task, Storage.NONE, stored=stored)
        if isinstance(attempt.error, RunExcluded):
            return self._classifier.classify_excluded(run, definition.task, attempt.error)
        if attempt.result is None:
            result = self._classifier.build_error_result(run, definition.task, format_error(attempt.error))
            return Classification(result, place, run, definition.task, started=self.workspace.started)
        seal = self._seal(attempt.result, case, definition)
        started = self.workspace.started
        return Classification(attempt.result, place, run, definition.task, sealing=seal, started=started)

    def _classify_unread(self, attempt: Attempt, path: Path) -> Classification:
        """A run that could not be read. What was read of it before is in its result."""
        classification = self._classifier.classify_error(path, format_error(attempt.error), error=attempt.error)
        if attempt.run is None or attempt.definition is None or not isinstance(attempt.error, RecordingError):
            return classification
        return replace(classification, result=add_inputs(classification.result, attempt.run))

    def _seal(self, result: TaskResult, case: Case, definition: Definition) -> Seal | None:
        """What decided a result, if another session can reuse it: none that depends on what an evaluator raised."""
        if self.modules is None or case.calls.raised or result.status not in VERDICTS:
            return None
        state = describe_state(self.evaluators, case, self.workspace)
        decided_by = self._fingerprints.of(self.modules, case.run, definition)
        return Seal("", decided_by, state, bool(self.modules), definition.origin)
