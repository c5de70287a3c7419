"""Scores a batch of runs in a worker process, with what the session told it once."""

from __future__ import annotations

import platform
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from msgspec import Struct, field

from pytest_webeval.errors import SettingsError
from pytest_webeval.executors.choice import choose_executor
from pytest_webeval.executors.job import encode, pack
from pytest_webeval.executors.placement import JobExecutor, WorkerDied
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.reports.rerun import RerunCommands
from pytest_webeval.results import TaskResult
from pytest_webeval.scoring.provenance import record_code_checksum
from pytest_webeval.scoring.score import IMPORTED_LATE
from pytest_webeval.sessions.placement.score_settings import ScoreSettings
from pytest_webeval.sessions.runs.own_evaluators import load_evaluators
from pytest_webeval.sessions.runs.record_payload import RecordPayload
from pytest_webeval.sessions.runs.run_outcome import RunOutcome
from pytest_webeval.sessions.runs.run_scoring import RunScorer, RunToScore
from pytest_webeval.sessions.settings.settings import Settings
from pytest_webeval.sessions.workspace.external_verdicts import ExternalVerdicts, VerdictMatches
from pytest_webeval.sessions.workspace.task_definitions import TaskSetOrError
from pytest_webeval.sessions.workspace.workspace import Workspace
from pytest_webeval.tasks.dataset import TaskSet

NESTED = "the result is nested too deep to be sent by its worker; score the run without an executor"
PINNED = ("--rootdir=.",)  # without which pytest could name runs by another directory than this one


class SessionSeed(Struct, frozen=True, kw_only=True):
    """What a process needs to know to score runs of a session; any process can be sent it.

    `key` tells the sessions of one process apart. The task sets are those of options and run roots, so that a process
    on another machine reads none, and `verdicts` are those of files with the runs that they are on. `modules` is the
    checksum of modules of users that decide. `options` are those of commands that score a run again.

    Whoever asks from Python gives `own`, and the policy by which the results that come back are redacted.
    """

    key: str
    settings: Settings
    rootpath: Path
    here: Path
    started: float
    configured_tasks: TaskSet | None
    root_tasks: Mapping[Path, TaskSetOrError]
    evaluators_from: str | None = None
    run_count: int = 0
    options: tuple[str, ...] = ()
    is_local: bool = True  # whether workers are on the machine of the session
    probes: Mapping[str, str] = field(default_factory=dict)  # files that all workers must see, with their content
    verdicts: tuple[ExternalVerdicts, Mapping[str, VerdictMatches]] | None = None
    modules: str | None = None
    own: ScoreSettings | None = None
    returning: RedactionPolicy | None = None

    @classmethod
    def of(cls, workspace: Workspace, **others: Any) -> Self:
        """What processes need to know that score runs of a workspace as this one would, and `others` of it."""
        return cls(
            key=uuid4().hex,
            settings=workspace.settings.without_gates(),
            rootpath=workspace.rootpath,
            here=workspace.here,
            started=workspace.started,
            configured_tasks=workspace.tasks.configured,
            root_tasks=workspace.tasks.list_in_roots(),
            verdicts=None if workspace.external is None else (workspace.external, workspace.matches),
            **others,
        )

    def build_page_maker(self, workspace: Workspace, *, is_reading: bool = True) -> PageMaker | None:
        """What writes the pages of a report, if there is to be one."""
        report = self.settings.report
        return None if report is None else PageMaker(workspace, report, self.run_count, self.options, is_reading)

    def build_workspace(self) -> Workspace:
        """The workspace of a process. Raises `SettingsError`."""
        settings, root_tasks = self.settings, self.root_tasks
        if not self.is_local:
            from pytest_webeval.sessions.placement.other_machines import (
                check_probes,  # few sessions have them
                move_settings,  # same
            )

            check_probes(self.probes)
            settings, places = move_settings(settings)
            root_tasks = {places.get(root, root): tasks for root, tasks in root_tasks.items()}
        place = self.rootpath, self.here, self.started
        own = self.own
        workspace = Workspace(settings, *place) if own is None else own.build_workspace(settings, *place)
        workspace.tasks.provide(self.configured_tasks, root_tasks)
        if self.verdicts is not None:
            workspace.provide_verdicts(*self.verdicts)
        return workspace

    @property
    def has_stores(self) -> bool:
        """Whether runs come from stores, or results go to one."""
        return bool(self.settings.mirrors or self.settings.staging)


def choose_session_executor(text: str) -> JobExecutor:
    """The executor that a text names, whose processes have loaded what scoring needs. Raises `SettingsError`."""
    return choose_executor(text, record_code_checksum, (*IMPORTED_LATE, __name__))


