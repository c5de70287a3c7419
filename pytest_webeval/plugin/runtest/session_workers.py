"""Worker processes of a session with --webeval-workers, which score runs while the session reports those before."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Struct

from pytest_webeval.errors import WebEvalError
from pytest_webeval.plugin.collection.nodes import RunItem, are_siblings, is_plain
from pytest_webeval.plugin.runtest.evaluation import POOL
from pytest_webeval.plugin.runtest.fingerprints import FINGERPRINTS, PREVIOUS
from pytest_webeval.plugin.workspace import PytestWorkspace
from pytest_webeval.recordings import formats
from pytest_webeval.scoring.worker import Request, WorkerSettings
from pytest_webeval.scoring.worker_pool import WorkerPool

UNUSED = (
    "--webeval-workers had no effect: all runs were scored in the session, because fixtures, hooks, marks or options "
    "use the phases of their tests; see the page on performance"
)


class SessionWorkers(Struct, eq=False):
    """Plugin that sends the collected runs to the processes, and ends these with the session."""

    workspace: PytestWorkspace
    pool: WorkerPool

    @classmethod
    def of(cls, workspace: PytestWorkspace) -> SessionWorkers:
        """Start the processes that the settings ask for: they load their modules while the session begins."""
        settings = workspace.settings
        worker_settings = WorkerSettings(
            workspace.scorer,
            settings.rules,
            settings.limits,
            settings.timeout,
            settings.evaluators,
            settings.mirrors,
        )
        pool = workspace.config.stash[POOL] = WorkerPool(settings.workers, worker_settings)
        pool.start()
        return cls(workspace, pool)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Request the runs that may be scored directly, in their order, while the session goes on."""
        around = zip([None, *session.items], session.items, [*session.items[1:], None], strict=False)
        runs = [
            item
            for before, item, after in around
            if isinstance(item, RunItem) and are_siblings(item, before) and are_siblings(item, after) and is_plain(item)
        ]
        self.pool.expected = {item.path for item in runs}
        self.pool.requests = ((item.path, self._request(item)) for item in runs)

    def pytest_report_header(self) -> str:
        """Show how many there are."""
        return f"webeval: {self.pool.count} worker processes"

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say that they were of no use."""
        if self.pool.problem is not None:
            terminalreporter.write_line(f"--webeval-workers: {self.pool.problem}")
        elif self.pool.left_to_session and not self.pool.taken:
            terminalreporter.write_line(UNUSED)

    def pytest_unconfigure(self) -> None:
        """End the processes."""
        self.pool.close()

    def _request(self, item: RunItem) -> Request | None:
        """The request for a run; None where the session has to score it itself."""
        workspace, path = self.workspace, item.path
        if item.problem is not None:
            return None
        try:
            run_format = workspace.format_of(path)
            if run_format is None or not any(run_format is built_in for built_in in formats.FORMATS):
                return None
            run = workspace.run(path)
            if run.external_problem is not None or workspace.is_judged(run):
                return None
            previous, definition = workspace.config.stash.get(PREVIOUS, None), workspace.tasks.definition(run)
            if previous is not None and previous.has_entry(
                workspace.config.stash[FINGERPRINTS].modules_of(item, run), run, definition
            ):
                return None
            root = workspace.labels.root_of(path)
            return Request(path, run.label, run_format.name, definition, run.external, root)
        except WebEvalError:  # the item says so when it runs
            return None
