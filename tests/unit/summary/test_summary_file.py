"""Which file a session writes its summary to, and which one readers of a directory take."""

from __future__ import annotations

import json
from itertools import product

import pytest

from pytest_webeval.exports.loading import load_results
from pytest_webeval.results import PARTIAL_SUMMARY, SUMMARY
from pytest_webeval.schemas.registry import find_schema
from pytest_webeval.summary import summary_file
from pytest_webeval.summary.comparison.session_reading import read_session
from pytest_webeval.summary.judges.judged_runs import read_judged_runs
from pytest_webeval.summary.summarize import summarize_records
from pytest_webeval.summary.summary_file import find_summary, write_session_summary
from tests.support.made_records import make_records

NOTE = f"also holds {PARTIAL_SUMMARY}, which is not read; name that file to read it"


def write(directory, count, *, partial, timestamp="2026-02-03T00:00:00Z"):
    details = {"partial": partial, "subset": None}
    return write_session_summary(directory, summarize_records(make_records(count), details, timestamp))


def names(directory):
    return {path.name.split("-")[0] for path in directory.iterdir()}


@pytest.mark.parametrize("limit", [10_000, 40], ids=["one file", "side files"])
@pytest.mark.parametrize("order", list(product([True, False], repeat=3)), ids=str)
def test_a_partial_session_stands_beside_the_last_complete_one(tmp_path, monkeypatch, limit, order):
    monkeypatch.setattr(summary_file, "LIMIT", limit)
    counts = {}
    for position, partial in enumerate(order):
        name = write(tmp_path, 50 + position, partial=partial).name
        counts = ({} if name == SUMMARY else counts) | {name: 50 + position}
    assert {name: len(read_session(tmp_path / name).runs) for name in counts} == counts
    stems = {name.removesuffix(".json") for name in counts}
    assert names(tmp_path) == ({*counts, *stems} if limit == 40 else set(counts))


@pytest.mark.parametrize(
    ("written", "read"),
    [({}, None), ({True}, PARTIAL_SUMMARY), ({False}, SUMMARY), ({True, False}, SUMMARY)],
    ids=["none", "partial", "complete", "both"],
)
def test_readers_of_a_directory_take_the_complete_summary(tmp_path, written, read):
    for partial in sorted(written):
        write(tmp_path, 10 if partial else 20, partial=partial)
    assert find_summary(tmp_path) == (read and tmp_path / read)
    if read is not None:
        session = read_session(tmp_path)
        assert (len(session.runs), session.partial) == ((10, True) if read == PARTIAL_SUMMARY else (20, False))
        assert [NOTE in problem for problem in session.problems if "holds" in problem] == [True] * (len(written) == 2)
        assert len(read_judged_runs([tmp_path]).runs) <= len(session.runs)


@pytest.mark.parametrize(("times", "shown"), [("12", "2"), ("21", "2")], ids=["later", "older"])
def test_an_export_takes_what_the_later_session_says_of_a_run(tmp_path, times, shown):
    for partial, day in zip((False, True), times, strict=True):
        write(tmp_path, 10 if partial else 20, partial=partial, timestamp=f"2026-02-0{day}T00:00:00Z")
    rows = load_results(tmp_path)
    assert len(rows) == 20
    assert {row.timestamp[9] for row in rows[:10]} == {shown}


def test_the_file_has_the_schema_of_a_summary(tmp_path):
    schema = find_schema(write(tmp_path, 3, partial=True), is_named=False)
    assert schema is not None
    assert schema.name == "eval_summary"
    assert json.loads((tmp_path / PARTIAL_SUMMARY).read_bytes())["webeval"]["partial"] is True
