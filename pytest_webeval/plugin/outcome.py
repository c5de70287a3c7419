"""What one item means for its run: a result to write, and a record for the summary."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_webeval.durations import WRITE
from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import RunExcluded
from pytest_webeval.errors import WebEvalError
from pytest_webeval.files import read_inside
from pytest_webeval.journal import Seal
from pytest_webeval.journal import files_in
from pytest_webeval.plugin.carried import Carried
from pytest_webeval.plugin.collection import RunItem
from pytest_webeval.plugin.collection import run_path
from pytest_webeval.plugin.missing import MISSING_TASKS
from pytest_webeval.plugin.recording import RECORDER
from pytest_webeval.plugin.recording import RecordEvaluation
from pytest_webeval.plugin.redacting import REDACTING
from pytest_webeval.plugin.redacting import Redacting
from pytest_webeval.plugin.workspace import Workspace
from pytest_webeval.reports.failure_text import harmless
from pytest_webeval.reports.failure_text import reason
from pytest_webeval.results import Status
from pytest_webeval.results import TaskResult
from pytest_webeval.runs import Run
from pytest_webeval.runs import unknown_run
from pytest_webeval.scoring import rule_warning
from pytest_webeval.summary import Record
from pytest_webeval.task_results import excluded
from pytest_webeval.task_results import failed_to_load
from pytest_webeval.tasks import Task
from pytest_webeval.trajectory_rows import about_trajectory
from pytest_webeval.writing import Sync
from pytest_webeval.writing import remove
from pytest_webeval.writing import travelling
from pytest_webeval.writing import write_json


@dataclass(frozen=True)
class Outcome:
    """A record, and the result behind it. `partly` marks what a Python test checked: only a part of a result.

    The record has no secrets in it, for it is told to everybody. The result has, until it is written elsewhere.
    """

    record: Record
    path: Path
    result: TaskResult | None
    run: Run | None
    redacting: Redacting
    partly: bool = False
    is_obsolete: bool = False  # what an earlier session wrote about the run is no longer so
    is_verdict: bool = False  # all of it comes from the evaluators, so that another session would find the same
    seal: Seal | None = None
    is_resumed: bool = False
    is_disturbed: bool = False

    def written(self, sync: Sync | None) -> Outcome:
        """The same once eval_result.json is written. Parts are put together and written by the controller.

        Raises `SettingsError`.
        """
        with self.run.inputs.durations.phase(WRITE) if self.run else nullcontext():
            return self._written(sync)

    def _written(self, sync: Sync | None) -> Outcome:
        seal = None
        if self.result is not None and not self.partly:
            checksum = write_json(self.path, self.redacting.written(self.result, self.run).to_json(), sync)
            seal = Seal(checksum, files_in(self.run.path) if self.run and self.is_verdict else "")
        if self.is_obsolete and written_for(self.path, self.record.run):
            remove(self.path)
        return replace(self, seal=seal)

    def unwritten(self, message: str) -> Outcome:
        """The same with an error in place of a verdict that nobody can read."""
        excluded = message if self.record.trajectory else self.record.excluded
        record = replace(self.record, status="error", score=0.0, reason=message, excluded=excluded, skipped=False)
        return replace(self, record=record, result=None, is_disturbed=True)

    def spoiled(self, message: str) -> Outcome:
        """The same with an error in place of a verdict that is on the disk already, and is to be replaced there."""
        found = self.unwritten(message)
        if self.result is None or self.partly:
            return found
        webeval = self.result.webeval | {"excluded": found.record.excluded, "skipped": False}
        result = self.result.with_changes(status=Status.ERROR, score=0.0, error_msg=message, webeval=webeval)
        return replace(found, result=result, is_verdict=False)

    def warned(self, warnings: list[str]) -> Outcome:
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
        shown: dict[str, object] = {
            "webeval_task_id": record.task_id,
            "webeval_status": "excluded" if record.skipped else record.status,
            "webeval_score": record.score,
            "webeval_sites": record.site_key,
            "webeval_type": record.task_type or "",
            "webeval_template": record.template,
        }
        shown |= {f"webeval_{name}": value for name, value in about_trajectory(record).items()}
        return [(name, travelling(value)) for name, value in shown.items()]

    @property
    def carried(self) -> Carried:
        """What travels on the report."""
        part = self.redacting.written(self.result, self.run) if self.partly and self.result is not None else None
        told = None if part is None else json.dumps(part.to_json())
        return Carried(self.record, told, self.seal, self.is_resumed, self.is_disturbed)


def written_for(path: Path, run: str) -> bool:
    """Whether a file is a result that a session wrote about that run, and not somebody else's file of that name."""
    try:
        found = TaskResult.read(json.loads(read_inside(path.parent, path.name)))
    except (RecordingError, ValueError, RecursionError):
        return False
    return bool(found.webeval.get("run") == run)


def outcome_of(item: pytest.Item, call: pytest.CallInfo[None], workspace: Workspace) -> Outcome | None:
    """What a finished phase of an item says about its run; None where it says nothing new."""
    if call.when == "setup" and call.excinfo is None:
        return None
    recorder = item.stash.get(RECORDER, None)
    is_left_out = recorder is not None and recorder.excluded is not None
    if isinstance(item, RunItem) and call.when != "teardown" and _is_skip(call) and not is_left_out:
        return _unscored(item, item.path, call, workspace)
    if call.when == "call" and recorder is not None:
        return _checked(item, call, recorder, workspace)
    path = run_path(item) if recorder is None or isinstance(item, RunItem) else None
    if path is not None and call.when in ("setup", "call") and call.excinfo is not None and not _is_skip(call):
        return _unscored(item, path, call, workspace)
    return None


