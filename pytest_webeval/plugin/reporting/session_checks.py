"""What a session of pytest must reach, and which of its failures no gate can excuse."""

from __future__ import annotations

from typing import Self

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.plugin.collection.nodes import RunItem
from pytest_webeval.plugin.runtest.report_payloads import find_payload
from pytest_webeval.plugin.selected_paths import SELECTING, selects_some_runs
from pytest_webeval.plugin.workspace import ITEMS, MISSING_TASKS, PytestWorkspace
from pytest_webeval.results import Status, Summary
from pytest_webeval.sessions.session_checks import SessionChecks

# How a session with such an option may leave runs out, by the name of its value.
_SELECTIONS = {name: f"{flags[0]} selects" for name, flags in SELECTING.items()} | {
    "deselect": "--deselect selects all but",
    "maxfail": "-x or --maxfail may score only",
}


def find_selection(workspace: PytestWorkspace) -> str | None:
    """How a session selects some of its runs; None if it scores all."""
    config, roots = workspace.config, workspace.settings.runs
    by_option = (text for name, text in _SELECTIONS.items() if config.getoption(name, default=None))
    by_path = "arguments select" if roots and selects_some_runs(config, roots) else None
    selection = next(by_option, by_path)
    return f"{selection} some runs" if selection else None


class PytestChecks(SessionChecks, eq=False):
    """Plugin of the controller."""

    selection: str | None = None  # how the session selects some of its runs

    @classmethod
    def of_pytest(cls, workspace: PytestWorkspace) -> Self:
        """The checks of a session. Raises `WebEvalError`, also for a typed gate where some runs are selected."""
        checks = cls.of(workspace, workspace.config.stash[MISSING_TASKS])
        checks.selection = find_selection(workspace)
        if checks.selection is not None and any(gate.is_typed for gate in checks.gates):
            raise SettingsError(f"{checks.selection}, --webeval-gate judges all; remove one")
        return checks

    def check(self, summary: Summary) -> Summary:
        """The checked summary. Gates of the configuration file do not judge a selection of the runs."""
        if self.gates and self.selection is not None and summary.webeval["partial"]:
            self.gates.clear()
            self.notes.append(f"gates not evaluated: {self.selection}")
        return super().check(summary)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Refuse a baseline that is of no use for the collected tasks. Under xdist the controller collects none."""
        ids = [str(item.task_id) for item in session.items if isinstance(item, RunItem)]
        try:
            if self.selection is None:
                self.check_baseline(ids)
        except SettingsError as error:
            raise pytest.UsageError(str(error)) from error

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember a failure that no gate can excuse: of a Python test, a fixture, a hook or a worker."""
        if report.failed:
            self.has_other_failure |= report.when == "teardown" or not _is_verdict(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember an error of collection."""
        self.has_other_failure |= report.failed

    def fail_unscored(self, session: pytest.Session) -> None:
        """Fail a session with gates in which nothing was scored."""
        if self.gates and session.exitstatus != pytest.ExitCode.USAGE_ERROR:
            self.notes.append("gates not evaluated: no run was scored")
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def _is_verdict(report: pytest.TestReport) -> bool:
    """Whether a report that failed is about the recording or the agent: its text is ours, and its run is no success."""
    payload = find_payload(report)
    if payload is None or payload.part is not None or payload.is_disturbed or not isinstance(report.longrepr, str):
        return False
    return payload.record.status != Status.SUCCESS and report.nodeid.rpartition("::")[2] in ITEMS
