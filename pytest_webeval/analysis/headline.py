"""The numbers that stand first, for all trajectories or for those of one run."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Sequence
from typing import Any

from pytest_webeval.analysis.intervals import wilson
from pytest_webeval.analysis.means import with_denominator
from pytest_webeval.analysis.rows import Row
from pytest_webeval.analysis.rows import scored


def headline(rows: Sequence[Row]) -> dict[str, Any]:
    """The mean over all that has a score, with its interval, and the one over runs that came to an answer (§7.2)."""
    counted = scored(rows)
    completed = [row.score for row in counted if row.kind == "completed" and row.score is not None]
    return {
        **with_denominator("mean_scored", scores(counted)),
        "mean_scored_interval_95": _interval(counted),
        **with_denominator("mean_completed", completed),
    }


def coverage(rows: Sequence[Row], expected: Collection[str] | None) -> dict[str, Any]:
    """How many of the expected tasks have a score; a task that several runs scored is covered once.

    Where nobody knows what to expect all tasks with a score count, and there is no share.
    """
    found = {row.task_id for row in scored(rows)}
    if expected is None:
        return {"expected": None, "scored": len(found), "share": None}
    wanted = set(expected)
    covered = len(found & wanted)
    return {"expected": len(wanted), "scored": covered, "share": covered / len(wanted) if wanted else None}


def scores(rows: Sequence[Row]) -> list[float]:
    """The scores there are."""
    return [row.score for row in rows if row.score is not None]


def _interval(counted: Sequence[Row]) -> list[float] | None:
    """Wilson's interval, which needs scores of 0 and 1 and trials that do not repeat a task."""
    found = scores(counted)
    repeats = len({(row.benchmark, row.task_id) for row in counted}) < len(counted)
    if not found or repeats or not set(found) <= {0, 1}:
        return None
    return list(wilson(found.count(1), len(found)))
