"""The page of one run as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pytest_webeval.diagnostics.difference import truncate_json
from pytest_webeval.recordings.action_trace import ActionTrace
from pytest_webeval.recordings.run import Run
from pytest_webeval.reports.failure_sentence import failure_sentence
from pytest_webeval.reports.html.agent_answer import final_answer
from pytest_webeval.reports.html.evaluations import describe_rubric, list_evaluators
from pytest_webeval.reports.html.event_details import describe_events, list_other_secrets
from pytest_webeval.reports.html.index_row import describe_reason
from pytest_webeval.reports.html.network_table import marks_of, network_table
from pytest_webeval.reports.html.run_links import ReportPaths, list_commands, list_links, list_run_files
from pytest_webeval.reports.html.screenshots import ScreenshotSource
from pytest_webeval.reports.html.timeline import step_timeline
from pytest_webeval.results import PARTIAL_SCORE, Status, TaskResult
from pytest_webeval.safety.compact_json import copy_small
from pytest_webeval.safety.text import sanitize
from pytest_webeval.summary.record import Record
from pytest_webeval.tasks.task import Task, TrajectoryTask
from pytest_webeval.values.schema import MAX_REPORT_DEPTH

LONGEST_DEFINITION = 20_000  # characters
SHORT_DEFINITION = LONGEST_DEFINITION // 2  # bytes of one that is surely not longer, however it is counted
_DETAILS = (
    PARTIAL_SCORE,
    "evaluator_choice",
    "format",
    "rules",
    "version",
    "wall_time",
    "tasks_from",
    "limits",
    "excluded",
    "unpassable",
    "trajectory",
)
_OWN_FIELDS = frozenset({"rephrasings", "warnings"})  # of a task, which its definition does not have


class PageTexts(NamedTuple):
    """What a page has besides the data of its run: the command to score it again, and the agent's names of fields."""

    rerun: str | None = None
    words: Mapping[str, str] = {}


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
        "network": network_table(run, marks_of(result.evaluators_results)),
        "steps": step_timeline(run, pictures, actions),
    }


def recorded_events(
    run: Run, result: TaskResult, network: Mapping[str, Any] | None, *, is_strict: bool
) -> dict[str, Any]:
    """The details of events in the table, not yet redacted, and what the redaction needs to know of the others."""
    if network is None:
        return {"details": [], "headers": [], "others": {}}
    listed = [row[0] for row in network["events"]]
    marks = marks_of(result.evaluators_results)
    details = describe_events(run, marks, listed, is_success=result.status is Status.SUCCESS, is_strict=is_strict)
    return {
        "details": details.events,
        "headers": details.headers,
        "others": list_other_secrets(run, details.events, listed),
    }


def task_definition(task: Task | None) -> dict[str, Any] | None:
    """The definition of a task, not yet redacted, with as much as fits; None for a task without one."""
    if task is None or (isinstance(task, TrajectoryTask) and not task.benchmark):
        return None
    names = [name for name in task.__struct_fields__ if name not in _OWN_FIELDS]
    definition = {name: getattr(task, name) for name in names}
    copy: dict[str, Any] | None = copy_small(definition, SHORT_DEFINITION, MAX_REPORT_DEPTH)
    return truncate_json(definition, LONGEST_DEFINITION) if copy is None else copy


def task_view(
    result: TaskResult, record: Record, parts: Mapping[str, Any], paths: ReportPaths, texts: PageTexts
) -> dict[str, Any]:
    """The page of one run, from its result and its recorded parts without secrets.

    The outcome in the record counts, since it may have changed after scoring.
    """
    webeval = result.webeval
    listing = list_run_files(paths.run, webeval.get("inputs") or {})
    about = {name: webeval[name] for name in _DETAILS if webeval.get(name)}
    trajectory = about.get("trajectory")
    if isinstance(trajectory, Mapping):
        about["trajectory"] = {name: fact for name, fact in trajectory.items() if name != "answer"}
    return {
        "run": webeval["run"],
        "task_id": result.task_id,
        "status": "excluded" if record.skipped else record.status,
        "score": record.score,
        "reason": describe_reason(record),
        "sentence": _sentence(result, record, texts.words),
        "error": result.error_msg and sanitize(result.error_msg),
        "template_id": result.intent_template_id,
        "sites": result.sites,
        "type": record.task_type,
        "evaluators": list_evaluators(result, texts.words),
        "rubric": describe_rubric(result),
        "warnings": list(_warnings(result)),
        "checksums": _checksums(result),
        "commands": list(list_commands(listing, paths, texts.rerun)),
        "links": list(list_links(listing, paths)),
        "about": about,
    } | dict(parts, answer=parts.get("answer") or final_answer(trajectory))


def _sentence(result: TaskResult, record: Record, words: Mapping[str, str]) -> str | None:
    """None where the record has another outcome than the result."""
    is_of_result = not record.skipped and record.status == result.status.value
    return failure_sentence(result, words) if is_of_result and not result.error_msg else None


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
