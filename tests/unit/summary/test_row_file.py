"""The rows of a session: their order, what another session finds, and what no kill and no stranger can spoil."""

from __future__ import annotations

import fcntl
import json
import math
import os
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from pytest_webeval.errors import DiskFull, SettingsError
from pytest_webeval.recordings.labels import quote_path
from pytest_webeval.summary import session_totals, summarize
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.shards import Shard
from pytest_webeval.summary.store import row_database, row_takeover
from pytest_webeval.summary.store.result_manifest import find_order, find_path
from pytest_webeval.summary.store.row_database import EarlierRows, UnusableFileError, is_unfinished, name_rows
from pytest_webeval.summary.store.row_file import RowFile, encode_path_order, encode_position, order_of, sort_records
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
    return lambda self, scratch: begin(self, scratch, 2)


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
    encoded = [encode_path_order(label.removeprefix("runs/")) for label in labels]
    assert (orders[0] < orders[1], orders[0] == orders[1]) == (encoded[0] < encoded[1], encoded[0] == encoded[1])


def make_record(run: str, **changes) -> Record:
    return structs.replace(next(iter(make_records(1))), run=run, **changes)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "out" / "eval_session.sqlite"


@contextmanager
def session(path, started=1.0, prefix="", **options):
    """The rows of a session, which lets go of its file in the end, as a killed one does."""
    with closing(RowFile(path, started, prefix, **options)) as rows:
        yield rows


def keep_in_session(path, *runs, started=1.0, seal="seal", result=None):
    with session(path, started) as rows:
        for run in runs:
            rows.keep(make_record(run), seal, result)


def test_a_later_session_finds_what_an_earlier_one_kept(path):
    with session(path) as earlier:
        earlier.keep(make_record("a", reason="\ud800"), "seal", b"{}")
        earlier.keep(make_record("b"))
        assert earlier.find_earlier("a") is None  # its own
    with session(path, 2.0) as later:
        row = later.find_earlier("a")
        assert (json.loads(row.record)["reason"], row.seal, row.result) == ("\ud800", "seal", b"{}")
        assert [later.find_earlier(run) for run in ("b", "c")] == [None, None]  # without a seal, and without a row
        assert (list(later), len(later)) == ([], 0)


def test_a_reused_row_is_of_the_later_session_and_keeps_its_result(path):
    keep_in_session(path, "a", result=b"{}")
    with session(path, 2.0) as later:
        later.keep(make_record("a", tags=["now"]), "seal", is_reused=True)
        assert later.get("a").tags == ["now"]
        assert (later.get_result("a"), later.count_reused(), len(later)) == (b"{}", 1, 1)
        assert [line.label for line in later.list_results()] == ["a"]
        later.keep(make_record("a"), "seal")
        assert (later.get_result("a"), later.count_reused(), len(later)) == (None, 0, 1)


def test_without_a_session_nothing_is_written(path):
    rows = RowFile(path)
    assert (list(rows), rows.find_earlier("a"), rows.get("a"), len(rows), rows.count_reused()) == ([], None, None, 0, 0)
    rows.end()
    assert not path.parent.exists()


def run_killed(path, lines):
    program = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from pathlib import Path
from pytest_webeval.summary.store.row_file import RowFile
from tests.support.made_records import make_records
rows = RowFile(Path({str(path)!r}), 1.0)
{lines}
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9


def test_each_row_survives_a_process_that_is_killed(path):
    run_killed(path, "for record in make_records(5): rows.keep(record, 'seal')")
    assert is_unfinished(path)
    with session(path, 2.0) as later:
        assert all(later.find_earlier(record.run) is not None for record in make_records(5))


def test_a_row_that_was_being_written_by_a_killed_process_is_undone(path):
    half = """
for record in make_records(3): rows.keep(record, 'seal')
rows._rows.execute("PRAGMA cache_size=1")
rows._rows.execute("BEGIN")
rows._rows.execute("UPDATE results SET seal = 'half', row = row || zeroblob(100000)")
"""
    run_killed(path, half)
    assert path.with_name(f"{path.name}-journal").stat().st_size > 0
    with session(path, 2.0) as later:
        assert {later.find_earlier(record.run).seal for record in make_records(3)} == {"seal"}
        assert later.notes == []


def test_a_session_that_ended_says_so_and_leaves_one_file(path):
    with session(path) as rows:
        rows.keep(make_record("a"))
        assert is_unfinished(path)
        rows.end()
        assert not is_unfinished(path)
    assert [each.name for each in path.parent.iterdir()] == ["eval_session.sqlite"]
    keep_in_session(path, "b", started=2.0)
    assert is_unfinished(path)