class PageMaker(Struct, frozen=True, eq=False):
    """Writes the pages of a report. A page that cannot be made is missing, without other effects."""

    workspace: Workspace
    directory: Path
    run_count: int
    options: Sequence[str]
    is_reading: bool = True  # whether the recording may be read

    def __call__(
        self, written: RunOutcome, path: Path, limit: AbstractContextManager[None] | None = None
    ) -> RunOutcome:
        """Write the page of a run, within a time limit."""
        from pytest_webeval.sessions.runs.page_writer import PageWriter  # for sessions with a report

        label = written.record.run
        missing = (label,) if written.record.missing else ()
        commands = RerunCommands({label: written.record.task_id}, self.options, PINNED, missing, has_others=True)
        command, is_reading = commands.command([label]).command, self.is_reading
        writer = PageWriter(self.workspace, self.directory)
        return writer.try_to_write(written, path, self.run_count, command, limit, is_reading=is_reading)


class _Scorers(threading.local):
    """The scorer of the latest session that this thread scores for: what it remembers is not for other threads."""

    key = ""
    scorer: RunScorer


_scorers = _Scorers()


def score_batch(seed: SessionSeed, batch: Sequence[RunToScore]) -> list[str | None]:
    """Score some runs. For each what the session is told, as text; None for one outside the subset."""
    payloads = _score_batch(_find_scorer(seed), seed, batch)
    return [None if payload is None else payload.to_text() for payload in payloads]


def score_results(seed: SessionSeed, batch: Sequence[RunToScore]) -> list[bytes]:
    """Score some runs for whoever asks from Python. Each result is encoded alone: one may be nested too deep."""
    scorer = _find_scorer(seed)
    pairs = zip(_score_batch(scorer, seed, batch), batch, strict=True)
    return [pack(payload and payload.result) or _refuse(scorer, target, NESTED) for payload, target in pairs]


def score_here(seed: SessionSeed, targets: Iterable[RunToScore], size: int) -> Iterator[TaskResult]:
    """The results of some runs for whoever asks from Python, one by one; runs of stores in batches."""
    scorer, rest = build_scorer(seed), iter(targets)
    while batch := list(islice(rest, size if seed.has_stores else 1)):
        for payload in _score_batch(scorer, seed, batch):
            if payload is not None and payload.result is not None:
                yield payload.result


def _score_batch(scorer: RunScorer, seed: SessionSeed, batch: Sequence[RunToScore]) -> list[RecordPayload | None]:
    if seed.has_stores:
        from pytest_webeval.sessions.placement.remote_batches import score_with_stores  # few sessions have stores

        payloads = score_with_stores(scorer, batch, seed.settings, is_local=seed.is_local)
    else:
        payloads = [scorer.score(target) for target in batch]
    scorer.workspace.forget_branches()
    return payloads


def _find_scorer(seed: SessionSeed) -> RunScorer:
    if seed.key != _scorers.key:
        _scorers.scorer, _scorers.key = build_scorer(seed), seed.key
    return _scorers.scorer


def build_scorer(seed: SessionSeed, *, is_reading: bool = True) -> RunScorer:
    """What scores the runs of a session in this process. Raises `SettingsError`."""
    workspace = seed.build_workspace()
    if seed.own is not None:
        return RunScorer(workspace, seed.own.list_evaluators(), modules=None, returning=seed.returning)
    evaluators, modules = load_evaluators(seed.evaluators_from)
    if seed.modules not in (None, modules):
        what = seed.evaluators_from or "a package with extensions"
        problem = f"{what} differs between the session and a worker on {platform.node()}"
        raise SettingsError(f"{problem}; install the same modules for all workers, and do not change them")
    pages = seed.build_page_maker(workspace, is_reading=is_reading)
    return RunScorer(workspace, evaluators, modules, pages)


def describe_lost_run(seed: SessionSeed, target: RunToScore, deaths: WorkerDied) -> str:
    """What the session is told of a run that has killed its workers: its error, in its file as well."""
    scorer = build_scorer(seed, is_reading=False)
    return scorer.describe_lost(Path(target.path), deaths.message).to_text()


def refuse_lost_run(seed: SessionSeed, target: RunToScore, deaths: WorkerDied) -> bytes:
    """The same for whoever asks from Python."""
    return _refuse(build_scorer(seed), target, deaths.message)


def _refuse(scorer: RunScorer, target: RunToScore, reason: str) -> bytes:
    return encode(scorer.describe_lost(Path(target.path), reason).result)


def remove_unfinished(workspace: Workspace, targets: Iterable[RunToScore]) -> None:
    """Remove what killed workers left of the results of some runs since the session began."""
    for target in targets:
        workspace.remove_unfinished(Path(target.path))
