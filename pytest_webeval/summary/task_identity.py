"""Which runs are of one task. Two benchmarks may both have a task `7`, so the id alone does not decide."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable
from typing import NamedTuple, Protocol

from pytest_webeval.safety.text import pluralize


class TaskRun(Protocol):
    """What a run says of its task. A format or benchmark that is no text, or an empty one, is unknown."""

    @property
    def task_id(self) -> int | str:
        """The id, which may be a number in one session and a text in another."""

    @property
    def format(self) -> object:
        """The format of the recording."""

    @property
    def benchmark(self) -> object:
        """The benchmark that the recording names."""


class TaskKey(NamedTuple):
    """A task. Format and benchmark are empty unless runs with the same id differ in them."""

    task_id: str
    format: str = ""
    benchmark: str = ""


class TaskKeys:
    """Tells the tasks of some sessions apart: runs are of one task if id, format and benchmark are the same.

    A run without a format or benchmark belongs to the only one that its id has. Sessions of two recorders can be
    compared: an id that each session has in one format alone is one task, whichever formats these are.
    """

    def __init__(self, *sessions: Iterable[TaskRun]) -> None:
        self._in_several_formats: set[str] = set()
        self._in_several_benchmarks: set[tuple[str, str]] = set()
        for runs in sessions:
            self._add(runs)

    def _add(self, runs: Iterable[TaskRun]) -> None:
        formats: dict[str, str] = {}
        benchmarks: dict[tuple[str, str], str] = {}
        for run in runs:
            task_id, name, benchmark = _describe(run)
            place = (task_id, name)
            if name and formats.setdefault(task_id, name) != name:
                self._in_several_formats.add(task_id)
            if benchmark and benchmarks.setdefault(place, benchmark) != benchmark:
                self._in_several_benchmarks.add(place)

    def find(self, run: TaskRun) -> TaskKey:
        """The task of a run."""
        task_id, name, benchmark = _describe(run)
        is_named = task_id in self._in_several_formats
        is_divided = (task_id, name) in self._in_several_benchmarks
        return TaskKey(task_id, name if is_named else "", benchmark if is_divided else "")


def _describe(run: TaskRun) -> TaskKey:
    """All that is known of the task."""
    return TaskKey(str(run.task_id), _to_text(run.format), _to_text(run.benchmark))


def _to_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def count_tasks(runs: Collection[TaskRun]) -> int:
    """How many tasks some runs of one session are of."""
    if len({str(run.task_id) for run in runs}) == len(runs):
        return len(runs)
    keys = TaskKeys(runs)
    return len({keys.find(run) for run in runs})


_Kinds = frozenset[tuple[str, str]]  # formats and benchmarks of the runs of one id


class TaskCounter:
    """Counts the tasks of runs that come sorted by the type of their ids, then by id: so only one id is in memory.

    Numbers are remembered, because a text that comes later may be the same id.
    """

    def __init__(self) -> None:
        self.runs = 0
        self._complete = 0
        self._task_id: int | str | None = None
        self._kinds: set[tuple[str, str]] = set()
        self._numbers: list[int] = []
        self._kinds_of_numbers: list[_Kinds] = []
        self._shared: dict[_Kinds, _Kinds] = {}
        self._counts: dict[_Kinds, int] = {}

    def add(self, run: TaskRun) -> None:
        """Count a run."""
        self.runs += 1
        if run.task_id != self._task_id:
            self._begin(run.task_id)
        self._kinds.add((_to_text(run.format), _to_text(run.benchmark)))

    @property
    def tasks(self) -> int:
        """How many tasks there are up to now."""
        return self._complete + self._count(frozenset(self._kinds))

    def _begin(self, task_id: int | str) -> None:
        kinds = frozenset(self._kinds)
        self._complete += self._count(kinds)
        if isinstance(self._task_id, int):
            self._numbers.append(self._task_id)
            self._kinds_of_numbers.append(self._shared.setdefault(kinds, kinds))
        earlier = self._find_number(task_id) if isinstance(task_id, str) else frozenset()
        self._complete -= self._count(earlier)
        self._task_id, self._kinds = task_id, set(earlier)

    def _find_number(self, task_id: str) -> _Kinds:
        """The kinds of the number that is written like that, if there is one."""
        number = int(task_id) if self._numbers and _NUMBER.fullmatch(task_id) else None
        place = len(self._numbers) if number is None else bisect_left(self._numbers, number)
        is_there = place < len(self._numbers) and self._numbers[place] == number
        return self._kinds_of_numbers[place] if is_there else frozenset()

    def _count(self, kinds: _Kinds) -> int:
        if kinds not in self._counts:
            self._counts[kinds] = count_tasks([TaskKey("", name, benchmark) for name, benchmark in kinds])
        return self._counts[kinds]


_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,400}", re.ASCII)


def describe_sample(tasks: int, runs: int) -> str:
    """The kind of an interval over runs of the same tasks, for a text after it; empty if each task has one run."""
    return f", Wilson over {pluralize(tasks, 'task')}" if 0 < tasks < runs else ""
