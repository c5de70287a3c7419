"""From results and summaries, which may hold anything, to rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Annotated, Any

from msgspec import Meta, ValidationError, convert

from pytest_webeval.exports.rows import AssertionRow, TaskRow
from pytest_webeval.reports.failure_text import reason
from pytest_webeval.results import TaskResult
from pytest_webeval.safety.json import format_validation_error
from pytest_webeval.safety.text import escape_surrogates
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession
from pytest_webeval.summary.session_reading import build_result_row
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR

_LARGEST = 2**63 - 1  # that fits into a column of integers


class ExportedRun(ScoredRun, frozen=True, kw_only=True):
    """The row of a summary with what an export adds. Data that decide nothing may be anything."""

    template: Annotated[int, Meta(ge=-_LARGEST, le=_LARGEST)] = -1
    score: Any = None
    answer: Any = None
    wall_time: Any = None
    version: Any = None
    webarena_verified_version: Any = None
    data_checksum: Any = None
    timestamp: Any = None
    grade: dict[str, Any] | None = None


def read_run(result: TaskResult, label: str) -> ExportedRun:
    """The run of a result, with the label unless the result has one. Raises `ValueError` for data of another type."""
    row = build_result_row(result, label)
    added = {
        "reason": row["reason"] if row["status"] == "excluded" else reason(result),
        "answer": find_answer(result),
        "wall_time": result.webeval.get("wall_time"),
        "version": result.webeval.get("version"),
        "webarena_verified_version": result.webarena_verified_version,
        "data_checksum": result.webarena_verified_data_checksum,
    }
    try:
        return convert(escape_surrogates({**row, **added}), ExportedRun)  # as in a summary, which has no half pairs
    except ValidationError as error:
        raise ValueError(format_validation_error(error)) from error


def describe_session(session: ScoredSession, webarena_verified_version: object) -> dict[str, Any]:
    """The data of an `ExportedRun` that a summary gives once for all its runs."""
    return {
        "rules": session.rules,
        "evaluators": session.evaluators,
        "version": session.libraries.get("pytest-webeval"),
        "webarena_verified_version": webarena_verified_version,
        "data_checksum": session.tasks,
        "timestamp": session.timestamp,
        "evaluator_choice": session.evaluator_choice,
    }


def find_answer(result: TaskResult) -> str | None:
    """What the agent answered: the text that ended a trajectory, or the data of a response as JSON."""
    facts = result.webeval.get("trajectory")
    if isinstance(facts, Mapping):
        return _to_text(facts.get("answer"))
    for evaluated in result.evaluators_results:
        if evaluated.evaluator_name == RESPONSE_EVALUATOR and isinstance(evaluated.actual, Mapping):
            data = evaluated.actual.get("retrieved_data", evaluated.actual.get("results"))
            return None if data is None else json.dumps(data, ensure_ascii=False)
    return None


def build_task_row(run: ExportedRun) -> TaskRow:
    """The row of a run."""
    digests = run.digests
    return TaskRow(
        run=run.run,
        task_id=str(run.task_id),
        status=run.status,
        score=_to_number(run.score),
        sites=run.site_key,
        template=run.template,
        type=run.type,
        reason=run.reason,
        answer=_to_text(run.answer),
        attempt=run.attempt,
        excluded=run.status == "excluded",
        tags=",".join(run.tags),
        rules=_to_text(run.rules),
        today=run.today,
        wall_time=_to_number(run.wall_time),
        format=_to_text(run.format),
        benchmark=_to_text(run.benchmark),
        version=_to_text(run.version),
        webarena_verified_version=_to_text(run.webarena_verified_version),
        evaluators_checksum=_to_text(run.evaluators),
        data_checksum=_to_text(run.data_checksum),
        task_checksum=digests.get("task"),
        recording_checksum=digests.get("recording"),
        judge_checksum=digests.get("judge"),
        timestamp=_to_text(run.timestamp),
        partial_score=run.partial_score,
        evaluator_choice=",".join(run.evaluator_choice) or None,
    )


def build_assertion_rows(result: TaskResult, run: str) -> list[AssertionRow]:
    """The rows of a result: each assertion of each evaluator, in their order."""
    rows = []
    for index, evaluated in enumerate(result.evaluators_results):
        about: dict[str, Any] = {"run": run, "task_id": str(result.task_id)}
        about |= {"evaluator": evaluated.evaluator_name, "evaluator_index": index}
        cells: list[dict[str, Any]] = [
            {
                "assertion": assertion.assertion_name,
                "path": assertion.path,
                "kind": assertion.kind,
                "status": assertion.status.value,
                "messages": "\n".join(assertion.assertion_msgs) if assertion.assertion_msgs else None,
                "error": assertion.error_msg,
            }
            for assertion in evaluated.assertions or ()
        ]
        empty: dict[str, Any] = dict.fromkeys(("assertion", "path", "kind", "messages"))
        cells = cells or [empty | {"status": evaluated.status.value, "error": evaluated.error_msg}]
        rows += [AssertionRow(**escape_surrogates(about | each)) for each in cells]
    return rows


def _to_text(value: object) -> str | None:
    """The text; None for an empty one, and for all else that a file may hold."""
    return value if isinstance(value, str) and value else None


def _to_number(value: object) -> float | None:
    """The finite number, None for all else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None
