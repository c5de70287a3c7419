"""The entry point that pytest loads: options, hooks, and one registration when there are runs to score."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from pytest_webeval.plugin.hookspecs import HookSpecs
from pytest_webeval.plugin.settings.options import INI_NAMES, SCORED_ROOTS, add_options
from pytest_webeval.sessions.settings import options

NO_RUNS = "requires recorded runs; pass --webeval-runs=DIR"
NO_RECORDINGS = "requires a directory for its recording; pass --webeval-record=DIR"
IN_CI = f"{NO_RECORDINGS}, or deselect it (with CI set, live tests are not skipped)"  # a skip would look like success
RECORDING_MARK = "webeval_recording.json"  # a file that only the recorder writes
# Fixtures about one run: without runs, tests that request them are skipped.
OF_A_RUN = frozenset(
    {
        "record_evaluation",
        "webeval_evaluators",
        "webeval_network_event",
        "webeval_request_pattern",
        "webeval_response",
        "webeval_rubric",
        "webeval_run",
        "webeval_task",
    }
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options and an ini key for each."""
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare our hooks, so that a conftest.py may implement them in any session."""
    pluginmanager.add_hookspecs(HookSpecs)


def _has_runs(config: pytest.Config, options_so_far: Any = None) -> bool:
    return bool((options_so_far or config.option).webeval_runs or config.getini("webeval_runs"))


def _records(config: pytest.Config) -> bool:
    """Whether there is a directory for recordings of live tests."""
    return bool(config.option.webeval_record or config.getini("webeval_record"))


def _has_config_above(ini: Path) -> bool:
    """Whether there is another configuration file above that of pytest."""
    return any(os.path.exists(f"{above}/{name}") for above in ini.parent.parents for name in INI_NAMES)  # noqa: PTH110


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Keep pytest from importing conftest.py files that came with a recording, and from obeying its ini files."""
    if early_config.inipath is not None and _has_config_above(early_config.inipath):
        from pytest_webeval.plugin.collection.isolation import reject_run_root_config  # idle sessions load nothing

        reject_run_root_config(early_config)
    if _has_runs(early_config, early_config.known_args_namespace):
        from pytest_webeval.plugin.performance import bypass_assertion_rewriting  # idle sessions load nothing

        bypass_assertion_rewriting(early_config)
        from pytest_webeval.plugin.performance import gc_paused  # by now in the plain way

        with gc_paused():
            from pytest_webeval.plugin.collection.isolation import isolate_run_roots
        isolate_run_roots(early_config)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Pass over what we recorded, unless the session scores it: an agent could have left tests there."""
    if not os.path.lexists(f"{collection_path}/{RECORDING_MARK}"):
        return None
    roots = config.stash.get(SCORED_ROOTS, ())
    return None if any(collection_path.is_relative_to(root) for root in roots) else True


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the session object if there are runs to score."""
    for text in ("webeval_site(name): tasks on this site", "webeval_template(id): tasks of this intent template"):
        config.addinivalue_line("markers", text)
    config.addinivalue_line("markers", "webeval_type(name): tasks of this type: retrieve, mutate or navigate")
    task = "webeval_task(file, *ids, timeout=None, max_steps=None): tasks of a test with webeval_recording"
    config.addinivalue_line("markers", task)
    if _has_runs(config) or _records(config):
        from pytest_webeval.plugin.performance import gc_paused  # idle sessions load nothing

        with gc_paused():
            from pytest_webeval.plugin.registration import register
        register(config)
    elif not config.option.help:
        _refuse_options_without_runs(config)


def _refuse_options_without_runs(config: pytest.Config) -> None:
    """Raise `pytest.UsageError` for options on the command line that require runs.

    Options in the ini key `addopts` are configuration, as ini keys are, and require none.
    """
    needing = [option for option in options.OPTIONS if option.is_flag and option.is_ini_key]
    flags = [option.flag for option in needing if getattr(config.option, option.key) not in (None, False)]
    configured = {argument.partition("=")[0] for argument in config.getini("addopts")} if flags else set()
    flags = [flag for flag in flags if flag not in configured]
    if flags and not hasattr(config, "workerinput"):  # a worker of xdist has what its controller has
        verb = "requires" if len(flags) == 1 else "require"
        raise pytest.UsageError(
            f"{', '.join(flags)} {verb} recorded runs; pass --webeval-runs=DIR, or --webeval-record=DIR for live tests"
        )


def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """With --webeval-audit-secrets, list the secrets in the runs, without scoring. Raises `pytest.UsageError`."""
    if not config.option.webeval_audit_secrets:
        return None
    from pytest_webeval.plugin.audit import audit  # only for this option

    return audit(config)


@pytest.fixture
def webeval_run() -> None:
    """The recorded run, in sessions with --webeval-runs=DIR. In other sessions it skips the test that requests it."""
    pytest.skip(NO_RUNS)


@pytest.fixture
def webeval_recording() -> None:
    """The recording of an agent, in sessions with --webeval-record=DIR. Others skip the test, and fail it in CI."""
    pytest.skip(NO_RECORDINGS)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Skip a Python test over runs when no runs were given, and a live test without a directory for its recording.

    In CI the live test fails.
    """
    names = getattr(item, "fixturenames", ())
    if "webeval_recording" in names:
        if not _records(item.config):
            _refuse_live(item)
    elif not OF_A_RUN.isdisjoint(names) and not _has_runs(item.config):
        item.add_marker(pytest.mark.skip(reason=NO_RUNS))


def _refuse_live(item: pytest.Item) -> None:
    """Skip a live test, or let it fail in CI, unless the session audits tasks, which records nothing."""
    manager = item.config.pluginmanager
    if not os.environ.get("CI") or item.config.option.webeval_audit_tasks:
        item.add_marker(pytest.mark.skip(reason=NO_RECORDINGS))
    elif not manager.has_plugin("webeval-unrecorded"):
        manager.register(UnrecordedTests(), "webeval-unrecorded")


class UnrecordedTests:
    """Plugin of a session in CI with live tests and no directory for their recordings."""

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Fail a live test before its fixtures."""
        if "webeval_recording" in getattr(item, "fixturenames", ()):
            pytest.fail(IN_CI, pytrace=False)
