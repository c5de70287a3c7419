"""Merges the checks of Python tests into the result that the run's own item wrote."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_webeval.errors import DiskFull, RecordingError
from pytest_webeval.plugin.workspace import PytestWorkspace
from pytest_webeval.reports.failure_text import reason
from pytest_webeval.results import Status, TaskResult, worst_status
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.scoring.task_result import merge_results
from pytest_webeval.sessions.runs.record_payload import LABELS
from pytest_webeval.sessions.runs.run_outcome import Classification, RunOutcome, store
from pytest_webeval.summary.record import Record, label_warnings


def merge_parts(
    workspace: PytestWorkspace,
    path: Path,
    record: Record | None,
    parts: Sequence[dict[str, Any]],
    line: bytes | None = None,
) -> tuple[RunOutcome, bool]:
    """A run with its complete result written, and whether Python tests alone recorded a failure for it.

    A repeated check counts once. `line` is the run's own result, if it waits for its shard.
    """
    # workers report in any order
    results = sorted(map(_read_part, parts), key=_sort_key)
    own_result = None
    if record is not None and record.excluded is None:
        own_result = _read_own_result(workspace.result_path(path), record, line)
    has_failure = any(_adds_failure(part, own_result) for part in results)
    combined = merge_results([own_result, *results] if own_result is not None else results)
    if record is not None and record.excluded is None:
        status = worst_status([combined.status, Status(record.status)])
        combined = combined.with_changes(status=status, score=float(status is Status.SUCCESS)).with_partial_score()
    redacting = workspace.redacting
    result = redacting.redact_merged(combined, lambda: workspace.run(path))
    merged_record = Record.of(result, record.task_type if record else None, reason(result))
    classification = Classification(combined, workspace.result_path(path), None, None)
    outcome = RunOutcome(classification, merged_record, redacting, combined)
    try:
        return store(outcome, workspace.result_places), has_failure
    except DiskFull as error:
        return outcome.without_room(error), has_failure


def _read_part(part: dict[str, Any]) -> TaskResult:
    return TaskResult.read(part).with_changes(warning_labels=part[LABELS])


def _adds_failure(part: TaskResult, own_result: TaskResult | None) -> bool:
    """Whether a Python test recorded a failure that the item of the run did not."""
    results = own_result.evaluators_results if own_result is not None else []
    if part.evaluators_results:
        return any(result.status is not Status.SUCCESS and result not in results for result in part.evaluators_results)
    has_known_failure = own_result is not None and own_result.status is not Status.SUCCESS
    return part.status is not Status.SUCCESS and not part.webeval.get("skipped") and not has_known_failure


def _sort_key(result: TaskResult) -> str:
    return json.dumps([evaluator_result.to_json() for evaluator_result in result.evaluators_results], sort_keys=True)


def _read_own_result(path: Path, record: Record, line: bytes | None) -> TaskResult | None:
    """The result that the run's own item just wrote; None if it could not, and the file is of another origin."""
    try:
        result = TaskResult.read(json.loads(line or read_file_inside(path.parent, path.name)))
    except (RecordingError, ValueError, RecursionError):
        return None
    is_own = (result.status, result.webeval.get("run")) == (record.status, record.run)
    return label_warnings(result, record.warnings) if is_own else None
