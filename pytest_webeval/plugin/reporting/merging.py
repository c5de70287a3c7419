"""What Python tests checked about a run, put into the result that the run's own item wrote, if it did."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_webeval.errors import DiskFull
from pytest_webeval.errors import RecordingError
from pytest_webeval.plugin.runtest.run_outcome import Classification
from pytest_webeval.plugin.runtest.run_outcome import RedactedRun
from pytest_webeval.plugin.runtest.run_outcome import WrittenRun
from pytest_webeval.plugin.runtest.run_outcome import build_without_room
from pytest_webeval.plugin.runtest.run_outcome import store
from pytest_webeval.plugin.settings import REDACTING
from pytest_webeval.plugin.workspace import Workspace
from pytest_webeval.reports.failure_text import reason
from pytest_webeval.results import Status
from pytest_webeval.results import TaskResult
from pytest_webeval.results import worst_status
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.scoring.merge import merge_results
from pytest_webeval.summary.record import Record


def merge_parts(
    workspace: Workspace, path: Path, record: Record | None, parts: Sequence[dict[str, Any]]
) -> tuple[WrittenRun, bool]:
    """A run with its complete result written, and whether Python tests alone recorded a failure for it.

    A check that was made twice is kept once.
    """
    # workers report in any order
    results = sorted(map(TaskResult.read, parts), key=_sort_key)
    own_result = None
    if record is not None and record.excluded is None:
        own_result = _read_own_result(workspace.result_path(path), record)
    has_failure = any(_adds_failure(part, own_result) for part in results)
    combined = merge_results([own_result, *results] if own_result is not None else results)
    if record is not None and record.excluded is None:
        status = worst_status([combined.status, Status(record.status)])
        combined = combined.with_changes(status=status, score=float(status is Status.SUCCESS))
    redacting = workspace.config.stash[REDACTING]
    result = redacting.redact_merged(combined, lambda: workspace.run(path))
    merged_record = Record.of(result, record.task_type if record else None, reason(result))
    classification = Classification(combined, workspace.result_path(path), None, None)
    redacted = RedactedRun(classification, merged_record, redacting)
    try:
        store(redacted, workspace.settings.sync)
    except DiskFull as error:
        return build_without_room(redacted, error), has_failure
    return WrittenRun(redacted, merged_record, combined), has_failure


def _adds_failure(part: TaskResult, own_result: TaskResult | None) -> bool:
    """Whether a Python test found something wrong that the run's own item did not find."""
    results = own_result.evaluators_results if own_result is not None else []
    if part.evaluators_results:
        return any(result.status is not Status.SUCCESS and result not in results for result in part.evaluators_results)
    has_known_failure = own_result is not None and own_result.status is not Status.SUCCESS
    return part.status is not Status.SUCCESS and not part.webeval.get("skipped") and not has_known_failure


def _sort_key(result: TaskResult) -> str:
    return json.dumps([evaluator_result.to_json() for evaluator_result in result.evaluators_results], sort_keys=True)


def _read_own_result(path: Path, record: Record) -> TaskResult | None:
    """What the run's own item wrote a moment ago; None where it could not, and the file is somebody else's."""
    try:
        result = TaskResult.read(json.loads(read_file_inside(path.parent, path.name)))
    except (RecordingError, ValueError, RecursionError):
        return None
    return result if (result.status, result.webeval.get("run")) == (record.status, record.run) else None
