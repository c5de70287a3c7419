"""The numbers of a session where GitHub shows them: the page of the job, and annotations."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from msgspec import Struct

from pytest_webeval.plugin.reporting.controller import SessionReporter
from pytest_webeval.reports.ci import annotation, markdown
from pytest_webeval.results import Summary
from pytest_webeval.safety.text import sanitize
from pytest_webeval.storage import is_full

PAGE, ACTIONS = "GITHUB_STEP_SUMMARY", "GITHUB_ACTIONS"
LARGEST_PAGE = 1024 * 1024  # bytes of one step; of a larger page GitHub shows nothing


class CiReports(Struct, frozen=True, eq=False):
    """Plugin of the controller."""

    reporter: SessionReporter

    @pytest.hookimpl(tryfirst=True)
    def pytest_webeval_summary(self, summary: Summary) -> None:
        """Append to the page of the step before a user hook can raise, within the size limit of GitHub."""
        if not (name := os.environ.get(PAGE)):
            return
        page, reruns, problems = Path(name), self.reporter.end.reruns, self.reporter.session.problems
        try:
            room = LARGEST_PAGE - (page.stat().st_size if page.exists() else 0) - 1
            text = markdown(summary, reruns, room)
            with page.open("ab") as file:
                file.write(f"\n{text}".encode("utf-8", "backslashreplace") if text else b"")
        except OSError as error:
            if is_full(error):
                self.reporter.session.full_disk.add({str(page): str(error.strerror)})
                return
            text = f"cannot write {page}: {error.strerror}; check {PAGE}"
            problems.append(sanitize(text))
            return
        if not text:
            problems.append(sanitize(f"{page} has reached its size limit; no summary was added"))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """Write the totals at the end of the session."""
        result = yield
        terminal, summary = session.config.pluginmanager.get_plugin("terminalreporter"), self.reporter.end.summary
        if summary is not None and terminal is not None and os.environ.get(ACTIONS) == "true":
            roots = ", ".join(root.name for root in self.reporter.session.workspace.settings.roots)
            terminal.write_line(annotation(summary, f"webeval: {roots}"))
        return result
