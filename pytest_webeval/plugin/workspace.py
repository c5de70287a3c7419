"""The runs of a session: roots, labels, task sets, site URLs, and paths of results."""

from __future__ import annotations

import time
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import Struct
from msgspec import field
from msgspec import structs

from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.errors import WebEvalError
from pytest_webeval.evaluators.case import Case
from pytest_webeval.plugin.selected_paths import Ignoring
from pytest_webeval.plugin.settings import Settings
from pytest_webeval.plugin.snapshots import SNAPSHOTS
from pytest_webeval.plugin.snapshots import key_of
from pytest_webeval.plugin.snapshots import restore
from pytest_webeval.plugin.snapshots import snapshot
from pytest_webeval.plugin.user_code import PytestCalls
from pytest_webeval.recordings import formats
from pytest_webeval.recordings.discovery import DirectoryListing
from pytest_webeval.recordings.inputs import LOAD_TASK
from pytest_webeval.recordings.labels import Labels
from pytest_webeval.recordings.labels import default_task_id
from pytest_webeval.recordings.labels import parse_task_id
from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.run import RunFormat
from pytest_webeval.recordings.run_tree import Branch
from pytest_webeval.recordings.run_tree import Kind
from pytest_webeval.recordings.run_tree import Search
from pytest_webeval.results import RESULT
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.scoring.definition import Definition
from pytest_webeval.scoring.definition import Trust
from pytest_webeval.scoring.definition import find_source
from pytest_webeval.scoring.definition import find_task
from pytest_webeval.scoring.scorer import Scorer
from pytest_webeval.tasks.dataset import TASKS
from pytest_webeval.tasks.dataset import TaskSet
from pytest_webeval.tasks.dataset import load_tasks
from pytest_webeval.tasks.dataset import load_untrusted_tasks
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.tasks.sites import load_sites
from pytest_webeval.tasks.task import Task

if TYPE_CHECKING:
    from pytest_webeval.plugin.external_verdicts import ExternalVerdicts
    from pytest_webeval.plugin.external_verdicts import VerdictMatches
    from pytest_webeval.summary.baseline import Baseline
    from pytest_webeval.summary.baseline import KnownFailures
    from pytest_webeval.tasks.subset import Subset


ITEM = "task"
MISSING_ITEM = "missing"
ITEMS = (ITEM, MISSING_ITEM)


class Counts(Struct, frozen=True):
    """How many run items a process left out, and how many runs were split into shards, with the checksum of that.

    `deselected` are all of them: those `outside` the subset, those `elsewhere` in other shards, and what users chose.
    """

    deselected: int = 0
    outside: int = 0
    elsewhere: int = 0
    split: int = 0
    split_checksum: str = ""
    user_code: str = ""  # checksum of modules of users that decide, of all shards
    matched_labels: int = -1  # how many labels of a file are on a run; -1 until they are counted
    matched_verdicts: int = -1
    without_labels: int = 0  # how many trajectories have none in the file
    without_verdicts: int = 0

    @property
    def chosen(self) -> int:
        """How many runs options of pytest deselected, or hooks."""
        return self.deselected - self.outside - self.elsewhere

    def join(self, other: Counts) -> Counts:
        """The counts of two processes that collected the same, or of which one collected nothing."""
        return Counts(*(max(pair) for pair in zip(structs.astuple(self), structs.astuple(other), strict=True)))


COUNTS = pytest.StashKey[Counts]()


OWN_TASK = "task.json"
FROM_RUN = "in the run directory (the agent could have written it)"
# The tasks in a file, why they cannot be read, or that there is no such file.
TaskSetOrError = TaskSet | TaskDefinitionError | None


