"""The rows of a session: their order, what another session finds, and what no kill and no stranger can spoil."""

from __future__ import annotations

import json
import math
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from pytest_webeval.errors import DiskFull, SettingsError
from pytest_webeval.recordings.labels import quote_path
from pytest_webeval.summary import row_file, session_totals, summarize
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.result_manifest import find_order, find_path
from pytest_webeval.summary.row_file import RowFile, is_unfinished, name_rows
from pytest_webeval.summary.row_order import encode_path_order, encode_position, order_of, sort_records
from pytest_webeval.summary.shards import Shard
from pytest_webeval.summary.summarize import summarize_records
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
        run=st.builds("{}/{}".format, st.sampled_from(["a", "b", "c/1", "x y"]), st.integers(0, 30)),
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
    return json.loads(json.dumps(structs.asdict(record)))


def keep_all(rows, listed):
    for record in listed:
        rows.keep(record)
    return rows


@given(records, st.sampled_from([None, "*", "c"]))
@settings(max_examples=60, deadline=None)
def test_the_summary_of_rows_is_that_of_records_in_memory(listed, pattern):
    latest = list({record.run: record for record in listed}.values())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(summarize, "MOST_IN_MEMORY", 3)
        patch.setattr(session_totals.SpooledList, "__init__", _small(session_totals.SpooledList.__init__))
        rows = keep_all(RowFile(), listed)
        streamed = summarize_records(rows, timestamp=NOW, attempts=pattern)

    assert len(rows) == len(latest)
    assert streamed.to_json() == summarize_records(latest, timestamp=NOW, attempts=pattern).to_json()


def _small(begin):
    """Lists that use the file from the second entry on."""
    return lambda self, scratch, *_: begin(self, scratch, 1, 2)


@given(records)
@settings(max_examples=40, deadline=None)
def test_records_come_in_order_each_time_with_the_last_of_each_run(listed):
    latest = {record.run: record for record in listed}
    rows = keep_all(RowFile(), listed)

    for _ in range(2):
        assert list(map(plain, rows)) == list(map(plain, sort_records(latest.values())))
    assert all(plain(rows.get(run)) == plain(record) for run, record in latest.items())
    assert "no such run" not in rows
    assert rows.get("no such run") is None


def named(task_id, run) -> Record:
    return structs.replace(make_record(run), task_id=task_id)


ids = st.integers() | st.text(st.characters(), max_size=4) | st.sampled_from([2**64, -(2**64), 255, 256, -256, -255])


@given(st.tuples(ids, st.text(max_size=3)), st.tuples(ids, st.text(max_size=3)))
@settings(max_examples=300)
def test_positions_sort_as_task_ids_and_runs_do(one, other):
    first, second = named(*one), named(*other)
    assert (order_of(first) < order_of(second)) == (encode_position(first) < encode_position(second))


names_of_directories = st.lists(
    st.sampled_from(["1", "9", "10", "010", "a", "a1", "a b", "\x01", "\U0001f600"]),
    min_size=1,
    max_size=3,
    unique=True,
)


@given(names_of_directories, names_of_directories)
def test_paths_sort_as_runs_are_collected(one, other):
    labels = [f"runs/{quote_path('/'.join(names))}" for names in (one, other)]
    orders = [find_order(find_path(label, "runs")) for label in labels]
    encoded = [encode_path_order(label, "runs") for label in labels]
    assert (orders[0] < orders[1], orders[0] == orders[1]) == (encoded[0] < encoded[1], encoded[0] == encoded[1])


def make_record(run: str, **changes) -> Record:
    return structs.replace(next(iter(make_records(1))), run=run, **changes)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "out" / "eval_session.sqlite"


def test_a_later_session_finds_what_an_earlier_one_kept(path):
    earlier = RowFile(path, 1.0)
    earlier.keep(make_record("a", reason="\ud800"), "seal", b"{}")
    earlier.keep(make_record("b"))
    later = RowFile(path, 2.0)
    row = later.find_earlier("a")
    assert (json.loads(row.record)["reason"], row.seal, row.result) == ("\ud800", "seal", b"{}")
    assert [later.find_earlier(run) for run in ("b", "c")] == [None, None]  # without a seal, and without a row
    assert earlier.find_earlier("a") is None  # its own
    assert (list(later), len(later)) == ([], 0)


def test_a_reused_row_is_of_the_later_session_and_keeps_its_result(path):
    RowFile(path, 1.0).keep(make_record("a"), "seal", b"{}")
    later = RowFile(path, 2.0)
    later.keep(make_record("a", tags=["now"]), "seal", is_reused=True)
    assert later.get("a").tags == ["now"]
    assert (later.get_result("a"), later.count_reused(), len(later)) == (b"{}", 1, 1)
    later.keep(make_record("a"), "seal")
    assert (later.get_result("a"), later.count_reused(), len(later)) == (None, 0, 1)


