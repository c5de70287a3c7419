"""Where the numbers of a session go in addition to its files: pytest-html, CI systems, a person who watches."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.plugin.reporting.controller import SessionReporter
from pytest_webeval.plugin.settings import Settings

if TYPE_CHECKING:
    from pytest_webeval.summary.baseline import BaselineComparison


def register_outputs(config: pytest.Config, reporter: SessionReporter) -> None:
    """Register those of the controller. Raises `pytest.UsageError`."""
    is_reporting = "GITHUB_STEP_SUMMARY" in os.environ or os.environ.get("GITHUB_ACTIONS") == "true"
    if is_reporting or reporter.workspace.settings.gitlab_metrics is not None:
        from pytest_webeval.plugin.reporting.ci import CiReports  # where somebody reads them

        config.pluginmanager.register(CiReports(reporter), "webeval-ci")
    if (directory := reporter.workspace.settings.report) is not None:
        from pytest_webeval.plugin.reporting.html_report import ReportIndex  # for who asks

        config.pluginmanager.register(ReportIndex(reporter, directory), "webeval-report")
    if config.getoption("htmlpath", default=None):
        from pytest_webeval.plugin.reporting import html_policy
        from pytest_webeval.plugin.reporting import pytest_html as html_columns  # pytest-html may be absent

        config.pluginmanager.register(html_columns, "webeval-html")
        config.pluginmanager.register(html_policy, "webeval-html-policy")
    if sys.stdout.isatty():
        from pytest_webeval.plugin.reporting.progress import Progress  # where somebody may watch

        config.pluginmanager.register(Progress(reporter.records), "webeval-progress")


def build_comparison(settings: Settings) -> BaselineComparison | None:
    """Compare with the earlier session of `--webeval-baseline`, if given. Raises `pytest.UsageError`."""
    if settings.baseline is None:
        return None
    from pytest_webeval.summary.baseline import BaselineComparison  # only sessions with a baseline need it
    from pytest_webeval.summary.baseline import read_baseline

    try:
        return BaselineComparison(read_baseline(settings.baseline))
    except SettingsError as error:
        raise pytest.UsageError(str(error)) from error