def test_a_session_that_was_killed_is_unfinished_while_a_run_is_its_own(path):
    keep_in_session(path, "a", "b")
    with session(path, 2.0) as rows:
        rows.keep(make_record("a"))
        rows.end()
    assert is_unfinished(path)
    with session(path, 3.0) as rows:
        rows.keep(make_record("b"))
        rows.end()
    assert not is_unfinished(path)


def test_what_is_gone_is_forgotten(path):
    keep_in_session(path, "a")
    with session(path, 2.0) as rows:
        rows.keep(make_record("b"), "seal")
        rows.forget_others()
        rows.end()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT started FROM sessions").fetchall() == [(2.0,)]
    with session(path, 3.0) as third:
        assert (third.find_earlier("a"), third.find_earlier("b") is None) == (None, False)


def list_results(rows):
    return [(line.label, line.line, line.is_own) for line in rows.list_results()]


def test_results_come_in_the_order_of_paths_and_published_ones_before_those_of_other_sessions(path):
    with session(path, 1.0, "old") as earlier:
        for run in ("old/10", "old/9", "old/7"):
            earlier.keep(make_record(run), "seal", b"1")
        earlier.keep(make_record("old/6"), None, b"1")  # of which nobody knows whether it is whole
    with session(path, 2.0, "runs") as rows:
        rows.keep(make_record("runs/10/a"), None, b"2")
        rows.keep(make_record("runs/8"))
        rows.keep(make_record("runs/7"), "seal", b"2")
        for name in ("b", "9", "8", "7"):  # the last two have rows of this session, one without a result
            rows.adopt(name, b"3")
        assert list_results(rows) == [
            ("runs/7", b"2", True),
            ("runs/9", b"3", False),
            ("runs/10", b"1", False),
            ("runs/10/a", b"2", True),
            ("runs/b", b"3", False),
        ]
        assert len(rows) == 3


def test_results_that_are_elsewhere_give_back_their_room(path):
    for number, has_results in enumerate([True, False]):
        with session(path, 1.0 + number) as rows:
            rows.keep(make_record("a"), "seal", b"x" * 1_000_000)
            rows.end(has_results=has_results)
        assert (path.stat().st_size > 1_000_000) == has_results
    with session(path, 3.0) as rows:
        assert rows.find_earlier("a").result is None


DAMAGED = [
    (b"no database at all", "is damaged (file is not a database)"),
    (b"SQLite format 3\0" + bytes(100), "is damaged (file is not a database)"),
]


@pytest.mark.parametrize(("content", "problem"), DAMAGED)
def test_a_file_that_is_no_database_is_set_aside(path, content, problem):
    path.parent.mkdir()
    path.write_bytes(content)
    (path.parent / "eval_session.old-1.sqlite").touch()
    with session(path) as rows:
        assert rows.find_earlier("a") is None
        rows.keep(make_record("a"))
        assert rows.notes == [
            f"{path} {problem}; it is now eval_session.old-2.sqlite, and not all results in it are reused"
        ]
        assert (path.parent / "eval_session.old-2.sqlite").read_bytes() == content
        assert len(rows) == 1


def change_file(path, *statements):
    keep_in_session(path, "a")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize(
    ("statements", "problem"),
    [
        (["PRAGMA user_version=2"], "is of version 2, and this is version 1"),
        (["PRAGMA application_id=7"], "is not a file of webeval"),
        (["PRAGMA journal_mode=WAL"], "is not a file of webeval"),
        (
            ["CREATE TRIGGER t AFTER INSERT ON results BEGIN DELETE FROM results; END"],
            "is damaged (it has other tables)",
        ),
        (["DROP VIEW runs", "CREATE VIEW runs AS SELECT 1"], "is damaged (it has other tables)"),
    ],
)
def test_a_file_of_another_version_or_of_others_is_set_aside(path, statements, problem):
    change_file(path, *statements)
    with pytest.raises(UnusableFileError):
        EarlierRows(path)
    assert path.exists()  # whoever only reads leaves it where it is
    with session(path, 2.0) as rows:
        assert rows.find_earlier("a") is None
        assert problem in rows.notes[0]
    assert (path.parent / "eval_session.old-1.sqlite").exists()


def test_statistics_of_a_person_are_no_damage(path):
    change_file(path, "ANALYZE")
    with session(path, 2.0) as rows:
        assert rows.find_earlier("a") is not None


