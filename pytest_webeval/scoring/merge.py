"""Merges several results of one run into one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from pytest_webeval.results import CAPTURE, EvaluatorResult, ResultWarning, Status, TaskResult, worst_status


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
