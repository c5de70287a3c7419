"""Fixtures; each docstring is its manual page. All can be overridden in a conftest.py."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_webeval.errors import RecordingError, WebEvalError
from pytest_webeval.evaluators import RequestPatternEvaluator, RubricEvaluator, default_evaluators, load_installed
from pytest_webeval.evaluators.network.evaluator import NetworkEventEvaluator
from pytest_webeval.evaluators.response import ResponseEvaluator
from pytest_webeval.plugin.collection.nodes import RunItem, run_path
from pytest_webeval.plugin.runtest.evaluation import (
    ATTEMPT,
    RECORDER,
    Checker,
    RecordEvaluation,
    renew_time_limit,
    run_time_limit,
)
from pytest_webeval.plugin.runtest.fingerprints import find_stored_result
from pytest_webeval.plugin.workspace import WORKSPACE, PytestWorkspace
from pytest_webeval.recordings.run import Run
from pytest_webeval.safety.text import sanitize
from pytest_webeval.scoring.definition import Definition
from pytest_webeval.sessions.runs.classification import Attempt
from pytest_webeval.tasks.dataset import TaskSet
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.tasks.task import Task

if TYPE_CHECKING:
    from pytest_webeval.judges.calls import Judge
    from pytest_webeval.recorder.browser import BrowserOptions
    from pytest_webeval.recorder.live_recording import LiveRecording

NO_RUN = (
    "no recorded run for this test: only plain test functions run once per recorded run; request webeval_run as an "
    "argument of a test function, not in a unittest.TestCase or through request.getfixturevalue()"
)


@pytest.fixture
def webeval_run(request: pytest.FixtureRequest) -> Iterator[Run]:
    """The recorded run: `path`, `task_id`, `response`, `trace`, and `trajectory` where it is one.

    A Python test that asks for it runs once for each run, and is skipped where the environment made the agent abort.
    Raises RecordingError, which pytest shows as ERROR, when the recording cannot be read.
    """
    node, workspace = request.node, request.config.stash[WORKSPACE]
    if "webeval_run" in node.funcargs:  # of an item that looks up no fixtures, for a hook
        yield node.funcargs["webeval_run"]
        return
    run = find_run(node, _run_path(request), workspace)
    try:
        definition = load_run(node, run, workspace)
        exclusion = run.find_exclusion(definition.task)
        if exclusion is not None and not isinstance(node, RunItem):
            pytest.skip(sanitize(exclusion))
        yield run
    finally:
        run.release()  # the traceback of a failure keeps the run until Python looks for cycles


def _run_path(request: pytest.FixtureRequest) -> Path:
    """The run that a test is about. Fails a test that pytest did not parametrize over the runs."""
    path: Path | None = getattr(request, "param", None)
    path = path or run_path(request.node)
    if path is None:
        pytest.fail(NO_RUN, pytrace=False)
    return path


def find_run(node: Any, path: Path, workspace: PytestWorkspace) -> Run:
    """The run in a directory. Raises `RecordingError` and remembers that, for no other error is the run's."""
    problem, attempt = getattr(node, "problem", None), Attempt()
    node.stash[ATTEMPT] = attempt
    try:
        if problem:
            raise RecordingError(problem)
        run = workspace.run(path)
    except WebEvalError as error:
        attempt.error = error
        raise
    renew_time_limit(node)
    return run


def load_run(node: Any, run: Run, workspace: PytestWorkspace) -> Definition:
    """Read the recording, and return the definition of its task. Raises `WebEvalError` and remembers that."""
    attempt = node.stash[ATTEMPT]
    try:
        with run_time_limit(node, workspace.settings):
            attempt.resolve(run, workspace.tasks, partial(find_stored_result, node))
    except WebEvalError as error:
        attempt.error = error
        raise
    definition: Definition = attempt.definition
    return definition


_CHECKERS = ("webeval_response", "webeval_network_event", "webeval_rubric", "webeval_request_pattern")


def set_up(item: RunItem) -> None:
    """Load the run of an item that looks up no fixtures, and put in place what these would give.

    Raises `WebEvalError` as the fixture webeval_run does.
    """
    workspace = item.config.stash[WORKSPACE]
    run = find_run(item, item.path, workspace)
    item.addfinalizer(run.release)
    load_run(item, run, workspace)
    sites, judge = workspace.sites, workspace.judge
    recorder = build_recorder(item, run, sites, judge, _bind_evaluators)
    evaluators = _bind_evaluators(recorder)
    item.funcargs |= {
        "record_evaluation": recorder,
        "webeval_evaluators": evaluators,
        "webeval_judge": judge,
        "webeval_run": run,
        "webeval_sites": sites,
        **dict(zip(_CHECKERS, evaluators, strict=False)),  # those of other packages have no fixtures
    }


def _bind_evaluators(recorder: RecordEvaluation) -> list[Checker]:
    return [Checker(evaluator, recorder) for evaluator in default_evaluators()]