class Workspace(Struct, frozen=True, eq=False, dict=True):
    """One per process. Caches what it read of run roots and runs."""

    config: pytest.Config
    settings: Settings
    started: float = field(default_factory=time.time)  # seconds since 1970, before anything was read
    _task_sets: dict[Path, TaskSetOrError] = field(default_factory=dict)
    _latest: dict[Path, TaskSetOrError] = field(default_factory=dict)
    _formats: dict[Path, RunFormat | None] = field(default_factory=dict)
    _branches: dict[Path, Branch] = field(default_factory=dict)
    _ignoring: dict[Path, Ignoring] = field(default_factory=dict)
    _problems: dict[Path, str] = field(default_factory=dict)

    @cached_property
    def sites(self) -> Sites:
        """Site addresses of the configuration file. Raises `SettingsError`."""
        return load_sites(self.settings.config) if self.settings.config else Sites()

    @cached_property
    def configured_tasks(self) -> TaskSet | None:
        """The task set that an option names. Raises `TaskDefinitionError`."""
        return load_tasks(*self.settings.tasks) if self.settings.tasks else None

    @property
    def tasks_origin(self) -> str | None:
        """The name of the file of tasks that an option names, or None."""
        return self.configured_tasks.origin if self.configured_tasks is not None else None

    @cached_property
    def scorer(self) -> Scorer:
        """What decides the results of all runs, but for the evaluators, which each item has of its own."""
        settings = self.settings
        return Scorer((), self.sites, settings.today, settings.policy, self.tasks_origin)

    @cached_property
    def subset(self) -> Subset | None:
        """The tasks that count, or None for all. Raises `SettingsError`."""
        if not self.settings.subset:
            return None
        from pytest_webeval.tasks.subset import load_subset  # few sessions name one

        return load_subset(self.settings.subset)

    @cached_property
    def baseline(self) -> Baseline | None:
        """The earlier session to compare with; None without one. Raises `SettingsError`."""
        path = self.settings.baseline
        if path is None or (self.settings.baseline_update and not path.exists()):
            return None
        from pytest_webeval.summary.baseline import read_baseline  # few sessions have one

        return read_baseline(path)

    @cached_property
    def labels(self) -> Labels:
        """The names of directories at or below the run roots."""
        return Labels(self.settings.roots, self.config.rootpath)

    def format_of(self, path: Path, seen: DirectoryListing | None = None) -> RunFormat | None:
        """The format of a run directory, from a hook or built in. It is cached.

        Raises `RecordingError` if a hook or a format cannot read the directory.
        """
        if path in self._formats:
            return self._formats[path]
        try:
            hook_format: RunFormat | None = self.config.hook.pytest_webeval_recognize(path=path, config=self.config)
            run_format = hook_format or formats.format_of(path, seen)
        except OSError as error:
            raise RecordingError(f"cannot read {path}: {error.strerror or error}; make it readable") from error
        if run_format is not None or seen is not None:  # until it is collected, a conftest.py may come that knows it
            self._formats[path] = run_format
        return run_format

    def run(self, path: Path) -> Run:
        """The run in a directory, with what files of the session say of it. Raises `RecordingError`."""
        run = self._load(path)
        if self.external is None or not run.is_trajectory:
            return run
        from pytest_webeval.plugin.external_verdicts import judge_run  # few sessions have such files

        return judge_run(run, self.labels, self.matches.values())

    def _load(self, path: Path) -> Run:
        if path in self._problems:
            raise RecordingError(self._problems[path])
        run_format = self.format_of(path)
        if run_format is None:
            return formats.load_run(path, self.settings.rules, self.labels.of(path))
        try:
            return self._load_run(run_format, path)
        except RecordingError:
            raise
        except Exception as error:  # the format of a user, or a new one, may raise anything
            name, message = getattr(run_format, "name", type(run_format).__name__), " ".join(str(error).split())
            is_ours = any(run_format is layout for layout in formats.FORMATS)
            advice = "report it as a bug of pytest-webeval" if is_ours else "fix its load() and rerun"
            problem = f"the format {name} cannot load {path}: {type(error).__name__}: {message}"
            raise RecordingError(f"{problem}; {advice}") from error

    def _load_run(self, run_format: RunFormat, path: Path) -> Run:
        return run_format.load(path, self.labels.of(path), self.settings.rules).within(self.settings.limits)

    @cached_property
    def external(self) -> ExternalVerdicts | None:
        """The verdicts in files that options name; None without such an option. Raises `SettingsError`."""
        if (self.settings.verdicts, self.settings.labels, self.settings.label_coding) == (None, None, None):
            return None
        from pytest_webeval.plugin.external_verdicts import ExternalVerdicts  # few sessions have such files

        return ExternalVerdicts.load(self.settings)

    @cached_property
    def matches(self) -> Mapping[str, VerdictMatches]:
        """These verdicts with the trajectories of all roots, whichever of them the session scores, by option."""
        return {} if self.external is None else self.external.match(self._find_trajectories(), self.labels)

    def count_matches(self) -> dict[str, int]:
        """How many of them are on a run, and on how many trajectories there is none, as fields of `Counts`."""
        matched = {f"matched_{option}": len(matches.runs) for option, matches in self.matches.items()}
        return matched | {f"without_{option}": matches.count_others() for option, matches in self.matches.items()}

    def _find_trajectories(self) -> Iterator[Run]:
        """Those that can be loaded. Others say themselves why they cannot."""
        for path in self.run_paths:
            with suppress(RecordingError):
                run = self._load(path)
                if run.is_trajectory:
                    yield run

    def definition(self, run: Run) -> Definition:
        """What the task of a run is, and where that stands. Raises `TaskDefinitionError`."""
        with run.inputs.durations.phase(LOAD_TASK):
            return self._definition(run)

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

    def task_or_none(self, run: Run) -> Task | None:
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
        if self.configured_tasks is not None:
            return self.configured_tasks, Trust.USER
        root = self.labels.root_of(path) or path
        if root != path and (tasks := self.definitions(root)) is not None:
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

    def definitions(self, root: Path) -> TaskSet | None:
        """The task set that an option names or that lies in a run root. Raises `TaskDefinitionError`.

        None for a root that is a run itself: the agent could have written what lies in it.
        """
        if self.configured_tasks is not None:
            return self.configured_tasks
        if root not in self._task_sets:
            is_run = self.format_of(root) is not None
            self._task_sets[root] = None if is_run else _read_first(root, (TASKS,))
        return _tasks_or_raise(self._task_sets[root])

    def case(self, run: Run, definition: Definition, sites: Sites) -> Case:
        """What evaluators may look at."""
        return self.scorer.build_case(run, definition, sites, PytestCalls(self.config.rootpath, config=self.config))

    def result_path(self, path: Path) -> Path:
        """The path of the result of a run."""
        return self.place(path) / RESULT

    def place(self, path: Path) -> Path:
        """The output directory for a directory at or below a root."""
        root = self.labels.root_of(path)
        if self.settings.output is None or root is None:
            return path
        is_alone = len(self.settings.roots) == 1
        tree = self.settings.output if is_alone else self.settings.output / self.labels.prefixes[root]
        return tree / path.relative_to(root)

    @property
    def branches(self) -> Iterator[Branch]:
        """All runs of all roots, including broken ones, in the order of collection."""
        ends = (branch for root in self.settings.roots for branch in self.branch(root).list_items())
        return iter({branch.path: branch for branch in ends}.values())

    @cached_property
    def run_paths(self) -> list[Path]:
        """All run directories of all roots, in the order in which they are collected."""
        return [branch.path for branch in self.branches if branch.kind is Kind.RUN]

    @cached_property
    def tested_paths(self) -> list[Path]:
        """The runs for which Python tests are repeated, including broken ones."""
        branches = list(self.branches)
        self._problems.update({branch.path: branch.problem for branch in branches if branch.problem is not None})
        return [branch.path for branch in branches]

    def branch(self, path: Path) -> Branch:
        """The runs at or below a directory of a root. It is scanned once, by one process for all."""
        if path not in self._branches:
            shared = SNAPSHOTS in self.config.stash
            self._branches[path] = self._find_shared_branch(path) if shared else self._find_branch(path)
        return self._branches[path]

    def _find_branch(self, path: Path) -> Branch:
        root = self.labels.root_of(path) or path
        search = Search(root, self.format_of, self.is_task, self.is_defined, self.is_left_out)
        return search.branch(path)

    def _find_shared_branch(self, path: Path) -> Branch:
        """What the first process of the session found that leaves out the same."""
        ignoring = self.ignoring(self.labels.root_of(path) or path)
        key = key_of(path, self.is_recognizing, *ignoring.as_lists)
        text = self.config.stash[SNAPSHOTS].agree(key, lambda: snapshot(self._find_branch(path), self._formats))
        branch, run_formats = restore(text, path)
        for run, layout in run_formats.items():
            if layout is not None:
                self._formats[run] = layout
            elif self._formats.get(run) is None:  # the hook that recognized it is called again
                self._formats.pop(run, None)
        return branch

    @property
    def is_recognizing(self) -> bool:
        """Whether a hook of the users' may know formats of its own."""
        return bool(self.config.hook.pytest_webeval_recognize.get_hookimpls())

    def forget_branches(self) -> None:
        """Release the scanned branches, which only other processes need."""
        self._branches.clear()
        self._formats.clear()

    @property
    def without_runs(self) -> list[str]:
        """The sorted labels of scanned directories without runs."""
        directories = {directory for root in self.settings.roots for directory in self._without_runs_in(root)}
        return sorted(map(self.labels.of, directories))

    def _without_runs_in(self, root: Path) -> Sequence[Path]:
        return self._branches[root].without_runs if root in self._branches else ()

    def ignoring(self, root: Path) -> Ignoring:
        """What a session leaves out of a root."""
        if root not in self._ignoring:
            self._ignoring[root] = Ignoring.of(self.config, root)
        return self._ignoring[root]

    def is_left_out(self, path: Path) -> bool:
        """Whether a directory is written to by this session, or ignored."""
        settings = self.settings
        is_written = path in (settings.output, settings.report, settings.metrics)
        return is_written or self.ignoring(self.labels.root_of(path) or path).covers(path)

    def is_task(self, path: Path) -> bool:
        """Whether a directory is named by the id of a task; by any number, where the definitions cannot be read."""
        try:
            return self._is_defined(path)
        except TaskDefinitionError:
            return parse_task_id(path) is not None

    def is_defined(self, path: Path) -> bool:
        """Whether a directory is certainly named by the id of a task, of the definitions or of the subset."""
        try:
            return self._is_defined(path)
        except TaskDefinitionError:
            return False

    def _is_defined(self, path: Path) -> bool:
        task_id = default_task_id(path)
        if str(task_id) in self._subset_ids:
            return True
        tasks = self.definitions(self.labels.root_of(path) or path)
        return tasks is not None and task_id in tasks

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


WORKSPACE = pytest.StashKey[Workspace]()
KNOWN: pytest.StashKey[KnownFailures] = pytest.StashKey()  # with --webeval-known-failures
