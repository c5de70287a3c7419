"""Repeated runs of the same tasks: attempts of one agent, or several agents, each with rates of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from pytest_webeval.results import Status
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.result_facts import parse_digests
from pytest_webeval.summary.run_folders import group_folders
from pytest_webeval.summary.statistics import mean, wilson, wilson_over_tasks
from pytest_webeval.summary.task_identity import TaskKey, TaskKeys
from pytest_webeval.summary.trajectories.repeated_runs import Tries, all_of, any_of, averages, count_tries, list_flips

LISTED = 50  # tasks in a list
MAX_THRESHOLDS = 10


class Try(NamedTuple):
    """What counts of a run. Equal ones are one object, of which there are few where tasks have many runs."""

    task: TaskKey
    is_rated: bool
    is_success: bool


Attempts = dict[str, list[Try]]  # the runs of each attempt


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


def build_attempts(records: Iterable[Record], pattern: str | None = None) -> dict[str, Any]:
    """The analysis for a summary: an entry for each agent, or without a pattern for each group of folders.

    The records are read several times, and none is kept.
    """
    keys = TaskKeys(records)
    if pattern is None:
        agents = [_build_agent("", attempts) for attempts in _group_repeated(records, keys)]
    else:
        agents = [_build_agent(agent, attempts) for agent, attempts in _group_by_agent(records, keys, pattern)]
    return {"pattern": pattern, "agents": agents, "same_inputs": _list_same_inputs(records, keys)}


def _list_tries(records: Iterable[Record], keys: TaskKeys) -> Iterator[tuple[str, Try]]:
    """The run folder of each run, and what counts of it."""
    shared: dict[Try, Try] = {}
    for record in records:
        each = Try(keys.find(record), record.is_rated, record.status == Status.SUCCESS)
        yield record.attempt, shared.setdefault(each, each)


def _group_by_agent(records: Iterable[Record], keys: TaskKeys, pattern: str) -> list[tuple[str, Attempts]]:
    """The agents that a pattern tells apart, sorted."""
    by_agent: dict[str, Attempts] = {}
    for folder, each in _list_tries(records, keys):
        name = name_attempt(folder, pattern)
        by_agent.setdefault(name.agent, {}).setdefault(name.attempt, []).append(each)
    return sorted(by_agent.items(), key=lambda entry: entry[0])


def _group_repeated(records: Iterable[Record], keys: TaskKeys) -> Iterator[Attempts]:
    """The run folders that hold the same tasks together. One that shares no task is there if it repeats one itself."""
    by_folder: Attempts = {}
    for folder, each in _list_tries(records, keys):
        by_folder.setdefault(folder, []).append(each)
    for folders in group_folders((folder, each.task) for folder, tries in by_folder.items() for each in tries):
        rated = [each.task for each in by_folder[folders[0]] if each.is_rated]
        if len(folders) > 1 or len(set(rated)) < len(rated):
            yield {folder: by_folder[folder] for folder in folders}


def _build_agent(agent: str, attempts: Attempts) -> dict[str, Any]:
    rated = (each for members in attempts.values() for each in members if each.is_rated)
    tries = count_tries((each.task, each.is_success) for each in rated)
    rates = [task.rate for task in tries.values()]
    most = max((task.count for task in tries.values()), default=0)
    average = mean(rates)
    repeated = {key: task for key, task in tries.items() if task.count > 1}
    flips = list_flips(repeated)
    return {
        "agent": agent,
        "attempts": [_build_attempt(attempt, attempts[attempt]) for attempt in sorted(attempts)],
        "tasks": len(tries),
        "runs": sum(task.count for task in tries.values()),
        "mean": average,
        "interval_95": None if average is None else list(wilson(average * len(tries), len(tries))),
        "pass@k": averages(tries.values(), any_of, most),
        "pass^k": averages(tries.values(), all_of, most),
        "thresholds": _count_thresholds(tries, most),
        "flaky": flips | {"of": len(repeated), "rate": flips["count"] / len(repeated) if repeated else None},
    }


def _build_attempt(attempt: str, tries: Sequence[Try]) -> dict[str, Any]:
    rated = [each for each in tries if each.is_rated]
    successes = sum(each.is_success for each in rated)
    low, high = wilson_over_tasks(successes, len(rated), len({each.task for each in rated}))
    rate = successes / len(rated) if rated else None
    counts = {"attempt": attempt, "runs": len(tries), "rated": len(rated), "success_count": successes}
    return counts | {"success_rate": rate, "success_rate_interval_95": [low, high]}


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


def _list_same_inputs(records: Iterable[Record], keys: TaskKeys) -> dict[str, Any]:
    """Runs of one task whose recordings are the same bytes, as a cache makes them: they are no repeats."""
    seen, repeated = set[int](), set[int]()
    for key, _ in _list_inputs(records, keys):
        (repeated if hash(key) in seen else seen).add(hash(key))
    copies: dict[tuple[TaskKey, str], list[str]] = {}
    for key, run in _list_inputs(records, keys) if repeated else ():
        if hash(key) in repeated:
            copies.setdefault(key, []).append(run)
    rows = [{"task_id": task.task_id, "runs": same} for (task, _), same in copies.items() if len(same) > 1]
    return {"count": len({task for (task, _), same in copies.items() if len(same) > 1}), "tasks": rows[:LISTED]}


def _list_inputs(records: Iterable[Record], keys: TaskKeys) -> Iterator[tuple[tuple[TaskKey, str], str]]:
    """The task and the digest of the recording of each run that has one, and its label."""
    for record in records:
        if recording := parse_digests(record.checksums).get("recording"):
            yield (keys.find(record), recording), record.run
