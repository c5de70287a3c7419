"""The first page of our own report in a session of pytest."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from msgspec import Struct

from pytest_webeval.errors import SettingsError
from pytest_webeval.plugin.reporting.controller import SessionReporter
from pytest_webeval.plugin.rerun import RERUN_OPTIONS, build_rerun_commands, find_repeated_options
from pytest_webeval.results import Summary
from pytest_webeval.sessions.report_index import ReportIndex


class ReportPlugin(Struct, eq=False):
    """One per session."""

    reporter: SessionReporter
    index: ReportIndex

    def __post_init__(self) -> None:
        """Make the directory, and remove the report of an earlier session. Raises `pytest.UsageError`."""
        try:
            self.index.claim()
        except SettingsError as error:
            raise pytest.UsageError(str(error)) from error

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send the command line to the workers, for the rerun commands on their pages."""
        node.workerinput[RERUN_OPTIONS] = find_repeated_options(node.config)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the page, after the summary that it is made of."""
        summary = self.reporter.summary
        if summary is not None and not self.reporter.attempt(partial(self._write, summary, session.config)):
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def _write(self, summary: Summary, config: pytest.Config) -> None:
        reporter = self.reporter
        records = reporter.records
        comparison = reporter.checks.comparison if reporter.checks is not None else None
        is_shard = reporter.workspace.settings.shard is not None
        write_numbers = partial(self._write_shard, summary, config) if is_shard else None
        self.index.write(
            summary,
            records,
            texts=reporter.texts,
            reruns=build_rerun_commands(config, records),
            comparison=comparison,
            write_numbers=write_numbers,
        )

    def _write_shard(self, summary: Summary, config: pytest.Config) -> None:
        """Write what `merge` needs in place of a summary."""
        from pytest_webeval.plugin.reporting.shard_files import write_shard_report  # few sessions are a shard

        reporter, directory = self.reporter, self.index.directory
        write_shard_report(directory, summary.timestamp, reporter.summaries(), reporter.texts, config)

    def pytest_unconfigure(self) -> None:
        """Leave no empty directory behind."""
        self.index.remove_empty()

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the path of the report."""
        for path in self.index.written:
            terminalreporter.line(f"report: {path}")
