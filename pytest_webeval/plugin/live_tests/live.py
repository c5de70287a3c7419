"""Live tests: each records the run of an agent, and is scored as the recording would be later."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from pytest_webeval.errors import SettingsError, TaskFailed, WebEvalError
from pytest_webeval.plugin.collection.nodes import LIVE_FIXTURE, OPENED_RUNS, RECORDED, is_live, task
from pytest_webeval.plugin.item_names import task_names
from pytest_webeval.plugin.live_tests.live_tasks import LiveMark, LiveTasks, find_task_id, require_mark
from pytest_webeval.plugin.runtest.evaluation import SCORING, forget, run_time_limit
from pytest_webeval.plugin.user_code import sanitize_warnings, with_tracebacks
from pytest_webeval.plugin.workspace import WORKSPACE, PytestWorkspace
from pytest_webeval.recorder.interruption import interruptible, pause_for_debugger
from pytest_webeval.recorder.live_recording import LiveRecording
from pytest_webeval.recorder.recording import render_start_url
from pytest_webeval.recorder.run_directory import create_run_directory
from pytest_webeval.recordings.recording_state import Outcome
from pytest_webeval.reports.rerun import exact
from pytest_webeval.safety.text import sanitize
from pytest_webeval.tasks.task import Task

ENDING_SESSION = (pytest.exit.Exception, KeyboardInterrupt)
NOT_RUN = "the test ended before its agent began"  # a fixture failed, or skipped the test
NOT_AUDITED = "--webeval-audit-tasks records nothing"
UNSPLIT = "--webeval-shard splits recorded runs, not live tests; deselect those, or record without it"
UNSCORED = (*ENDING_SESSION, pytest.skip.Exception, pytest.xfail.Exception)


class LiveTest(Struct, frozen=True):
    """The recording of a test, with the request by which its run gets its fixtures."""

    recording: LiveRecording
    request: pytest.FixtureRequest
    timeout: float  # seconds, 0 for no limit


LIVE = pytest.StashKey[LiveTest]()


def record(request: pytest.FixtureRequest) -> Iterator[LiveRecording]:
    """The recording of a test, in a new directory. Raises `WebEvalError`."""
    item, workspace = request.node, request.config.stash[WORKSPACE]
    if not is_live(item):  # nobody would score it
        raise SettingsError(f"{item.nodeid} gets {LIVE_FIXTURE} while it runs; make it an argument of the test")
    mark, tests = require_mark(item), request.config.stash[LIVE_TESTS]
    definition = tests.find_task(item, mark)
    sites, options = (request.getfixturevalue(name) for name in ("webeval_sites", "webeval_browser"))
    render_start_url(definition, sites)  # an error leaves no directory
    directory = create_run_directory(tests.root, definition.task_id)
    item.stash[OPENED_RUNS].enter_context(workspace.open_run(directory))  # the agent may replace it
    recording = LiveRecording(directory, definition, sites, mark.max_steps, options)
    item.stash[RECORDED] = directory
    item.user_properties.append(("webeval_recording", workspace.labels.of(directory)))
    timeout = workspace.settings.record_timeout if mark.timeout is None else mark.timeout
    item.stash[LIVE] = LiveTest(recording, request, timeout)
    yield recording
    recording.stop(Outcome.INTERRUPTED, NOT_RUN)
    recording.close()


class LiveTests(Struct, frozen=True, eq=False):
    """Plugin of every process of a session that may record."""

    workspace: PytestWorkspace
    root: Path
    tasks: LiveTasks
    is_scoring: bool

    @classmethod
    def of(cls, workspace: PytestWorkspace, root: Path, *, is_scoring: bool) -> LiveTests:
        """The plugin of a session that records into `root`."""
        tests = cls(workspace, root, LiveTasks(workspace), is_scoring)
        workspace.config.stash[LIVE_TESTS] = tests
        return tests

    def find_task(self, item: pytest.Item, mark: LiveMark) -> Task:
        """The definition of the task of a test. Raises `WebEvalError`."""
        task_id = find_task_id(item, mark)
        if task_id is None:  # a parameter of the test itself takes the place of ours
            raise SettingsError(f"the task of {item.nodeid} is unknown; name one id in its marker")
        return self.tasks.find(mark, task_id)

    def pytest_enter_pdb(self) -> None:
        """Stop the time of an agent whose test asks for the debugger."""
        pause_for_debugger()

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Pass over the recordings, unless they are to be scored as well: nothing there is code of the user."""
        return True if collection_path == self.root and self.root not in self.workspace.settings.runs else None

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Repeat a live test for each task that its marker names, if it does not name one."""
        if LIVE_FIXTURE not in metafunc.fixturenames:
            return
        try:
            mark = LiveMark.of(metafunc.definition)
            if mark is not None and len(mark.task_ids) != 1:
                task_ids = self.tasks.list_ids(mark)
                metafunc.parametrize(LIVE_FIXTURE, task_ids, indirect=True, ids=list(map(str, task_ids)))
        except WebEvalError as error:
            raise pytest.Collector.CollectError(sanitize(str(error))) from error

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Let `-k '[107]'` and the other keywords of a task select its live test; skip it if tasks are audited."""
        if not is_live(item) or (mark := LiveMark.of(item)) is None:
            return
        if self.workspace.settings.audit_tasks:
            item.add_marker(pytest.mark.skip(reason=NOT_AUDITED))
        task_id = find_task_id(item, mark)
        if task_id is not None:
            names = task_names(self.tasks.find_or_none(mark, task_id))
            item.extra_keyword_matches.update({str(task_id), *exact([task_id, *names]), *names})

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Copy the definitions of the tasks for later sessions. A worker of xdist fails its tests if it cannot."""
        marks = [mark for item in items if is_live(item) and (mark := LiveMark.of(item)) is not None]
        if marks and self.is_scoring:
            try:
                if self.workspace.settings.shard is not None:
                    raise SettingsError(UNSPLIT)
                self.tasks.share(marks, self.root)
            except WebEvalError as error:
                if hasattr(self.workspace.config, "workerinput"):  # it cannot end the session
                    self.tasks.problems.append(error)
                    return
                raise pytest.UsageError(str(error)) from error

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """End the recording when its test ends, however that is, and score it."""
        live = item.stash.get(LIVE, None)
        if live is None:
            return (yield)
        agent_error: BaseException | None = None
        try:
            with sanitize_warnings(item.config), interruptible(live.recording, live.timeout):
                yield
        except BaseException as error:  # noqa: BLE001  (raised again, unless it says that a limit is exceeded)
            agent_error = error
        agent_error = _end(live.recording, agent_error)
        if isinstance(agent_error, pytest.exit.Exception):  # whose text pytest prints as it is
            agent_error.args = (sanitize(str(agent_error)),)
        if isinstance(agent_error, UNSCORED):
            raise agent_error
        scoring = pytest.CallInfo.from_call(lambda: self._score(item, live.request), "call", reraise=ENDING_SESSION)
        item.stash[SCORING] = scoring
        if agent_error is not None:
            raise agent_error
        if scoring.excinfo is not None:
            raise scoring.excinfo.value
        return None

    def _score(self, item: Any, request: pytest.FixtureRequest) -> None:
        """Score the recording as an item of a run scores one."""
        item.funcargs["webeval_run"] = request.getfixturevalue("webeval_run")  # for the redaction of the report
        recorder, evaluators = (request.getfixturevalue(name) for name in ("record_evaluation", "webeval_evaluators"))
        with run_time_limit(item, self.workspace.settings):
            task(recorder, evaluators)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Show why the run failed in the words of a run item; with the exception of an agent, below that."""
        report = yield
        if call.when == "teardown":
            forget(item, LIVE, SCORING)
        if not is_live(item) or call.excinfo is None:
            return report
        scoring = item.stash.get(SCORING, None) if call.when == "call" else None
        verdict = scoring.excinfo.value if scoring is not None and scoring.excinfo is not None else None
        if report.failed and (text := _describe(call.excinfo.value, item)) is not None:
            report.longrepr = text
        elif verdict is not None and verdict is not call.excinfo.value:
            report.sections.append(("webeval", _describe(verdict, item) or sanitize(str(verdict))))
        if call.when == "call" and (directory := item.stash.get(RECORDED, None)) is not None:
            report.sections.append(("webeval recording", sanitize(self.workspace.labels.of(directory))))
        return report


LIVE_TESTS = pytest.StashKey[LiveTests]()


def _describe(error: BaseException, item: pytest.Item) -> str | None:
    """The text of an error of ours; None for any other."""
    if isinstance(error, TaskFailed):
        return with_tracebacks(str(error), error.raised, item.config)
    return sanitize(str(error)) if isinstance(error, WebEvalError) else None


def _end(recording: LiveRecording, error: BaseException | None) -> BaseException | None:
    """Close a recording. Returns the error that ended it, unless that only says that a limit is exceeded."""
    if isinstance(error, ENDING_SESSION):
        recording.stop(Outcome.INTERRUPTED)
    elif isinstance(error, UNSCORED):
        recording.stop(Outcome.INTERRUPTED, f"the test was not to be scored: {error}")
    elif error is not None and recording.outcome is Outcome.RECORDING:
        recording.crash(error)
    is_limit = recording.outcome in {Outcome.TIMEOUT, Outcome.BUDGET}
    recording.close()
    return None if is_limit else error
