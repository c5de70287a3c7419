"""Builds one `TaskResult` from a run, its task and the results of evaluators, with the metadata of the scoring."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any
from urllib.parse import unquote_to_bytes

from pytest_webeval.diagnostics.unpassable import unpassable_reason
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.case import Case
from pytest_webeval.recordings.run import Run
from pytest_webeval.results import (
    CAPTURE,
    EVALUATOR_CHOICE,
    SCHEMA_VERSION,
    EvaluatorResult,
    ResultWarning,
    Status,
    TaskResult,
    WarningKind,
    worst_status,
)
from pytest_webeval.rules import REFERENCE_VERSION
from pytest_webeval.scoring.provenance import code_checksum, deciding_checksum, libraries, own_version
from pytest_webeval.tasks.task import Task

# A path in a message that is not a part of another one.
_PATH_STARTS, _PATH_ENDS = r"(?<![^\s:;,'\"(\[=])", r"(?=[/\s:;,'\")\]]|\.(?:\s|$)|$)"
_WITH_PATHS = ("warnings", CAPTURE, "excluded")  # what the metadata of a result has of messages
_OF_TRAJECTORY = ("message", "reasons")  # the same of a trajectory; its other texts are the agent's
SKIPPED = "skipped"  # what a run is counted as that a test or a fixture skipped
COUNTED = {"excluded": None, "skipped": False}  # of each run that is not excluded, errors included


def build_result(
    case: Case,
    results: Sequence[EvaluatorResult],
    evaluators: Iterable[Evaluator],
    data_checksum: str,
    extra: dict[str, Any],
) -> TaskResult:
    """The result of a task from those of its evaluators."""
    status = worst_status([result.status for result in results])
    reasons = [f"{result.evaluator_name}: {result.error_msg}" for result in results if result.error_msg]
    texts = [warning.text for warning in case.log.warnings]
    notes: dict[str, Any] = {"warnings": texts, "unpassable": unpassable_reason(case.task, case.expectations)}
    if status is not Status.SUCCESS:
        notes[CAPTURE] = list_capture_problems(case, results)
    if case.task.depends_on_day:
        notes["today"] = case.today.isoformat()
    if case.log.proposals:
        notes["proposals"] = case.log.proposals
    result = TaskResult(
        **task_fields(case.run, case.task),
        status=status,
        score=float(status is Status.SUCCESS),
        evaluators_results=list(results),
        error_msg="; ".join(reasons) or None,
        webarena_verified_version=REFERENCE_VERSION,
        webarena_verified_evaluator_checksum=deciding_checksum(evaluators),
        webarena_verified_data_checksum=data_checksum,
        webeval=run_metadata(case.run, case.task) | COUNTED | notes | extra,
        warning_labels=[(warning.kind, warning.decided) for warning in case.log.warnings],
    )
    return name_run_by_label(result.with_partial_score(), case.run)


def list_capture_problems(case: Case, results: Sequence[EvaluatorResult]) -> list[dict[str, str]]:
    """What is wrong with a recording; also that no site of the task was visited, unless an evaluator reports it."""
    problems, unvisited = list_recording_problems(case.run, case.task), case.unvisited_sites
    if unvisited is not None and not any(unvisited in (result.error_msg or "") for result in results):
        problems.append({"kind": "sites_not_visited", "text": unvisited})
    return problems


def list_recording_problems(run: Run, task: Task | None) -> list[dict[str, str]]:
    """What is wrong with a recording, as far as it was read to score it."""
    from pytest_webeval.diagnostics.recording_checks import check_recording  # with what most results need not know

    return check_recording(run, task)


def build_error_result(
    run: Run, task: Task | None, message: str, data_checksum: str = "", source: str = ""
) -> TaskResult:
    """The result of a run that could not be scored: an error with its reason, and no evaluator results (spec §0)."""
    expectations = run.select_expectations(task) if task else ()
    notes: dict[str, Any] = {"warnings": [], "unpassable": unpassable_reason(task, expectations) if task else None}
    notes[CAPTURE] = list_recording_problems(run, task)
    result = TaskResult(
        **task_fields(run, task),
        status=Status.ERROR,
        score=0.0,
        evaluators_results=[],
        error_msg=message,
        webarena_verified_version=REFERENCE_VERSION,
        webarena_verified_evaluator_checksum=code_checksum(),
        webarena_verified_data_checksum=data_checksum,
        webeval=run_metadata(run, task) | COUNTED | notes | {"wall_time": 0.0, "tasks_from": source},
    )
    return name_run_by_label(result, run)


def name_run_by_label(result: TaskResult, run: Run) -> TaskResult:
    """The result with the label of its run where messages have its path, and with other paths of the root like it.

    So the same recordings have the same result in every directory and on every machine.
    """
    noted = {key: result.webeval[key] for key in _WITH_PATHS if result.webeval.get(key)}
    trajectory = result.webeval.get("trajectory") or {}
    ending = {key: trajectory[key] for key in _OF_TRAJECTORY if trajectory.get(key)}
    if result.error_msg is None and not noted and not ending:
        return result
    name = _build_renaming(run)
    renamed = _rename_texts(noted, name)
    if ending:
        renamed["trajectory"] = trajectory | _rename_texts(ending, name)
    return result.with_changes(
        error_msg=result.error_msg and name(result.error_msg),
        evaluators_results=[_rename(evaluator_result, name) for evaluator_result in result.evaluators_results],
        webeval=result.webeval | renamed,
    )


def _build_renaming(run: Run) -> Callable[[str], str]:
    """What makes paths in a message relative to where the label of the run begins, or else names the run alone."""
    path, label = str(run.path), run.label
    base = path.removesuffix(os.fsdecode(unquote_to_bytes(label)))  # a label is quoted as in URLs
    if path == base or not base.strip(os.sep) or not base.endswith(os.sep):
        own_path = re.compile(_PATH_STARTS + re.escape(path) + _PATH_ENDS)
        return lambda text: own_path.sub(lambda _: label, text)
    return partial(re.compile(_PATH_STARTS + re.escape(base)).sub, "")


def _rename(evaluator_result: EvaluatorResult, name: Callable[[str], str]) -> EvaluatorResult:
    """An error with other messages. What is no error quotes no path of this machine."""
    if evaluator_result.error_msg is None:
        return evaluator_result
    assertions = evaluator_result.assertions and [
        each.with_changes(error_msg=each.error_msg and name(each.error_msg)) for each in evaluator_result.assertions
    ]
    return evaluator_result.with_changes(error_msg=name(evaluator_result.error_msg), assertions=assertions)


def _rename_texts(value: Any, name: Callable[[str], str]) -> Any:
    """JSON of a result with other texts."""
    if isinstance(value, str):
        return name(value)
    if isinstance(value, list | tuple):
        return [_rename_texts(each, name) for each in value]
    if isinstance(value, dict):
        return {key: _rename_texts(each, name) for key, each in value.items()}
    return value


def add_inputs(result: TaskResult, run: Run) -> TaskResult:
    """The result of a run that was refused, with the checksums of the files that were read before."""
    return result.with_changes(webeval=result.webeval | {"inputs": dict(sorted(run.inputs.checksums.items()))})


def build_excluded_result(  # noqa: PLR0913  (as `build_error_result`, with what the run is counted as)
    run: Run, task: Task | None, reason: str, kind: str, *, data_checksum: str = "", source: str = ""
) -> TaskResult:
    """The result of an excluded run, which no rate includes; `kind` is what it is counted as."""
    result = build_error_result(run, task, reason, data_checksum, source)
    labelled = result.with_warnings(ResultWarning(WarningKind.OTHER, text) for text in run.warnings)
    facts = {"excluded": reason, "excluded_as": kind, "skipped": True}
    return name_run_by_label(labelled.with_changes(webeval=labelled.webeval | facts), run)


def task_fields(run: Run, task: Task | None) -> dict[str, Any]:
    """The part of a result that says which task it is about."""
    return {
        "task_id": task.task_id if task else run.task_id,
        "intent_template_id": task.intent_template_id if task else -1,
        "sites": list(task.sites) if task else [],
        "task_revision": task.revision if task else -1,
    }


def run_metadata(run: Run, task: Task | None) -> dict[str, Any]:
    """What the result has describe the run beyond WebArena-Verified's fields."""
    run_facts = run.describe(task)  # first, for it reads what is hashed
    return {
        "schema_version": SCHEMA_VERSION,
        "version": own_version(),
        "rules": run.for_task(task).rules.name,
        **({EVALUATOR_CHOICE: list(run.evaluator_choice)} if run.evaluator_choice else {}),
        "format": run.format,
        "run": run.label,
        "inputs": dict(sorted(run.inputs.checksums.items())),
        **({"external_verdicts": _describe_external(run)} if run.external else {}),
        **({"task_checksum": task.checksum} if task else {}),
        "libraries": libraries(),
        **({"limits": limits} if (limits := run.inputs.limits.changes) else {}),
        **run_facts,
    }


