"""The outcome of a run, in four steps: classify, redact, write, attach. Each step has a type of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from collections.abc import Sequence
from contextlib import AbstractContextManager
from contextlib import nullcontext
from enum import Enum
from enum import auto
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import Any

import pytest
from msgspec import Struct
from msgspec import field
from msgspec.structs import asdict
from msgspec.structs import astuple
from msgspec.structs import replace

from pytest_webeval.diagnostics.failure_groups import error_group
from pytest_webeval.errors import DiskFull
from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import SettingsError
from pytest_webeval.errors import WebEvalError
from pytest_webeval.plugin.runtest.journal import Seal
from pytest_webeval.plugin.runtest.run_files import survey_files
from pytest_webeval.plugin.runtest.stored_results import StoredResult
from pytest_webeval.recordings.inputs import WRITE
from pytest_webeval.recordings.run import Run
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.reports.failure_text import failure_text
from pytest_webeval.reports.failure_text import reason
from pytest_webeval.results import Status
from pytest_webeval.results import TaskResult
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.text import escape_surrogates
from pytest_webeval.safety.text import truncate
from pytest_webeval.scoring.task_result import name_run_by_label
from pytest_webeval.storage import Sync
from pytest_webeval.storage import remove
from pytest_webeval.storage import write_json
from pytest_webeval.summary.record import Record
from pytest_webeval.tasks.task import Task

PAYLOAD_ATTRIBUTE = "webeval_record"
LABELS = "warning_labels"  # of a part of a result, whose JSON has the texts of warnings alone
RUN_LABEL_ATTRIBUTE = "webeval_about"  # the label of the run that a Python test is about


# A session keeps all records to its end. These fields are the same in most of them, and these lists empty.
SAME_IN_ALL = ("status", "rules", "version", "evaluator_checksum", "data_checksum")
OFTEN_SAME = ("task_type", "reported", "claim", "today")
OFTEN_EMPTY = ("warnings", "evaluators", "capture", "tags", "proposals")


class RecordPayload(Struct, frozen=True):
    """A record, and the result of a Python test, of which the complete result is put together.

    On the report it is text: any process can send that, and a session keeps all of its reports to the end.
    """

    record: Record
    part: dict[str, Any] | None
    seal: Seal | None = None
    is_resumed: bool = False  # the result is that of an earlier session
    is_disturbed: bool = False  # the error is not about the run and may not occur again
    texts: dict[str, str | None] | None = None  # of the task, intent and template, where a report shows them
    no_room: dict[str, str] | None = None  # files for which the disk has none, with what the system says

    @classmethod
    def by(cls, report: pytest.TestReport) -> RecordPayload | None:
        """The payload of a report, or None."""
        text: str | None = getattr(report, PAYLOAD_ATTRIBUTE, None)
        if text is None:
            return None
        record, part, seal, *flags = json.loads(text)
        record |= {name: intern(record[name]) for name in SAME_IN_ALL}
        record |= {name: intern(value) for name in OFTEN_SAME if (value := record[name]) is not None}
        record |= {name: record[name] or () for name in OFTEN_EMPTY} | {"sites": _share_sites(tuple(record["sites"]))}
        record["score"] = _SCORES.get(record["score"], record["score"])
        return cls(Record(**record), part, seal and Seal(**seal), *flags)

    def attach_to(self, report: pytest.TestReport) -> None:
        """Attach the payload to a report."""
        seal = self.seal and asdict(self.seal)
        fields = [self.record.to_json(), self.part, seal, self.is_resumed, self.is_disturbed, self.texts, self.no_room]
        text = json.dumps(fields)
        setattr(report, PAYLOAD_ATTRIBUTE, json.dumps(_escape_fields(fields)) if "\\ud" in text else text)


_SCORES = {0.0: 0.0, 1.0: 1.0}


@lru_cache(maxsize=1024)  # most runs are of few sites
def _share_sites(sites: tuple[str, ...]) -> list[str]:
    return list(sites)


def _escape_fields(fields: list[Any]) -> list[Any]:
    """The fields without halves of surrogate pairs, but for those that files have unchanged: trajectory and part."""
    record, part, *others = fields
    texts = {name: value for name, value in record.items() if name != "trajectory"}
    return [escape_surrogates(texts) | {"trajectory": record["trajectory"]}, part, *escape_surrogates(others)]


class DropPayloads(Struct, eq=False):
    """Plugin that removes what a report carries about a run when all have seen it: pytest keeps reports to the end.

    Plugins such as pytest-html look at it when the last phase of the test has its report.
    """

    _carrying: dict[str, list[pytest.TestReport]] = field(default_factory=dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember a report with a payload."""
        if hasattr(report, PAYLOAD_ATTRIBUTE):
            self._carrying.setdefault(report.nodeid, []).append(report)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Remove the payloads of a test after its last phase."""
        for report in self._carrying.pop(nodeid, ()):
            delattr(report, PAYLOAD_ATTRIBUTE)


LONGEST_PROPERTY = 1_000  # characters


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
    no_room: dict[str, str] = field(default_factory=dict)  # files for which the disk has none, with the system's reason

    @property
    def result_path(self) -> Path | None:
        """The result file, if there is one."""
        classification = self.redacted.classification
        is_there = self.result is not None or classification.stored is not None or classification.run is None
        return classification.path if is_there else None


WRITTEN = pytest.StashKey[WrittenRun]()  # of an item, until it is torn down


class WrittenPage(Struct, frozen=True):
    """The page of a run in a report. No texts: it was not written."""

    texts: dict[str, str | None] | None = None  # of the task, intent and template
    no_room: dict[str, str] = field(default_factory=dict)


NO_PAGE = WrittenPage()


class RunOutcome(Struct, frozen=True):
    """The last step: what a report carries about a run. `result` is what the record was made of."""

    payload: RecordPayload
    result: TaskResult | None

    @property
    def record(self) -> Record:
        """The record that the report carries."""
        return self.payload.record


def redact(classification: Classification, redacting: Redacting) -> RedactedRun:
    """Build the record of a classified run."""
    if classification.stored is not None:
        return RedactedRun(classification, classification.stored.record, redacting)
    run, task = classification.run, classification.task
    if run is not None:
        classification = replace(classification, result=name_run_by_label(classification.result, run))
    redacted = redacting.redact_for_report(classification.result, run)
    task_type = task.task_type.lower() if task and task.task_type else None
    record = Record.of(redacted, task_type, reason(redacted))
    if classification.is_missing:
        record = replace(record, missing=True)
    if classification.skip_reason is not None:
        excluded = redacting.text(classification.skip_reason, run)
        record = replace(record, excluded=excluded, skipped=True, reason=None, failure=None)
    is_failure = classification.sealing is not None and redacted.status is not Status.SUCCESS
    return RedactedRun(classification, record, redacting, failure_text(redacted) if is_failure else None)


def write(redacted: RedactedRun, sync: Sync | None, call_hook: Callable[[Run, TaskResult], str | None]) -> WrittenRun:
    """Store the result and call the hook of users; an error of either takes the place of the verdict."""
    seal, run, result = None, redacted.classification.run, redacted.result
    try:
        seal = store(redacted, sync)
        hook_error = None if run is None or result is None else call_hook(run, result)
        if hook_error is not None:
            return _write_hook_error(redacted, redacted.redact_text(hook_error), sync)
    except DiskFull as error:
        return build_without_room(redacted, error, seal)
    except WebEvalError as error:
        record = _build_error_record(redacted.record, redacted.redact_text(str(error)))
        return WrittenRun(redacted, record, None, seal, is_disturbed=True)
    return WrittenRun(redacted, redacted.record, result, seal)


def store(redacted: RedactedRun, sync: Sync | None) -> Seal | None:
    """Write eval_result.json, or remove it. The controller merges and writes parts. Raises `SettingsError`."""
    classification = redacted.classification
    with _write_phase(classification.run):
        if classification.stored is not None:
            return classification.stored.keep(classification.path, sync)
        if classification.storage is Storage.FILE:
            return _write_file(redacted, classification.result, sync, classification.sealing)
        if classification.storage is Storage.REMOVED and is_result_of(classification.path, redacted.record.run):
            remove(classification.path)
        return None


def _write_phase(run: Run | None) -> AbstractContextManager[None]:
    return run.inputs.durations.phase(WRITE) if run else nullcontext()


def _write_file(redacted: RedactedRun, result: TaskResult, sync: Sync | None, sealing: Seal | None = None) -> Seal:
    path, run = redacted.classification.path, redacted.classification.run
    _check_place(path, run)
    checksum = write_json(path, redacted.redacting.redact_for_file(result, run).to_json(), sync)
    if sealing is None or run is None:
        return Seal(checksum)
    files = survey_files(run.path, with_content=sealing.is_foreign)
    identity = files.sealed_identity(redacted.classification.started)
    return replace(sealing, result=checksum, files=files.listed, identity=identity, text=redacted.text)


def _check_place(path: Path, run: Run | None) -> None:
    """Raise `SettingsError` if the run is gone, so that its directory is not created again."""
    if run is not None and path.parent == run.path and not os.path.isdir(run.path):  # noqa: PTH112  (speed)
        problem = f"cannot write {path}: the run was removed during the session"
        raise SettingsError(f"{problem}; restore it or choose a directory with --webeval-output")


def _write_hook_error(redacted: RedactedRun, message: str, sync: Sync | None) -> WrittenRun:
    """Replace a result that is on the disk already by an error."""
    record, result, seal = _build_error_record(redacted.record, message), None, None
    if redacted.classification.storage is Storage.FILE:
        original = redacted.classification.result
        webeval = original.webeval | {"excluded": record.excluded, "skipped": False}
        error = original.with_changes(status=Status.ERROR, score=0.0, error_msg=message, webeval=webeval)
        result = error.with_partial_score()
        with _write_phase(redacted.classification.run):
            seal = _write_file(redacted, result, sync)
    return WrittenRun(redacted, record, result, seal, is_disturbed=True)


def build_without_room(redacted: RedactedRun, error: DiskFull, seal: Seal | None = None) -> WrittenRun:
    """An error in place of a verdict that does not fit on the disk.

    The message is short and the same for all runs; the remedy is shown once, at the end of the session.
    """
    message = f"disk full: {redacted.classification.path.name} was not written ({error.reason})"
    record = _build_error_record(redacted.record, message)
    return WrittenRun(redacted, record, None, seal, is_disturbed=True, no_room=error.no_room)


def _build_error_record(record: Record, message: str) -> Record:
    """The record with an error in place of an unreadable verdict."""
    excluded = message if record.trajectory else record.excluded
    failure = list(astuple(error_group(message)))
    changes: dict[str, Any] = {"reason": message, "failure": failure, "excluded": excluded, "skipped": False}
    return replace(record, status="error", score=0.0, grade=None, **changes)


def build_outcome(written: WrittenRun, page: WrittenPage = NO_PAGE) -> RunOutcome:
    """What the report of a test carries about a run."""
    redacted, part = written.redacted, None
    classification = redacted.classification
    if classification.storage is Storage.REPORT and written.result is not None:
        result = redacted.redacting.redact_for_file(written.result, classification.run)
        part = result.to_json() | {LABELS: result.warning_labels}
    flags = classification.stored is not None, written.is_disturbed
    no_room = written.no_room | page.no_room
    payload = RecordPayload(written.record, part, written.seal, *flags, page.texts, no_room or None)
    return RunOutcome(payload, classification.result)


def build_unchanged_outcome(stored: StoredResult, tags: Sequence[str]) -> RunOutcome:
    """What the report of a test carries about a run whose result of an earlier session stands."""
    record = replace(stored.record, tags=tags) if tags else stored.record
    return RunOutcome(
        RecordPayload(record, None, stored.seal if stored.is_sealed_anew else None, is_resumed=True), None
    )


def junit_properties(record: Record) -> list[tuple[str, object]]:
    """Properties of a run for JUnit XML."""
    by_name: dict[str, object] = {
        "webeval_task_id": record.task_id,
        "webeval_status": "excluded" if record.skipped else record.status,
        "webeval_score": record.score,
        "webeval_sites": record.site_key,
        "webeval_type": record.task_type or "",
        "webeval_template": record.template,
    }
    if record.grade is not None and record.grade["partial"]:
        by_name["webeval_partial_score"] = record.grade["score"]
    if record.status != "success":
        by_name |= {"webeval_evaluator": ", ".join(record.evaluators), "webeval_reason": _cut(record)}
    if record.trajectory is not None:
        from pytest_webeval.summary.trajectory_rows import trajectory_labels  # which other runs do without

        by_name |= {f"webeval_{name}": value for name, value in trajectory_labels(record).items()}
    return [_build_property(name, value) for name, value in by_name.items()]


@lru_cache(maxsize=1024, typed=True)  # most are the same for many runs, and a session keeps those of all
def _build_property(name: str, value: object) -> tuple[str, object]:
    return name, escape_surrogates(value)


def _cut(record: Record) -> str:
    """Why a run did not succeed, as long as a property may be."""
    return truncate((record.excluded if record.skipped else record.reason) or "", LONGEST_PROPERTY)


def is_result_of(path: Path, run: str) -> bool:
    """Whether a file is a result that a session wrote about that run, not another file of that name."""
    try:
        result = TaskResult.read(json.loads(read_file_inside(path.parent, path.name)))
    except (RecordingError, ValueError, RecursionError):
        return False
    return bool(result.webeval.get("run") == run)
