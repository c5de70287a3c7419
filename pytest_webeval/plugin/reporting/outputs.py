"""Where the numbers of a session go in addition to its files: pytest-html, CI systems, a person who watches."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_webeval.errors import SettingsError, WebEvalError
from pytest_webeval.plugin.reporting.controller import SessionReporter
from pytest_webeval.plugin.workspace import PytestWorkspace

if TYPE_CHECKING:
    from pytest_webeval.plugin.reporting.session_checks import PytestChecks
    from pytest_webeval.sessions.session_history import SessionHistory
    from pytest_webeval.sessions.settings import Settings


def register_outputs(config: pytest.Config, reporter: SessionReporter) -> None:
    """Register those of the controller. Raises `pytest.UsageError`."""
    is_reporting = "GITHUB_STEP_SUMMARY" in os.environ or os.environ.get("GITHUB_ACTIONS") == "true"
    if is_reporting or reporter.workspace.settings.gitlab_metrics is not None:
        from pytest_webeval.plugin.reporting.ci import CiReports  # where somebody reads them

        config.pluginmanager.register(CiReports(reporter), "webeval-ci")
    if (directory := reporter.workspace.settings.report) is not None:
        from pytest_webeval.plugin.reporting.html_report import ReportPlugin  # for who asks
        from pytest_webeval.sessions.report_index import ReportIndex  # same

        history = _read_history(reporter.workspace.settings)
        index = ReportIndex(reporter.workspace, directory, history)
        config.pluginmanager.register(ReportPlugin(reporter, index), "webeval-report")
    if config.getoption("htmlpath", default=None):
        from pytest_webeval.plugin.reporting import html_policy
        from pytest_webeval.plugin.reporting import pytest_html as html_columns  # pytest-html may be absent

        config.pluginmanager.register(html_columns, "webeval-html")
        config.pluginmanager.register(html_policy, "webeval-html-policy")
    if sys.stdout.isatty():
        from pytest_webeval.plugin.reporting.progress import Progress  # where somebody may watch

        config.pluginmanager.register(Progress(reporter.records), "webeval-progress")


def _read_history(settings: Settings) -> SessionHistory | None:
    """The earlier sessions for the history, if the option names any. Raises `pytest.UsageError`."""
    if not settings.history:
        return None
    from pytest_webeval.sessions.session_history import SessionHistory  # only for this option

    try:
        return SessionHistory.read(settings.history)
    except SettingsError as error:
        raise pytest.UsageError(str(error)) from error


CHECKING = ("baseline", "baseline_update", "known_failures", "gate", "write_subset")


def build_checks(workspace: PytestWorkspace) -> PytestChecks | None:
    """The gates and the baseline, if an option asks for any. Raises `pytest.UsageError`."""
    if not any(getattr(workspace.settings, name) for name in CHECKING):
        return None
    from pytest_webeval.plugin.reporting.session_checks import PytestChecks  # few sessions have them

    try:
        return PytestChecks.of_pytest(workspace)
    except WebEvalError as error:
        raise pytest.UsageError(str(error)) from error
