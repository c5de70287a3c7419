"""What a session of pytest must reach, and which of its failures no gate can excuse."""

from __future__ import annotations

import pytest

from pytest_webeval.plugin.runtest.report_payloads import find_payload
from pytest_webeval.plugin.workspace import ITEMS
from pytest_webeval.results import Status
from pytest_webeval.sessions.session_checks import SessionChecks


class PytestChecks(SessionChecks, eq=False):
    """Plugin of the controller."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember a failure that no gate can excuse: of a Python test, a fixture, a hook or a worker."""
        if report.failed:
            self.has_other_failure |= report.when == "teardown" or not _is_verdict(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember an error of collection."""
        self.has_other_failure |= report.failed

    def fail_unscored(self, session: pytest.Session) -> None:
        """Fail a session with gates in which nothing was scored."""
        if self.gates or self.workspace.settings.require_certificate:
            self.notes.append("gates not evaluated: no run was scored")
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def _is_verdict(report: pytest.TestReport) -> bool:
    """Whether a report that failed is about the recording or the agent: its text is ours, and its run is no success."""
    payload = find_payload(report)
    if payload is None or payload.part is not None or payload.is_disturbed or not isinstance(report.longrepr, str):
        return False
    return payload.record.status != Status.SUCCESS and report.nodeid.rpartition("::")[2] in ITEMS
