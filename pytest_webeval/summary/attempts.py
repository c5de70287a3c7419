"""Repeated runs of the same tasks: attempts of one agent, or several agents, each with rates of its own."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any
from typing import NamedTuple

from pytest_webeval.results import Status
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.record import parse_digests
from pytest_webeval.summary.repeated_runs import Tries
from pytest_webeval.summary.repeated_runs import all_of
from pytest_webeval.summary.repeated_runs import any_of
from pytest_webeval.summary.repeated_runs import averages
from pytest_webeval.summary.repeated_runs import count_tries
from pytest_webeval.summary.repeated_runs import list_flips
from pytest_webeval.summary.run_folders import group_folders
from pytest_webeval.summary.statistics import mean
from pytest_webeval.summary.statistics import wilson
from pytest_webeval.summary.statistics import wilson_over_tasks
from pytest_webeval.summary.task_identity import TaskKey
from pytest_webeval.summary.task_identity import TaskKeys

LISTED = 50  # tasks in a list
MAX_THRESHOLDS = 10

Attempts = dict[str, list[Record]]  # the runs of each attempt


class AttemptName(NamedTuple):
    """The agent and the attempt that a run belongs to; without a pattern all attempts are of one agent, ``""``."""

    agent: str
    attempt: str


def name_attempt(directory: str, pattern: str | None) -> AttemptName:
    """The names in the path of a run folder.

    The part that matches the pattern, the one nearest to the task, is the attempt, and the rest is the agent.
    """
    if pattern is None:
        return AttemptName("", directory)
    parts = directory.split("/")
    for position in range(len(parts) - 1, -1, -1):
        if fnmatchcase(parts[position], pattern):
            rest = parts[:position] + parts[position + 1 :]
            return AttemptName("/".join(rest), parts[position])
    return AttemptName(directory, "")


def build_attempts(records: Sequence[Record], pattern: str | None = None) -> dict[str, Any]:
    """The analysis for a summary: an entry for each agent, or without a pattern for each group of folders."""
    keys = TaskKeys(records)
    if pattern is None:
        agents = [_build_agent("", attempts, keys) for attempts in _group_repeated(records, keys)]
    else:
        agents = [_build_agent(agent, attempts, keys) for agent, attempts in _group_by_agent(records, pattern)]
    return {"pattern": pattern, "agents": agents, "same_inputs": _list_same_inputs(records, keys)}


def _group_by_agent(records: Iterable[Record], pattern: str) -> list[tuple[str, Attempts]]:
    """The agents that a pattern tells apart, sorted."""
    by_agent: dict[str, Attempts] = {}
    for record in records:
        name = name_attempt(record.attempt, pattern)
        by_agent.setdefault(name.agent, {}).setdefault(name.attempt, []).append(record)
    return sorted(by_agent.items(), key=lambda entry: entry[0])


def _group_repeated(records: Sequence[Record], keys: TaskKeys) -> Iterator[Attempts]:
    """The run folders that hold the same tasks together. One that shares no task is there if it repeats one itself."""
    by_folder: Attempts = {}
    for record in records:
        by_folder.setdefault(record.attempt, []).append(record)
    for folders in group_folders((record.attempt, keys.find(record)) for record in records):
        if len(folders) > 1 or _repeats_tasks(by_folder[folders[0]], keys):
            yield {folder: by_folder[folder] for folder in folders}


def _repeats_tasks(records: Iterable[Record], keys: TaskKeys) -> bool:
    """Whether several runs of a task count in rates."""
    rated = [keys.find(record) for record in records if _is_rated(record)]
    return len(set(rated)) < len(rated)


def _build_agent(agent: str, attempts: Attempts, keys: TaskKeys) -> dict[str, Any]:
    rated = [record for records in attempts.values() for record in records if _is_rated(record)]
    tries = count_tries((keys.find(record), record.status == Status.SUCCESS) for record in rated)
    rates = [task.rate for task in tries.values()]
    most = max((task.count for task in tries.values()), default=0)
    average = mean(rates)
    return {
        "agent": agent,
        "attempts": [_build_attempt(attempt, attempts[attempt], keys) for attempt in sorted(attempts)],
        "tasks": len(tries),
        "runs": sum(task.count for task in tries.values()),
        "mean": average,
        "interval_95": None if average is None else list(wilson(average * len(tries), len(tries))),
        "pass@k": averages(tries.values(), any_of, most),
        "pass^k": averages(tries.values(), all_of, most),
        "thresholds": _count_thresholds(tries, most),
        "flaky": _list_flaky(tries),
    }


def _build_attempt(attempt: str, records: Sequence[Record], keys: TaskKeys) -> dict[str, Any]:
    rated = [record for record in records if _is_rated(record)]
    successes = sum(record.status == Status.SUCCESS for record in rated)
    low, high = wilson_over_tasks(successes, len(rated), len({keys.find(record) for record in rated}))
    rate = successes / len(rated) if rated else None
    counts = {"attempt": attempt, "runs": len(records), "rated": len(rated), "success_count": successes}
    return counts | {"success_rate": rate, "success_rate_interval_95": [low, high]}


def _is_rated(record: Record) -> bool:
    """Whether a run counts in rates."""
    return not record.skipped and record.excluded is None


def _count_thresholds(tries: Mapping[TaskKey, Tries], most: int) -> dict[str, dict[str, int]]:
    """How many tasks succeed in m of n attempts, for the largest n."""
    return {
        f"{needed} of {most}": {
            "tasks": sum(reaches(task.successes, task.count, needed, most) for task in tries.values()),
            "of": len(tries),
        }
        for needed in range(1, min(most, MAX_THRESHOLDS) + 1)
    }


def reaches(successes: int, count: int, needed: int, tries: int) -> bool:
    """Whether a task succeeds in so many of so many tries. Of more tries, it is as large a share of them."""
    return successes >= needed if count <= tries else successes * tries >= needed * count


def _list_flaky(tries: Mapping[TaskKey, Tries]) -> dict[str, Any]:
    """Tasks of which some attempts succeed and some do not; the rate is over tasks with several attempts."""
    repeated = {key: task for key, task in tries.items() if task.count > 1}
    flips = list_flips(repeated)
    rate = flips["count"] / len(repeated) if repeated else None
    return flips | {"of": len(repeated), "rate": rate}


def _list_same_inputs(records: Iterable[Record], keys: TaskKeys) -> dict[str, Any]:
    """Runs of one task whose recordings are the same bytes, as a cache makes them: they are no repeats."""
    runs: dict[tuple[TaskKey, str], list[str]] = {}
    for record in records:
        if recording := parse_digests(record.checksums).get("recording"):
            runs.setdefault((keys.find(record), recording), []).append(record.run)
    copies = {key: same for key, same in runs.items() if len(same) > 1}
    rows = [{"task_id": task.task_id, "runs": same} for (task, _), same in copies.items()]
    return {"count": len({task for task, _ in copies}), "tasks": rows[:LISTED]}
