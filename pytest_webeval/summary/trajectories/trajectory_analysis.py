"""The analysis of a session's trajectories: one block of plain JSON (`fara_webeval.md` §7.3)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from pytest_webeval.summary.statistics import with_denominator
from pytest_webeval.summary.trajectories.repeated_runs import experiments, name_experiments, runs
from pytest_webeval.summary.trajectories.trajectory_rows import KINDS, STATUSES, TrajectoryRow, select_scored, sort_rows
from pytest_webeval.summary.trajectories.trajectory_statistics import (
    budget_scores,
    by_steps,
    counts,
    coverage,
    default_budgets,
    effort,
    failure_points,
    headline,
    last_errors,
    list_known,
    mean_scores,
)

NO_VERDICT = "none"


def analyse(rows: Iterable[TrajectoryRow], expected: Collection[str] | None = None) -> dict[str, Any]:
    """The statistics of all rows; their order has no effect. `expected` are the ids of the task list."""
    ordered = sort_rows(rows)
    name_experiments(ordered)
    counted = select_scored(ordered)
    return {
        **_counts(ordered),
        **headline(ordered),
        **_signals(counted),
        "criteria": counts(row.criterion for row in counted if row.criterion),
        "coverage": coverage(ordered, expected),
        "per_group": mean_scores(ordered, lambda row: row.group),
        "per_benchmark": mean_scores(ordered, lambda row: row.benchmark),
        "per_experiment": mean_scores(ordered, lambda row: row.experiment or None),
        **_verdicts(ordered),
        **effort(ordered),
        "step_budget_scores": budget_scores(counted, default_budgets(ordered), by_steps),
        "last_errors": last_errors(ordered),
        "long_sessions": sum(row.is_long for row in ordered),
        "failure_points": failure_points(ordered),
        "tool_failures": counts(code for row in ordered for code in set(row.tool_failures)),
        "runs": runs(ordered, expected),
        "experiments": experiments(ordered),
    }


def _counts(rows: Sequence[TrajectoryRow]) -> dict[str, Any]:
    return {
        "trajectories": len(rows),
        "classes": counts((row.kind for row in rows), KINDS),
        "statuses": counts((row.status for row in rows), STATUSES),
        "formats": counts(row.format for row in rows if row.format),
        "reasons": counts(reason for row in rows for reason in set(row.reasons)),
        "flags": counts(flag for row in rows for flag in set(row.flags)),
    }


def _signals(counted: Sequence[TrajectoryRow]) -> dict[str, Any]:
    """The means of the verifier's signals over the runs in the headline mean, as far as each signal is known.

    Two signals count together only where both are known: a failure that one of them settles would else count where the
    same run's success would not.
    """
    safe = [
        row.outcome and not row.violation for row in counted if row.outcome is not None and row.violation is not None
    ]
    both = [row.process and row.outcome for row in counted if row.process is not None and row.outcome is not None]
    return {
        **with_denominator("process_mean", list_known(counted, "process_share")),
        **with_denominator("outcome_rate", list_known(counted, "outcome")),
        **with_denominator("safe_outcome_rate", safe),
        **with_denominator("both_rate", both),
    }


def _verdicts(rows: Sequence[TrajectoryRow]) -> dict[str, Any]:
    """The outcomes of the verdicts; every row is in one of the classes of `verdicts`."""
    return {
        "verdicts": counts(row.verdict_status or NO_VERDICT for row in rows),
        "judge_errors": sum(row.verdict_status == "judge_error" for row in rows),
        "undecided": sum(row.verdict_status == "undecided" or "undecided" in row.flags for row in rows),
        "degraded": sum(row.degraded for row in rows),
        "inconsistent": sum(row.is_inconsistent for row in rows),
    }
