"""Workers on other machines fetch the objects of their batches, and check the directories of results."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from pytest_webeval.errors import SettingsError
from pytest_webeval.sessions.placement.batch_scoring import build_scorer, score_batch
from pytest_webeval.sessions.placement.other_machines import probe_directories
from pytest_webeval.sessions.placement.session_scoring import SessionScoring
from pytest_webeval.sessions.runs.record_payload import RecordPayload
from pytest_webeval.sessions.runs.session_rows import SessionRows
from pytest_webeval.sessions.session import Session
from pytest_webeval.sessions.settings.option_values import CommandSource
from pytest_webeval.sessions.settings.settings import read_settings
from pytest_webeval.sessions.workspace.missing_tasks import MissingTasks
from pytest_webeval.sessions.workspace.workspace import Workspace
from tests.remote.conftest import BUCKET
from tests.support.faulty_s3 import Faults


@dataclass
class Coordinator:
    """A session whose workers are on other machines."""

    here: Path

    def open(self, **options):
        arguments = argparse.Namespace(webeval_runs=[BUCKET], **options)
        workspace = Workspace(read_settings(CommandSource(arguments)), self.here, self.here)
        session = Session(workspace, MissingTasks(workspace), SessionRows(workspace))
        scoring = SessionScoring(session, is_local=False)
        targets = list(scoring.runs.targets(workspace, is_local=False))
        return scoring, targets


@pytest.fixture
def coordinator(here):
    return Coordinator(here)


def move_away(session, monkeypatch, tmp_path):
    """Go to a machine with no file of the session's caches."""
    (tmp_path / "caches").rename(tmp_path / "gone")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other caches"))


def statuses(payloads):
    return [RecordPayload.read(payload).record.status for payload in payloads]


def test_a_worker_scores_from_the_objects_that_a_batch_brings(s3, copied, coordinator, monkeypatch, tmp_path):
    copied(4)
    session, targets = coordinator.open(webeval_output=str(tmp_path / "shared"))
    seed = session.seed
    move_away(session, monkeypatch, tmp_path)
    s3.restart()
    payloads = score_batch(seed, targets)
    assert statuses(payloads) == ["success", "success", "failure", "success"]
    assert [RecordPayload.read(payload).record.run for payload in payloads] == [f"runs/{each}" for each in range(1, 5)]
    assert "GET /bucket" not in s3.requests()
    assert len(list((tmp_path / "shared").glob("*/eval_result.json"))) == 4


def test_a_worker_reads_no_file_of_a_run_that_is_gone_from_the_store(s3, copied, coordinator, monkeypatch, tmp_path):
    def score():
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
        session, targets = coordinator.open(webeval_output=str(tmp_path / "shared"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches of the worker"))
        return statuses(score_batch(session.seed, targets))

    copied(2)
    assert score() == ["success", "success"]
    s3.delete("runs/2/network.har")
    assert score() == ["success", "error"]


def test_a_result_that_did_not_leave_the_machine_is_an_error_of_its_run(s3, copied, coordinator, monkeypatch, tmp_path):
    copied(4)
    session, targets = coordinator.open(webeval_output="s3://bucket/results")
    seed = session.seed
    move_away(session, monkeypatch, tmp_path)
    s3.restart(Faults(unwritable=["results/2/eval_result.json"]))
    payloads = score_batch(seed, targets)
    assert statuses(payloads) == ["success", "error", "failure", "success"]
    assert "cannot write s3://bucket/results/2/eval_result.json" in RecordPayload.read(payloads[1]).record.reason
    assert len(s3.objects("results/")) == 3


@pytest.mark.parametrize("named", [None, "own_evaluators.py"])
def test_other_modules_on_the_machine_of_a_worker_are_refused(copied, coordinator, here, named):
    copied(1)
    (here / "own_evaluators.py").write_text("def webeval_evaluators(evaluators): return evaluators")
    session, _ = coordinator.open()
    seed = replace(session.seed, evaluators_from=named and str(here / named), modules="of the session")
    what = seed.evaluators_from or "a package with extensions"
    with pytest.raises(
        SettingsError, match=f"^{what} differs between the session and a worker on .*; install the same"
    ):
        build_scorer(seed)


def test_a_directory_that_a_worker_does_not_see_is_refused(copied, coordinator, tmp_path):
    copied(1)
    output = tmp_path / "output"
    session, _ = coordinator.open(webeval_output=str(output))
    with probe_directories(session.workspace.settings) as probes:
        session.probes = probes
        seed = session.seed
        build_scorer(seed)
        output.rename(tmp_path / "another")
        with pytest.raises(SettingsError, match=f"does not see the directory {output} of this session"):
            build_scorer(seed)
        (tmp_path / "another").rename(output)
    assert not list(output.iterdir())


def test_nothing_stays_in_a_directory_if_another_cannot_be_written(copied, coordinator, tmp_path):
    copied(1)
    report, output = tmp_path / "report", tmp_path / "output"
    session, _ = coordinator.open(webeval_output=str(output), webeval_report=str(report))
    output.write_text("a file")
    with pytest.raises(SettingsError, match="cannot write"), probe_directories(session.workspace.settings):
        pass
    assert not list(report.iterdir())
