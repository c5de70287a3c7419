"""The runs of a session of pytest, with what its options, hooks and other processes say of them."""

from __future__ import annotations

import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest
from msgspec import field

from pytest_webeval.errors import WebEvalError
from pytest_webeval.evaluators.case import Case
from pytest_webeval.plugin.selected_paths import Ignoring
from pytest_webeval.plugin.snapshots import SNAPSHOTS, key_of, restore, snapshot
from pytest_webeval.plugin.user_code import PytestCalls
from pytest_webeval.recordings.run import Run, RunFormat
from pytest_webeval.recordings.run_tree import Branch
from pytest_webeval.results import Summary
from pytest_webeval.scoring.definition import Definition
from pytest_webeval.sessions.collected import Counts
from pytest_webeval.sessions.runs.classification import Classifier
from pytest_webeval.sessions.runs.session_rows import SessionRows
from pytest_webeval.sessions.settings.settings import Settings
from pytest_webeval.sessions.workspace.missing_tasks import MissingTasks
from pytest_webeval.sessions.workspace.workspace import Workspace
from pytest_webeval.tasks.sites import Sites

if TYPE_CHECKING:
    from pytest_webeval.judges.calls import Judge
    from pytest_webeval.plugin.judges.session_judges import SessionJudges
    from pytest_webeval.summary.comparison.baseline import KnownFailures


ITEM = "task"
MISSING_ITEM = "missing"
AUDIT_ITEM = "audit"  # of a task, with --webeval-audit-tasks
ITEMS = (ITEM, MISSING_ITEM)
STARTED = "webeval_started"  # by which the controller of xdist tells a worker when the session began


class PytestWorkspace(Workspace, frozen=True, eq=False, kw_only=True):
    """One per process."""

    config: pytest.Config
    _ignoring: dict[Path, Ignoring] = field(default_factory=dict)

    @classmethod
    def of(cls, config: pytest.Config, settings: Settings) -> Self:
        """The workspace of a session; that of an xdist worker began with its controller."""
        started = getattr(config, "workerinput", {}).get(STARTED) or time.time()
        return cls(settings, config.rootpath, config.invocation_params.dir, started, config=config)

    @cached_property
    def classifier(self) -> Classifier:
        """What classifies runs without a verdict."""
        plain = WebEvalError, pytest.skip.Exception, pytest.xfail.Exception
        return Classifier(self, self.config.stash[MISSING_TASKS], plain)

    def recognize(self, path: Path) -> RunFormat | None:
        """The format of a run directory that a hook knows."""
        run_format: RunFormat | None = self.config.hook.pytest_webeval_recognize(path=path, config=self.config)
        return run_format

    def is_ignored(self, path: Path) -> bool:
        """Whether options of pytest leave a directory out."""
        return self.ignoring(self.labels.root_of(path) or path).covers(path)

    def add_certificate(self, summary: Summary) -> Summary:
        """The summary with what a certificate says of its judges. Raises `SettingsError`."""
        return self.judges.add_certificate(summary)

    @cached_property
    def judges(self) -> SessionJudges:
        """Who may be asked about runs without a verdict. Raises `SettingsError`."""
        from pytest_webeval.plugin.judges.session_judges import SessionJudges  # few sessions ask a judge

        return SessionJudges.of(self.config, self.settings)

    def case(self, run: Run, definition: Definition, sites: Sites, judge: Judge | None = None) -> Case:
        """What evaluators may look at. A judge is asked about a trajectory without a verdict, or about requests."""
        calls = PytestCalls(self.config.rootpath, config=self.config)
        judging = None if judge is None or not self._may_be_judged(run) else self.judges.judging(judge)
        return self.build_case(run, definition, calls, sites, judging)

    def is_judged(self, run: Run) -> bool:
        """Whether the judge that the options name may be asked about a run."""
        return self.judge is not None and self._may_be_judged(run)

    def _may_be_judged(self, run: Run) -> bool:
        return run.is_trajectory or self.settings.judge_requests

    @cached_property
    def judge(self) -> Judge | None:
        """The judge that the options name, or None. Raises `SettingsError`."""
        return None if self.settings.judge is None else self.judges.build_judge()

    @property
    def refusal(self) -> str | None:
        """The message of the server of a judge that does not accept the key, if one did not."""
        return self.judges.refusal if "judges" in vars(self) else None

    def find_branch(self, path: Path) -> Branch:
        """Scan a directory of a root, or take what another process of the session found there."""
        return self._find_shared_branch(path) if SNAPSHOTS in self.config.stash else Workspace.find_branch(self, path)

    def _find_shared_branch(self, path: Path) -> Branch:
        """What the first process of the session found that leaves out the same."""
        ignoring = self.ignoring(self.labels.root_of(path) or path)
        key = key_of(path, self.is_recognizing, *ignoring.as_lists)
        text = self.config.stash[SNAPSHOTS].agree(
            key, lambda: snapshot(Workspace.find_branch(self, path), self._formats)
        )
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

    def ignoring(self, root: Path) -> Ignoring:
        """What a session leaves out of a root."""
        if root not in self._ignoring:
            self._ignoring[root] = Ignoring.of(self.config, root)
        return self._ignoring[root]


WORKSPACE = pytest.StashKey[PytestWorkspace]()
COUNTS = pytest.StashKey[Counts]()
ROWS = pytest.StashKey[SessionRows]()  # in the process that sums up
MISSING_TASKS = pytest.StashKey[MissingTasks]()
TASK_AUDITS = pytest.StashKey[Any]()  # the `TaskAudits` of a session that audits tasks
KNOWN: pytest.StashKey[KnownFailures] = pytest.StashKey()  # with --webeval-known-failures
