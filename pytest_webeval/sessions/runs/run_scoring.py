"""Scores one run of a session as its item would: reads it, decides, redacts, writes. Whoever asks gets its outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cached_property, partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pytest_webeval.errors import EvaluationError, RecordingError
from pytest_webeval.evaluators import EVALUATORS
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.calls import EvaluatorCalls
from pytest_webeval.recordings.formats import load_installed
from pytest_webeval.recordings.labels import parse_task_id
from pytest_webeval.recordings.run import Run
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.results import TaskResult
from pytest_webeval.safety.deadline import TimeBudget
from pytest_webeval.scoring.definition import Definition
from pytest_webeval.scoring.score import format_timeout, score
from pytest_webeval.sessions.runs.classification import Attempt, Classifier
from pytest_webeval.sessions.runs.fingerprints import Fingerprints
from pytest_webeval.sessions.runs.record_payload import RecordPayload, build_payload
from pytest_webeval.sessions.runs.run_outcome import Classification, RunOutcome, redact, write
from pytest_webeval.sessions.runs.stored_results import PreviousSession, StoredResult, build_seal
from pytest_webeval.sessions.workspace.workspace import Workspace
from pytest_webeval.stores.store import StoredObject
from pytest_webeval.summary.store.row_database import EarlierRow

# Writes the page of a run within a time limit, if it can.
WritePage = Callable[[RunOutcome, Path, AbstractContextManager[None]], RunOutcome]


class RunToScore(Struct, frozen=True):
    """A directory of a session. `problem` is why it cannot be scored at all."""

    path: str
    problem: str | None = None
    earlier: EarlierRow | None = None  # of an earlier session
    objects: tuple[StoredObject, ...] = ()  # of a store, for a worker on another machine


class RunScorer(Struct, frozen=True, eq=False, dict=True):
    """One per process. `modules` is the checksum of modules of users that decide, empty without any.

    It is None where nobody wants to reuse results. `returning` redacts those that whoever asks from Python gets.
    """

    workspace: Workspace
    evaluators: Sequence[Evaluator]
    modules: str | None = ""
    write_page: WritePage | None = None
    returning: RedactionPolicy | None = None

    def score(self, target: RunToScore) -> RecordPayload | None:
        """What the session is told of a run; None for one outside the subset. It is written by now.

        Raises `SettingsError` if it cannot be written, where somebody asks from Python.
        """
        path = Path(target.path)
        with self.workspace.open_run(path):
            attempt = self._read(path, target)
            if self._is_outside(path, attempt):
                return None
            stored = attempt.stored
            if stored is not None and self._stands_unread(stored):
                return RecordPayload(stored.record, None, stored.seal, is_reused=True, line=stored.line)
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
        """Whether others wrote evaluators or formats, which may read any file of a run."""
        ours, has_formats = set(EVALUATORS.values()), bool(self.workspace.formats or load_installed())
        return has_formats or any(type(evaluator) not in ours for evaluator in self.evaluators)

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
                attempt.resolve(run, workspace.tasks, partial(self._find_stored, target.earlier))
            if attempt.stored is None or not self._stands_unread(attempt.stored):
                self._decide(attempt, run, budget)
        except Exception as error:  # noqa: BLE001  (of a library, or of code of users: an error of this run alone)
            attempt.error = error
        return attempt

    def _decide(self, attempt: Attempt, run: Run, budget: TimeBudget) -> None:
        """Let the evaluators decide, unless an earlier session did with the same ones."""
        calls, definition = EvaluatorCalls(self.workspace.here), attempt.definition
        if definition is None:
            return
        case = attempt.case = self.workspace.build_case(run, definition, calls)
        if attempt.stored is not None:
            if attempt.stored.is_by(self.evaluators, case, self.workspace):
                return
            attempt.stored = None
        with budget.limit():
            attempt.result = score(case, self.evaluators, definition.checksum, definition.origin)

    def _is_outside(self, path: Path, attempt: Attempt) -> bool:
        """Whether the subset does not have the task of a run."""
        return self.workspace.tasks.leaves_out(parse_task_id(path) if attempt.run is None else attempt.run.task_id)

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

    def _write(self, attempt: Attempt, path: Path) -> RecordPayload:
        outcome = write(self._classify_in_time(attempt, path), self.workspace.result_places, lambda *_: None)
        shown = outcome if self.write_page is None else self.write_page(outcome, path, self._budget.limit())
        payload, classification = build_payload(shown), outcome.classification
        if self.returning is None:
            return payload
        if isinstance(outcome.error, RecordingError):  # nothing can be written into the directory of this run
            classification = self._classifier.classify_unread(path, replace(attempt, error=outcome.error))
        elif outcome.error is not None:
            raise outcome.error
        return replace(payload, result=self._redact_returned(classification, path))

    def _classify_in_time(self, attempt: Attempt, path: Path) -> RunOutcome:
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

    def describe_lost(self, path: Path, message: str) -> RecordPayload:
        """A run that killed whoever scored it. It is not read again, and may do better in another session."""
        with self.workspace.open_run(path):
            return replace(self._write(Attempt(error=EvaluationError(message)), path), is_disturbed=True)

    def _classify(self, attempt: Attempt, path: Path) -> Classification:
        seal, result, case, definition = None, attempt.result, attempt.case, attempt.definition
        if result is not None and case is not None and definition is not None:
            prints, modules = self._fingerprints, self.modules
            seal = build_seal(result, self.evaluators, case, definition, fingerprints=prints, modules=modules)
        return self._classifier.classify(path, attempt, seal)
