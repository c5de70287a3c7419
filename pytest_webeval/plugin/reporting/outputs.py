"""The plugins of the controller: what sums up, and where the numbers go in addition to the files of the session."""

from __future__ import annotations

import os
import sys

import pytest

from pytest_webeval.errors import WebEvalError
from pytest_webeval.plugin.reporting.attempt_names import AttemptNames
from pytest_webeval.plugin.reporting.controller import SessionReporter
from pytest_webeval.plugin.rerun import find_repeated_options
from pytest_webeval.plugin.runtest.report_payloads import DropPayloads
from pytest_webeval.plugin.selected_paths import SELECTING, selects_some_runs
from pytest_webeval.plugin.workspace import MISSING_TASKS, ROWS, PytestWorkspace
from pytest_webeval.sessions.session import Session

# How a session with such an option may leave runs out, by the name of its value.
_SELECTIONS = {name: f"{flags[0]} selects" for name, flags in SELECTING.items()} | {
    "deselect": "--deselect selects all but",
    "maxfail": "-x or --maxfail may score only",
}


def register_reporting(config: pytest.Config, workspace: PytestWorkspace) -> None:
    """Register the plugins of the controller. Raises `pytest.UsageError`."""
    session = _open_session(config, workspace)
    reporter = SessionReporter(workspace, session)
    config.pluginmanager.register(reporter, "webeval-reporter")
    config.pluginmanager.register(AttemptNames(workspace), "webeval-attempt-names")
    config.pluginmanager.register(DropPayloads(), "webeval-drop-payloads")
    config.pluginmanager.register(reporter.stopping, "webeval-stopping")
    if "GITHUB_STEP_SUMMARY" in os.environ or os.environ.get("GITHUB_ACTIONS") == "true":
        from pytest_webeval.plugin.reporting.ci import CiReports  # where somebody reads them

        config.pluginmanager.register(CiReports(reporter), "webeval-ci")
    if config.getoption("htmlpath", default=None):
        from pytest_webeval.plugin.reporting import html_policy
        from pytest_webeval.plugin.reporting import pytest_html as html_columns  # pytest-html may be absent

        config.pluginmanager.register(html_columns, "webeval-html")
        config.pluginmanager.register(html_policy, "webeval-html-policy")
    if sys.stdout.isatty():
        from pytest_webeval.plugin.reporting.progress import Progress  # where somebody may watch

        config.pluginmanager.register(Progress(session.records), "webeval-progress")


def _open_session(config: pytest.Config, workspace: PytestWorkspace) -> Session:
    """The session, with all that it needs before it scores anything. Raises `pytest.UsageError`."""
    missing, rows = config.stash[MISSING_TASKS], config.stash[ROWS]
    session = Session(workspace, missing, rows, find_repeated_options(config), find_selection(workspace))
    try:
        _ = session.checks
        if workspace.settings.shard is not None:
            from pytest_webeval.sessions.shard_files import remove_shard  # few sessions are a shard

            remove_shard(workspace)  # of an earlier session: `merge` must not use it if this one is interrupted
        if (report := session.report) is not None:
            config.add_cleanup(report.remove_empty)
    except WebEvalError as error:
        raise pytest.UsageError(str(error)) from error
    return session


def find_selection(workspace: PytestWorkspace) -> str | None:
    """How a session selects some of its runs; None if it scores all."""
    config, roots = workspace.config, workspace.settings.runs
    by_option = (text for name, text in _SELECTIONS.items() if config.getoption(name, default=None))
    by_path = "arguments select" if roots and selects_some_runs(config, roots) else None
    selection = next(by_option, by_path)
    return f"{selection} some runs" if selection else None
