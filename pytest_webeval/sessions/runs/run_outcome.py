"""The outcome of a run, in three steps: classify, redact, write."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from enum import Enum, auto
from pathlib import Path
from typing import Any, Self

from msgspec import Struct, field
from msgspec.structs import astuple, replace

from pytest_webeval.diagnostics.failure_groups import error_group
from pytest_webeval.errors import DiskFull, RecordingError, WebEvalError
from pytest_webeval.recordings.inputs import WRITE
from pytest_webeval.recordings.run import Run
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.reports.failure_text import failure_text, reason
from pytest_webeval.results import Status, TaskResult
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.run_directory import find_change, is_directory
from pytest_webeval.scoring.task_result import COUNTED, SKIPPED
from pytest_webeval.sessions.runs.run_files import survey_files
from pytest_webeval.sessions.runs.stored_results import Seal, StoredResult, store_content
from pytest_webeval.sessions.workspace.result_places import ResultPlaces
from pytest_webeval.storage import remove
from pytest_webeval.summary.record import Record
from pytest_webeval.tasks.task import Task


class Storage(Enum):
    """Where the result of a run goes."""

    FILE = auto()  # the run's eval_result.json
    REPORT = auto()  # the controller, which merges what Python tests checked
    NONE = auto()  # nowhere; a file of an earlier session stays
    REMOVED = auto()  # nowhere; a file of an earlier session no longer holds


class Classification(Struct, frozen=True):
    """The first step: what a phase of a test means for a run. Nothing is redacted or written."""

    result: TaskResult
    path: Path  # of the result file
    run: Run | None
    task: Task | None
    storage: Storage = Storage.FILE
    is_partial: bool = False  # a Python test checked a part of the task
    sealing: Seal | None = None  # what decided, if all of it comes from the evaluators: another session can reuse it
    is_missing: bool = False  # an expected task without a recording
    skip_reason: str | None = None  # why the run is excluded from all counts
    stored: StoredResult | None = None  # of an earlier session, whose result stands
    started: float = 0.0  # when the session began


class RunOutcome(Struct, frozen=True):
    """A run with a record for all reports, without secrets. Once it is written, it says what became of the result.

    `result` is what is stored; None where it goes nowhere. It has its secrets until it is written elsewhere.
    """

    classification: Classification
    record: Record
    redacting: Redacting
    result: TaskResult | None = None
    text: str | None = None  # of a failure that another session can reuse
    seal: Seal | None = None
    line: str | None = None  # the result, where it goes to a shard
    is_disturbed: bool = False  # the error is not about the run and may not occur again
    error: WebEvalError | None = None  # why the result is not stored
    no_room: dict[str, str] = field(default_factory=dict)  # files for which the disk has none, with the system's reason
    texts: dict[str, str | None] | None = None  # of the task on its page; None without a page

    @property
    def result_path(self) -> Path | None:
        """The result file, if there is one."""
        classification = self.classification
        is_there = self.result is not None or classification.stored is not None or classification.run is None
        return classification.path if is_there else None

    def with_error(self, message: str, error: WebEvalError | None = None) -> Self:
        """The same with an error in place of the verdict, which is not stored."""
        failure = list(astuple(error_group(message)))
        changes: dict[str, Any] = {"reason": message, "failure": failure, "grade": None, **COUNTED, "excluded_as": None}
        record = replace(self.record, status="error", score=0.0, **changes)
        return replace(self, record=record, result=None, line=None, is_disturbed=True, error=error)

    def without_room(self, error: DiskFull) -> Self:
        """The same if the verdict does not fit on the disk.

        The message is short and the same for all runs; the remedy is shown once, at the end of the session.
        """
        message = f"disk full: {self.classification.path.name} was not written ({error.reason})"
        return replace(self.with_error(message, error), no_room=error.no_room)


def redact(classification: Classification, redacting: Redacting) -> RunOutcome:
    """Build the record of a classified run."""
    if classification.stored is not None:
        return RunOutcome(classification, classification.stored.record, redacting)
    run, task = classification.run, classification.task
    redacted = redacting.redact_for_report(classification.result, run)
    task_type = task.task_type.lower() if task and task.task_type else None
    record = Record.of(redacted, task_type, reason(redacted))
    if classification.is_missing:
        record = replace(record, missing=True)
    if classification.skip_reason is not None:
        excluded = redacting.text(classification.skip_reason, run)
        record = replace(record, excluded=excluded, excluded_as=SKIPPED, skipped=True, reason=None, failure=None)
    is_failure = classification.sealing is not None and redacted.status is not Status.SUCCESS
    is_stored = classification.storage in (Storage.FILE, Storage.REPORT)
    result, text = classification.result if is_stored else None, failure_text(redacted) if is_failure else None
    return RunOutcome(classification, record, redacting, result, text)


def write(outcome: RunOutcome, places: ResultPlaces, call_hook: Callable[[Run, TaskResult], str | None]) -> RunOutcome:
    """Store the result and call the hook of users; an error of either takes the place of the verdict."""
    run, result, redacting, written = outcome.classification.run, outcome.result, outcome.redacting, outcome
    try:
        written = store(outcome, places)
        hook_error = None if run is None or result is None else call_hook(run, result)
        return written if hook_error is None else _write_hook_error(outcome, redacting.text(hook_error, run), places)
    except DiskFull as error:
        return written.without_room(error)
    except WebEvalError as error:
        return written.with_error(redacting.text(str(error), run), error)


def store(outcome: RunOutcome, places: ResultPlaces) -> RunOutcome:
    """Write eval_result.json, or remove it. The controller merges and writes parts, and shards.

    Raises `SettingsError`, and `RecordingError` where the run itself is why nothing can be written.
    """
    classification = outcome.classification
    with _write_phase(classification.run):
        if classification.stored is not None:
            seal, line = classification.stored.keep(classification.path, places)
            return replace(outcome, seal=seal, line=line)
        if classification.storage is Storage.FILE:
            return _write_result(outcome, classification.result, places, classification.sealing)
        if classification.storage is Storage.REMOVED and is_result_of(classification.path, outcome.record.run):
            remove(classification.path)
        return outcome


def _write_phase(run: Run | None) -> AbstractContextManager[None]:
    return run.inputs.durations.phase(WRITE) if run else nullcontext()


def _write_result(
    outcome: RunOutcome, result: TaskResult, places: ResultPlaces, sealing: Seal | None = None
) -> RunOutcome:
    path, run = outcome.classification.path, outcome.classification.run
    _check_place(path, run, places)
    checksum, line = store_content(path, outcome.redacting.redact_for_file(result, run).to_json(), places)
    seal = Seal(checksum)
    if sealing is not None and run is not None:
        files = survey_files(run.path, with_content=sealing.is_foreign)
        identity = files.sealed_identity(outcome.classification.started)
        seal = replace(sealing, result=checksum, files=files.listed, identity=identity, text=outcome.text)
    return replace(outcome, result=result, seal=seal, line=line)


def _check_place(path: Path, run: Run | None, places: ResultPlaces) -> None:
    """Raise `RecordingError` if the run is gone: its directory is not created again, nor written to what replaced it.

    The same if it has a directory in place of the result.
    """
    if run is None or path.parent != run.path:
        return
    if change := find_change(run.path):
        problem = f"cannot write {path}: the run was {change} during the session"
        raise RecordingError(f"{problem}; restore it or {places.advice}")
    if is_directory(path):
        raise RecordingError(f"cannot write {path}: it is a directory; remove it or {places.advice}")


def _write_hook_error(outcome: RunOutcome, message: str, places: ResultPlaces) -> RunOutcome:
    """Replace a result that is on the disk already by an error."""
    refused = outcome.with_error(message)
    if outcome.classification.storage is not Storage.FILE:
        return refused
    original = outcome.classification.result
    webeval = original.webeval | COUNTED
    error = original.with_changes(status=Status.ERROR, score=0.0, error_msg=message, webeval=webeval)
    with _write_phase(outcome.classification.run):
        return _write_result(refused, error.with_partial_score(), places)


def is_result_of(path: Path, run: str) -> bool:
    """Whether a file is a result that a session wrote about that run, not another file of that name."""
    try:
        result = TaskResult.read(json.loads(read_file_inside(path.parent, path.name)))
    except (RecordingError, ValueError, RecursionError):
        return False
    return bool(result.webeval.get("run") == run)