@pytest.mark.parametrize("column", ["row", "seal", "checksum"])
def test_a_row_that_was_changed_is_not_found(path, column):
    change_file(path, f"UPDATE results SET {column} = {column} || ' '")
    with session(path, 2.0) as rows:
        assert rows.find_earlier("a") is None


@pytest.mark.parametrize("first", range(1, 6))
def test_a_file_with_damaged_pages_is_set_aside(path, first):
    with session(path) as rows:
        rows.extend(make_records(300))
        rows.end()
    content = bytearray(path.read_bytes())
    content[4096 * first :] = b"\xff" * (len(content) - 4096 * first)
    path.write_bytes(content)
    with session(path, 2.0) as later:
        assert [later.find_earlier(record.run) for record in make_records(300)] == [None] * 300
        later.keep(make_record("a"))
        assert [record.run for record in later] == ["a"]
        assert all("is damaged" in note for note in later.notes)


def test_an_empty_file_is_used(path):
    path.parent.mkdir()
    path.touch()
    assert not is_unfinished(path)
    with session(path) as rows:
        assert rows.find_earlier("a") is None
        rows.keep(make_record("a"))
        assert (len(rows), rows.notes) == (1, [])


def count_open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


NOT_A_FILE = r"not a regular file|Too many levels of symbolic links"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("elsewhere")])
def test_what_is_no_regular_file_is_left_alone_and_rows_are_kept(path, make):
    path.parent.mkdir()
    make(path)
    before, names = count_open_files(), sorted(path.parent.iterdir())
    rows = RowFile(path)
    with pytest.raises(SettingsError, match=NOT_A_FILE):
        rows.find_earlier("a")
    assert count_open_files() == before
    rows.keep(make_record("a"))  # of the file, one was told
    rows.keep(make_record("b"))
    assert [record.run for record in rows] == ["a", "b"]
    assert sorted(path.parent.iterdir()) == names
    rows = RowFile(path)
    with pytest.raises(SettingsError, match=NOT_A_FILE):
        rows.keep(make_record("a"))
    assert len(rows) == 1


def name_another_file(journal, victim):
    name = os.fsencode(victim)
    magic, size = bytes.fromhex("d9d505f920a163d7"), len(name).to_bytes(4)
    checksum = (sum(name) % 2**32).to_bytes(4)
    page = journal.with_name("eval_session.sqlite").read_bytes()[:4096]
    header = magic + (1).to_bytes(4) + bytes(4) + (1).to_bytes(4) + (512).to_bytes(4) + (4096).to_bytes(4)
    record = (1).to_bytes(4) + page + bytes(4)
    journal.write_bytes(header.ljust(512, b"\0") + record + b"\x40\0\0\1" + name + size + checksum + magic)


@pytest.mark.parametrize(
    ("suffix", "make"),
    [
        ("-journal", name_another_file),
        ("-journal", lambda journal, _: os.mkfifo(journal)),
        ("-journal", lambda journal, victim: journal.symlink_to(victim)),
        ("-wal", lambda log, victim: log.write_bytes(victim.read_bytes())),
        ("-wal", lambda log, victim: log.symlink_to(victim)),
        ("-shm", lambda log, _: os.mkfifo(log)),
        ("-journal", lambda journal, _: journal.mkdir()),
    ],
    ids=[
        "journal with a name",
        "journal that is a pipe",
        "journal that is a link",
        "log",
        "log that is a link",
        "pipe",
        "directory",
    ],
)
@pytest.mark.parametrize("has_file", [True, False])
def test_what_lies_next_to_the_file_leads_nowhere(path, tmp_path, suffix, make, has_file):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    keep_in_session(path, "a")
    companion = Path(f"{path}{suffix}")
    make(companion, victim)
    if not has_file:
        path.unlink()
    is_unfinished(path)
    with session(path, 2.0) as rows:
        rows.find_earlier("a")
        rows.keep(make_record("b"))
        assert [record.run for record in rows] == ["b"]
        place = "now eval_session.old-1.sqlite" if has_file else "removed"
        assert f"has a file {companion.name} that no session has written; it is {place}" in rows.notes[0]
    assert victim.read_text() == "mine"
    assert not os.path.lexists(companion)


