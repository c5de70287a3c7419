"""The steps from a classified run to what its report carries: redact, write, attach."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path

import pytest

from pytest_webeval.errors import DiskFull
from pytest_webeval.recordings.run import placeholder_run
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.results import Status
from pytest_webeval.rules import RULES
from pytest_webeval.scoring.task_result import build_error_result
from pytest_webeval.sessions.runs import run_outcome as module
from pytest_webeval.sessions.runs.page_writer import PageWriter
from pytest_webeval.sessions.runs.record_payload import build_payload
from pytest_webeval.sessions.runs.run_outcome import Classification, Storage, redact, write
from pytest_webeval.sessions.runs.stored_results import Seal, StoredResult
from pytest_webeval.sessions.workspace.result_places import ResultPlaces

SEALING = Seal("", "all", "state", origin="tasks.json")


@pytest.fixture
def run(tmp_path):
    (tmp_path / "107").mkdir()
    return placeholder_run(tmp_path / "107", "runs/107", RULES["default"])


@pytest.fixture
def path(run):
    return run.path / "eval_result.json"


@pytest.fixture
def classify(run, path):
    """A success of the run; the fields that are given are others."""
    result = build_error_result(run, None, "").with_changes(status=Status.SUCCESS, score=1.0, error_msg=None)
    return lambda **fields: Classification(**{"result": result, "path": path, "run": run, "task": None} | fields)


@pytest.fixture
def written(classify):
    """The classified run after the hook of a user, which says that it raised if a text is given."""
    redacting = Redacting(RedactionPolicy(mode="off"), is_leaving=False)

    def steps(hook_error=None, **fields):
        called = []
        hook = lambda run, result: called.append((run.label, result.status.value)) or hook_error  # noqa: E731
        return write(redact(classify(**fields), redacting), ResultPlaces(), hook), called

    return steps


def status_in(path):
    return json.loads(path.read_bytes())["status"]


def test_a_verdict_goes_to_its_file_and_to_the_hook(written, path):
    found, called = written(sealing=SEALING, started=time.time() + 60)
    assert (status_in(path), called) == ("success", [("runs/107", "success")])
    assert (found.record.status, found.is_disturbed, found.result_path) == ("success", False, path)
    assert found.seal.result == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (found.seal.decided_by, found.seal.evaluators, found.seal.text) == ("all", "state", None)
    assert "" not in (found.seal.files, found.seal.identity)
    payload = build_payload(found)
    assert (payload.record, payload.part, payload.seal) == (found.record, None, found.seal)


def test_an_error_of_the_hook_takes_the_place_of_the_verdict(written, path):
    found, called = written("it raised", sealing=SEALING)
    assert called == [("runs/107", "success")]
    assert (status_in(path), json.loads(path.read_bytes())["error_msg"]) == ("error", "it raised")
    assert (found.record.status, found.record.reason, found.is_disturbed) == ("error", "it raised", True)
    assert found.seal.decided_by == found.seal.files == ""  # so that a resumed session scores the run again


def test_a_part_goes_to_the_controller_alone(written, path):
    found, called = written(storage=Storage.REPORT, is_partial=True)
    assert called == [("runs/107", "success")]
    assert build_payload(found).part["status"] == "success"
    assert not path.exists()


def test_a_part_whose_hook_raised_is_lost(written, path):
    found, _ = written("it raised", storage=Storage.REPORT, is_partial=True)
    payload = build_payload(found)
    assert (payload.part, payload.record.reason, payload.is_disturbed) == (None, "it raised", True)
    assert not path.exists()


@pytest.mark.parametrize(
    ("storage", "owner", "is_there"),
    [
        (Storage.NONE, "runs/107", True),
        (Storage.REMOVED, "runs/107", False),
        (Storage.REMOVED, "runs/108", True),  # somebody else's
    ],
)
def test_a_file_of_an_earlier_session_stays_unless_it_no_longer_holds(
    written, path, classify, storage, owner, is_there
):
    earlier = classify().result
    path.write_text(json.dumps(earlier.with_changes(webeval=earlier.webeval | {"run": owner}).to_json()))
    found, called = written(storage=storage)
    assert (path.exists(), called, found.result, found.result_path) == (is_there, [], None, None)


def test_a_run_that_is_gone_gets_an_error_and_no_directory(written, path):
    path.parent.rmdir()
    found, called = written()
    assert (found.record.status, found.result, found.seal, called) == ("error", None, None, [])
    assert found.record.reason.startswith(f"cannot write {path}: the run was removed during the session; ")
    assert not path.parent.exists()


def test_files_of_a_full_disk_are_named_once_each(written, path, monkeypatch):
    def fail(*_):
        raise DiskFull(f"cannot write {path}", path, "No space left on device")

    monkeypatch.setattr(module, "store_content", fail)
    found, called = written()
    assert (found.record.reason, called) == (
        "disk full: eval_result.json was not written (No space left on device)",
        [],
    )
    page = DiskFull("cannot write a page", Path("page"), "full")
    monkeypatch.setattr(PageWriter, "write", lambda *_: (_ for _ in ()).throw(page))
    payload = build_payload(PageWriter(None, path.parent).try_to_write(found, path, 1, ""))
    assert payload.no_room == {str(path): "No space left on device", "page": "full"}
    assert payload.is_disturbed


def test_the_record_of_a_skipped_run_says_why_and_is_no_failure(written, classify):
    error = classify().result.with_changes(status=Status.ERROR, score=0.0, error_msg="no recording")
    found, _ = written(result=error, storage=Storage.NONE, skip_reason="no recording", is_missing=True)
    record = found.record
    assert (record.excluded, record.skipped, record.missing) == ("no recording", True, True)
    assert (record.reason, record.failure) == (None, None)


def test_a_stored_record_stands_as_it_is(written, classify):
    record = redact(classify(), Redacting(RedactionPolicy(mode="off"), is_leaving=False)).record
    found, called = written(storage=Storage.NONE, stored=StoredResult(b"{}", record, SEALING))
    assert (found.record is record, called, found.result_path is None) == (True, [], False)
    assert build_payload(found).is_reused
    assert found.seal == SEALING


def test_the_text_of_a_failure_is_sealed_with_it(written, classify):
    failure = classify().result.with_changes(status=Status.FAILURE, score=0.0, error_msg="wrong answer")
    assert written(result=failure, sealing=SEALING)[0].seal.text == "wrong answer"
    assert written(result=failure)[0].seal.text is None
