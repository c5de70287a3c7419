"""The classification of a run, derived from the phases of its item."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from pytest_webeval.errors import RecordingError, RunExcluded, WebEvalError
from pytest_webeval.plugin.collection.nodes import RunItem, has_own_result, run_path
from pytest_webeval.plugin.runtest.evaluation import RECORDER, REPORTED, RESOLVED, SCORING, UNREADABLE, RecordEvaluation
from pytest_webeval.plugin.runtest.fingerprints import FINGERPRINTS
from pytest_webeval.plugin.workspace import PytestWorkspace
from pytest_webeval.results import Status, TaskResult
from pytest_webeval.safety.deadline import DeadlineExceeded
from pytest_webeval.safety.text import sanitize
from pytest_webeval.scoring.task_result import add_inputs
from pytest_webeval.sessions.classification import format_error
from pytest_webeval.sessions.run_outcome import Classification, Storage
from pytest_webeval.sessions.seal import Seal
from pytest_webeval.sessions.stored_results import VERDICTS, describe_state

_SELF_EXPLANATORY = (WebEvalError, pytest.skip.Exception, pytest.xfail.Exception)


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
    is_unreadable = call.excinfo is not None and UNREADABLE in item.stash
    return _classify_unscored(item, path, call, workspace) if path is not None and is_unreadable else None


def _classify_evaluation(
    item: pytest.Item, call: pytest.CallInfo[None], recorder: RecordEvaluation, workspace: PytestWorkspace
) -> Classification | None:
    """The outcome recorded for a run while its item or a Python test ran."""
    run, task, is_item = recorder.case.run, recorder.case.task, has_own_result(item)
    try:
        result = _result(recorder, call, workspace) if recorder.excluded is None else None
    except RunExcluded as error:
        recorder.excluded, result = error, None
    except WebEvalError as error:
        result = workspace.classifier.build_error_result(run, task, sanitize(str(error)))
    if recorder.excluded is not None:
        return workspace.classifier.classify_excluded(run, task, recorder.excluded) if is_item else None
    path = workspace.result_path(run.path)
    if not is_item:
        return None if result is None else _classify_part(result, recorder, workspace)
    if (stored := recorder.reused) is not None:
        return Classification(stored.result, path, run, task, Storage.NONE, stored=stored)
    sealing = _seal(item, recorder, workspace) if result is not None and result is recorder.scored else None
    result = workspace.classifier.build_error_result(run, task, _message(call)) if result is None else result
    return Classification(result, path, run, task, sealing=sealing, started=workspace.started)


def _seal(item: pytest.Item, recorder: RecordEvaluation, workspace: PytestWorkspace) -> Seal | None:
    """What decided a result, if another session can reuse it: none that depends on what an evaluator raised."""
    calls, status = recorder.case.calls, recorder.scored.status if recorder.scored is not None else Status.ERROR
    if not isinstance(item, RunItem) or calls.expected or calls.raised or status not in VERDICTS or recorder.is_judged:
        return None  # a judge answers from its memory, which knows whether the question is still the same
    definition = recorder.definition
    fingerprints, run = workspace.config.stash[FINGERPRINTS], recorder.case.run
    state = describe_state(recorder.evaluators, recorder.case, workspace)
    is_foreign = fingerprints.uses_foreign_code(item, run)
    return Seal(
        "", fingerprints.of(fingerprints.modules_of(item, run), run, definition), state, is_foreign, definition.origin
    )


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
    run, task, stopped = recorder.case.run, recorder.case.task, recorder.stopped
    if isinstance(stopped, DeadlineExceeded) and call.excinfo is not None:  # by now an error with a message
        stopped = call.excinfo.value
    if isinstance(stopped, pytest.skip.Exception):
        return recorder.merge_into(recorder.build_excluded_result(format_error(stopped, _SELF_EXPLANATORY)))
    return recorder.merge_into(
        workspace.classifier.build_error_result(run, task, format_error(stopped, _SELF_EXPLANATORY))
    )


def _is_left_out(call: pytest.CallInfo[None]) -> bool:
    """Whether a test ended before its run had a verdict, and was to end so: skipped, or an expected failure."""
    return call.excinfo is not None and call.excinfo.errisinstance((pytest.skip.Exception, pytest.xfail.Exception))


def _classify_unscored(
    item: pytest.Item, path: Path, call: pytest.CallInfo[None], workspace: PytestWorkspace
) -> Classification:
    message, is_partial = _message(call), not has_own_result(item)
    if not _is_left_out(call):
        error = call.excinfo.value if call.excinfo is not None else None
        classification = workspace.classifier.classify_error(path, message, is_partial=is_partial, error=error)
        is_refused = call.excinfo is not None and call.excinfo.errisinstance(RecordingError) and RESOLVED in item.stash
        if not is_refused:
            return classification
        result = add_inputs(classification.result, item.stash[RESOLVED][0])
        return structs.replace(classification, result=result)
    storage = Storage.REMOVED if call.when == "call" else Storage.NONE
    return workspace.classifier.classify_skipped(path, message, storage, is_partial=is_partial)


def classify_timeout(item: pytest.Item, message: str, workspace: PytestWorkspace) -> Classification | None:
    """The classification of a run that took too long to classify; None for an item without a run."""
    path = run_path(item)
    return (
        None
        if path is None
        else workspace.classifier.classify_timeout(path, message, is_partial=not has_own_result(item))
    )


def _message(call: pytest.CallInfo[None]) -> str:
    return format_error(call.excinfo.value if call.excinfo is not None else None, _SELF_EXPLANATORY)
