"""The definitions of the tasks of a session: from options, run roots, or runs that are trusted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from pytest_webeval.errors import RecordingError, TaskDefinitionError, WebEvalError
from pytest_webeval.recordings.formats import check_main_file
from pytest_webeval.recordings.inputs import LOAD_TASK
from pytest_webeval.recordings.labels import Labels, default_task_id
from pytest_webeval.recordings.run import Run, RunFormat
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.scoring.definition import Definition, Trust, find_source, find_task
from pytest_webeval.sessions.settings.settings import Settings
from pytest_webeval.tasks.dataset import TASKS, TaskSet, load_tasks, load_untrusted_tasks
from pytest_webeval.tasks.task import Task

if TYPE_CHECKING:
    from pytest_webeval.tasks.subset import Subset


OWN_TASK = "task.json"
FROM_RUN = "in the run directory (the agent could have written it)"
# The tasks in a file, why they cannot be read, or that there is no such file.
TaskSetOrError = TaskSet | TaskDefinitionError | None


class TaskDefinitions(Struct, frozen=True, eq=False, dict=True):
    """One per process. Caches what it read of run roots.

    `format_of` recognizes the runs; `labels` names them.
    """

    settings: Settings
    labels: Labels
    format_of: Callable[[Path], RunFormat | None]
    _task_sets: dict[Path, TaskSetOrError] = field(default_factory=dict)
    _latest: dict[Path, TaskSetOrError] = field(default_factory=dict)

    @cached_property
    def configured(self) -> TaskSet | None:
        """The task set that an option names. Raises `TaskDefinitionError`."""
        return load_tasks(*self.settings.tasks) if self.settings.tasks else None

    def provide(self, configured: TaskSet | None, in_roots: Mapping[Path, TaskSetOrError]) -> None:
        """Take over what another process of the session has read."""
        if configured is not None:
            vars(self)["configured"] = configured
        self._task_sets.update(in_roots)

    def list_in_roots(self) -> dict[Path, TaskSetOrError]:
        """What was found in the run roots, for another process."""
        for root in self.settings.roots if self.configured is None else ():
            with suppress(TaskDefinitionError):
                self.in_root(root)
        return dict(self._task_sets)

    @property
    def origin(self) -> str | None:
        """The name of the file of tasks that an option names, or None."""
        return self.configured.origin if self.configured is not None else None

    @cached_property
    def subset(self) -> Subset | None:
        """The tasks that count, or None for all. Raises `SettingsError`."""
        if not self.settings.subset:
            return None
        from pytest_webeval.tasks.subset import load_subset  # few sessions name one

        return load_subset(self.settings.subset)

    def check_files(self) -> None:
        """Read each file of definitions and the subset. Raises `TaskDefinitionError` or `SettingsError`."""
        _ = self.configured, self.subset
        for root in self.settings.runs:  # not that of recordings, into which live tests copy theirs
            with suppress(RecordingError):  # of a root that may be a run, which says so itself
                self.in_root(root)

    def definition(self, run: Run) -> Definition:
        """What the task of a run is, and where that stands. Raises `TaskDefinitionError`, or `RecordingError`."""
        with run.inputs.durations.phase(LOAD_TASK):
            try:
                return self._definition(run)
            except TaskDefinitionError:
                check_main_file(run)  # without it, nobody knows whether it is a run of that task
                raise

    def _definition(self, run: Run) -> Definition:
        tasks, trust = self._task_set(run)
        if tasks is None and not run.is_trajectory:
            raise TaskDefinitionError(self._no_definition(run))
        return Definition.of(run, tasks, trust)

    def _no_definition(self, run: Run) -> str:
        """The message for a run without a task definition."""
        root = self.labels.root_of(run.path) or run.path
        missing, advice = f"no task definition for {run.label}", "name one with --webeval-tasks"
        if root != run.path:
            missing = f"{missing}: no {root / TASKS}"
        if self.settings.own_tasks:
            return f"{missing}{',' if root != run.path else ':'} no {OWN_TASK} in it; {advice}"
        return f"{missing}; {advice}, or trust the run's own {OWN_TASK} with --webeval-own-tasks"

    def source_of(self, run: Run) -> tuple[str, str]:
        """Checksum and name of the file with the definition of a run's task; empty where it has none."""
        return find_source(run, self._tasks_or_none(run))

    def find(self, run: Run) -> Task | None:
        """The definition of a run's task, if it can be used. Reads no recording."""
        return find_task(run, self._tasks_or_none(run))

    def _tasks_or_none(self, run: Run) -> TaskSet | None:
        try:
            return self._task_set(run)[0]
        except WebEvalError:
            return None

    def _task_set(self, run: Run) -> tuple[TaskSet | None, Trust]:
        """The definitions of option, run root or run, and who wrote them. Raises `TaskDefinitionError`.

        The run only where `--webeval-own-tasks` trusts it, for the agent could have written what lies there; never
        the directory of a trajectory, which needs none and may hold downloads.
        """
        path = run.path
        if self.configured is not None:
            return self.configured, Trust.USER
        root = self.labels.root_of(path) or path
        if root != path and (tasks := self.in_root(root)) is not None:
            return tasks, Trust.USER
        if not self.settings.own_tasks:
            return None, Trust.UNDEFINED
        return self._own_tasks(run, (OWN_TASK, TASKS) if root == path else (OWN_TASK,)), Trust.RUN

    def _own_tasks(self, run: Run, names: Sequence[str]) -> TaskSet | None:
        """The definition in the run directory. The latest one is cached: it is requested several times in a row."""
        if run.path not in self._latest:
            self._latest.clear()
            self._latest[run.path] = None if run.is_trajectory else _read_first(run.path, names, FROM_RUN)
        return _tasks_or_raise(self._latest[run.path])

    def in_root(self, root: Path) -> TaskSet | None:
        """The task set that an option names or that lies in a run root. Raises `TaskDefinitionError`.

        None for a root that is a run itself: the agent could have written what lies in it.
        """
        if self.configured is not None:
            return self.configured
        if root not in self._task_sets:
            is_run = self.format_of(root) is not None
            self._task_sets[root] = None if is_run else _read_first(root, (TASKS,))
        return _tasks_or_raise(self._task_sets[root])

    def is_defined(self, path: Path) -> bool:
        """Whether a directory is named by the id of a task, of the definitions or of the subset."""
        task_id = default_task_id(path)
        if str(task_id) in self._subset_ids:
            return True
        tasks = self.in_root(self.labels.root_of(path) or path)
        return tasks is not None and task_id in tasks

    def leaves_out(self, task_id: int | str | None) -> bool:
        """Whether the subset does not have a task. A broken run without a number may be of any task."""
        return self.subset is not None and task_id is not None and str(task_id) not in self._subset_ids

    @cached_property
    def _subset_ids(self) -> frozenset[str]:
        return frozenset(map(str, self.subset.task_ids)) if self.subset is not None else frozenset()


def _read_first(directory: Path, names: Sequence[str], origin: str | None = None) -> TaskSetOrError:
    """The tasks in the first of these files that is there. `origin` follows its name in place of its path."""
    name = next((candidate for candidate in names if exists_no_follow(directory / candidate)), None)
    if name is None:
        return None
    try:
        return load_untrusted_tasks(directory, name, f"{name} {origin}" if origin else str(directory / name))
    except TaskDefinitionError as error:  # as dear to find out again for each run as a task set is to read
        return error


def _tasks_or_raise(tasks_or_error: TaskSetOrError) -> TaskSet | None:
    if isinstance(tasks_or_error, TaskDefinitionError):  # a new one: if raised for each run, one would keep them all
        raise TaskDefinitionError(str(tasks_or_error)) from tasks_or_error.__cause__
    return tasks_or_error
