"""The first page of our own report, written by the process that sums all up."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
from pytest_webeval.reports.html.index_page import IndexRow
from pytest_webeval.reports.html.index_page import index_view
from pytest_webeval.reports.html.writer import COMPARISON
from pytest_webeval.reports.html.writer import COPY
from pytest_webeval.reports.html.writer import HISTORY
from pytest_webeval.reports.html.writer import check_static_page
from pytest_webeval.reports.html.writer import data_name
from pytest_webeval.reports.html.writer import write_copy
from pytest_webeval.reports.html.writer import write_page
from pytest_webeval.results import SUMMARY
from pytest_webeval.results import Summary
from pytest_webeval.storage import write_long_json

if TYPE_CHECKING:
    from pytest_webeval.plugin.reporting.session_history import SessionHistory

MARK = b'id="webeval-index"'
_OURS = re.compile(r"task-[0-9a-f]{16}\.js")


class ReportIndex(Struct, eq=False):
    """One per session."""

    reporter: SessionReporter
    directory: Path
    history: SessionHistory | None = None
    written: list[Path] = field(default_factory=list)
    created: list[Path] = field(default_factory=list)  # directories to remove again if they stay empty

    def __post_init__(self) -> None:
        """Make the directory, and remove the report of an earlier session. Raises `pytest.UsageError`."""
        pages = self.directory / "data"
        try:
            earlier = list(filter(Path.is_file, (self.directory / "index.html", self.directory / COPY)))
            for page in earlier:
                if MARK not in page.read_bytes():
                    problem = f"--webeval-report: {page} was not written by pytest-webeval"
                    raise pytest.UsageError(f"{problem}; choose another directory or delete it")
            if not earlier:
                self._check_summary()
            static = [self.directory / name for name in (COMPARISON, HISTORY)]
            for page in static:
                check_static_page(page)
            for page in (*earlier, *static):
                page.unlink(missing_ok=True)
            self.created += [pages, *(path for path in pages.parents if not path.exists())]
            pages.mkdir(parents=True, exist_ok=True)
            for path in pages.iterdir():
                if _OURS.fullmatch(path.name):
                    path.unlink()
        except SettingsError as error:
            raise pytest.UsageError(f"--webeval-report: {error}") from error
        except OSError as error:
            problem = f"--webeval-report: cannot write into {self.directory}: {error.strerror or error}"
            raise pytest.UsageError(f"{problem}; choose another directory") from error

    def _check_summary(self) -> None:
        """Raise `SettingsError` for the summary of another session in a directory without a report."""
        path = self.directory / SUMMARY
        if path.exists() and self.directory != self.reporter.workspace.settings.output:
            raise SettingsError(f"{path} is the summary of another session; choose a separate directory")

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
        rows = self._list_rows(_find_flips(summary))
        index = index_view(rows, summary, roots, lambda labels: reruns.command(labels).command)
        if not self.reporter.attempt(lambda: self._write(index, summary)):
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def _write(self, index: dict[str, Any], summary: Summary) -> None:
        """Write the page, a copy of the summary for `compare`, the comparison with a baseline and the history."""
        if page := self._write_comparison(summary):
            index["comparison"] = page.name
        if self.history is not None:
            index["history"] = self.history.write(summary, self.directory).name
        write_page(index, self.directory)
        write_long_json(self.directory / SUMMARY, summary.to_json(), self.reporter.workspace.settings.sync)
        self.written.append(self.directory / "index.html")
        budget = self.reporter.workspace.settings.report_embed
        if budget is not None:
            self.written.append(write_copy(index, self.directory, budget))

    def _write_comparison(self, summary: Summary) -> Path | None:
        comparison = self.reporter.checks.comparison if self.reporter.checks is not None else None
        if comparison is None:
            return None
        from pytest_webeval.reports.html.comparison_page import write_comparison_page  # few sessions have a baseline

        content = {"comparisons": [comparison.to_json()], "gates": summary.webeval.get("gates", [])}
        return write_comparison_page(content, self.directory)

    def _list_rows(self, flips: Mapping[str, str]) -> Iterator[IndexRow]:
        written: set[str] = set()
        with suppress(OSError):
            written = {path.name for path in (self.directory / "data").iterdir()}
        for label, record in self.reporter.records.items():
            name = data_name(label)
            data = name if f"{name}.js" in written else None
            yield IndexRow(record, data, flips.get(label), **self.reporter.texts.get(label, {}))

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
