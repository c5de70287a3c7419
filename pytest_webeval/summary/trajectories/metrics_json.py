"""metrics.json of one run as the reference writes it (`fara_webeval.md` §7.1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from pytest_webeval.recordings.trajectory.step import NO_ANSWER
from pytest_webeval.rules import Rules
from pytest_webeval.storage import Sync, write_json
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.statistics import mean
from pytest_webeval.summary.trajectories.repeated_runs import consensus
from pytest_webeval.summary.trajectories.trajectory_rows import TrajectoryRow, build_row, select_scored
from pytest_webeval.summary.trajectories.trajectory_statistics import (
    Length,
    budget_scores,
    by_screenshots,
    by_steps,
    default_budgets,
    list_known,
    mean_scores,
    scores,
    within_budgets,
)

_JUDGE_ERRORS = ("Error code", "Error, ", "Error: ")
_LOADED = ("completed", "over_budget")
_INIT, _EXECUTED, _EVALUATED = range(3)
# How benchmarks whose judge writes free text call their groups, by the start of the benchmark's name.
_GROUPS = {"WebVoyager": "web_name", "OnlineM2W": "level"}


def metrics(rows: Sequence[TrajectoryRow], length: Length = by_steps) -> dict[str, Any]:
    """The content of metrics.json for the rows of one run; lists keep the order of the rows.

    Omits the keys that require an LLM: `num_refused`, `refusal_ratio` and `examples_refusal_info`. Unlike in the
    reference, a missing duration is omitted instead of counting 0 (Q33), and a mean of nothing is null.
    `by_screenshots` for `length` gives the reference's step budgets (Q46).
    """
    evaluated, budgets = select_scored(rows), default_budgets(rows)
    durations = list_known(rows, "duration")
    average_time = mean(durations)
    return {
        "mean_score": mean(scores(evaluated)),
        "max_score": max(scores(evaluated), default=None),
        "num_examples": len(evaluated),
        **_list_groups(rows, evaluated),
        **{
            f"consensus_score_at_{k}": {"score": entry["mean"], "num_examples": entry["tasks"]}
            for k, entry in consensus(evaluated).items()
        },
        "step_budget_scores": budget_scores(evaluated, budgets, length),
        "average_time": -1 if average_time is None else average_time,
        "durations": durations,
        "scores": [_example(row, within_budgets(row, budgets, length)) for row in evaluated],
        "total examples": len(rows),
        "executed examples": sum(_stage(row) >= _EXECUTED for row in rows),
    }


def _list_groups(rows: Sequence[TrajectoryRow], evaluated: Sequence[TrajectoryRow]) -> dict[str, Any]:
    """The scores of each group. Those of WebVoyager and Online-Mind2Web stand together as well, with other means."""
    table = mean_scores(evaluated, lambda row: row.group)
    accuracies: dict[str, Any] = {}
    for name, entry in table.items():
        accuracies |= {f"accuracy_{name}": entry["mean"], f"samples_{name}": entry["n"]}
    benchmarks = sorted({row.benchmark for row in rows if row.benchmark})
    kind = next((kind for kind in _GROUPS for name in benchmarks if name.startswith(kind)), None)
    if kind is None:
        return accuracies
    by_group = {name: [entry["mean"], entry["n"]] for name, entry in table.items()}
    return accuracies | {f"accuracy_by_{_GROUPS[kind]}": by_group} | _undisturbed_means(evaluated)


def _undisturbed_means(evaluated: Sequence[TrajectoryRow]) -> dict[str, Any]:
    """Means without the runs that something other than the agent's skill decided, and the counts of those runs."""
    valid = [row for row in evaluated if not any(disturbed(row) for disturbed in _DISTURBANCES.values())]
    means = {
        f"mean_score_no_{name}": mean(scores([row for row in evaluated if not disturbed(row)]))
        for name, disturbed in _DISTURBANCES.items()
    }
    every = "_".join(f"no_{name}" for name in _DISTURBANCES)
    numbers = {f"num_{name}": sum(map(disturbed, evaluated)) for name, disturbed in _DISTURBANCES.items()}
    return means | {f"mean_score_{every}": mean(scores(valid))} | numbers | {f"num_valid_{every}": len(valid)}


_DISTURBANCES: dict[str, Callable[[TrajectoryRow], bool]] = {
    "empty": lambda row: row.answer in (None, "", NO_ANSWER),
    "captcha": lambda row: "captcha" in (row.reasoning or "").lower(),
    "error": lambda row: any(text in (row.reasoning or "") for text in _JUDGE_ERRORS),
}


def _stage(row: TrajectoryRow) -> int:
    if select_scored([row]):
        return _EVALUATED
    return _EXECUTED if row.kind in _LOADED else _INIT


def _example(row: TrajectoryRow, step_budget_scores: dict[str, float]) -> str:
    """One entry of `scores`: JSON inside a string, as the reference has it."""
    return json.dumps(
        {
            "qid": row.task_id,
            "score": row.score,
            "duration": row.duration,
            "stage": _stage(row),
            "reasoning": row.reasoning,
            "answer": row.answer,
            "step_budget_scores": step_budget_scores,
        }
    )


METRICS = "metrics.json"


def write_metrics(records: Iterable[Record], directory: Path, rules: Rules, sync: Sync | None = None) -> None:
    """Write a file for each run, in the same tree as the runs. Raises `SettingsError`."""
    length = by_steps if rules.budgets_in_steps else by_screenshots
    rows = sorted(map(build_row, records), key=lambda row: (row.run, row.label))
    for run, run_rows in groupby(rows, key=lambda row: row.run):
        write_json(directory / run / METRICS, metrics(list(run_rows), length), sync)
