"""The plugins that a session with runs registers, by process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from pytest_webeval.errors import SettingsError, WebEvalError
from pytest_webeval.plugin import fixtures
from pytest_webeval.plugin.collection.arguments import select
from pytest_webeval.plugin.collection.nodes import SET_UP
from pytest_webeval.plugin.collection.root_paths import RootPaths
from pytest_webeval.plugin.performance import CollectAfterSlowFailure, FreezeCollected, HidePassedPhases
from pytest_webeval.plugin.runtest.evaluation import PauseTimeLimitInDebugger
from pytest_webeval.plugin.runtest.fingerprints import EARLIER, FINGERPRINTS, PREVIOUS, ItemFingerprints
from pytest_webeval.plugin.runtest.hooks import RuntestHooks
from pytest_webeval.plugin.runtest.report_page import PAGES, RunPages
from pytest_webeval.plugin.selected_paths import names_runs
from pytest_webeval.plugin.settings.option_source import read_pytest_settings
from pytest_webeval.plugin.settings.options import SCORED_ROOTS
from pytest_webeval.plugin.snapshots import IS_PATH_SAFE, PLACE, SAFE_PATH, SNAPSHOTS, Snapshots
from pytest_webeval.plugin.user_code import REDACTING
from pytest_webeval.plugin.workspace import KNOWN, MISSING_TASKS, ROWS, TASK_AUDITS, WORKSPACE, PytestWorkspace
from pytest_webeval.sessions.runs.session_rows import CopiedRows, SessionRows
from pytest_webeval.sessions.runs.stored_results import PreviousSession
from pytest_webeval.sessions.runs.user_modules import list_installed_types
from pytest_webeval.sessions.settings.conflicts import check_conflicts
from pytest_webeval.sessions.settings.option_values import separate_roots
from pytest_webeval.sessions.settings.settings import Settings
from pytest_webeval.sessions.workspace.missing_tasks import MissingTasks
from pytest_webeval.sessions.workspace.output_paths import check_output, check_output_paths, check_replies, check_report

# Options of pytest's with which a session shows something, and scores nothing.
SHOWING = (
    "collectonly",
    "setuponly",
    "setupplan",
    "showfixtures",
    "show_fixtures_per_test",
    "markers",
    "help",
    "cacheshow",
)
# Options that start pytest-testmon, and the one that stops it.
TESTMON = ("testmon", "testmon_noselect", "testmon_nocollect", "testmon_forceselect", "tmnet")
NO_TESTMON = "--no-testmon"


def register(config: pytest.Config) -> None:
    """Set a session up: read the settings, select the runs, register the reporters. Raises `pytest.UsageError`."""
    settings = _keep_report(config, read_pytest_settings(config))
    workspace = PytestWorkspace.of(config, settings)
    config.stash[WORKSPACE] = workspace
    config.stash[SCORED_ROOTS] = settings.runs
    config.stash[MISSING_TASKS] = MissingTasks(workspace)
    config.stash[REDACTING] = workspace.redacting
    _check_settings(config, workspace)
    select(config, workspace)
    _refuse_testmon(config, workspace)
    _share(config, workspace)
    is_scoring = writes(config) and not workspace.settings.audit_tasks
    if workspace.settings.audit_tasks:
        _register_audits(config, workspace)
    config.pluginmanager.register(RuntestHooks(workspace, is_scoring), "webeval-session")
    config.pluginmanager.register(RootPaths(workspace), "webeval-root-paths")
    config.pluginmanager.register(fixtures, "webeval-fixtures")
    config.stash[SET_UP] = fixtures.set_up
    config.pluginmanager.register(PauseTimeLimitInDebugger(), "webeval-debugged")
    if workspace.settings.record is not None:
        from pytest_webeval.plugin.live_tests.live import LiveTests  # for sessions that record

        config.pluginmanager.register(
            LiveTests.of(workspace, workspace.settings.record, is_scoring=is_scoring), "webeval-live"
        )
    if is_scoring:
        _open_rows(config, workspace)
        _register_scoring(config, workspace)
    if is_scoring and not hasattr(config, "workerinput"):  # only the controller sees all reports, and may sum them up
        from pytest_webeval.plugin.reporting.outputs import register_reporting  # for the process that sums up

        register_reporting(config, workspace)


def _open_rows(config: pytest.Config, workspace: PytestWorkspace) -> None:
    """Let the controller alone have the files with rows; a worker reads copies of them."""
    if hasattr(config, "workerinput"):
        snapshots = config.stash.get(SNAPSHOTS, None)
        config.stash[EARLIER] = CopiedRows(workspace, None if snapshots is None else snapshots.place)
    else:
        config.stash[EARLIER] = config.stash[ROWS] = SessionRows(workspace)
    config.add_cleanup(config.stash[EARLIER].close)


def _keep_report(config: pytest.Config, settings: Settings) -> Settings:
    """The settings without a report where a report of all runs would be replaced by one of some of them."""
    if settings.report is None:
        return settings
    from pytest_webeval.plugin.kept_report import (
        KeptReport,  # few sessions write a report
        keeps_report,  # same
    )

    if not keeps_report(config, settings):
        return settings
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(KeptReport(settings.report), "webeval-kept-report")
    return settings.without_report()


def _check_settings(config: pytest.Config, workspace: PytestWorkspace) -> None:
    """Read the files that options name, and refuse what contradicts. Raises `pytest.UsageError`."""
    try:
        is_scoring = writes(config) and not workspace.settings.audit_tasks
        typed = {str(argument).partition("=")[0] for argument in config.invocation_params.args}
        check_conflicts(workspace.settings, typed, is_scoring=is_scoring)
        _ = workspace.sites, workspace.external, workspace.judge, list_installed_types()
        workspace.tasks.check_files()
        config.stash[MISSING_TASKS].check()
        check_output(workspace)
        if workspace.settings.judge is not None:
            check_replies(workspace.judges.replies, workspace)
        check_report(workspace)
        if workspace.settings.judge_certificate is not None:
            _ = workspace.judges.certificate
        if (known_failures := workspace.known_failures) is not None:
            config.stash[KNOWN] = known_failures
        if writes(config):
            check_output_paths(workspace.settings)
            _make_record_root(workspace.settings, config.rootpath)
    except WebEvalError as error:
        raise pytest.UsageError(str(error)) from error


def _refuse_testmon(config: pytest.Config, workspace: PytestWorkspace) -> None:
    """Raise `pytest.UsageError` if pytest-testmon would track runs, which it takes for Python files."""
    is_active = any(config.getoption(name, default=False) for name in TESTMON) and not config.getoption(
        "no-testmon", default=False
    )
    if is_active and names_runs(config, workspace.settings.roots):
        problem = "--testmon selects tests by changes of code, and recorded runs are data"
        raise pytest.UsageError(f"{problem}; add {NO_TESTMON}, or use --webeval-reuse to score what has changed")


def _make_record_root(settings: Settings, project: Path) -> None:
    """Make the directory of recordings. Raises `SettingsError` if it lies in a run root, or holds one or the tests."""
    if settings.record is None:
        return
    separate_roots(settings.roots)
    if project.is_relative_to(settings.record):
        raise SettingsError(f"--webeval-record: {settings.record} holds the project; choose a separate directory")
    try:
        settings.record.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"--webeval-record: cannot make {settings.record}: {error.strerror}"
        raise SettingsError(f"{problem}; choose another directory") from error


def _register_audits(config: pytest.Config, workspace: PytestWorkspace) -> None:
    """Let items audit tasks. Such a session scores no run and writes no result."""
    from pytest_webeval.plugin.collection.task_audits import TaskAudits  # only for this option

    config.stash[TASK_AUDITS] = TaskAudits(workspace)
    if not hasattr(config, "workerinput"):
        from pytest_webeval.plugin.reporting.audit_totals import AuditTotals  # only for this option

        config.pluginmanager.register(AuditTotals(workspace.settings.audit_most), "webeval-audit-totals")


def _share(config: pytest.Config, workspace: PytestWorkspace) -> None:
    """Let all xdist workers collect the same runs."""
    handed: dict[str, Any] = getattr(config, "workerinput", {})
    if handed.get(IS_PATH_SAFE):
        os.environ.pop(SAFE_PATH, None)
    place = handed.get(PLACE)
    if place is not None:
        config.stash[SNAPSHOTS] = Snapshots(Path(place))
    elif config.getoption("tx", default=None):
        from pytest_webeval.plugin.collection.sharing import Sharing  # for sessions that are spread

        config.pluginmanager.register(Sharing(workspace), "webeval-sharing")
        if workspace.settings.mirrors:
            from pytest_webeval.sessions.settings.remote_roots import (
                share,  # few sessions have stores
                stop_sharing,  # same
            )

            share(workspace.settings.mirrors)
            config.add_cleanup(stop_sharing)


def _register_scoring(config: pytest.Config, workspace: PytestWorkspace) -> None:
    """Register the plugins of every scoring process."""
    settings = workspace.settings
    if settings.mirrors:
        from pytest_webeval.plugin.stores import Prefetching  # for runs in stores

        config.pluginmanager.register(Prefetching(workspace), "webeval-prefetching")
    config.stash[FINGERPRINTS] = ItemFingerprints(workspace, config=config)
    if settings.reuse:
        config.stash[PREVIOUS] = PreviousSession(workspace, config.stash[FINGERPRINTS])
    config.pluginmanager.register(HidePassedPhases(config), "webeval-quiet-phases")
    config.pluginmanager.register(FreezeCollected(config), "webeval-frozen-objects")
    config.pluginmanager.register(CollectAfterSlowFailure(), "webeval-long-failures")
    if settings.report is not None:
        config.stash[PAGES] = RunPages(workspace, settings.report)
        config.pluginmanager.register(config.stash[PAGES], "webeval-run-pages")
    if settings.durations is not None:
        from pytest_webeval.plugin.reporting.durations import DurationsReport  # only for this option

        config.pluginmanager.register(DurationsReport(settings.durations), "webeval-durations")
    if config.getoption("xmlpath", default=None):
        from pytest_webeval.plugin.reporting.junit_names import JunitNames  # only for this option

        config.pluginmanager.register(JunitNames(config, workspace.labels), "webeval-junit-names")
    if page := config.getoption("htmlpath", default=None):
        from pytest_webeval.plugin.reporting.pytest_html import HtmlExtras  # only for this option

        config.pluginmanager.register(HtmlExtras.for_page(page, workspace), "webeval-html-extras")
    if config.getoption("allure_report_dir", default=None):
        from pytest_webeval.plugin.reporting.allure_results import AllureResults  # only for this option

        config.pluginmanager.register(AllureResults(workspace), "webeval-allure")


def writes(config: pytest.Config) -> bool:
    """Whether the session scores anything, rather than showing what it would do."""
    return not any(config.getoption(name, default=False) for name in SHOWING)