def test_without_a_session_nothing_is_written(path):
    rows = RowFile(path)
    assert (list(rows), rows.find_earlier("a"), rows.get("a"), len(rows), rows.count_reused()) == ([], None, None, 0, 0)
    rows.end()
    assert not path.parent.exists()


def test_each_row_survives_a_process_that_is_killed(path):
    program = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from pathlib import Path
from pytest_webeval.summary.row_file import RowFile
from tests.support.made_records import make_records
rows = RowFile(Path({str(path)!r}), 1.0)
for record in make_records(5):
    rows.keep(record, "seal")
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    later = RowFile(path, 2.0)
    assert all(later.find_earlier(record.run) is not None for record in make_records(5))
    assert is_unfinished(path)


def test_a_session_that_ended_says_so_and_leaves_one_file(path):
    rows = RowFile(path, 1.0)
    rows.keep(make_record("a"))
    assert is_unfinished(path)
    rows.end()
    assert not is_unfinished(path)
    assert [each.name for each in path.parent.iterdir()] == ["eval_session.sqlite"]
    RowFile(path, 2.0).keep(make_record("b"))
    assert is_unfinished(path)


def test_what_is_gone_is_forgotten(path):
    RowFile(path, 1.0).keep(make_record("a"), "seal")
    rows = RowFile(path, 2.0)
    rows.keep(make_record("b"), "seal")
    rows.forget_others()
    rows.end()
    third = RowFile(path, 3.0)
    assert (third.find_earlier("a"), third.find_earlier("b") is None) == (None, False)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT started FROM sessions").fetchall() == [(2.0,)]


def test_results_come_in_the_order_of_paths_with_those_of_other_sessions(path):
    earlier = RowFile(path, 1.0)
    for run in ("runs/10", "runs/9"):
        earlier.keep(make_record(run), "seal", b"1")
    rows = RowFile(path, 2.0)
    rows.keep(make_record("runs/10/a"), None, b"2")
    rows.keep(make_record("runs/8"))
    rows.adopt("runs/b", b"3")
    rows.adopt("runs/9", b"3")  # of which there is a result
    rows.adopt("runs/8", b"3")  # which has none in this session
    assert list(rows.list_results("runs")) == [
        ("runs/9", b"1", 0),
        ("runs/10", b"1", 0),
        ("runs/10/a", b"2", 1),
        ("runs/b", b"3", 0),
    ]
    assert len(rows) == 2


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"no database at all", "is damaged (file is not a database)"),
        (b"SQLite format 3\0" + bytes(100), "is damaged (file is not a database)"),
    ],
)
def test_a_file_that_is_no_database_is_set_aside(path, content, problem):
    path.parent.mkdir()
    path.write_bytes(content)
    (path.parent / "eval_session.old-1.sqlite").touch()
    rows = RowFile(path, 1.0)
    assert rows.find_earlier("a") is None
    rows.keep(make_record("a"))
    assert rows.notes == [f"{path} {problem}; it is now eval_session.old-2.sqlite, and no result in it is reused"]
    assert (path.parent / "eval_session.old-2.sqlite").read_bytes() == content
    assert len(rows) == 1


def change_file(path, *statements):
    RowFile(path, 1.0).keep(make_record("a"), "seal")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize(
    ("statements", "problem"),
    [
        (["PRAGMA user_version=2"], "is of version 2, and this is version 1"),
        (["PRAGMA application_id=7"], "is not a file of webeval"),
        (
            ["CREATE TRIGGER t AFTER INSERT ON results BEGIN DELETE FROM results; END"],
            "is damaged (it has other tables)",
        ),
        (["DROP VIEW runs", "CREATE VIEW runs AS SELECT 1"], "is damaged (it has other tables)"),
    ],
)
def test_a_file_of_another_version_or_of_others_is_set_aside(path, statements, problem):
    change_file(path, *statements)
    reader = RowFile(path, 2.0, is_owner=False)
    assert reader.find_earlier("a") is None
    assert path.exists()  # whoever only reads leaves it where it is
    rows = RowFile(path, 2.0)
    assert rows.find_earlier("a") is None
    assert problem in rows.notes[0]
    assert not path.exists()


@pytest.mark.parametrize("column", ["row", "seal", "checksum"])
def test_a_row_that_was_changed_is_not_found(path, column):
    change_file(path, f"UPDATE results SET {column} = {column} || ' '")
    assert RowFile(path, 2.0).find_earlier("a") is None


