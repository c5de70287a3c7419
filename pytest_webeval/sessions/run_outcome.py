"""The outcome of a run, in four steps: classify, redact, write, attach. Each step has a type of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from enum import Enum, auto
from pathlib import Path
from typing import Any

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
from pytest_webeval.sessions.result_places import ResultPlaces
from pytest_webeval.sessions.run_files import survey_files
from pytest_webeval.sessions.seal import Seal
from pytest_webeval.sessions.stored_results import StoredContent, StoredResult, store_content
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


class RedactedRun(Struct, frozen=True):
    """The second step: a record for all reports, without secrets. The result has them until it is written elsewhere."""

    classification: Classification
    record: Record
    redacting: Redacting
    text: str | None = None  # of a failure that another session can reuse

    @property
    def result(self) -> TaskResult | None:
        """The result to store; None where it goes nowhere."""
        is_stored = self.classification.storage in (Storage.FILE, Storage.REPORT)
        return self.classification.result if is_stored else None

    def redact_text(self, message: str) -> str:
        """A message about the run without secrets."""
        return self.redacting.text(message, self.classification.run)


class WrittenRun(Struct, frozen=True):
    """The third step: the result is stored, or the record says why not."""

    redacted: RedactedRun
    record: Record
    result: TaskResult | None  # what is stored
    seal: Seal | None = None
    is_disturbed: bool = False
    line: str | None = None  # the result, where it goes to a shard
    no_room: dict[str, str] = field(default_factory=dict)  # files for which the disk has none, with the system's reason
    error: WebEvalError | None = None  # why the result is not stored

    @property
    def result_path(self) -> Path | None:
        """The result file, if there is one."""
        classification = self.redacted.classification
        is_there = self.result is not None or classification.stored is not None or classification.run is None
        return classification.path if is_there else None


class WrittenPage(Struct, frozen=True):
    """The page of a run in a report. No texts: it was not written."""

    texts: dict[str, str | None] | None = None  # of the task, intent and template
    no_room: dict[str, str] = field(default_factory=dict)


NO_PAGE = WrittenPage()


def redact(classification: Classification, redacting: Redacting) -> RedactedRun:
    """Build the record of a classified run."""
    if classification.stored is not None:
        return RedactedRun(classification, classification.stored.record, redacting)
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
    return RedactedRun(classification, record, redacting, failure_text(redacted) if is_failure else None)


def write(
    redacted: RedactedRun, places: ResultPlaces, call_hook: Callable[[Run, TaskResult], str | None]
) -> WrittenRun:
    """Store the result and call the hook of users; an error of either takes the place of the verdict."""
    stored, run, result = StoredContent(), redacted.classification.run, redacted.result
    try:
        stored = store(redacted, places)
        hook_error = None if run is None or result is None else call_hook(run, result)
        if hook_error is not None:
            return _write_hook_error(redacted, redacted.redact_text(hook_error), places)
    except DiskFull as error:
        return replace(build_without_room(redacted, error, stored.seal), error=error)
    except WebEvalError as error:
        record = _build_error_record(redacted, redacted.redact_text(str(error)))
        return WrittenRun(redacted, record, None, stored.seal, is_disturbed=True, error=error)
    return WrittenRun(redacted, redacted.record, result, stored.seal, line=stored.line)


def store(redacted: RedactedRun, places: ResultPlaces) -> StoredContent:
    """Write eval_result.json, or remove it. The controller merges and writes parts, and shards.

    Raises `SettingsError`.
    """
    classification = redacted.classification
    with _write_phase(classification.run):
        if classification.stored is not None:
            return classification.stored.keep(classification.path, places)
        if classification.storage is Storage.FILE:
            return _write_result(redacted, classification.result, places, classification.sealing)
        if classification.storage is Storage.REMOVED and is_result_of(classification.path, redacted.record.run):
            remove(classification.path)
        return StoredContent()


def _write_phase(run: Run | None) -> AbstractContextManager[None]:
    return run.inputs.durations.phase(WRITE) if run else nullcontext()


def _write_result(
    redacted: RedactedRun, result: TaskResult, places: ResultPlaces, sealing: Seal | None = None
) -> StoredContent:
    path, run = redacted.classification.path, redacted.classification.run
    _check_place(path, run, places)
    checksum, line = store_content(path, redacted.redacting.redact_for_file(result, run).to_json(), places)
    if sealing is None or run is None:
        return StoredContent(Seal(checksum), line)
    files = survey_files(run.path, with_content=sealing.is_foreign)
    identity = files.sealed_identity(redacted.classification.started)
    seal = replace(sealing, result=checksum, files=files.listed, identity=identity, text=redacted.text)
    return StoredContent(seal, line)


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


def _write_hook_error(redacted: RedactedRun, message: str, places: ResultPlaces) -> WrittenRun:
    """Replace a result that is on the disk already by an error."""
    record, result, stored = _build_error_record(redacted, message), None, StoredContent()
    if redacted.classification.storage is Storage.FILE:
        original = redacted.classification.result
        webeval = original.webeval | COUNTED
        error = original.with_changes(status=Status.ERROR, score=0.0, error_msg=message, webeval=webeval)
        result = error.with_partial_score()
        with _write_phase(redacted.classification.run):
            stored = _write_result(redacted, result, places)
    return WrittenRun(redacted, record, result, stored.seal, is_disturbed=True, line=stored.line)


def build_without_room(redacted: RedactedRun, error: DiskFull, seal: Seal | None = None) -> WrittenRun:
    """An error in place of a verdict that does not fit on the disk.

    The message is short and the same for all runs; the remedy is shown once, at the end of the session.
    """
    message = f"disk full: {redacted.classification.path.name} was not written ({error.reason})"
    record = _build_error_record(redacted, message)
    return WrittenRun(redacted, record, None, seal, is_disturbed=True, no_room=error.no_room)


def _build_error_record(redacted: RedactedRun, message: str) -> Record:
    """The record with an error in place of an unreadable verdict."""
    failure = list(astuple(error_group(message)))
    changes: dict[str, Any] = {"reason": message, "failure": failure, "grade": None, **COUNTED, "excluded_as": None}
    return replace(redacted.record, status="error", score=0.0, **changes)


def is_result_of(path: Path, run: str) -> bool:
    """Whether a file is a result that a session wrote about that run, not another file of that name."""
    try:
        result = TaskResult.read(json.loads(read_file_inside(path.parent, path.name)))
    except (RecordingError, ValueError, RecursionError):
        return False
    return bool(result.webeval.get("run") == run)