@pytest.mark.parametrize("reused", [False, True])
def test_a_full_disk_is_said_once_and_no_row_is_lost(path, reused):
    rows = RowFile(path, 1.0)
    rows.keep(make_record("a"), "seal", b"1")
    rows._rows.execute("PRAGMA max_page_count=8")
    long = "x" * 5_000
    with pytest.raises(DiskFull, match=r"cannot write .*: database or disk is full; its results cannot be reused"):
        [rows.keep(make_record(f"b{number}", reason=long), is_reused=reused) for number in range(500)]
    kept = len(rows)
    rows.keep(make_record("c"), None, b"2")
    rows.keep(make_record("a", tags=["now"]), "seal", is_reused=True)
    assert len(rows) == kept + 1
    assert {"a", "b0", "c"} <= {record.run for record in rows}
    assert (rows.get("a").tags, rows.get_result("a")) == (["now"], b"1")
    assert list_results(rows) == [("a", b"1", True), ("c", b"2", True)]
    assert [line.label for line in rows.list_results()] == ["a", "c"]
    rows.end()
    rows.close()
    assert is_unfinished(path)
    with session(path, 2.0) as later:
        assert later.find_earlier("a") is not None


@pytest.mark.parametrize("is_read_first", [False, True])
def test_a_failure_while_rows_are_read_is_told_by_the_next_that_is_kept(path, is_read_first):
    rows = RowFile(path, 1.0)
    rows.keep(make_record("a"), "seal")
    rows._rows.execute("PRAGMA max_page_count=8")
    rows.keep(make_record("b", reason="x" * 100_000), is_reused=True)
    if is_read_first:
        assert (len(rows), "b" in rows, rows.get("b") is None) == (2, True, False)
    with pytest.raises(DiskFull, match=r"cannot write .*database or disk is full"):
        rows.keep(make_record("c"))
    rows.keep(make_record("d"))
    assert [record.run for record in rows] == ["a", "b", "c", "d"]


