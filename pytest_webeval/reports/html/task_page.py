"""The page of one run as JSON."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from pytest_webeval.recordings.action_trace import ActionTrace
from pytest_webeval.recordings.run import Run
from pytest_webeval.reports.html.event_details import describe_events
from pytest_webeval.reports.html.event_details import list_other_secrets
from pytest_webeval.reports.html.network_table import marks_of
from pytest_webeval.reports.html.network_table import network_table
from pytest_webeval.reports.html.screenshots import ScreenshotSource
from pytest_webeval.reports.html.screenshots import relative_url
from pytest_webeval.reports.html.timeline import step_timeline
from pytest_webeval.results import Assertion
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import Status
from pytest_webeval.results import TaskResult
from pytest_webeval.safety.text import sanitize
from pytest_webeval.summary.record import Record
from pytest_webeval.tasks.expectations import RUBRIC_EVALUATOR
from pytest_webeval.tasks.task import Task

MOST_ASSERTIONS = 500
_DETAILS = ("format", "rules", "version", "wall_time", "tasks_from", "limits", "excluded", "unpassable", "trajectory")
_VERDICT = ("criterion", "status", "score", "reason", "source")


class ReportPaths(Struct, frozen=True):
    """The paths of the linked files, of the report, and of the directory for its commands."""

    report: Path
    run: Path
    result: Path | None
    called_from: Path

    def shell_path(self, path: Path) -> str:
        """A path as a command has it: as short as it can be, and quoted."""
        inside = path.is_relative_to(self.called_from)
        return shlex.quote(str(path.relative_to(self.called_from) if inside else path))


def recorded_parts(
    run: Run,
    task: Task | None,
    result: TaskResult,
    pictures: ScreenshotSource | None,
    actions: ActionTrace | None = None,
) -> dict[str, Any]:
    """The recorded data and the task for the page, not yet redacted. `actions` are the steps of no trajectory."""
    return {
        "intent": (task.intent or None) if task else None,
        "start_urls": list(task.start_urls) if task else [],
        "template": (task.intent_template or None) if task else None,
        "network": network_table(run, marks_of(result.evaluators_results, _list_explanations(result))),
        "steps": step_timeline(run, pictures, actions),
    }


def recorded_events(run: Run, result: TaskResult, network: Mapping[str, Any] | None) -> dict[str, Any]:
    """The details of events in the table, not yet redacted, and what the redaction needs to know of the others."""
    if network is None:
        return {"details": [], "others": {}}
    listed = [row[0] for row in network["events"]]
    marks = marks_of(result.evaluators_results, _list_explanations(result))
    details = describe_events(run, marks, listed, is_success=result.status is Status.SUCCESS)
    return {"details": details, "others": list_other_secrets(run, details, listed)}


def task_view(
    result: TaskResult, record: Record, parts: Mapping[str, Any], paths: ReportPaths, rerun: str | None
) -> dict[str, Any]:
    """The page of one run, from its result and its recorded parts without secrets. `rerun` scores it again.

    The outcome in the record counts, since it may have changed after scoring.
    """
    webeval = result.webeval
    return {
        "run": webeval["run"],
        "task_id": result.task_id,
        "status": "excluded" if record.skipped else record.status,
        "score": record.score,
        "reason": record.excluded if record.skipped else record.reason,
        "error": result.error_msg and sanitize(result.error_msg),
        "template_id": result.intent_template_id,
        "sites": result.sites,
        "type": record.task_type,
        "evaluators": list(_evaluators(result)),
        "rubric": _rubric(result),
        "warnings": list(_warnings(result)),
        "checksums": _checksums(result),
        "commands": list(_commands(webeval, paths, rerun)),
        "links": list(_links(paths)),
        "about": {name: webeval[name] for name in _DETAILS if webeval.get(name)},
    } | dict(parts)


def _list_explanations(result: TaskResult) -> Sequence[Mapping[str, Any] | None]:
    explanations = result.webeval.get("explanations")
    return explanations if isinstance(explanations, list) else ()


def _evaluators(result: TaskResult) -> Iterator[dict[str, Any]]:
    explanations = dict(enumerate(_list_explanations(result)))
    ordered = sorted(enumerate(result.evaluators_results), key=lambda entry: entry[1].status is Status.SUCCESS)
    for index, evaluator_result in ordered:  # first what failed: that is what people look for
        unexplained: dict[str, Any] = {"differences": [], "nearest": None, "candidates": []}
        yield _evaluator(evaluator_result) | unexplained | dict(explanations.get(index) or {})


def _evaluator(evaluator_result: EvaluatorResult) -> dict[str, Any]:
    actual = (
        evaluator_result.actual if evaluator_result.actual_normalized is None else evaluator_result.actual_normalized
    )
    is_rubric = evaluator_result.evaluator_name == RUBRIC_EVALUATOR  # of which the verdict is a table of its own
    return {
        "name": evaluator_result.evaluator_name,
        "status": evaluator_result.status.value,
        "score": evaluator_result.score,
        "error": evaluator_result.error_msg,
        "expected": None if is_rubric else evaluator_result.expected,
        "actual": None if is_rubric else actual,
        "assertions": list(map(_assertion, (evaluator_result.assertions or ())[:MOST_ASSERTIONS])),
    }


def _assertion(assertion: Assertion) -> dict[str, Any]:
    messages = [*(assertion.assertion_msgs or ()), *filter(None, [assertion.error_msg])]
    return {"name": assertion.assertion_name, "status": assertion.status.value, "messages": messages}


def _rubric(result: TaskResult) -> dict[str, Any] | None:
    """The verdict of a judge, with its criteria where it gave points to some."""
    evaluator_result = next(
        (candidate for candidate in result.evaluators_results if candidate.evaluator_name == RUBRIC_EVALUATOR), None
    )
    if evaluator_result is None or not isinstance(evaluator_result.actual, dict):
        return None
    actual = evaluator_result.actual
    verdict = {name: value for name, value in actual.items() if name not in (*_VERDICT, "items")}
    return {name: actual.get(name) for name in _VERDICT} | {"items": actual.get("items") or [], "verdict": verdict}


def _warnings(result: TaskResult) -> Iterator[dict[str, str]]:
    for finding in result.webeval.get("capture") or ():
        yield {"kind": str(finding["kind"]), "text": str(finding["text"])}
    for warning in result.warnings:
        yield {"kind": warning.kind, "text": str(warning.text)}


def _checksums(result: TaskResult) -> dict[str, Any]:
    return {
        "inputs": result.webeval.get("inputs") or {},
        "tasks": result.webarena_verified_data_checksum,
        "evaluators": result.webarena_verified_evaluator_checksum,
    }


def _commands(webeval: Mapping[str, Any], paths: ReportPaths, rerun: str | None) -> Iterator[dict[str, str]]:
    if rerun is not None:
        yield {"label": "score this run again", "command": rerun}
    for name in sorted(webeval.get("inputs") or {}):
        if name.endswith(".zip"):
            viewer = f"npx playwright show-trace {paths.shell_path(paths.run / name)}"
            yield {"label": "open the trace", "command": viewer}


def _links(paths: ReportPaths) -> Iterator[dict[str, str]]:
    directory = f"{relative_url(paths.run, paths.report)}/"
    if os.path.isdir(paths.run):  # noqa: PTH112  (pathlib raises where nobody may look)
        yield {"label": "run directory", "href": directory}
    if paths.result is not None:
        is_inside = paths.result.parent == paths.run
        href = f"{directory}{paths.result.name}" if is_inside else relative_url(paths.result, paths.report)
        yield {"label": paths.result.name, "href": href}