def _checked(
    item: pytest.Item, call: pytest.CallInfo[None], recorder: RecordEvaluation, workspace: Workspace
) -> Outcome | None:
    """What was found out about a run while its item or a Python test ran."""
    run, task, is_item = recorder.case.run, recorder.case.task, isinstance(item, RunItem)
    try:
        result = recorder.result if recorder.excluded is None else None
    except RunExcluded as error:
        recorder.excluded, result = error, None
    except WebEvalError as error:
        result = error_result(run, task, harmless(str(error)), workspace)
    if recorder.excluded is not None:
        return _excluded(run, task, str(recorder.excluded), workspace) if is_item else None
    if is_item and result is None:
        result = _not_scored(run, task, call, workspace)
    if is_item and (stored := recorder.taken) is not None:
        redacting = workspace.config.stash[REDACTING]
        return Outcome(stored.record, workspace.result_path(run.path), None, run, redacting, is_resumed=True)
    found = None if result is None else _outcome(result, run, task, workspace, partly=not is_item)
    return found and replace(found, is_verdict=is_item and result is recorder.scored)


def _excluded(run: Run, task: Task, told: str, workspace: Workspace) -> Outcome:
    """The outcome of a run that says nothing about the agent. That nobody judged it yet is not worth a file."""
    result = excluded(error_result(run, task, harmless(told), workspace), run, harmless(told))
    found = _outcome(result, run, task, workspace)
    return found if run.exclusion else replace(found, result=None, is_obsolete=True)


def _is_skip(call: pytest.CallInfo[None]) -> bool:
    return call.excinfo is not None and call.excinfo.errisinstance(pytest.skip.Exception)


def _unscored(item: pytest.Item, path: Path, call: pytest.CallInfo[None], workspace: Workspace) -> Outcome:
    found = without_verdict(path, _message(call), workspace, partly=not isinstance(item, RunItem))
    if _is_skip(call):
        told = found.redacting.text(_message(call), found.run)
        record = replace(found.record, excluded=told, skipped=True, reason=None)
        return replace(found, record=record, result=None)
    return found.warned(_rule_warnings(call))


def _rule_warnings(call: pytest.CallInfo[None]) -> list[str]:
    """The warning for a recording that only our rules refuse."""
    switch = getattr(call.excinfo.value, "rule", None) if call.excinfo is not None else None
    return [rule_warning(switch, Status.ERROR, "the recording")] if isinstance(switch, str) else []


def without_verdict(path: Path, message: str, workspace: Workspace, *, partly: bool = False) -> Outcome:
    """The outcome of a run that was not scored; without a result where there is no place to write one."""
    missing = workspace.config.stash[MISSING_TASKS]
    told = missing.reason(path) if path in missing.by_path else message
    run, task = _known(path, workspace)
    found = _outcome(error_result(run, task, told, workspace), run, task, workspace, partly=partly)
    if path in missing.by_path:
        return replace(found, record=replace(found.record, missing=True), result=None)
    return replace(found, result=None) if _leads_elsewhere(path, workspace) else found


def given_up(item: pytest.Item, message: str, workspace: Workspace) -> Outcome | None:
    """The outcome of a run of which nothing can be told in time; None for an item that is about none."""
    path = run_path(item)
    if path is None:
        return None
    run = unknown_run(path, workspace.labels.of(path), workspace.settings.rules)
    return _outcome(
        error_result(run, None, message, workspace), run, None, workspace, partly=not isinstance(item, RunItem)
    )


def _leads_elsewhere(path: Path, workspace: Workspace) -> bool:
    """Whether a result written into a directory would end up outside the run root, behind a link."""
    return path.is_symlink() and path not in workspace.settings.roots and workspace.settings.output is None


def _known(path: Path, workspace: Workspace) -> tuple[Run, Task | None]:
    """As much of a run and its task as can be found out about a directory that could not be scored."""
    run = _loaded(path, workspace)
    return run, workspace.known_task(run)


def _loaded(path: Path, workspace: Workspace) -> Run:
    unknown = unknown_run(path, workspace.labels.of(path), workspace.settings.rules)
    missing = workspace.config.stash[MISSING_TASKS].by_path
    if path in missing or _leads_elsewhere(path, workspace):
        return replace(unknown, task_id=missing.get(path, unknown.task_id))
    try:
        return workspace.run(path)
    except WebEvalError:
        return unknown


def _not_scored(run: Run, task: Task | None, call: pytest.CallInfo[None], workspace: Workspace) -> TaskResult:
    return error_result(run, task, _message(call), workspace)


def error_result(run: Run, task: Task | None, message: str, workspace: Workspace) -> TaskResult:
    """The result of a run without a verdict, with the checksum of the definitions where they could be read."""
    return failed_to_load(run, task, message, *workspace.source_of(run))


def _outcome(result: TaskResult, run: Run, task: Task | None, workspace: Workspace, *, partly: bool = False) -> Outcome:
    kind = task.task_type.lower() if task and task.task_type else None
    redacting = workspace.config.stash[REDACTING]
    told = redacting.told(result, run)
    record = Record.of(told, kind, reason(told))
    return Outcome(record, workspace.result_path(run.path), result, run, redacting, partly)


def _message(call: pytest.CallInfo[None]) -> str:
    value = call.excinfo.value if call.excinfo is not None else None
    told = " ".join(str(value).split())
    named = told if isinstance(value, WebEvalError | pytest.skip.Exception) else f"{type(value).__name__}: {told}"
    return harmless(named)