def test_a_limit_of_file_sizes_is_a_full_disk(path):
    program = f"""
import resource, sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from pathlib import Path
from pytest_webeval.errors import DiskFull
from pytest_webeval.summary.store.row_file import RowFile
from tests.support.made_records import make_records
rows = RowFile(Path({str(path)!r}), 1.0)
records = list(make_records(400))
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
failures = 0
for record in records:
    try:
        rows.keep(record, "seal", b"x" * 1000)
    except DiskFull:
        failures += 1
print(failures, len(rows), len(list(rows)), len(list(rows.list_results())))
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["1", "400", "400", "400"]


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
    keep_in_session(path, "a")
    modes, connect = [], row_takeover.connect

    def fail(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(row_takeover, "connect", lambda path, mode: modes.append(mode) or connect(path, mode))
    monkeypatch.setattr(row_takeover.fcntl, "flock", fail)
    with session(path, 2.0) as rows, session(path, 3.0) as other:
        assert rows.find_earlier("a") is not None
        other.keep(make_record("b"))  # in a file of its own, which takes the place of the first one
        rows.keep(make_record("c"))
        assert [[record.run for record in each] for each in (rows, other)] == [["c"], ["b"]]
    assert set(modes) == {"rw&nolock=1"}


IN_USE = "is in use by another session; none of its results is reused, and those of this session cannot be"


def test_of_two_sessions_at_a_time_the_first_has_the_file(path):
    with session(path) as one, session(path, 2.0) as other:
        for number in range(20):
            one.keep(make_record(f"run/{number}"), "seal")
            other.keep(make_record(f"run/{number}", tags=["other"]), "seal")
        assert (len(one), len(other), one.notes, other.notes) == (20, 20, [], [f"{path} {IN_USE}"])
        assert other.find_earlier("run/1") is None
        other.forget_others()
        other.end()
        one.end()
    with session(path, 3.0) as rows:
        assert json.loads(rows.find_earlier("run/1").record)["tags"] == []


def test_others_find_rows_in_a_copy(path, tmp_path):
    keep_in_session(path, "a", "b", result=b"{}")
    with session(path, 2.0) as rows:
        rows.copy_earlier(tmp_path / "copy.sqlite")
        rows.keep(make_record("b"))
        with closing(EarlierRows(tmp_path / "copy.sqlite")) as copy:
            found = [copy.find(run) for run in ("a", "b", "c")]
    assert [row and (row.seal, row.result) for row in found] == [("seal", b"{}")] * 2 + [None]


def test_without_a_file_there_is_nothing_to_copy(path, tmp_path):
    with session(path) as rows:
        rows.copy_earlier(tmp_path / "copy.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_a_number_that_json_does_not_know_hides_its_row_from_the_view_alone(path):
    with session(path) as rows:
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


HIDDEN = """CREATE TRIGGER sqlite_stat1 AFTER INSERT ON results
BEGIN UPDATE results SET row = replace(row, 'failure', 'success'); END"""


def plant(path, *rows):
    """Write rows into the schema itself, which no statement would."""
    keep_in_session(path, "a")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        for statement, values in rows:
            connection.execute(statement, values)


@pytest.mark.parametrize(
    ("statement", "values"),
    [
        ("INSERT INTO sqlite_master VALUES ('trigger', 'sqlite_stat1', 'results', 0, ?)", (HIDDEN,)),
        ("UPDATE sqlite_master SET sql = CAST(? AS TEXT) WHERE name = 'runs'", (b"CREATE VIEW runs AS SELECT '\xff'",)),
        ("UPDATE sqlite_master SET sql = ? WHERE name = 'results'", ("CREATE TABLE results (run, row AS ('x'))",)),
        ("UPDATE sqlite_master SET name = 'sqlite_stat1' WHERE name = 'runs'", ()),
    ],
    ids=["trigger under the name of statistics", "no text", "other columns", "view under the name of statistics"],
)
def test_nothing_in_the_schema_of_a_stranger_touches_the_rows_of_a_session(path, statement, values):
    plant(path, (statement, values))
    assert not is_unfinished(path)
    with session(path, 2.0) as rows:
        assert rows.find_earlier("a") is None
        rows.keep(make_record("b", status="failure"))
        assert [(record.run, record.status) for record in rows] == [("b", "failure")]
        assert "is damaged" in rows.notes[0]


SWAPPED = 4_096  # bytes of a page


@pytest.mark.parametrize("pages", [(1, 2), (1, 3), (2, 3), (2, 5), (3, 6), (4, 7), (5, 8)], ids=str)
def test_pages_in_the_wrong_place_cost_no_row_of_this_session(path, pages):
    with session(path) as rows:
        for record in make_records(60):
            rows.keep(record, "seal", b"x" * 1_000)
    content = bytearray(path.read_bytes())
    one, other = (slice(page * SWAPPED, (page + 1) * SWAPPED) for page in pages)
    content[one], content[other] = content[other], content[one]
    path.write_bytes(content)
    records = list(make_records(60))
    with session(path, 2.0) as later:
        for record in records:
            found = later.find_earlier(record.run)
            assert found is None or json.loads(found.record)["run"] == record.run
            later.keep(record)
        assert sorted(record.run for record in later) == sorted(record.run for record in records)
        assert len(later) == 60


@pytest.mark.parametrize("column", ["run", "row", "seal", "checksum", "path", "session"])
@pytest.mark.parametrize("value", [b"\xff\xfe", 7, "x" * 10_000])
def test_values_of_another_type_in_a_row_are_no_row(path, column, value):
    keep_in_session(path, "b", "a", result=b"{}")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        cast = "CAST(? AS TEXT)" if isinstance(value, bytes) else "?"
        connection.execute(f"UPDATE results SET {column} = {cast} WHERE run = 'a'", (value,))
    with session(path, 2.0) as rows:
        assert rows.find_earlier("b") is not None
        is_read = (column == "path" and not isinstance(value, bytes)) or (column, value) == ("session", 7)
        assert (rows.find_earlier("a") is None) != is_read
        rows.adopt("c", b"{}")
        assert {"b", "c"} <= {line.label for line in rows.list_results()}


def test_a_session_keeps_its_file_when_its_process_reads_it_too(path):
    with session(path) as rows:
        rows.keep(make_record("a"))
        is_unfinished(path)
        with session(path, 2.0) as other:
            other.keep(make_record("b"))
            assert IN_USE in other.notes[0]
        program = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from pathlib import Path
from pytest_webeval.summary.store.row_file import RowFile
rows = RowFile(Path({str(path)!r}), 3.0)
rows.find_earlier("a")
print(rows.notes)
"""
        done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
        assert IN_USE in done.stdout


def test_another_name_of_the_file_is_left_as_it_is(path):
    keep_in_session(path, "a")
    backup = path.parent / "backup"
    backup.hardlink_to(path)
    before = backup.read_bytes()
    with session(path, 2.0) as rows:
        assert rows.find_earlier("a") is not None
        rows.keep(make_record("b"))
        rows.end()
    assert backup.read_bytes() == before


