"""How runs of the same thing compare: their means, and the tasks that one solved and another did not (§7.4)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from math import comb, sqrt
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pytest_webeval.summary.run_folders import group_folders
from pytest_webeval.summary.statistics import group, mean, mean_and_n, sample_std, spread, student_t_interval
from pytest_webeval.summary.task_identity import TaskKey, TaskKeys
from pytest_webeval.summary.trajectories.trajectory_rows import KINDS, TrajectoryRow, select_rated
from pytest_webeval.summary.trajectories.trajectory_statistics import counts, coverage, headline, scores

MAX_FLIPS = 50
MAX_K = 100  # more tries than anybody records; keeps the work bounded when an untrusted source names as many runs
_REPHRASED = re.compile(r"(.+)_rephrased_[0-9]+", re.DOTALL)


class Tries(Struct, frozen=True):
    """How often a task was tried and how often it succeeded."""

    count: int
    successes: int

    @property
    def rate(self) -> Fraction:
        """The share that succeeded."""
        return Fraction(self.successes, self.count)

    @property
    def is_flip(self) -> bool:
        """Whether some succeeded and some did not."""
        return 0 < self.successes < self.count


def any_of(tries: Tries, k: int) -> Fraction:
    """The probability that at least one of k tries succeeds: pass@k."""
    return 1 - Fraction(comb(tries.count - tries.successes, k), comb(tries.count, k))


def all_of(tries: Tries, k: int) -> Fraction:
    """The chance that k tries all succeed: pass^k and consensus@k."""
    return Fraction(comb(tries.successes, k), comb(tries.count, k))


def averages(tasks: Iterable[Tries], chance: Callable[[Tries, int], Fraction], most: int) -> dict[str, dict[str, Any]]:
    """For each k from 1 to `most` the mean chance over the tasks with that many tries, and how many those are."""
    frequencies = Counter(tasks)
    table = {}
    for k in range(1, min(most, MAX_K) + 1):
        counted = {tries: times for tries, times in frequencies.items() if tries.count >= k}
        total = sum((chance(tries, k) * times for tries, times in counted.items()), Fraction(0))
        number = sum(counted.values())
        table[str(k)] = {"mean": float(total / number) if number else None, "tasks": number}
    return table


def count_task_tries(rows: Sequence[TrajectoryRow]) -> dict[TaskKey, Tries]:
    """The tries of each task. An error is a try without success; an excluded run is no try."""
    keys = TaskKeys(rows)
    tries = count_tries((keys.find(row), row.status == "success") for row in select_rated(rows))
    return dict(sorted(tries.items()))


def consensus(rows: Sequence[TrajectoryRow]) -> dict[str, dict[str, Any]]:
    """Consensus@k over the phrasings of each task, for each k up to the most samples; empty without rephrased tasks.

    As in the reference every score above 0 succeeds.
    """
    if not any(is_rephrased(row) for row in rows):
        return {}
    keys = TaskKeys(rows)
    tasks = count_tries((find_original(keys.find(row)), (row.score or 0) > 0) for row in select_rated(rows))
    return averages(tasks.values(), all_of, max((tries.count for tries in tasks.values()), default=0))


def is_rephrased(row: TrajectoryRow) -> bool:
    """Whether the task is another's, put in other words."""
    return _REPHRASED.fullmatch(row.task_id) is not None


def find_original(task: TaskKey) -> TaskKey:
    """The task that this one puts in other words; the same if it does not."""
    match = _REPHRASED.fullmatch(task.task_id)
    return task._replace(task_id=match[1]) if match else task


def count_tries(outcomes: Iterable[tuple[TaskKey, bool]]) -> dict[TaskKey, Tries]:
    """The tries of each task, from pairs of the task and whether a try succeeded."""
    counts: dict[TaskKey, list[int]] = {}
    for task, succeeded in outcomes:
        count = counts.setdefault(task, [0, 0])
        count[0] += 1
        count[1] += succeeded
    return {task: Tries(*count) for task, count in counts.items()}


def runs(rows: Iterable[TrajectoryRow], expected: Collection[str] | None) -> list[dict[str, Any]]:
    """One entry for each run, sorted; empty for a single run, which the rest of the analysis covers."""
    parts = _group_by_run(rows)
    if len(parts) < 2:
        return []
    return [
        {
            "run": name,
            "experiment": run_rows[0].experiment,
            "trajectories": len(run_rows),
            "classes": counts((row.kind for row in run_rows), KINDS),
            **headline(run_rows),
            "coverage": coverage(run_rows, expected),
        }
        for name, run_rows in parts.items()
    ]


def _group_by_run(rows: Iterable[TrajectoryRow]) -> dict[str, list[TrajectoryRow]]:
    return dict(sorted(group(rows, lambda row: row.run).items()))