def build_recorder(
    node: Any, run: Run, sites: Sites, judge: Judge | None, evaluators: Callable[[RecordEvaluation], Iterable[Any]]
) -> RecordEvaluation:
    """The recorder of a test, which is kept for its report. `evaluators` builds those of the run item."""
    workspace = node.config.stash[WORKSPACE]
    attempt = node.stash.get(ATTEMPT, Attempt())
    is_loaded = attempt.run is run and attempt.definition is not None  # and no run of a user's own fixture
    definition = attempt.definition if is_loaded else workspace.tasks.definition(run)
    recorder = RecordEvaluation(workspace.case(run, definition, sites, judge), workspace, definition, evaluators)
    recorder.stored = attempt.stored
    node.stash[RECORDER] = recorder
    return recorder


@pytest.fixture
def webeval_task(record_evaluation: RecordEvaluation) -> Task:
    """The definition of the run's task: `intent`, `sites`, `expectations`, `task_type`."""
    return record_evaluation.case.task


@pytest.fixture
def record_evaluation(
    request: pytest.FixtureRequest, webeval_run: Run, webeval_sites: Sites, webeval_judge: Judge | None
) -> RecordEvaluation:
    """Records what you find out about the run: `record_evaluation(EvaluatorResult(...))` lands in eval_result.json."""
    if "record_evaluation" in request.node.funcargs:
        recorder: RecordEvaluation = request.node.funcargs["record_evaluation"]
        return recorder
    return build_recorder(
        request.node, webeval_run, webeval_sites, webeval_judge, lambda _: request.getfixturevalue("webeval_evaluators")
    )


@pytest.fixture
def webeval_response(record_evaluation: RecordEvaluation) -> Checker:
    """Checks the agent's answer: `webeval_response.check()` evaluates what the task expects and records it.

    Override it with `return webeval_response.using(MyEvaluator())`.
    """
    return Checker(ResponseEvaluator(), record_evaluation)


@pytest.fixture
def webeval_network_event(record_evaluation: RecordEvaluation) -> Checker:
    """Checks what the browser sent and received.

    `.check()` evaluates the task's expectations, `.check(expected={...})` one of yours.
    """
    return Checker(NetworkEventEvaluator(), record_evaluation)


@pytest.fixture
def webeval_request_pattern(record_evaluation: RecordEvaluation) -> Checker:
    """Checks for a request by a pattern of its URL: `.check(expected={"url_pattern": "/cart$", "method": "POST"})`."""
    return Checker(RequestPatternEvaluator(), record_evaluation)


@pytest.fixture
def webeval_rubric(record_evaluation: RecordEvaluation) -> Checker:
    """Checks the verdict stored in scores/ or rubric.json: `.check(criterion="process", threshold=0.8)`."""
    return Checker(RubricEvaluator(), record_evaluation)


@pytest.fixture
def webeval_evaluators(
    webeval_response: Checker,
    webeval_network_event: Checker,
    webeval_rubric: Checker,
    webeval_request_pattern: Checker,
) -> list[Any]:
    """The evaluators of a run item. Add yours: `return [*webeval_evaluators, MyEvaluator()]`."""
    own = [webeval_response, webeval_network_event, webeval_rubric, webeval_request_pattern]
    return [*own, *load_installed().values()]


@pytest.fixture(scope="session")
def webeval_judge(request: pytest.FixtureRequest) -> Judge | None:
    """The judge of trajectories without a verdict: the model of --webeval-judge, or None.

    Override it with an object of your own that has a name `model` and a method `answer(question) -> Reply`.
    """
    return request.config.stash[WORKSPACE].judge


@pytest.fixture
def webeval_recording(request: pytest.FixtureRequest) -> Iterator[LiveRecording]:
    """The recording of an agent that the test lets work. It is scored when the test ends.

    `task` and `start_url`; a recorded browser as `page` or `context`, `async with open_async()`, or `connect(cdp_url)`;
    `answer(value)` and `step(action, thought, screenshot)`. `@pytest.mark.webeval_task("tasks.json", 107)` names the
    task.
    """
    from pytest_webeval.plugin.live_tests.live import record  # for live tests alone

    yield from record(request)


@pytest.fixture(scope="session")
def webeval_browser() -> BrowserOptions:
    """The browser of live tests: a headless Chromium, that of Playwright or else of the system.

    Override it with a `BrowserOptions` of your own: `executable_path`, `headless`, `args`, and `context` with arguments
    of Playwright's `new_context`; or `cdp_url`, the address of a running browser.
    """
    from pytest_webeval.recorder.browser import BrowserOptions  # for live tests alone

    return BrowserOptions()


@pytest.fixture(scope="session")
def webeval_sites(request: pytest.FixtureRequest) -> Sites:
    """Addresses of the sites, from --webeval-config; empty without it, then they are guessed from each recording."""
    return request.config.stash[WORKSPACE].sites


@pytest.fixture(scope="session")
def webeval_tasks(request: pytest.FixtureRequest) -> TaskSet | None:
    """The task set that --webeval-tasks names, or None."""
    return request.config.stash[WORKSPACE].tasks.configured
