"""Which runs are of one task. Two benchmarks may both have a task `7`, so the id alone does not decide."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from typing import NamedTuple
from typing import Protocol

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


def describe_sample(tasks: int, runs: int) -> str:
    """What an interval was computed from, for a text after it; empty if each task has one run."""
    return f" of {pluralize(tasks, 'independent task')}" if 0 < tasks < runs else ""