def experiments(rows: Iterable[TrajectoryRow]) -> dict[str, dict[str, Any]]:
    """The statistics of each experiment that repeated tasks, in several runs or with rephrased intents."""
    by_experiment = group((row for row in rows if row.experiment), lambda row: row.experiment)
    repeated = {
        name: inside
        for name, inside in sorted(by_experiment.items())
        if len({row.run for row in inside}) > 1 or any(map(is_rephrased, inside))
    }
    return {name: _describe_experiment(inside) for name, inside in repeated.items()}


def _describe_experiment(rows: Sequence[TrajectoryRow]) -> dict[str, Any]:
    parts = _group_by_run(rows)
    by_run = {name: mean_and_n(scores(run_rows)) for name, run_rows in parts.items()}
    tasks = count_task_tries(rows)
    rates = [tries.rate for tries in tasks.values()]
    return {
        "runs": [{"run": name} | entry for name, entry in by_run.items()],
        **_run_mean_statistics([entry["mean"] for entry in by_run.values() if entry["n"]]),
        **_common_task_statistics(list(parts.values())),
        "task_rates": spread(rates) | {"always": rates.count(Fraction(1)), "never": rates.count(Fraction(0))},
        "pass@k": averages(tasks.values(), any_of, len(by_run)),
        "pass^k": averages(tasks.values(), all_of, len(by_run)),
        "consensus@k": consensus(rows),
        "flips": list_flips(tasks),
    }


def _run_mean_statistics(means: Sequence[float]) -> dict[str, Any]:
    """The mean of the runs' means, each run counting the same, and how sure it is. A run without scores has none."""
    std, interval = sample_std(means), student_t_interval(means)
    return {
        "average": mean(means),
        "average_denominator": len(means),
        "std": std,
        "standard_error": None if std is None else std / sqrt(len(means)),
        "interval_95": None if interval is None else list(interval),
    }


def _common_task_statistics(parts: Sequence[Sequence[TrajectoryRow]]) -> dict[str, Any]:
    """How many tasks have a score in any run and in every run, and what the runs' average is over the latter."""
    keys = TaskKeys(row for rows in parts for row in rows)
    scored = [select_rated(rows) for rows in parts]
    common, every = {keys.find(row) for row in scored[0]}, set()
    for rows in scored:
        tasks = set(map(keys.find, rows))
        common &= tasks
        every |= tasks
    means = [mean(scores([row for row in rows if keys.find(row) in common])) for rows in scored]
    return {
        "tasks": len(every),
        "common_tasks": len(common),
        "common_average": mean([run_mean for run_mean in means if run_mean is not None]),
    }


def list_flips(tasks: Mapping[TaskKey, Tries]) -> dict[str, Any]:
    """The tasks of which some tries succeeded and some did not, in their order: how many, and the first 50."""
    flips = [
        {"task_id": task.task_id, "tries": tries.count, "successes": tries.successes}
        for task, tries in tasks.items()
        if tries.is_flip
    ]
    return {"count": len(flips), "tasks": flips[:MAX_FLIPS]}


def name_experiments(rows: list[TrajectoryRow]) -> None:
    """Give those without an experiment the name of the directory above their run folder.

    Run folders that share no task are no runs of one experiment, even in one directory.
    """
    names = _find_names(rows)
    for position, row in enumerate(rows):
        if not row.experiment and row.run in names:
            rows[position] = replace(row, experiment=names[row.run])


def _find_names(rows: Sequence[TrajectoryRow]) -> dict[str, str]:
    """The experiments by run folder."""
    unnamed = [row for row in rows if not row.experiment]
    by_directory = group(unnamed, lambda row: row.run.rpartition("/")[0])
    keys = TaskKeys(rows)
    return {
        folder: name
        for directory, inside in by_directory.items()
        for folder, name in _name_folders(directory, inside, keys).items()
    }


def _name_folders(directory: str, rows: Sequence[TrajectoryRow], keys: TaskKeys) -> dict[str, str]:
    """The experiments of the run folders in a directory: its name, or that of the first folder if it has several."""
    places = [(row.run, find_original(keys.find(row))) for row in rows]
    groups = group_folders(places)
    if len(groups) == 1:
        return dict.fromkeys(groups[0], directory)
    rephrased = {row.run for row in rows if is_rephrased(row)}
    repeated = [folders for folders in groups if len(folders) > 1 or folders[0] in rephrased]
    names = [f"{first} and {len(others)} more" if others else first for first, *others in repeated]
    names = [directory] if len(repeated) == 1 else names
    return {folder: name for name, folders in zip(names, repeated, strict=True) for folder in folders}
