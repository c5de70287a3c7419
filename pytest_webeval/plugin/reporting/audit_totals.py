"""The line that counts the findings of an audit, and the exit code where some are allowed."""

from __future__ import annotations

import pytest
from msgspec import Struct

from pytest_webeval.plugin.collection.task_audits import FINDINGS, NOTES, TRIALS
from pytest_webeval.safety.text import pluralize


class AuditTotals(Struct, eq=False):
    """Plugin of the controller. `most` findings of all tasks together are allowed."""

    most: int
    tasks: int = 0
    with_findings: int = 0
    trials: int = 0
    findings: int = 0
    notes: int = 0
    has_other_failure: bool = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up the counts of an item; any other failure counts against the session."""
        properties = dict(report.user_properties)
        findings = properties.get(FINDINGS)
        if report.when == "call" and isinstance(findings, int):
            self.tasks += 1
            self.with_findings += bool(findings)
            self.findings += findings
            self.trials += int(str(properties[TRIALS]))
            self.notes += int(str(properties[NOTES]))
        self.has_other_failure |= report.failed and not (report.when == "call" and findings)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember an error of collection."""
        self.has_other_failure |= report.failed

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Let a session succeed whose findings are allowed, unless something else failed."""
        is_allowed = 0 < self.findings <= self.most and not self.has_other_failure
        if session.exitstatus == pytest.ExitCode.TESTS_FAILED and is_allowed:
            session.exitstatus = pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the counts."""
        if not self.tasks:
            return
        audited = f"{pluralize(self.tasks, 'task')} audited with {pluralize(self.trials, 'trial')}"
        findings = f"{pluralize(self.findings, 'finding')} in {pluralize(self.with_findings, 'task')}"
        allowed = f" ({self.most:,} allowed)" if self.most else ""
        terminalreporter.section("webeval audit")
        terminalreporter.write_line(f"{audited}: {findings}{allowed}, {pluralize(self.notes, 'note')}")
