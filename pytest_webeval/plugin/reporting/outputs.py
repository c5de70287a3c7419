"""Where the numbers of a session go in addition to its files: pytest-html, CI systems, a person who watches."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.plugin.reporting.controller import SessionReporter
from pytest_webeval.results import Summary


def register_outputs(config: pytest.Config, reporter: SessionReporter) -> None:
    """Register those of the controller. Raises `pytest.UsageError`."""
    if (path := reporter.workspace.settings.baseline) is not None:
        from pytest_webeval.summary.baseline import restrict_comparison  # for who has one

        reporter.compare, reporter.part_of = _comparison(path), restrict_comparison
    is_reporting = "GITHUB_STEP_SUMMARY" in os.environ or os.environ.get("GITHUB_ACTIONS") == "true"
    if is_reporting or reporter.workspace.settings.gitlab_metrics is not None:
        from pytest_webeval.plugin.reporting.ci import CiReports  # where somebody reads them

        config.pluginmanager.register(CiReports(reporter), "webeval-ci")
    if (directory := reporter.workspace.settings.report) is not None:
        from pytest_webeval.plugin.reporting.html_report import ReportIndex  # for who asks

        config.pluginmanager.register(ReportIndex(reporter, directory), "webeval-report")
    if config.pluginmanager.has_plugin("html"):
        from pytest_webeval.plugin.reporting import html_policy
        from pytest_webeval.plugin.reporting import pytest_html as html_columns  # pytest-html may be absent

        config.pluginmanager.register(html_columns, "webeval-html")
        if config.getoption("htmlpath", default=None):
            config.pluginmanager.register(html_policy, "webeval-html-policy")
    if sys.stdout.isatty():
        from pytest_webeval.plugin.reporting.progress import Progress  # where somebody may watch

        config.pluginmanager.register(Progress(reporter.records), "webeval-progress")


def _comparison(path: Path) -> Callable[[Summary], Summary]:
    """What adds to a summary how it stands against that of an earlier session."""
    from pytest_webeval.summary.baseline import compare_with_baseline  # for who has one
    from pytest_webeval.summary.baseline import read_baseline

    try:
        return partial(compare_with_baseline, read_baseline(path))
    except SettingsError as error:
        raise pytest.UsageError(str(error)) from error
