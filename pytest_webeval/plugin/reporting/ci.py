"""The numbers of a session where CI systems show them: GitHub's job page and annotations, GitLab's metrics."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from msgspec import Struct, field

from pytest_webeval.errors import DiskFull, WebEvalError
from pytest_webeval.plugin.reporting.controller import SessionReporter
from pytest_webeval.plugin.rerun import build_rerun_commands
from pytest_webeval.reports.ci import annotation, markdown, open_metrics
from pytest_webeval.results import Summary
from pytest_webeval.safety.text import sanitize
from pytest_webeval.storage import is_full, write_text

PAGE, ACTIONS = "GITHUB_STEP_SUMMARY", "GITHUB_ACTIONS"
LARGEST_PAGE = 1024 * 1024  # bytes of one step; of a larger page GitHub shows nothing


class CiReports(Struct, frozen=True, eq=False):
    """Plugin of the controller. A session that cannot write a file that an option names does not exit with 0."""

    reporter: SessionReporter
    failed: list[Path] = field(default_factory=list)

    @pytest.hookimpl(tryfirst=True)
    def pytest_webeval_summary(self, summary: Summary, config: pytest.Config) -> None:
        """Write the files before a user hook can raise."""
        if page := os.environ.get(PAGE):
            self._append(Path(page), summary, config)
        settings = self.reporter.workspace.settings
        if (path := settings.gitlab_metrics) is not None:
            try:
                write_text(path, open_metrics(summary), settings.sync)
            except DiskFull as error:
                self.reporter.full_disk.add(error.no_room)
            except WebEvalError as error:
                self.reporter.problems.append(sanitize(str(error)))
                self.failed.append(path)

    def _append(self, page: Path, summary: Summary, config: pytest.Config) -> None:
        """Append to the page of the step, within the size limit of GitHub."""
        reruns = build_rerun_commands(config, self.reporter.records)
        try:
            room = LARGEST_PAGE - (page.stat().st_size if page.exists() else 0) - 1
            text = markdown(summary, reruns, room)
            with page.open("ab") as file:
                file.write(f"\n{text}".encode("utf-8", "backslashreplace") if text else b"")
        except OSError as error:
            if is_full(error):
                self.reporter.full_disk.add({str(page): str(error.strerror)})
                return
            text = f"cannot write {page}: {error.strerror}; check {PAGE}"
            self.reporter.problems.append(sanitize(text))
            return
        if not text:
            self.reporter.problems.append(sanitize(f"{page} has reached its size limit; no summary was added"))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """Write the totals at the end of the session."""
        result = yield
        if self.failed:
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        terminal = session.config.pluginmanager.get_plugin("terminalreporter")
        if self.reporter.summary is not None and terminal is not None and os.environ.get(ACTIONS) == "true":
            roots = ", ".join(root.name for root in self.reporter.workspace.settings.roots)
            terminal.write_line(annotation(self.reporter.summary, f"webeval: {roots}"))
        return result