def test_a_damaged_page_is_an_error_and_no_result(path):
    rows = RowFile(path, 1.0)
    rows.extend(make_records(300))
    rows.end()
    content = bytearray(path.read_bytes())
    content[4096 * 3 :] = b"\xff" * (len(content) - 4096 * 3)
    path.write_bytes(content)
    later = RowFile(path, 2.0)
    with pytest.raises(SettingsError, match=r"cannot read .*; remove it to score all runs again"):
        [later.find_earlier(record.run) for record in make_records(300)]


def test_an_empty_file_is_used(path):
    path.parent.mkdir()
    path.touch()
    rows = RowFile(path, 1.0)
    rows.keep(make_record("a"))
    assert (len(rows), rows.notes) == (1, [])


def count_open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("elsewhere")])
def test_what_is_no_regular_file_is_left_alone_and_rows_are_kept(path, make):
    path.parent.mkdir()
    make(path)
    before = count_open_files()
    rows = RowFile(path, 1.0)
    with pytest.raises(SettingsError, match=r"not a regular file|Too many levels of symbolic links"):
        rows.find_earlier("a")
    with pytest.raises(SettingsError, match=r"not a regular file|Too many levels of symbolic links"):
        rows.keep(make_record("a"))
    assert count_open_files() == before
    rows.keep(make_record("b"))
    assert [record.run for record in rows] == ["a", "b"]
    assert [each.name for each in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("reused", [False, True])
def test_a_full_disk_is_said_once_and_no_row_is_lost(path, reused):
    rows = RowFile(path, 1.0)
    rows.keep(make_record("a"), "seal")
    rows._rows.execute("PRAGMA max_page_count=6")
    long = "x" * 5_000
    with pytest.raises(DiskFull, match=r"cannot write .*: database or disk is full; its results cannot be reused"):
        [rows.keep(make_record(f"b{number}", reason=long), is_reused=reused) for number in range(500)]
    kept = len(rows)
    rows.keep(make_record("c"))
    assert len(rows) == kept + 1
    assert {"a", "b0", "c"} <= {record.run for record in rows}
    assert RowFile(path, 2.0).find_earlier("a") is not None


def test_a_directory_that_cannot_be_written_is_said_once_and_no_row_is_lost(path):
    path.parent.mkdir()
    path.parent.rmdir()
    path.parent.write_text("a file")
    rows = RowFile(path, 1.0)
    with pytest.raises(SettingsError, match=r"cannot write .*; its results cannot be reused"):
        rows.keep(make_record("a"))
    rows.keep(make_record("b"))
    rows.end()
    assert [record.run for record in rows] == ["a", "b"]


def test_a_file_system_without_locks_is_used_without(path, monkeypatch):
    RowFile(path, 1.0).keep(make_record("a"), "seal")
    opened = []
    connect = sqlite3.connect

    def spy(address, *arguments, **options):
        opened.append(address)
        return connect(address, *arguments, **options)

    def fail(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(row_file.sqlite3, "connect", spy)
    monkeypatch.setattr(row_file.fcntl, "lockf", fail)
    assert RowFile(path, 2.0).find_earlier("a") is not None
    assert opened == [f"file:{path}?mode=rw&nolock=1"]


def test_two_sessions_at_a_time_keep_their_own_rows(path):
    one, other = RowFile(path, 1.0), RowFile(path, 2.0)
    for number in range(20):
        one.keep(make_record(f"one/{number}"))
        other.keep(make_record(f"other/{number}"))
    assert (len(one), len(other)) == (20, 20)
    one.end()
    other.end()
    assert {record.run.partition("/")[0] for record in other} == {"other"}


def test_a_number_that_json_does_not_know_hides_its_row_from_the_view_alone(path):
    rows = RowFile(path, 1.0)
    rows.keep(make_record("a", trajectory={"process_score": math.nan}))
    rows.keep(make_record("b"))
    assert len(rows) == 2
    assert math.isnan(rows.get("a").trajectory["process_score"])
    with closing(sqlite3.connect(path)) as connection:
        assert [run for (run,) in connection.execute("SELECT run FROM runs")] == ["b"]


@pytest.mark.parametrize(("is_synced", "value"), [(False, 0), (True, 2)])
def test_each_row_is_on_the_disk_for_who_asks(path, is_synced, value):
    rows = RowFile(path, 1.0, is_synced=is_synced)
    rows.keep(make_record("a"))
    assert rows._rows.execute("PRAGMA synchronous").fetchone() == (value,)


def test_each_shard_of_a_session_has_a_file_of_its_own():
    assert (name_rows(), name_rows(Shard(1, 2))) == ("eval_session.sqlite", "eval_session-1-of-2.sqlite")
