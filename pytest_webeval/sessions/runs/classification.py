"""What it means for a run how its scoring ended: the first step of its outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from msgspec import Struct, structs

from pytest_webeval.errors import JudgeFailed, RecordingError, RunExcluded, WebEvalError
from pytest_webeval.evaluators.case import Case
from pytest_webeval.recordings.run import Run, placeholder_run
from pytest_webeval.results import TaskResult
from pytest_webeval.safety.run_directory import is_writable
from pytest_webeval.safety.text import sanitize
from pytest_webeval.scoring.definition import Definition
from pytest_webeval.scoring.score import warn_of_refusal
from pytest_webeval.scoring.task_result import add_inputs, build_error_result, build_excluded_result
from pytest_webeval.sessions.runs.run_outcome import Classification, Storage
from pytest_webeval.sessions.runs.stored_results import Seal, StoredResult
from pytest_webeval.sessions.workspace.missing_tasks import MissingTasks
from pytest_webeval.sessions.workspace.task_definitions import TaskDefinitions
from pytest_webeval.sessions.workspace.workspace import Workspace
from pytest_webeval.tasks.task import Task

FindStored = Callable[[Run, Definition], StoredResult | None]


class Attempt(Struct):
    """What came of one run before it is classified. `error` is what ended it, `stored` the result that stands."""

    run: Run | None = None
    definition: Definition | None = None
    case: Case | None = None
    result: TaskResult | None = None
    stored: StoredResult | None = None
    error: BaseException | None = None

    def resolve(self, run: Run, tasks: TaskDefinitions, find_stored: FindStored) -> None:
        """Find the definition of a task, and the result of an earlier session: without one, read the recording.

        Raises `WebEvalError`. What was found until then stays.
        """
        self.run = run
        self.definition = tasks.definition(run)
        self.stored = find_stored(run, self.definition)
        if self.stored is None:
            run.check()


class Classifier(Struct, frozen=True, eq=False):
    """One per process. `missing` are the expected tasks without a recording, where the process knows them.

    Errors of the `plain` classes speak for themselves; the class of others is a part of their message.
    """

    workspace: Workspace
    missing: MissingTasks | None = None
    plain: tuple[type[BaseException], ...] = (WebEvalError,)

    def classify(self, path: Path, attempt: Attempt, seal: Seal | None = None) -> Classification:
        """The outcome of a run. `seal` is what decided its result, where another session can reuse that."""
        run, case, stored = attempt.run, attempt.case, attempt.stored
        if run is None or case is None:
            return self.classify_unread(path, attempt)
        if isinstance(attempt.error, RunExcluded):
            return self.classify_excluded(run, case.task, attempt.error)
        place = self.workspace.result_path(run.path)
        if stored is not None:
            return Classification(stored.result, place, run, case.task, Storage.NONE, stored=stored)
        result = attempt.result or self.build_error_result(run, case.task, self.format_error(attempt.error))
        return Classification(result, place, run, case.task, sealing=seal, started=self.workspace.started)

    def classify_unread(self, path: Path, attempt: Attempt, *, is_partial: bool = False) -> Classification:
        """A run that could not be read. What was read of it before is in its result."""
        error, run = attempt.error, attempt.run
        classification = self.classify_error(path, self.format_error(error), is_partial=is_partial, error=error)
        if run is None or attempt.definition is None or not isinstance(error, RecordingError):
            return classification
        return structs.replace(classification, result=add_inputs(classification.result, run))

    def format_error(self, error: BaseException | None) -> str:
        """An exception in one line."""
        text = " ".join(str(error).split())
        return sanitize(text if isinstance(error, self.plain) else f"{type(error).__name__}: {text}")

    def build_error_result(self, run: Run, task: Task | None, message: str) -> TaskResult:
        """The result of a run without a verdict, with the checksum of the definitions where they could be read."""
        return build_error_result(run, task, message, *self.workspace.tasks.source_of(run))

    def classify_excluded(self, run: Run, task: Task, error: RunExcluded) -> Classification:
        """A run that says nothing about the agent. One that nobody judged gets no result file."""
        message = sanitize(str(error))
        checksum, source = self.workspace.tasks.source_of(run)
        result = build_excluded_result(run, task, message, error.kind, data_checksum=checksum, source=source)
        is_written = run.find_exclusion(task) is not None
        if isinstance(error, JudgeFailed) and error.facts:  # which was asked
            result = result.with_changes(webeval=result.webeval | {"judge": dict(error.facts)})
            is_written = is_written or error.outcome != "forgotten"
        storage = Storage.FILE if is_written else Storage.REMOVED
        return Classification(result, self.workspace.result_path(run.path), run, task, storage)

    def classify_error(
        self,
        path: Path,
        message: str,
        *,
        is_partial: bool = False,
        error: BaseException | None = None,
        skipped: Storage | None = None,
    ) -> Classification:
        """A run that was not scored, perhaps because of an error; without a result if there is no directory for it.

        `skipped` is where the result goes of a run whose test was skipped before the run had a verdict.
        """
        run, missing_id = self._load_or_placeholder(path)
        task = self.workspace.tasks.find(run)
        text = message if missing_id is None or self.missing is None else self.missing.reason(path)
        result = self.build_error_result(run, task, text)
        if warnings := warn_of_refusal(error, task):
            result = result.with_warnings([*result.warnings, *warnings])
        has_no_place = self.workspace.settings.output is None and not is_writable(path)
        usual = Storage.REPORT if is_partial else Storage.FILE
        return Classification(
            result,
            self.workspace.result_path(run.path),
            run,
            task,
            skipped or (Storage.NONE if missing_id is not None or has_no_place else usual),
            is_partial=is_partial,
            is_missing=missing_id is not None,
            skip_reason=None if skipped is None else message,
        )

    def classify_timeout(self, path: Path, message: str, *, is_partial: bool = False) -> Classification:
        """A run that took too long to classify."""
        run = self._build_placeholder(path)
        storage = Storage.REPORT if is_partial else Storage.FILE
        result, result_path = self.build_error_result(run, None, message), self.workspace.result_path(run.path)
        return Classification(result, result_path, run, None, storage, is_partial=is_partial)

    def _build_placeholder(self, path: Path) -> Run:
        settings = self.workspace.settings
        return placeholder_run(path, self.workspace.labels.of(path), settings.rules).choosing(settings.evaluators)

    def _load_or_placeholder(self, path: Path) -> tuple[Run, int | str | None]:
        """The run of a directory that could not be scored, as far as it can be read, and the id of a missing task."""
        placeholder = self._build_placeholder(path)
        missing_id = None if self.missing is None else self.missing.by_path.get(path)
        if missing_id is not None:
            return replace(placeholder, task_id=missing_id), missing_id
        try:
            return self.workspace.run(path), None
        except WebEvalError:
            return placeholder, None