def test_somebody_who_asks_meanwhile_disturbs_nothing(path):
    with session(path) as rows:
        rows.keep(make_record("a"))
        with closing(sqlite3.connect(path, 0)) as reader, pytest.raises(sqlite3.OperationalError, match="locked"):
            reader.execute("SELECT run FROM runs")


def test_what_a_partial_session_does_not_score_stays_to_be_reused(path):
    keep_in_session(path, "a", "b", result=b"1")
    with session(path, 2.0) as rows:
        rows.keep(make_record("a"), "seal", b"2")
        rows.adopt("a", b"0")
        rows.adopt("b", b"1")
        assert list_results(rows) == [("a", b"2", True), ("b", b"1", False)]
        rows.end(has_results=False)
    with session(path, 3.0) as rows:
        assert rows.find_earlier("b") is not None
        assert rows.find_earlier("b").result == b"1"


def test_of_two_sessions_that_begin_together_one_has_the_file(path, monkeypatch):
    def begin_other(own, *arguments):
        monkeypatch.undo()
        other.keep(make_record("other"), "seal")
        return copy(own, *arguments)

    copy, other = row_takeover.copy_rows, RowFile(path, 2.0)
    monkeypatch.setattr(row_takeover, "copy_rows", begin_other)
    with session(path) as rows:
        rows.keep(make_record("a"), "seal")
        assert IN_USE in rows.notes[0]
    assert (other.notes, [record.run for record in other]) == ([], ["other"])
    other.close()
    with session(path, 3.0) as later:
        assert later.find_earlier("other") is not None


def test_a_file_in_the_place_of_which_another_is_by_now_is_opened_again(path, monkeypatch):
    def lock_late(handle):
        monkeypatch.undo()
        keep_in_session(path, "b", started=2.0)
        return lock(handle)

    keep_in_session(path, "a")
    lock = row_takeover._lock
    monkeypatch.setattr(row_takeover, "_lock", lock_late)
    with session(path, 3.0) as rows:
        assert [rows.find_earlier(run) is None for run in "ab"] == [False, False]
        rows.keep(make_record("c"), "seal")
    with session(path, 4.0) as later:
        assert later.find_earlier("c") is not None


def test_what_killed_sessions_left_while_they_began_is_removed_and_nothing_else(path):
    path.parent.mkdir()
    left = [path.with_name(f".{name}.{'a' * 16}") for name in ("eval_session.sqlite", "eval_session-1-of-2.sqlite")]
    kept = [path.with_name(".eval_session.sqlite.notes"), path.with_name(f".eval_summary.json.{'a' * 16}")]
    for each in (*left, *kept):
        each.touch()
    used = path.with_name(f".eval_session.sqlite.{'b' * 16}")
    with used.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        keep_in_session(path, "a")
    assert sorted(path.parent.iterdir()) == sorted([path, used, *kept])


def make_interior(child, entries=400):
    """An interior page of a table, all of whose entries name the same page."""
    page, end = bytearray(SWAPPED), SWAPPED - 5 * entries
    page[:12] = b"\5\0\0" + entries.to_bytes(2) + end.to_bytes(2) + b"\0" + child.to_bytes(4)
    for number in range(entries):
        place = end + 5 * number
        page[place : place + 5] = child.to_bytes(4) + b"\1"
        page[12 + 2 * number : 14 + 2 * number] = place.to_bytes(2)
    return bytes(page)


def test_pages_that_name_each_other_again_and_again_are_damage(path, monkeypatch):
    keep_in_session(path, "a")
    with closing(sqlite3.connect(path)) as connection:
        ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'results'")
    content = bytearray(path.read_bytes())
    table, count = slice((root - 1) * SWAPPED, root * SWAPPED), len(content) // SWAPPED
    pages = [bytes(content[table]), *(make_interior(count + 1 + level) for level in range(4))]
    content[table] = make_interior(count + len(pages))
    content += b"".join(pages)
    content[28:32] = (count + len(pages)).to_bytes(4)
    path.write_bytes(content)
    monkeypatch.setattr(row_database, "_STEPS", 1_000)  # or else it takes seconds
    with session(path, 2.0) as later:
        later.keep(make_record("b"))
        assert [record.run for record in later] == ["b"]
        assert "is damaged (interrupted)" in later.notes[0]


def test_a_file_system_without_hard_links_is_used_without(path, monkeypatch):
    def fail(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(row_takeover.os, "link", fail)
    keep_in_session(path, "a")
    with session(path, 2.0) as rows:
        assert rows.find_earlier("a") is not None
    assert [each.name for each in path.parent.iterdir()] == [path.name]
