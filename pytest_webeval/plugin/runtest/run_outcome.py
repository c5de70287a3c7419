"""What became of a run: a result to write, and a record for the summary."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from dataclasses import astuple
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_webeval.diagnostics.failure_groups import error_group
from pytest_webeval.errors import DiskFull
from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import SettingsError
from pytest_webeval.plugin.runtest.journal import Seal
from pytest_webeval.plugin.runtest.journal import files_in
from pytest_webeval.recordings.inputs import WRITE
from pytest_webeval.recordings.run import Run
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.results import Status
from pytest_webeval.results import TaskResult
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.text import escape_surrogates
from pytest_webeval.storage import Sync
from pytest_webeval.storage import remove
from pytest_webeval.storage import write_json
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.trajectory_rows import trajectory_labels
from pytest_webeval.tasks.task import Task

PAYLOAD_ATTRIBUTE = "webeval_record"
RUN_LABEL_ATTRIBUTE = "webeval_about"  # the label of the run that a Python test is about


@dataclass(frozen=True, slots=True)
class RecordPayload:
    """A record, and the result of a Python test, of which the complete result is put together.

    On the report it is text: any process can send that, and a session keeps all of its reports to the end.
    """

    record: Record
    part: dict[str, Any] | None
    seal: Seal | None = None
    is_resumed: bool = False  # the result is that of an earlier session
    is_disturbed: bool = False  # what happened to the result is no fault of the run, and may not happen again
    texts: dict[str, str | None] | None = None  # of the task, intent and template, where a report shows them
    no_room: dict[str, str] | None = None  # files for which the disk has none, with what the system says

    @classmethod
    def by(cls, report: pytest.TestReport) -> RecordPayload | None:
        """What a report carries, if anything."""
        text: str | None = getattr(report, PAYLOAD_ATTRIBUTE, None)
        if text is None:
            return None
        record, part, seal, *flags = json.loads(text)
        return cls(Record(**record), part, seal and Seal(**seal), *flags)

    def attach_to(self, report: pytest.TestReport) -> None:
        """Let a report carry it."""
        seal = self.seal and {"result": self.seal.result, "files": self.seal.files}
        fields = [self.record.to_json(), self.part, seal, self.is_resumed, self.is_disturbed, self.texts, self.no_room]
        text = json.dumps(fields)
        setattr(report, PAYLOAD_ATTRIBUTE, json.dumps(_escape_fields(fields)) if "\\ud" in text else text)


def _escape_fields(fields: list[Any]) -> list[Any]:
    """The fields without halves of surrogate pairs, but for those that files have unchanged: trajectory and part."""
    record, part, *others = fields
    texts = {name: value for name, value in record.items() if name != "trajectory"}
    return [escape_surrogates(texts) | {"trajectory": record["trajectory"]}, part, *escape_surrogates(others)]


LONGEST_PROPERTY = 1_000  # characters


@dataclass(frozen=True)
class RunOutcome:
    """A record, and the result behind it. `is_partial` marks what a Python test checked: only a part of a result.

    The record has no secrets in it, because every report shows it. The result has, until it is written elsewhere.
    """

    record: Record
    path: Path
    result: TaskResult | None
    run: Run | None
    redacting: Redacting
    is_partial: bool = False
    is_obsolete: bool = False  # what an earlier session wrote about the run is no longer so
    is_verdict: bool = False  # all of it comes from the evaluators, so that another session would find the same
    seal: Seal | None = None
    is_resumed: bool = False
    is_disturbed: bool = False
    source_result: TaskResult | None = None  # what the record was made of, whether or not it is written
    task: Task | None = None
    texts: dict[str, str | None] | None = None  # what a report says of the task: intent and template
    no_room: dict[str, str] | None = None  # files for which the disk has none, with what the system says

    def write(self, sync: Sync | None) -> RunOutcome:
        """The same once eval_result.json is written. Parts are put together and written by the controller.

        Raises `SettingsError`.
        """
        with self.run.inputs.durations.phase(WRITE) if self.run else nullcontext():
            return self._write(sync)

    def _write(self, sync: Sync | None) -> RunOutcome:
        seal = None
        if self.result is not None and not self.is_partial:
            self._check_place()
            checksum = write_json(self.path, self.redacting.redact_for_file(self.result, self.run).to_json(), sync)
            seal = Seal(checksum, files_in(self.run.path) if self.run and self.is_verdict else "")
        if self.is_obsolete and is_result_of(self.path, self.record.run):
            remove(self.path)
        return replace(self, seal=seal)

    def _check_place(self) -> None:
        """Raise `SettingsError` where a run is gone, so that nobody makes its directory again."""
        run = self.run
        if run is not None and self.path.parent == run.path and not os.path.isdir(run.path):  # noqa: PTH112  (speed)
            problem = f"cannot write {self.path}: the run was removed while the session ran"
            raise SettingsError(f"{problem}; restore it, or choose a place with --webeval-output")

    def with_write_error(self, message: str) -> RunOutcome:
        """The same with an error in place of a verdict that nobody can read."""
        excluded = message if self.record.trajectory else self.record.excluded
        failure = list(astuple(error_group(message)))
        changes: dict[str, Any] = {"reason": message, "failure": failure, "excluded": excluded, "skipped": False}
        record = replace(self.record, status="error", score=0.0, **changes)
        return replace(self, record=record, result=None, is_disturbed=True)

    def without_room(self, error: DiskFull) -> RunOutcome:
        """The same with an error in place of a verdict for which there is no room on the disk.

        It is the same short one for all runs, since what to do is said once, at the end of the session.
        """
        outcome = self.with_write_error(f"disk full: {self.path.name} was not written ({error.reason})")
        return outcome.with_unwritten_file(error)

    def with_unwritten_file(self, error: DiskFull) -> RunOutcome:
        """The same without one more file, for which there is no room on the disk."""
        return replace(self, no_room=(self.no_room or {}) | error.no_room)

    def with_hook_error(self, message: str) -> RunOutcome:
        """The same with an error in place of a verdict that is on the disk already, and is to be replaced there."""
        outcome = self.with_write_error(message)
        if self.result is None or self.is_partial:
            return outcome
        webeval = self.result.webeval | {"excluded": outcome.record.excluded, "skipped": False}
        result = self.result.with_changes(status=Status.ERROR, score=0.0, error_msg=message, webeval=webeval)
        return replace(outcome, result=result, is_verdict=False)

    def with_warnings(self, warnings: list[str]) -> RunOutcome:
        """The same with more warnings."""
        record = replace(self.record, warnings=[*self.record.warnings, *warnings])
        if self.result is None:
            return replace(self, record=record)
        webeval = self.result.webeval | {"warnings": [*self.result.webeval["warnings"], *warnings]}
        return replace(self, record=record, result=self.result.with_changes(webeval=webeval))

    @property
    def properties(self) -> list[tuple[str, object]]:
        """Properties for JUnit XML."""
        record = self.record
        by_name: dict[str, object] = {
            "webeval_task_id": record.task_id,
            "webeval_status": "excluded" if record.skipped else record.status,
            "webeval_score": record.score,
            "webeval_sites": record.site_key,
            "webeval_type": record.task_type or "",
            "webeval_template": record.template,
        }
        if record.status != "success":
            by_name |= {"webeval_evaluator": ", ".join(record.evaluators), "webeval_reason": _cut(record)}
        by_name |= {f"webeval_{name}": value for name, value in trajectory_labels(record).items()}
        return [(name, escape_surrogates(value)) for name, value in by_name.items()]

    @property
    def payload(self) -> RecordPayload:
        """What travels on the report."""
        part = (
            self.redacting.redact_for_file(self.result, self.run)
            if self.is_partial and self.result is not None
            else None
        )
        flags = self.is_resumed, self.is_disturbed, self.texts, self.no_room
        return RecordPayload(self.record, None if part is None else part.to_json(), self.seal, *flags)


def _cut(record: Record) -> str:
    """Why a run did not succeed, as long as a property may be."""
    text = (record.excluded if record.skipped else record.reason) or ""
    return text if len(text) <= LONGEST_PROPERTY else f"{text[: LONGEST_PROPERTY - 1]}…"


def is_result_of(path: Path, run: str) -> bool:
    """Whether a file is a result that a session wrote about that run, and not somebody else's file of that name."""
    try:
        result = TaskResult.read(json.loads(read_file_inside(path.parent, path.name)))
    except (RecordingError, ValueError, RecursionError):
        return False
    return bool(result.webeval.get("run") == run)
