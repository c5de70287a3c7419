"""Which results the controller puts into the journals."""

from __future__ import annotations

import math

import pytest

from pytest_webeval.plugin.option_source import read_pytest_settings
from pytest_webeval.plugin.workspace import PytestWorkspace
from pytest_webeval.sessions.journal import Seal, entry_in
from pytest_webeval.sessions.journals import Journals
from pytest_webeval.sessions.record_payload import RecordPayload
from pytest_webeval.summary.record import Record
from tests.support.journals import read_entries


@pytest.fixture
def journals(runs, pytester):
    """The journals of a session over two runs."""
    for number in (107, 108):
        runs.add(number)
    config = pytester.parseconfig("--webeval-runs=runs")
    return Journals(PytestWorkspace.of(config, read_pytest_settings(config)))


def payload(number, **changed):
    fields = {"status": "success", "score": 1.0, "sites": [], "template": 1, "task_type": None, "reason": None}
    fields |= {"warnings": [], "wall_time": 0.0, "rules": "default", "version": "1"}
    fields |= {"evaluator_checksum": "a", "data_checksum": "b"}
    record = Record(run=f"runs/{number}", task_id=number, **fields | changed)
    return RecordPayload(record, None, Seal("result", "decided"))


def test_a_record_with_a_number_that_json_does_not_know_is_left_out(journals, runs):
    journals.keep(payload(107, trajectory={"process_score": math.nan}))
    journals.keep(payload(108, trajectory={"process_score": 0.5}))
    journals.end(is_complete=False, is_whole=False)
    entries = read_entries(runs.root / "eval_journal.jsonl")
    assert list(entries) == ["runs/108"]
    assert entry_in(entries["runs/108"]).record["trajectory"] == {"process_score": 0.5}
    assert journals.problems == []
