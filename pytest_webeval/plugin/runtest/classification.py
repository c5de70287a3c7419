"""The classification of a run, derived from the phases of its item."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from pytest_webeval.errors import RunExcluded, WebEvalError
from pytest_webeval.plugin.collection.nodes import RunItem, has_own_result, run_path
from pytest_webeval.plugin.runtest.evaluation import ATTEMPT, RECORDER, REPORTED, SCORING, RecordEvaluation
from pytest_webeval.plugin.runtest.fingerprints import FINGERPRINTS
from pytest_webeval.plugin.workspace import PytestWorkspace
from pytest_webeval.results import TaskResult
from pytest_webeval.safety.deadline import DeadlineExceeded
from pytest_webeval.safety.text import sanitize
from pytest_webeval.sessions.runs.classification import Attempt
from pytest_webeval.sessions.runs.run_outcome import Classification, Storage
from pytest_webeval.sessions.runs.stored_results import Seal, build_seal


def classify_phase(item: pytest.Item, call: pytest.CallInfo[None], workspace: PytestWorkspace) -> Classification | None:
    """The outcome of a run after a phase of its item; None without news."""
    if call.when == "setup" and call.excinfo is None:
        return None
    recorder = item.stash.get(RECORDER, None)
    if call.when == "call":
        call = item.stash.get(SCORING, call)
        item.stash[REPORTED] = recorder
    if call.when == "teardown":
        if recorder is not None and is_retried(item):
            return _classify_evaluation(item, call, recorder, workspace)
        return _classify_teardown(recorder, workspace) if recorder is not None else None
    if not has_own_result(item):
        return _classify_test(item, call, recorder, workspace)
    has_verdict = recorder is not None and (recorder.excluded is not None or recorder.scored is not None)
    if recorder is not None and call.when == "call" and (has_verdict or not _is_left_out(call)):
        return _classify_evaluation(item, call, recorder, workspace)
    path = run_path(item)
    return _classify_unscored(item, path, call, workspace) if call.excinfo is not None and path is not None else None


def is_retried(item: pytest.Item) -> bool:
    """Whether a plugin has called a run item again since its call was reported, and there is another outcome."""
    recorder = item.stash.get(RECORDER, None)
    has_outcome = recorder is not None and (recorder.scored is not None or recorder.excluded is not None)
    return has_outcome and isinstance(item, RunItem) and item.stash.get(REPORTED, recorder) is not recorder


def _classify_test(
    item: pytest.Item, call: pytest.CallInfo[None], recorder: RecordEvaluation | None, workspace: PytestWorkspace
) -> Classification | None:
    """The outcome that a Python test recorded for its run, or a broken run. Errors of the test itself do not count."""
    if recorder is not None:
        return _classify_evaluation(item, call, recorder, workspace) if call.when == "call" else None
    path = run_path(item)
    is_unreadable = call.excinfo is not None and item.stash.get(ATTEMPT, Attempt()).error is not None
    return _classify_unscored(item, path, call, workspace) if path is not None and is_unreadable else None


def _classify_evaluation(
    item: pytest.Item, call: pytest.CallInfo[None], recorder: RecordEvaluation, workspace: PytestWorkspace
) -> Classification | None:
    """The outcome recorded for a run while its item or a Python test ran."""
    run, case, definition = recorder.case.run, recorder.case, recorder.definition
    attempt = Attempt(run, definition, case, stored=recorder.reused)
    attempt.error = call.excinfo.value if call.excinfo is not None else None
    try:
        attempt.result = _result(recorder, call, workspace) if recorder.excluded is None else None
    except RunExcluded as error:
        recorder.excluded = error
    except WebEvalError as error:
        attempt.result = recorder.build_error_result(sanitize(str(error)))
    attempt.error = recorder.excluded or attempt.error
    if has_own_result(item):
        seal = _seal(item, recorder, workspace) if attempt.result is recorder.scored else None
        return workspace.classifier.classify(run.path, attempt, seal)
    return None if attempt.result is None else _classify_part(attempt.result, recorder, workspace)


def _seal(item: pytest.Item, recorder: RecordEvaluation, workspace: PytestWorkspace) -> Seal | None:
    """What decided a result. Of a judge none: it answers from its memory, which knows whether the question is new."""
    if recorder.scored is None or not isinstance(item, RunItem) or recorder.is_judged:
        return None
    fingerprints, case = workspace.config.stash[FINGERPRINTS], recorder.case
    modules = fingerprints.modules_of(item, case.run)
    state = recorder.scored, recorder.evaluators, case, recorder.definition
    return build_seal(*state, fingerprints=fingerprints, modules=modules)


def _classify_part(result: TaskResult, recorder: RecordEvaluation, workspace: PytestWorkspace) -> Classification:
    run, task = recorder.case.run, recorder.case.task
    return Classification(result, workspace.result_path(run.path), run, task, Storage.REPORT, is_partial=True)


def _classify_teardown(recorder: RecordEvaluation, workspace: PytestWorkspace) -> Classification | None:
    """What a fixture recorded after the test of a run, as if by another test."""
    result = recorder.teardown_result
    recorder.case.run.release()
    return None if result is None else _classify_part(result, recorder, workspace)


def _result(recorder: RecordEvaluation, call: pytest.CallInfo[None], workspace: PytestWorkspace) -> TaskResult | None:
    """The result of a run; if its evaluators were stopped, the recorded part with the reason."""
    if recorder.stopped is None or recorder.scored is not None:
        return recorder.result
    if not recorder.results:
        return None
    stopped: BaseException = recorder.stopped
    if isinstance(stopped, DeadlineExceeded) and call.excinfo is not None:  # by now an error with a message
        stopped = call.excinfo.value
    message = workspace.classifier.format_error(stopped)
    if isinstance(stopped, pytest.skip.Exception):
        return recorder.merge_into(recorder.build_excluded_result(message))
    return recorder.merge_into(recorder.build_error_result(message))


def _is_left_out(call: pytest.CallInfo[None]) -> bool:
    """Whether a test ended before its run had a verdict, and was to end so: skipped, or an expected failure."""
    return call.excinfo is not None and call.excinfo.errisinstance((pytest.skip.Exception, pytest.xfail.Exception))


def _classify_unscored(
    item: pytest.Item, path: Path, call: pytest.CallInfo[None], workspace: PytestWorkspace
) -> Classification:
    classifier, is_partial = workspace.classifier, not has_own_result(item)
    error = call.excinfo.value if call.excinfo is not None else None
    if not _is_left_out(call):
        attempt = replace(item.stash.get(ATTEMPT, Attempt()), error=error)
        return classifier.classify_unread(path, attempt, is_partial=is_partial)
    storage = Storage.REMOVED if call.when == "call" else Storage.NONE
    return classifier.classify_error(path, classifier.format_error(error), is_partial=is_partial, skipped=storage)
