"""What Python tests checked about a run, put into the result that the run's own item wrote, if it did."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pytest_webeval.errors import DiskFull
from pytest_webeval.errors import RecordingError
from pytest_webeval.plugin.runtest.run_outcome import RunOutcome
from pytest_webeval.plugin.settings import REDACTING
from pytest_webeval.plugin.workspace import Workspace
from pytest_webeval.reports.failure_text import reason
from pytest_webeval.results import Status
from pytest_webeval.results import TaskResult
from pytest_webeval.results import worst_status
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.scoring.merge import joined
from pytest_webeval.storage import write_json
from pytest_webeval.summary.record import Record


def merged(workspace: Workspace, path: Path, record: Record | None, parts: Sequence[str]) -> tuple[RunOutcome, bool]:
    """The outcome of a run with its whole result written, and whether Python tests alone recorded a failure for it.

    A check that was made twice is kept once.
    """
    wholes = sorted((TaskResult.read(json.loads(part)) for part in parts), key=_found)  # workers report in any order
    own = None
    if record is not None and record.excluded is None:
        own = _own(workspace.result_path(path), record)
    has_failure = any(_adds_failure(part, own) for part in wholes)
    whole = joined([own, *wholes] if own is not None else wholes)
    if record is not None and record.excluded is None:
        status = worst_status([whole.status, Status(record.status)])
        whole = whole.with_changes(status=status, score=float(status is Status.SUCCESS))
    place, redacting = workspace.result_path(path), workspace.config.stash[REDACTING]
    told = redacting.merged(whole, lambda: workspace.run(path))
    joint = Record.of(told, record.task_type if record else None, reason(told))
    found = RunOutcome(joint, place, None, None, redacting, seen=whole)
    try:
        write_json(place, whole.to_json(), workspace.settings.sync)
    except DiskFull as error:
        found = found.without_room(error)
    return found, has_failure


def _adds_failure(part: TaskResult, own: TaskResult | None) -> bool:
    """Whether a Python test found something wrong that the run's own item did not find."""
    results = own.evaluators_results if own is not None else []
    if part.evaluators_results:
        return any(one.status is not Status.SUCCESS and one not in results for one in part.evaluators_results)
    is_known = own is not None and own.status is not Status.SUCCESS
    return part.status is not Status.SUCCESS and not part.webeval.get("skipped") and not is_known


def _found(whole: TaskResult) -> str:
    return json.dumps([one.to_json() for one in whole.evaluators_results], sort_keys=True)


def _own(path: Path, record: Record) -> TaskResult | None:
    """What the run's own item wrote a moment ago; None where it could not, and the file is somebody else's."""
    try:
        found = TaskResult.read(json.loads(read_file_inside(path.parent, path.name)))
    except (RecordingError, ValueError, RecursionError):
        return None
    return found if (found.status, found.webeval.get("run")) == (record.status, record.run) else None
