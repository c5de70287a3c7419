"""Scores a batch of runs in a worker process, with what the session told it once."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from pytest_webeval.errors import SettingsError
from pytest_webeval.executors.placement import WorkerDied
from pytest_webeval.reports.rerun import RerunCommands
from pytest_webeval.sessions.external_verdicts import ExternalVerdicts, VerdictMatches
from pytest_webeval.sessions.own_evaluators import load_evaluators
from pytest_webeval.sessions.run_outcome import WrittenPage, WrittenRun
from pytest_webeval.sessions.run_scoring import RunScorer, RunToScore
from pytest_webeval.sessions.settings import Settings
from pytest_webeval.sessions.task_definitions import TaskSetOrError
from pytest_webeval.sessions.workspace import Workspace
from pytest_webeval.tasks.dataset import TaskSet

PINNED = ("--rootdir=.",)  # without which pytest could name runs by another directory than this one


class SessionSeed(Struct, frozen=True, kw_only=True):
    """What a process needs to know to score runs of a session; any process can be sent it.

    `key` tells the sessions of one process apart. The task sets are those of options and run roots, so that a process
    on another machine reads none, and `verdicts` are those of files with the runs that they are on. `modules` is the
    checksum of modules of users that decide. `options` are those of commands that score a run again.
    """

    key: str
    settings: Settings
    rootpath: Path
    here: Path
    started: float
    configured_tasks: TaskSet | None
    root_tasks: Mapping[Path, TaskSetOrError]
    evaluators_from: str | None
    run_count: int
    options: tuple[str, ...]
    is_local: bool = True  # whether workers are on the machine of the session
    probes: Mapping[str, str] = field(default_factory=dict)  # files that all workers must see, with their content
    verdicts: tuple[ExternalVerdicts, Mapping[str, VerdictMatches]] | None = None
    modules: str | None = None

    def build_page_maker(self, workspace: Workspace, *, is_reading: bool = True) -> PageMaker | None:
        """What writes the pages of a report, if there is to be one."""
        report = self.settings.report
        return None if report is None else PageMaker(workspace, report, self.run_count, self.options, is_reading)

    def build_workspace(self) -> Workspace:
        """The workspace of a process. Raises `SettingsError`."""
        settings, root_tasks = self.settings, self.root_tasks
        if not self.is_local:
            from pytest_webeval.sessions.other_machines import (
                check_probes,  # few sessions have them
                move_settings,  # same
            )

            check_probes(self.probes)
            settings, places = move_settings(settings)
            root_tasks = {places.get(root, root): tasks for root, tasks in root_tasks.items()}
        workspace = Workspace(settings, self.rootpath, self.here, self.started)
        workspace.tasks.provide(self.configured_tasks, root_tasks)
        if self.verdicts is not None:
            workspace.provide_verdicts(*self.verdicts)
        return workspace

    @property
    def has_stores(self) -> bool:
        """Whether runs come from stores, or results go to one."""
        return bool(self.settings.mirrors or self.settings.staging)


class PageMaker(Struct, frozen=True, eq=False):
    """Writes the pages of a report. A page that cannot be made is missing, without other effects."""

    workspace: Workspace
    directory: Path
    run_count: int
    options: Sequence[str]
    is_reading: bool = True  # whether the recording may be read

    def __call__(self, written: WrittenRun, path: Path) -> WrittenPage:
        """Write the page of a run."""
        from pytest_webeval.sessions.page_writer import PageWriter  # for sessions with a report

        label = written.record.run
        missing = (label,) if written.record.missing else ()
        commands = RerunCommands({label: written.record.task_id}, self.options, PINNED, missing, has_others=True)
        writer = PageWriter(self.workspace, self.directory)
        run = None if self.is_reading else writer.build_placeholder(path)
        return writer.try_to_write(written, path, self.run_count, commands.command([label]).command, run)


_scorers: dict[str, RunScorer] = {}  # of the latest session that this process scores for


def score_batch(seed: SessionSeed, batch: Sequence[RunToScore]) -> list[str | None]:
    """Score some runs. For each what the session is told, as text; None for one outside the subset."""
    scorer = _find_scorer(seed)
    if seed.has_stores:
        from pytest_webeval.sessions.remote_batches import score_with_stores  # few sessions have stores

        payloads = score_with_stores(scorer, batch, seed.settings, is_local=seed.is_local)
    else:
        payloads = [scorer.score(target) for target in batch]
    scorer.workspace.forget_branches()
    return [None if payload is None else payload.to_text() for payload in payloads]


def _find_scorer(seed: SessionSeed) -> RunScorer:
    if seed.key not in _scorers:
        _scorers.clear()
        _scorers[seed.key] = build_scorer(seed)
    return _scorers[seed.key]


def build_scorer(seed: SessionSeed, *, is_reading: bool = True) -> RunScorer:
    """What scores the runs of a session in this process. Raises `SettingsError`."""
    workspace = seed.build_workspace()
    evaluators, modules = load_evaluators(seed.evaluators_from)
    if seed.modules not in (None, modules):
        problem = f"{seed.evaluators_from} differs between the session and a worker on {platform.node()}"
        raise SettingsError(f"{problem}; install the same modules for all workers, and do not change them")
    pages = seed.build_page_maker(workspace, is_reading=is_reading)
    return RunScorer(workspace, evaluators, modules, pages)


def describe_lost_run(seed: SessionSeed, target: RunToScore, deaths: WorkerDied) -> str:
    """What the session is told of a run that has killed its workers: its error, in its file as well."""
    scorer = build_scorer(seed, is_reading=False)
    return scorer.describe_lost(Path(target.path), deaths.message).to_text()
