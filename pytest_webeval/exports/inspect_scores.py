"""Scores for `precomputed_scores` of inspect_ai, which finds them by the ids of samples."""

from __future__ import annotations

from collections import Counter
from typing import Any

from pytest_webeval.exports.loading import LoadedResults
from pytest_webeval.exports.rows import TaskRow
from pytest_webeval.exports.settings import ExportSettings
from pytest_webeval.exports.tables import join_lines

_METADATA = ("run", "status", "score", "sites", "attempt", "rules", "evaluators_checksum")


def format_inspect_scores(results: LoadedResults, settings: ExportSettings) -> dict[str, bytes]:  # noqa: ARG001
    """A JSON line for each run with a verdict; the value is 1 for a success and 0 otherwise, so the mean is our rate.

    Where a task has several runs, their order is that of the epochs, which count runs without a verdict as well.
    """
    counts = Counter(row.task_id for row in results)
    epochs: Counter[str] = Counter()
    lines = []
    for row in results:
        epochs[row.task_id] += 1
        if row.is_judged:
            epoch = {"epoch": epochs[row.task_id]} if counts[row.task_id] > 1 else {}
            lines.append({"id": row.task_id} | epoch | _build_score(row))
    return {"": join_lines(lines)}


def _build_score(row: TaskRow) -> dict[str, Any]:
    optional = {"partial_score": row.partial_score, "evaluator_choice": row.evaluator_choice}  # which few runs have
    return {
        "value": int(row.is_success),
        "answer": row.answer,
        "explanation": row.reason,
        "metadata": {name: getattr(row, name) for name in _METADATA}
        | {name: value for name, value in optional.items() if value is not None},
    }
