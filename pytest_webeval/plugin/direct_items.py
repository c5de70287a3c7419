"""Scores run items without the fixtures and phase hooks of pytest, where nothing but this package uses them.

For each test pytest looks up seven fixtures and calls dozens of hooks, which capture output and logs, apply marks and
count threads. That takes longer than to score a small recording. All hooks that report a test are called as usual.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pluggy
import pytest
from msgspec import Struct, field

from pytest_webeval.errors import EvaluationError, TaskFailed
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.plugin import fixtures
from pytest_webeval.plugin.collection.nodes import are_siblings, is_plain, task
from pytest_webeval.plugin.runtest.evaluation import POOL, Checker, RecordEvaluation, run_time_limit
from pytest_webeval.plugin.runtest.fingerprints import EARLIER, FINGERPRINTS, PREVIOUS, UNCHANGED
from pytest_webeval.plugin.runtest.hooks import forget_evaluation
from pytest_webeval.plugin.workspace import PytestWorkspace
from pytest_webeval.recordings.run import Run
from pytest_webeval.safety.run_directory import find_identity
from pytest_webeval.sessions.stored_results import StoredResult

if TYPE_CHECKING:
    from pytest_webeval.scoring.worker_pool import WorkerPool

PHASES = (
    "pytest_runtest_setup",
    "pytest_runtest_call",
    "pytest_runtest_teardown",
    "pytest_pyfunc_call",
    "pytest_fixture_setup",
    "pytest_fixture_post_finalizer",
)
# Plugins whose hooks for phases have nothing to do for a run item: it prints nothing, logs nothing, starts no thread,
# is no coroutine (as `anyio` looks for; many libraries install it), and has no mark that skips it. All but `anyio` are
# pytest's or ours. Every other plugin sees each phase.
IDLE_IN_PHASES = frozenset(
    {
        "anyio",
        "capturemanager",
        "fixtures",
        "logging-plugin",
        "python",
        "runner",
        "setuponly",
        "setupplan",
        "skipping",
        "threadexception",
        "unraisableexception",
        "webeval-direct-items",
        "webeval-session",
    }
)
# Plugins that leave the report of a setup or a teardown that passed as it is.
IDLE_IN_REPORTS = frozenset(
    {"html", "runner", "skipping", "tmpdir", "unittest", "webeval-long-failures", "webeval-session"}
)
# Plugins that do nothing with the report of a setup or a teardown that passed, or only store it for --durations.
IDLE_IN_PASSED = frozenset(
    {
        "lfplugin",
        "logging-plugin",
        "nfplugin",
        "session",
        "stepwiseplugin",
        "terminalreporter",
        "webeval-attempt-names",
        "webeval-checks",
        "webeval-drop-payloads",
        "webeval-progress",
        "webeval-quiet-phases",
        "webeval-reporter",
    }
)
SHOWING_PHASES = ("usepdb", "trace", "setupshow", "setuponly", "setupplan", "log_level", "log_file", "log_cli_level")
LOGGING = ("log_cli", "log_level", "log_file")
CURRENT_TEST = "PYTEST_CURRENT_TEST"
ENDING_SESSION = (pytest.exit.Exception, KeyboardInterrupt)


class Group(Struct, frozen=True):
    """What holds for all runs in a directory. `reports_all`: other plugins take part in making each report."""

    is_direct: bool
    reports_all: bool
    is_quiet: bool  # nobody looks at the reports of setups and teardowns that passed


class DirectItems(Struct, eq=False):
    """Plugin of every process that scores. Other items, and the first and last of a directory, go pytest's way."""

    config: pytest.Config
    workspace: PytestWorkspace
    _previous: pytest.Item | None = None
    _groups: dict[Any, Group] = field(default_factory=dict)  # by the directory around the runs

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Score a run directly, if that makes no difference.

        What pytest has set up for a directory stays, so the items before and after must be in the same directory.
        """
        previous, self._previous = self._previous, item
        if not (are_siblings(item, previous) and are_siblings(item, nextitem)):
            return None
        group, pool = self._group(item), self.config.stash.get(POOL, None)
        if not group.is_direct or not is_plain(item):
            if pool is not None:
                pool.left_to_session += 1
            return None
        hook = item.ihook
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        DirectItem(item, hook, self.workspace, group, pool).run()
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _group(self, item: Any) -> Group:
        directory = item.parent.parent
        if directory not in self._groups:
            is_direct = self._are_phases_unused(item)
            makers = item.ihook.pytest_runtest_makereport.get_hookimpls()
            reports_all = any(each.plugin_name not in IDLE_IN_REPORTS for each in makers)
            self._groups[directory] = Group(is_direct, reports_all, self._is_quiet(item))
        return self._groups[directory]

    def _are_phases_unused(self, item: pytest.Item) -> bool:
        """Whether no option and no other plugin shows or changes the phases of an item."""
        if any(self.config.getoption(name, default=None) for name in SHOWING_PHASES) or any(map(self._ini, LOGGING)):
            return False
        seeing = [each for name in PHASES for each in getattr(item.ihook, name).get_hookimpls()]
        running = item.ihook.pytest_runtest_protocol.get_hookimpls()
        seeing += [each for each in running if not (each.wrapper or each.hookwrapper)]
        return all(each.plugin_name in IDLE_IN_PHASES for each in seeing)

    def _is_quiet(self, item: pytest.Item) -> bool:
        seeing = item.ihook.pytest_runtest_logreport.get_hookimpls()
        is_timed = self.config.getoption("durations", default=None) is not None
        return not is_timed and all(each.plugin_name in IDLE_IN_PASSED for each in seeing)

    def _ini(self, name: str) -> Any:
        try:
            return self.config.getini(name)
        except ValueError:  # the plugin that defines it is off
            return None


class DirectItem(Struct, eq=False, dict=True):
    """One run item that is being scored."""

    item: Any
    hook: pluggy.HookRelay
    workspace: PytestWorkspace
    group: Group
    pool: WorkerPool | None = None
    loaded: Run | None = None
    stored: StoredResult | None = None  # of an earlier session
    problem: str | None = None  # why a worker process could not score the run

    def run(self) -> None:
        """Set the item up, score it and clean up, with a report of each phase."""
        try:
            if self._phase("setup", self._set_up):
                self._phase("call", self._score)
            self._phase("teardown", self._clean_up)
        finally:  # of the session, perhaps
            self._clean_up()
            os.environ.pop(CURRENT_TEST, None)

    def _phase(self, when: Any, function: Callable[[], None]) -> bool:
        item = self.item
        os.environ[CURRENT_TEST] = f"{item.nodeid} ({when})".replace("\x00", "(null)")
        call = pytest.CallInfo.from_call(function, when=when, reraise=ENDING_SESSION)
        if when == "teardown":
            del os.environ[CURRENT_TEST]
        if call.excinfo is None and when != "call" and not self.group.reports_all:
            if self.stored is not None and self.group.is_quiet:
                return self._end_quietly(when)
            report = self._passed(call)
        else:
            report = self.hook.pytest_runtest_makereport(item=item, call=call)
        if when == "teardown":
            forget_evaluation(item)
        self.hook.pytest_runtest_logreport(report=report)
        if report.keywords == self._keywords:  # pytest keeps all reports until the session ends
            report.keywords = self._keywords
        if (
            call.excinfo is not None
            and not hasattr(report, "wasxfail")
            and not call.excinfo.errisinstance(pytest.skip.Exception)
        ):
            self.hook.pytest_exception_interact(node=item, call=call, report=report)
        return call.excinfo is None

    def _end_quietly(self, when: str) -> bool:
        """End a phase whose report nobody needs: with results of earlier sessions, it would take most of the time."""
        if when == "teardown":
            forget_evaluation(self.item)
        return True

    def _passed(self, call: pytest.CallInfo[None]) -> pytest.TestReport:
        """The report of a phase that passed, as pytest makes it."""
        return pytest.TestReport(
            nodeid=self.item.nodeid,
            location=self.item.location,
            keywords=self._keywords.copy(),
            outcome="passed",
            longrepr=None,
            when=call.when,  # type: ignore[arg-type]
            sections=(),
            duration=call.duration,
            start=call.start,
            stop=call.stop,
            user_properties=self.item.user_properties,
        )

    @cached_property
    def _keywords(self) -> dict[str, Any]:
        """Those of all reports of the item. A report has a copy while plugins see it."""
        return dict.fromkeys(self.item.keywords, 1)

    def _set_up(self) -> None:
        item = self.item
        self.loaded = fixtures.find_run(item, item.path, self.workspace)
        self.stored = self._find_stored(self.loaded)
        if self.stored is not None:
            return
        outcome = self.pool.take(item.path) if self.pool is not None else None
        if outcome is not None and outcome.result is not None and outcome.identity != find_identity(item.path):
            outcome = None  # of a directory that has been replaced since
        if outcome is None or (outcome.result is None and outcome.problem is None):
            fixtures.load_run(item, self.loaded, self.workspace)
        else:
            fixtures.load_outcome(item, self.loaded, outcome, self.workspace)
            self.problem = outcome.problem
        sites, judge = self.workspace.sites, self.workspace.judge
        recorder = fixtures.build_recorder(item, self.loaded, sites, judge, lambda: _bind_evaluators(recorder))
        recorder.ready = None if outcome is None else outcome.result
        item.funcargs |= {"webeval_run": self.loaded, "record_evaluation": recorder}

    def _find_stored(self, run: Run) -> StoredResult | None:
        """The result of an earlier session if nothing has to be read or written for it."""
        previous = self.workspace.config.stash.get(PREVIOUS, None)
        if previous is None or self.workspace.settings.report is not None:
            return None
        modules = self.workspace.config.stash[FINGERPRINTS].modules_of(self.item, run)
        earlier = self.workspace.config.stash[EARLIER].find_earlier(run.path, run.label)
        stored = previous.check(earlier, modules, run, self.workspace.tasks.definition(run))
        if stored is None or stored.data_checksum is not None:
            return None
        self.item.stash[UNCHANGED] = stored
        return stored

    def _score(self) -> None:
        if self.stored is not None:
            if self.stored.seal.text is not None:
                raise TaskFailed(self.stored.seal.text)
            return
        recorder = self.item.funcargs["record_evaluation"]
        if self.problem is not None:
            raise EvaluationError(self.problem)
        with run_time_limit(self.item, self.workspace.settings):
            task(recorder, _bind_evaluators(recorder))

    def _clean_up(self) -> None:
        if self.loaded is not None:
            self.loaded.release()
        self.item.funcargs.clear()


def _bind_evaluators(recorder: RecordEvaluation) -> list[Checker]:
    return [Checker(evaluator, recorder) for evaluator in default_evaluators()]
