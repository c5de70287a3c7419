"""What a process knows of the runs: roots, labels, task sets, site addresses, and where results go."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from functools import cached_property
from pathlib import Path
from urllib.parse import quote_from_bytes
from urllib.parse import unquote_to_bytes

import pytest

from pytest_webeval import formats
from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.errors import WebEvalError
from pytest_webeval.evaluators.base import Case
from pytest_webeval.files import present
from pytest_webeval.plugin.settings import Settings
from pytest_webeval.runs import Run
from pytest_webeval.runs import RunFormat
from pytest_webeval.sites import Sites
from pytest_webeval.sites import load_sites
from pytest_webeval.subsets import Subset
from pytest_webeval.subsets import load_subset
from pytest_webeval.task_sets import TaskSet
from pytest_webeval.task_sets import load_tasks
from pytest_webeval.task_sets import tasks_in
from pytest_webeval.tasks import Task
from pytest_webeval.trajectory_tasks import TrajectoryTask

RESULT = "eval_result.json"
SUMMARY = "eval_summary.json"
TASKS = "tasks.json"
OWN_TASK = "task.json"
FROM_RUN = "in the run directory (the agent could have written it)"
_SAFE = "/-_.~+=@, "


@dataclass(frozen=True, slots=True)
class Definition:
    """The task of a run, the checksum of the file that defines it, and what results call that file."""

    task: Task
    checksum: str
    origin: str

    @property
    def is_from_run(self) -> bool:
        """Whether the agent could have written it."""
        return self.origin.endswith(FROM_RUN)


@dataclass(frozen=True, eq=False)
class Workspace:
    """One a process. Labels are ASCII and unique: they are node ids, keys of records and names in reports."""

    config: pytest.Config
    settings: Settings
    _task_sets: dict[Path, TaskSet | WebEvalError] = field(default_factory=dict)

    @cached_property
    def sites(self) -> Sites:
        """Site addresses of the configuration file. Raises `SettingsError`."""
        return load_sites(self.settings.config) if self.settings.config else Sites()

    @cached_property
    def given_tasks(self) -> TaskSet | None:
        """The task set that an option names. Raises `TaskDefinitionError`."""
        return load_tasks(*self.settings.tasks) if self.settings.tasks else None

    @cached_property
    def subset(self) -> Subset | None:
        """The tasks that count, or None for all. Raises `SettingsError`."""
        return load_subset(self.settings.subset) if self.settings.subset else None

    def root_of(self, path: Path) -> Path | None:
        """The run root that a path lies in."""
        return next((root for root in self.settings.roots if path.is_relative_to(root)), None)

    @cached_property
    def prefixes(self) -> dict[Path, str]:
        """What labels of a root begin with: its place below pytest's rootdir, or its own name where it lies outside."""
        found: dict[Path, str] = {}
        for root in self.settings.roots:
            inside = root.is_relative_to(self.config.rootpath)
            wanted = root.relative_to(self.config.rootpath).as_posix() if inside else root.name
            count = 2
            name = wanted
            while name in found.values():
                name, count = f"{wanted}-{count}", count + 1
            found[root] = name
        return found

    def label(self, path: Path) -> str:
        """The unique ASCII name of a directory at or below a run root."""
        root = self.root_of(path)
        if root is None:
            raise ValueError(f"{path} lies in no run root")
        parts = [self.prefixes[root], path.relative_to(root).as_posix()]
        joined = "/".join(part for part in parts if part != ".") or "."
        return quote_from_bytes(os.fsencode(joined), safe=_SAFE)

    def path_of(self, label: str) -> Path | None:
        """The directory with that label, or None."""
        plain = os.fsdecode(unquote_to_bytes(label))
        for root, prefix in sorted(self.prefixes.items(), key=lambda pair: -len(pair[1])):
            if prefix in (".", plain) or plain.startswith(f"{prefix}/"):
                inner = plain if prefix == "." else plain[len(prefix) :].lstrip("/")
                return root / inner
        return None

    def format_of(self, path: Path) -> RunFormat | None:
        """The format of a run directory: one that a hook knows, or one of ours."""
        found: RunFormat | None = self.config.hook.pytest_webeval_recognize(path=path, config=self.config)
        return found or formats.format_of(path)

    def run(self, path: Path) -> Run:
        """The run in a directory. Raises `RecordingError`."""
        found = self.format_of(path)
        if found is None:
            return formats.load_run(path, self.settings.rules, self.label(path))
        return found.load(path, self.label(path), self.settings.rules)

    def definition(self, run: Run) -> Definition:
        """What the task of a run is, and where that stands. Raises `TaskDefinitionError`."""
        tasks = self._task_set(run)
        if tasks is None and run.trajectory is None:
            root = self.root_of(run.path) or run.path
            raise TaskDefinitionError(
                f"no task definition for {run.label}: no {root / TASKS}, no {OWN_TASK} in it; "
                "name one with --webeval-tasks"
            )
        checksum, origin = self.source_of(run)
        return Definition(run.task(tasks), checksum, origin)

    def source_of(self, run: Run) -> tuple[str, str]:
        """Checksum and name of the file with the definition of a run's task; empty where it has none."""
        try:
            tasks = self._task_set(run)
        except WebEvalError:
            return "", ""
        if tasks is None or (run.trajectory is not None and run.task_id not in tasks):
            return "", ""
        return tasks.checksum, tasks.origin

    def known_task(self, run: Run) -> Task | None:
        """The definition that somebody gave of a run's task, if it can be used. Looks at no recording."""
        try:
            tasks = self._task_set(run)
            is_defined = tasks is not None and run.task_id in tasks
            return tasks.get(run.task_id) if tasks is not None and is_defined else None
        except WebEvalError:
            return None

    def _task_set(self, run: Run) -> TaskSet | None:
        """Where the definition of a run's task should be: option, run root or run. Raises `TaskDefinitionError`.

        Never the directory of a trajectory, which needs none: what lies there may be a download.
        """
        path = run.path
        if self.given_tasks is not None:
            return self.given_tasks
        root = self.root_of(path) or path
        if root != path and (found := self.definitions(root)) is not None:
            return found
        for name in (OWN_TASK, TASKS) if root == path else (OWN_TASK,):
            if run.trajectory is None and present(path / name):
                return tasks_in(path, name, f"{name} {FROM_RUN}")
        return None

    def definitions(self, root: Path) -> TaskSet | None:
        """The task set that an option names or that lies in a run root. Raises `TaskDefinitionError`.

        None for a root that is a run itself: the agent could have written what lies in it.
        """
        if self.given_tasks is not None:
            return self.given_tasks
        if root not in self._task_sets and (not present(root / TASKS) or self.format_of(root) is not None):
            return None
        return self._cached(root, TASKS, str(root / TASKS))

    def _cached(self, directory: Path, name: str, source: str) -> TaskSet:
        if directory not in self._task_sets:
            try:
                self._task_sets[directory] = tasks_in(directory, name, source)
            except WebEvalError as error:  # as dear to find out again for each run as a task set is to read
                self._task_sets[directory] = error
        found = self._task_sets[directory]
        if isinstance(found, WebEvalError):
            raise found
        return found

    def case(self, run: Run, sites: Sites) -> Case:
        """What evaluators may look at. Raises `WebEvalError`."""
        definition = self.definition(run)
        case = Case(run, definition.task, sites, today=self.settings.today, asked_policy=self.settings.policy)
        if isinstance(definition.task, TrajectoryTask):
            case.warnings.extend(definition.task.warnings)
        if run.trajectory is not None and self.given_tasks is not None and not definition.origin:
            told = f"task {run.task_id} is not defined in {self.given_tasks.origin}"
            case.warnings.append(f"{told}; the run belongs to no group")
        if definition.is_from_run:
            case.warnings.append(
                "the task definition comes from the run directory, where the agent could have written it"
            )
        return case

    def result_path(self, path: Path) -> Path:
        """Where the result of a run goes."""
        return self.place(path) / RESULT

    def place(self, path: Path) -> Path:
        """The directory for what is written about a directory at or below a root."""
        root = self.root_of(path)
        if self.settings.output is None or root is None:
            return path
        tree = self.settings.output if len(self.settings.roots) == 1 else self.settings.output / self.prefixes[root]
        return tree / path.relative_to(root)

    def run_paths(self) -> list[Path]:
        """All run directories of all roots, in the order in which they are collected. Raises `RecordingError`."""
        return list(dict.fromkeys(path for root in self.settings.roots for path in self._runs_below(root)))

    def subdirectories(self, path: Path) -> list[Path]:
        """Directories that may be or hold runs: all but the one that results go to. Raises `RecordingError`."""
        return [child for child in formats.subdirectories(path) if child != self.settings.output]

    def _runs_below(self, path: Path) -> Iterator[Path]:
        if self.format_of(path) is not None:
            yield path
            return
        for child in self.subdirectories(path):
            yield from self._runs_below(child)


WORKSPACE = pytest.StashKey[Workspace]()
