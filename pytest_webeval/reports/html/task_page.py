"""The page of one run as JSON: its verdict, what the agent answered, and the files that it links."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from typing import Any, NamedTuple
from urllib.parse import quote_from_bytes

from msgspec import Struct

from pytest_webeval.diagnostics.difference import truncate_json
from pytest_webeval.errors import WebEvalError
from pytest_webeval.evaluators.agent_response import parse_response
from pytest_webeval.recordings.action_trace import ActionTrace
from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.trajectory.step import NO_ANSWER
from pytest_webeval.reports.failure_sentence import event_check_name, failure_sentence, in_agents_words
from pytest_webeval.reports.html.index_rows import describe_reason
from pytest_webeval.reports.html.requests import describe_events, list_other_secrets, marks_of, network_table
from pytest_webeval.reports.html.screenshots import ScreenshotSource, relative_url
from pytest_webeval.reports.html.timeline import step_timeline
from pytest_webeval.results import PARTIAL_SCORE, EvaluatorResult, Explanation, Status, TaskResult
from pytest_webeval.safety.files import is_dir
from pytest_webeval.safety.json import copy_small
from pytest_webeval.safety.run_directory import directory_to_list
from pytest_webeval.safety.text import sanitize, truncate, truncate_words
from pytest_webeval.summary.record import Record
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR, RUBRIC_EVALUATOR
from pytest_webeval.tasks.task import Task, TrajectoryTask
from pytest_webeval.values.schema import MAX_REPORT_DEPTH

MOST_NAMES = 5_000  # of a directory that are seen
MOST_TRACES, MOST_FILES = 5, 20
_ARCHIVE, _RECORDING = ".zip", ".har"
_RECORDING_ARCHIVE = ".har.zip"  # which the trace viewer does not open
# What a browser shows as text or downloads, and never runs.
_PASSIVE = (".har", ".json", ".jsonl", ".log", ".network", ".txt", ".zip")


class ReportPaths(Struct, frozen=True):
    """The paths of the linked files, of the report, and of the directory for its commands."""

    report: Path
    run: Path
    result: Path | None
    called_from: Path

    def shell_path(self, path: Path) -> str:
        """A path as a command has it: as short as it can be, quoted, and never an option."""
        inside = path.is_relative_to(self.called_from)
        text = str(path.relative_to(self.called_from) if inside else path)
        return shlex.quote(f"./{text}" if text.startswith("-") else text)


class RunListing(Struct, frozen=True):
    """The files of a run that a page may name. `inputs` are those that were read to score it."""

    inputs: tuple[str, ...] = ()
    traces: tuple[str, ...] = ()
    recordings: tuple[str, ...] = ()
    is_directory: bool = True


def list_run_files(directory: Path, inputs: Iterable[str]) -> RunListing:
    """Inputs that are still there, and traces and HAR files next to them. Opens no file and follows no link."""
    found = _list_files(directory)
    is_directory = found is not None or is_dir(directory)
    files = frozenset(found or ())
    names = sorted(name for name in files if name.endswith((_ARCHIVE, _RECORDING)) and name.isprintable())
    read = sorted(inputs)[:MOST_FILES]
    present = [name for name in read if name.isprintable() and (name in files or _is_file(f"{directory}/{name}"))]
    archives = [name for name in names if name.endswith(_ARCHIVE) and "trace" in name.lower()]
    scored = [name for name in present if name.endswith(_ARCHIVE)]
    traces = [name for name in dict.fromkeys((*scored, *archives)) if not name.endswith(_RECORDING_ARCHIVE)]
    recordings = [name for name in names if name.endswith((_RECORDING, _RECORDING_ARCHIVE)) and name not in present]
    return RunListing(tuple(present), tuple(traces[:MOST_TRACES]), tuple(recordings[:MOST_TRACES]), is_directory)


def _list_files(directory: Path) -> list[str] | None:
    """The first regular files in it; None where it cannot be listed."""
    try:
        with directory_to_list(directory) as place, os.scandir(place) as scan:
            return [entry.name for entry in islice(scan, MOST_NAMES) if entry.is_file(follow_symlinks=False)]
    except OSError:
        return None


def _is_file(path: str) -> bool:
    try:
        return S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def list_commands(listing: RunListing, paths: ReportPaths, rerun: str | None) -> Iterator[dict[str, str]]:
    """The command that scores the run again, and one for each trace."""
    if rerun is not None:
        yield {"label": "score this run again", "command": rerun}
    for name in listing.traces:
        viewer = f"npx playwright show-trace {paths.shell_path(paths.run / name)}"
        label = "open the trace" if len(listing.traces) == 1 else f"open the trace {name}"
        yield {"label": label, "command": viewer}


def list_links(listing: RunListing, paths: ReportPaths) -> Iterator[dict[str, str | None]]:
    """The run directory, the result and the files; one that a browser might run has no address."""
    directory = f"{relative_url(paths.run, paths.report)}/"
    if listing.is_directory:
        yield {"label": "run directory", "href": directory}
    if paths.result is not None:
        is_inside = paths.result.parent == paths.run
        href = f"{directory}{paths.result.name}" if is_inside else relative_url(paths.result, paths.report)
        yield {"label": paths.result.name, "href": href}
    for name in dict.fromkeys((*listing.inputs, *listing.traces, *listing.recordings)):
        is_passive = name.lower().endswith(_PASSIVE)
        yield {"label": name, "href": f"{directory}{quote_from_bytes(os.fsencode(name))}" if is_passive else None}


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
MOST_ASSERTIONS = 500
_VERDICT = ("criterion", "status", "score", "reason", "source")
LONGEST_TEXT, LONGEST_NAME = 10_000, 100  # characters of an answer and of the name of a field in it
MOST_FIELDS = 20
MOST_BYTES = 8 * 2**20  # of a file that is read for the page alone
# What an agent may write for a name of an answer, in the order in which they count.
_OTHER_NAMES = {"task_type": ("performed_operation", "action"), "retrieved_data": ("results",)}
# Names in results, which have the dialect of the documentation.
_RESULT_NAMES = {"action": "task_type", "results": "retrieved_data"}


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
    has_sentence = not record.skipped and record.status == result.status.value and not result.error_msg
    warnings = [{"kind": str(each["kind"]), "text": str(each["text"])} for each in webeval.get("capture") or ()]
    warnings += [{"kind": each.kind, "text": str(each.text)} for each in result.warnings]
    if isinstance(trajectory, Mapping):
        about["trajectory"] = {name: fact for name, fact in trajectory.items() if name != "answer"}
    return {
        "run": webeval["run"],
        "task_id": result.task_id,
        "status": "excluded" if record.skipped else record.status,
        "score": record.score,
        "reason": describe_reason(record),
        "sentence": failure_sentence(result, texts.words) if has_sentence else None,
        "error": result.error_msg and sanitize(result.error_msg),
        "template_id": result.intent_template_id,
        "sites": result.sites,
        "type": record.task_type,
        "evaluators": list_evaluators(result, texts.words),
        "rubric": describe_rubric(result),
        "warnings": warnings,
        "checksums": {
            "inputs": webeval.get("inputs") or {},
            "tasks": result.webarena_verified_data_checksum,
            "evaluators": result.webarena_verified_evaluator_checksum,
        },
        "commands": list(list_commands(listing, paths, texts.rerun)),
        "links": list(list_links(listing, paths)),
        "about": about,
    } | dict(parts, answer=parts.get("answer") or final_answer(trajectory))


def list_evaluators(result: TaskResult, words: Mapping[str, str]) -> list[dict[str, Any]]:
    """Each evaluation with its explanation, those that failed first: that is what people look for.

    `words` are the agent's names of fields.
    """
    evaluators = []
    for evaluated in sorted(result.evaluators_results, key=lambda each: each.status is Status.SUCCESS):
        evaluator = _describe_evaluation(evaluated) | (evaluated.explanation or Explanation([])).to_json()
        if evaluated.evaluator_name == RESPONSE_EVALUATOR:
            evaluator |= {side: result_in_words(evaluator[side], words) for side in ("expected", "actual")}
            evaluator["differences"] = [
                difference | {"path": in_agents_words(str(difference["path"]), words)}
                for difference in evaluator["differences"]
            ]
        evaluators.append(evaluator)
    return evaluators


def _describe_evaluation(evaluated: EvaluatorResult) -> dict[str, Any]:
    actual = evaluated.actual if evaluated.actual_normalized is None else evaluated.actual_normalized
    is_rubric = evaluated.evaluator_name == RUBRIC_EVALUATOR  # of which the verdict is a table of its own
    method = evaluated.expected.get("http_method") if isinstance(evaluated.expected, Mapping) else None
    return {
        "name": evaluated.evaluator_name,
        "status": evaluated.status.value,
        "score": evaluated.score,
        "error": evaluated.error_msg,
        "expected": None if is_rubric else evaluated.expected,
        "actual": None if is_rubric else actual,
        "assertions": [
            {
                "name": event_check_name(assertion.assertion_name, method),
                "status": assertion.status.value,
                "messages": [*(assertion.assertion_msgs or ()), *filter(None, [assertion.error_msg])],
            }
            for assertion in (evaluated.assertions or ())[:MOST_ASSERTIONS]
        ],
    }


def describe_rubric(result: TaskResult) -> dict[str, Any] | None:
    """The verdict of a judge, with its criteria where it gave points to some."""
    evaluator_result = next(
        (candidate for candidate in result.evaluators_results if candidate.evaluator_name == RUBRIC_EVALUATOR), None
    )
    if evaluator_result is None or not isinstance(evaluator_result.actual, dict):
        return None
    actual = evaluator_result.actual
    verdict = {name: value for name, value in actual.items() if name not in (*_VERDICT, "items")}
    return {name: actual.get(name) for name in _VERDICT} | {"items": actual.get("items") or [], "verdict": verdict}


class ShownAnswer(NamedTuple):
    """An answer as JSON, not yet redacted; None where there is none, or it is in the result. `words` are its names."""

    data: dict[str, Any] | None
    words: Mapping[str, str]


def recorded_answer(run: Run) -> ShownAnswer:
    """The answer of a run that is no trajectory: its fields, or a value where it is not an object.

    None for one that is missing, or cannot be read within the limits.
    """
    response = None
    if not run.is_trajectory:
        with suppress(WebEvalError, RecursionError):
            is_read = "response" in vars(run)
            content = run.response if is_read else run.inputs.peek(run.response_file, MOST_BYTES, "file_size")
            response = parse_response(content, run.rules, run.inputs.limits)
    if response is None:
        return ShownAnswer(None, {})
    if not isinstance(response.parsed, dict):
        return ShownAnswer({"value": _bound(response.parsed)}, {})
    items = list(response.parsed.items())
    shown = [{"name": truncate(name, LONGEST_NAME), "value": _bound(value)} for name, value in items[:MOST_FIELDS]]
    fields = response.fields or {}
    words = {  # as far as the rules of the run know them
        name: next(other for other in others if other in response.parsed)
        for name, others in _OTHER_NAMES.items()
        if name in fields and name not in response.parsed
    }
    return ShownAnswer({"fields": shown, "more": max(len(items) - MOST_FIELDS, 0)}, words)


def _bound(value: Any) -> Any:
    return truncate_words(value, LONGEST_TEXT) if isinstance(value, str) else truncate_json(value, LONGEST_TEXT)


def final_answer(trajectory: Any) -> dict[str, Any] | None:
    """The final answer of a trajectory, from what its result says of it; an empty text where there was none."""
    if not isinstance(trajectory, Mapping) or "answer" not in trajectory:
        return None
    answer = trajectory["answer"]
    return {"value": _bound(answer) if isinstance(answer, str) and answer != NO_ANSWER else ""}


def result_in_words(value: Any, words: Mapping[str, str]) -> Any:
    """An answer as results have it, with the names as the agent wrote them."""
    if not isinstance(value, dict):
        return value
    names = {name: words.get(current, current) for name, current in _RESULT_NAMES.items()}
    return {names.get(name, name): member for name, member in value.items()}