def _describe_external(run: Run) -> list[dict[str, str]]:
    """What files of the session say of the run; not their own checksums, as another verdict in them changes nothing."""
    return [
        {"file": judgement.source, "checksum": judgement.checksum}
        | ({"impossible": "exclude" if judgement.success is None else "zero"} if judgement.is_impossible else {})
        for judgement in run.external
    ]


def merge_results(results: Sequence[TaskResult]) -> TaskResult:
    """Several results of one run as one; equal results are kept once, and the worst status wins."""
    merged = _merge_evaluations(results)
    unscored = [result.status for result in results if not result.evaluators_results]
    status = worst_status([*unscored, *(result.status for result in merged)])
    reasons = [result.error_msg for result in results if result.error_msg and not result.evaluators_results]
    reasons += [f"{result.evaluator_name}: {result.error_msg}" for result in merged if result.error_msg]
    checksums = {result.webarena_verified_evaluator_checksum for result in results}
    webeval = results[0].webeval
    if status is not Status.SUCCESS:
        captures = (result.webeval.get(CAPTURE) for result in results)  # of files, in which it may be anything
        webeval = webeval | {CAPTURE: next((list(each) for each in captures if each and isinstance(each, list)), [])}
    result = results[0].with_changes(
        evaluators_results=merged,
        status=status,
        score=float(status is Status.SUCCESS),
        error_msg="; ".join(dict.fromkeys(reasons)) or None,
        webarena_verified_evaluator_checksum=",".join(sorted(checksums)),
        webeval=webeval,
    )
    return result.with_partial_score().with_warnings(_merge_warnings(results))


def _merge_evaluations(results: Sequence[TaskResult]) -> list[EvaluatorResult]:
    """Each evaluation once, with its explanation if one of the equal results has one."""
    merged: dict[str, EvaluatorResult] = {}
    for result in (result for task_result in results for result in task_result.evaluators_results):
        key = json.dumps(result.to_json(), sort_keys=True)
        earlier = merged.get(key)
        if earlier is None or earlier.explanation is None:
            merged[key] = result
    return list(merged.values())


def _merge_warnings(results: Sequence[TaskResult]) -> Iterable[ResultWarning]:
    """The warnings of several results, which may come from untrusted files; the first of those with equal texts."""
    by_text: dict[str, ResultWarning] = {}
    for warning in (warning for result in results for warning in result.warnings):
        if isinstance(warning.text, str):
            by_text.setdefault(warning.text, warning)
    return by_text.values()
