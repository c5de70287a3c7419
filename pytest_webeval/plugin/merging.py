"""What Python tests checked about a run, put into the result that the run's own item wrote, if it did."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_webeval.plugin.workspace import Workspace
from pytest_webeval.reports.failure_text import reason
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import Status
from pytest_webeval.results import TaskResult
from pytest_webeval.results import worst
from pytest_webeval.summary import Record
from pytest_webeval.writing import write_json


def merged(workspace: Workspace, path: Path, record: Record | None, parts: Sequence[dict[str, Any]]) -> Record:
    """Write the whole result of a run and return its record. A check that was made twice is kept once."""
    target = workspace.result_path(path)
    wholes = [TaskResult.model_validate(part) for part in parts]
    if record is not None and record.excluded is None:
        wholes.insert(0, TaskResult.model_validate(json.loads(target.read_bytes())))
    found = list({_identity(one): one for whole in wholes for one in whole.evaluators_results}.values())
    whole = _with(wholes[0], found)
    write_json(target, whole.model_dump(mode="json"))
    return Record.of(whole, record.task_type if record else None, reason(whole))


def _identity(result: EvaluatorResult) -> str:
    return json.dumps([result.evaluator_name, result.expected, result.actual], sort_keys=True, default=str)


def _with(first: TaskResult, found: list[EvaluatorResult]) -> TaskResult:
    status = worst([first.status if not first.evaluators_results else Status.SUCCESS, *(one.status for one in found)])
    changes = {"evaluators_results": found, "status": status, "score": float(status is Status.SUCCESS)}
    return first.model_copy(update=changes)
