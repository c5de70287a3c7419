"""Records that lie on the disk give the same summary as those in memory."""

from __future__ import annotations

import errno
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from pytest_webeval.errors import DiskFull
from pytest_webeval.summary import record_spool, session_totals
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.record_spool import RecordSpool, sort_records
from pytest_webeval.summary.summarize import summarize_records
from tests.support.default_run import examples
from tests.support.made_records import make_records

NOW = "2026-02-03T00:00:00Z"

names = st.sampled_from(["a", "b", "c/1", "\ud83d", "x y"])
grades = st.sampled_from(
    [
        None,
        {"score": 0.5, "evaluators": ["Mine", "Other"], "partial": ["Mine"]},
        {"score": 1.0, "evaluators": ["Mine"], "partial": []},
        {"score": 0.25, "evaluators": ["Other"], "partial": []},
    ]
)
USAGE = {"prompt_tokens": 3, "completion_tokens": 2**70}
trajectories = st.sampled_from(["completed", "aborted", "over_budget"]).map(
    lambda kind: {
        "class": kind,
        "reasons": [],
        "flags": [],
        "group": "hard",
        "benchmark": "books",
        "steps": 3,
        "max_rounds": 10,
        "duration": 1.5,
        "usage": USAGE,
        "attempts": 1,
        "last_error": None,
        "is_long": False,
        "system": "s",
        "model": "m",
        "run_id": "1",
        "verdict": {},
    }
)
judges = st.sampled_from(
    [
        None,
        {"model": "m", "text_model": None, "method": "x", "version": "1", "votes": 1, "threshold": "t", "failure": "f"},
        {
            "model": "n",
            "text_model": None,
            "method": "x",
            "version": "1",
            "votes": 1,
            "threshold": "t",
            "success": True,
        },
    ]
).map(lambda facts: facts and {"failure": None} | facts)
records = st.lists(
    st.builds(
        Record,
        run=st.builds("{}/{}".format, names, st.integers(0, 30)),
        task_id=st.one_of(st.integers(-2, 3), st.sampled_from(["1", "2", "01", "-2", "task", "\udc00"])),
        status=st.sampled_from(["success", "failure", "error", "partial_match"]),
        score=st.sampled_from([0.0, 1.0, 0.5]),
        sites=st.lists(names, max_size=2),
        template=st.integers(-1, 12),
        task_type=st.none() | names,
        reason=st.none() | names,
        warnings=st.lists(st.tuples(names, names, st.booleans()).map(list), max_size=3),
        wall_time=st.integers(0, 3).map(float),
        rules=st.sampled_from(["default", "strict"]),
        version=st.sampled_from(["", "1.2.3"]),
        evaluator_checksum=st.sampled_from(["", "e", "f"]),
        data_checksum=st.sampled_from(["", "d"]),
        excluded=st.none() | names,
        skipped=st.booleans(),
        missing=st.booleans(),
        unpassable=st.none() | names,
        failure=st.none() | st.tuples(names, names, st.sampled_from(["different", "error"])).map(list),
        reported=st.none() | st.sampled_from(["SUCCESS", "UNKNOWN_ERROR"]),
        claim=st.none() | st.sampled_from(["honest", "over_claiming"]),
        trajectory=st.none() | trajectories,
        checksums=st.none() | st.sampled_from(["recording=1", "recording=2 task=3", "task=3"]),
        tags=st.lists(names, max_size=1),
        format=st.sampled_from([None, "fara", "agentlab"]),
        judge=judges,
        grade=grades,
    ).map(lambda record: record if record.excluded is None else structs.replace(record, status="error")),
    max_size=40,
)


def plain(record: Record) -> dict[str, object]:
    """The record as it is after it was stored: lists for tuples."""
    fields = structs.asdict(record).items()
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields}


@given(records, st.sampled_from([None, "*", "c"]))
@settings(max_examples=examples(60), deadline=None)
def test_the_summary_of_records_on_the_disk_is_that_of_records_in_memory(listed, pattern):
    latest = list({record.run: record for record in listed}.values())

    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_MERGED": 2, "_FRAME": 2}.items():
            patch.setattr(record_spool, name, value)
        patch.setattr(session_totals.SpooledList, "__init__", _small(session_totals.SpooledList.__init__))
        spool = RecordSpool(listed, limit=3)
        streamed = summarize_records(spool, timestamp=NOW, attempts=pattern)

    assert len(spool) == len(latest)
    assert streamed.to_json() == summarize_records(latest, timestamp=NOW, attempts=pattern).to_json()


def _small(begin):
    """Lists that use the file from the second entry on."""
    return lambda self, scratch, *_: begin(self, scratch, 1, 2)


@given(records)
@settings(max_examples=examples(40), deadline=None)
def test_records_come_in_order_each_time_with_the_last_of_each_run(listed):
    latest = sort_records({record.run: record for record in listed}.values())
    spool = RecordSpool(limit=3)
    for record in listed:
        spool.add(record)

    for _ in range(2):
        assert list(map(plain, spool)) == list(map(plain, latest))


def test_a_rerun_replaces_records_in_memory_and_on_the_disk():
    spool = RecordSpool(make_records(10), limit=4)
    again = [structs.replace(record, reason="again", task_id=str(record.task_id)) for record in make_records(10)]

    spool.extend(again)

    assert len(spool) == 10
    assert list(spool) == sort_records(again)


def test_few_records_use_no_file():
    assert RecordSpool(make_records(30)).scratch is None
    assert RecordSpool(make_records(30), limit=10).scratch is not None


def test_a_full_disk_says_where_there_is_no_room(monkeypatch):
    def write(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.pwrite", write)

    with pytest.raises(DiskFull, match="No space left on device; set TMPDIR to a directory with more room"):
        RecordSpool(make_records(100), limit=40)
