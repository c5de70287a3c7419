"""How runs of the same thing compare: their means, and the tasks that one solved and another did not (§7.4)."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from math import sqrt
from typing import Any

from pytest_webeval.analysis.headline import coverage
from pytest_webeval.analysis.headline import headline
from pytest_webeval.analysis.headline import scores
from pytest_webeval.analysis.intervals import student_t_interval
from pytest_webeval.analysis.means import mean
from pytest_webeval.analysis.means import mean_and_n
from pytest_webeval.analysis.means import sample_std
from pytest_webeval.analysis.means import spread
from pytest_webeval.analysis.pass_at_k import Tries
from pytest_webeval.analysis.pass_at_k import all_of
from pytest_webeval.analysis.pass_at_k import any_of
from pytest_webeval.analysis.pass_at_k import averages
from pytest_webeval.analysis.pass_at_k import consensus
from pytest_webeval.analysis.pass_at_k import is_rephrased
from pytest_webeval.analysis.pass_at_k import tries_of_tasks
from pytest_webeval.analysis.rows import KINDS
from pytest_webeval.analysis.rows import Row
from pytest_webeval.analysis.tables import counts

MAX_FLIPS = 50


def runs(rows: Iterable[Row], expected: Collection[str] | None) -> list[dict[str, Any]]:
    """One entry for each run, sorted; none where there is only one, of which all else is told."""
    parts = _parts(rows, lambda row: row.run)
    if len(parts) < 2:
        return []
    return [_run(name, those, expected) for name, those in parts.items()]


def experiments(rows: Iterable[Row]) -> dict[str, dict[str, Any]]:
    """What can be said of each experiment that tried tasks repeatedly: in several runs or in other words."""
    named = _parts((row for row in rows if row.experiment), lambda row: row.experiment)
    return {name: _experiment(those) for name, those in named.items() if _repeats(those)}


def _parts(rows: Iterable[Row], of: Callable[[Row], str]) -> dict[str, list[Row]]:
    parts: dict[str, list[Row]] = {}
    for row in rows:
        parts.setdefault(of(row), []).append(row)
    return {name: parts[name] for name in sorted(parts)}


def _run(name: str, rows: Sequence[Row], expected: Collection[str] | None) -> dict[str, Any]:
    return {
        "run": name,
        "experiment": rows[0].experiment,
        "trajectories": len(rows),
        "classes": counts((row.kind for row in rows), KINDS),
        **headline(rows),
        "coverage": coverage(rows, expected),
    }


def _repeats(rows: Sequence[Row]) -> bool:
    return len({row.run for row in rows}) > 1 or any(is_rephrased(row) for row in rows)


def _experiment(rows: Sequence[Row]) -> dict[str, Any]:
    parts = _parts(rows, lambda row: row.run)
    by_run = {name: mean_and_n(scores(those)) for name, those in parts.items()}
    tasks = tries_of_tasks(rows)
    return {
        "runs": [{"run": name} | found for name, found in by_run.items()],
        **_over_runs([found["mean"] for found in by_run.values() if found["n"]]),
        **_same_tasks(list(parts.values())),
        "task_rates": _task_rates(tasks.values()),
        "pass@k": averages(tasks.values(), any_of, len(by_run)),
        "pass^k": averages(tasks.values(), all_of, len(by_run)),
        "consensus@k": consensus(rows),
        "flips": _flips(tasks),
    }


def _over_runs(means: Sequence[float]) -> dict[str, Any]:
    """The mean of the runs' means, each run counting the same, and how sure it is. A run without scores has none."""
    std, interval = sample_std(means), student_t_interval(means)
    return {
        "average": mean(means),
        "average_denominator": len(means),
        "std": std,
        "standard_error": None if std is None else std / sqrt(len(means)),
        "interval_95": None if interval is None else list(interval),
    }


def _same_tasks(parts: Sequence[Sequence[Row]]) -> dict[str, Any]:
    """How many tasks have a score in any run and in every run, and what the runs' average is over the latter."""
    by_run = [_scores_of_tasks(rows) for rows in parts]
    common = set.intersection(*(set(tasks) for tasks in by_run))
    means = [mean([score for task_id in common for score in tasks[task_id]]) for tasks in by_run]
    return {
        "tasks": len(set().union(*by_run)),
        "common_tasks": len(common),
        "common_average": mean([found for found in means if found is not None]),
    }


def _scores_of_tasks(rows: Iterable[Row]) -> dict[str, list[float]]:
    tasks: dict[str, list[float]] = {}
    for row in rows:
        if row.score is not None:
            tasks.setdefault(row.task_id, []).append(row.score)
    return tasks


def _task_rates(tasks: Iterable[Tries]) -> dict[str, Any]:
    rates = [tries.rate for tries in tasks]
    return spread(rates) | {"always": sum(rate == 1 for rate in rates), "never": sum(rate == 0 for rate in rates)}


def _flips(tasks: Mapping[str, Tries]) -> dict[str, Any]:
    found = [
        {"task_id": task_id, "tries": tries.count, "successes": tries.successes}
        for task_id, tries in tasks.items()
        if tries.is_flip
    ]
    return {"count": len(found), "tasks": found[:MAX_FLIPS]}
