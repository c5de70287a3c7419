"""Merges several results of one run into one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from pytest_webeval.results import EvaluatorResult, ResultWarning, Status, TaskResult, worst_status


def merge_results(results: Sequence[TaskResult]) -> TaskResult:
    """Several results of one run as one; equal results are kept once, and the worst status wins."""
    all_results = [result for task_result in results for result in task_result.evaluators_results]
    merged = list({_result_key(result): result for result in all_results}.values())
    unscored = [result.status for result in results if not result.evaluators_results]
    status = worst_status([*unscored, *(result.status for result in merged)])
    reasons = [result.error_msg for result in results if result.error_msg and not result.evaluators_results]
    reasons += [f"{result.evaluator_name}: {result.error_msg}" for result in merged if result.error_msg]
    checksums = {result.webarena_verified_evaluator_checksum for result in results}
    details = _merge_details(results, merged) if status is not Status.SUCCESS else {}
    result = results[0].with_changes(
        evaluators_results=merged,
        status=status,
        score=float(status is Status.SUCCESS),
        error_msg="; ".join(dict.fromkeys(reasons)) or None,
        webarena_verified_evaluator_checksum=",".join(sorted(checksums)),
        webeval=results[0].webeval | details,
    )
    return result.with_partial_score().with_warnings(_merge_warnings(results))


def _merge_details(results: Sequence[TaskResult], merged: Sequence[EvaluatorResult]) -> dict[str, Any]:
    """The explanations and problems of the recording from several results that are not all a success."""
    explanations: dict[str, Any] = {}
    for task_result in results:
        for result, explanation in zip(
            task_result.evaluators_results, _list_entries(task_result, "explanations"), strict=False
        ):
            name = _result_key(result)
            explanations[name] = explanations.get(name) or explanation
    capture = next((entries for result in results if (entries := _list_entries(result, "capture"))), [])
    return {"explanations": [explanations.get(_result_key(result)) for result in merged], "capture": capture}


def _merge_warnings(results: Sequence[TaskResult]) -> Iterable[ResultWarning]:
    """The warnings of several results, which may come from untrusted files; the first of those with equal texts."""
    by_text: dict[str, ResultWarning] = {}
    for warning in (warning for result in results for warning in result.warnings):
        if isinstance(warning.text, str):
            by_text.setdefault(warning.text, warning)
    return by_text.values()


def _list_entries(result: TaskResult, name: str) -> list[Any]:
    entries = result.webeval.get(name)
    return list(entries) if isinstance(entries, list | tuple) else []


def _result_key(result: EvaluatorResult) -> str:
    return json.dumps(result.to_json(), sort_keys=True)
