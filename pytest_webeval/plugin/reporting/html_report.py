"""The first page of our own report, written by the process that sums all up."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Any

import pytest
from msgspec import Struct
from msgspec import field

from pytest_webeval.errors import SettingsError
from pytest_webeval.plugin.reporting.controller import SessionReporter
from pytest_webeval.plugin.rerun import RERUN_OPTIONS
from pytest_webeval.plugin.rerun import build_rerun_commands
from pytest_webeval.plugin.rerun import find_repeated_options
from pytest_webeval.reports.html.index_page import index_view
from pytest_webeval.reports.html.index_parts import write_index
from pytest_webeval.reports.html.report_directory import IndexRows
from pytest_webeval.reports.html.report_directory import claim_directory
from pytest_webeval.reports.html.report_directory import list_index_rows
from pytest_webeval.reports.html.writer import write_copy
from pytest_webeval.results import SUMMARY
from pytest_webeval.results import Summary
from pytest_webeval.summary.summary_file import write_summary

if TYPE_CHECKING:
    from pytest_webeval.plugin.reporting.session_history import SessionHistory


class ReportIndex(Struct, eq=False):
    """One per session."""

    reporter: SessionReporter
    directory: Path
    history: SessionHistory | None = None
    written: list[Path] = field(default_factory=list)
    created: list[Path] = field(default_factory=list)  # directories to remove again if they stay empty

    def __post_init__(self) -> None:
        """Make the directory, and remove the report of an earlier session. Raises `pytest.UsageError`."""
        has_own_summary = self.directory == self.reporter.workspace.settings.output
        try:
            self.created += claim_directory(self.directory, has_own_summary=has_own_summary)
        except SettingsError as error:
            raise pytest.UsageError(f"--webeval-report: {error}") from error

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send the command line to the workers, for the rerun commands on their pages."""
        node.workerinput[RERUN_OPTIONS] = find_repeated_options(node.config)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the page, after the summary that it is made of."""
        summary = self.reporter.summary
        if summary is None:
            return
        roots = ", ".join(self.reporter.workspace.labels.prefixes.values())
        reruns = build_rerun_commands(session.config, self.reporter.records.values())
        rows = list_index_rows(self.directory, self.reporter.records, self.reporter.texts, _find_flips(summary))
        index = index_view(rows, summary, roots, lambda labels: reruns.command(labels).command)
        if not self.reporter.attempt(lambda: self._write(index, rows, summary)):
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def _write(self, index: dict[str, Any], rows: IndexRows, summary: Summary) -> None:
        """Write the page, a copy of the summary for `compare`, the comparison with a baseline and the history."""
        if page := self._write_comparison(summary):
            index["comparison"] = page.name
        if self.history is not None:
            index["history"] = self.history.write(summary, self.directory).name
        index = write_index(index, rows, self.directory)
        self._write_numbers(summary)
        self.written.append(self.directory / "index.html")
        budget = self.reporter.workspace.settings.report_embed
        if budget is not None:
            self.written.append(write_copy(index, self.directory, budget))

    def _write_numbers(self, summary: Summary) -> None:
        """Write a copy of the summary for `compare`; in a shard what `merge` needs instead."""
        settings = self.reporter.workspace.settings
        if settings.shard is None:
            write_summary(self.directory / SUMMARY, summary, settings.sync)
            return
        from pytest_webeval.plugin.reporting.shard_files import write_shard_report  # few sessions are a shard

        reporter = self.reporter
        config = reporter.workspace.config
        write_shard_report(self.directory, summary.timestamp, reporter.summaries(), reporter.texts, config)

    def _write_comparison(self, summary: Summary) -> Path | None:
        comparison = self.reporter.checks.comparison if self.reporter.checks is not None else None
        if comparison is None:
            return None
        from pytest_webeval.reports.html.comparison_page import write_comparison_page  # few sessions have a baseline
        from pytest_webeval.reports.html.side_by_side.session_files import SessionFiles

        workspace = self.reporter.workspace
        content = {"comparisons": [comparison.to_json()], "gates": summary.webeval.get("gates", [])}
        baseline = workspace.settings.baseline or self.directory
        files = [
            SessionFiles(comparison.before, baseline.parent, workspace.config.rootpath),
            SessionFiles(comparison.after, self.directory, workspace.config.rootpath),
        ]
        return write_comparison_page(content, self.directory, files, workspace.settings.redaction)

    def pytest_unconfigure(self) -> None:
        """Leave no empty directory behind where the session ended before it scored anything."""
        for path in self.created:
            with suppress(OSError):
                path.rmdir()

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the path of the report."""
        for path in self.written:
            terminalreporter.line(f"report: {path}")


def _find_flips(summary: Summary) -> Mapping[str, str]:
    """How runs changed since the baseline, by their labels."""
    if "baseline" not in summary.webeval:
        return {}
    from pytest_webeval.summary.baseline import flip_by_run  # few sessions have a baseline

    return flip_by_run(summary.webeval)
