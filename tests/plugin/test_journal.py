"""The journal: a line for each run, the last of which counts, and no line that a kill or a stranger could spoil."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.sessions.journal import Entry, Journal, Seal, entry_in
from tests.support.journals import read_entries


def entry(run: str, status: str = "success") -> Entry:
    return Entry(Seal("result", "decided"), {"run": run, "status": status})


def statuses(path) -> dict[str, str]:
    return {run: entry_in(line).record["status"] for run, line in read_entries(path).items()}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "eval_journal.jsonl"


def test_what_is_appended_is_read_and_of_a_run_the_last_line_counts(path):
    journal = Journal(path)
    for one in (entry("a"), entry("ü\ud7ff"), entry("a", "failure")):
        journal.append(one)
    journal.close()
    assert statuses(path) == {"a": "failure", "ü\ud7ff": "success"}
    assert entry_in(read_entries(path)["a"]) == entry("a", "failure")
    assert path.read_bytes().count(b"\n") == 3


def test_there_are_no_entries_where_there_is_no_journal(path):
    assert read_entries(path) == {}
    assert not path.exists()


@pytest.mark.parametrize(
    "damaged", [b"", b"{", b"[]", b'{"record": {}}', b'{"record": {"run": 7}}', b"\xff", b'{"record": {"run": "\xff"}}']
)
def test_a_damaged_line_counts_for_nothing_and_harms_no_other(path, damaged):
    Journal(path).append(entry("a"))
    path.write_bytes(damaged + b"\n" + path.read_bytes() + damaged + b"\n")
    assert statuses(path) == {"a": "success"}


@pytest.mark.parametrize(
    "line", [b"{", b'{"record": {"run": "a"}}', b'{"asked": 1, "seal": {}, "record": {"run": "a"}}']
)
def test_a_line_without_all_that_it_should_say_is_no_entry(line):
    assert entry_in(line) is None


@pytest.mark.parametrize("before", [b"", b'{"first": 1}\n{"second": 2}\n'])
def test_a_torn_last_line_is_cut_off_before_another_one_is_added(path, before):
    path.write_bytes(before + b'{"asked": "x", "rec')
    Journal(path).append(entry("a"))
    assert statuses(path) == {"a": "success"}
    assert path.read_bytes().startswith(before + b'{"sha256":"')


def test_a_journal_that_leads_elsewhere_is_neither_read_nor_written(path, tmp_path):
    (tmp_path / "precious").write_text("kept")
    path.symlink_to(tmp_path / "precious")
    with pytest.raises(SettingsError, match="remove it to score all runs again"):
        read_entries(path)
    with pytest.raises(
        SettingsError, match=r"cannot write .*: Too many levels of symbolic links; this session cannot be"
    ):
        Journal(path).append(entry("a"))
    Journal(path).remove()
    assert path.is_symlink()
    assert (tmp_path / "precious").read_text() == "kept"


def count_open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_pipe_in_place_of_the_journal_blocks_nobody(path):
    os.mkfifo(path)
    before = count_open_files()
    with pytest.raises(SettingsError, match="is not a regular file; remove it"):
        Journal(path).append(entry("a"))
    assert count_open_files() == before  # it is closed again
    with pytest.raises(SettingsError, match="not a regular file"):
        read_entries(path)


def test_a_line_of_which_only_a_part_fits_is_taken_back(path, monkeypatch):
    journal, write = Journal(path), os.write
    journal.append(entry("a"))
    whole = path.read_bytes()
    monkeypatch.setattr("pytest_webeval.sessions.journal.os.write", lambda handle, text: write(handle, text[:9]))
    with pytest.raises(SettingsError, match="only part of a line fits; free some disk space"):
        journal.append(entry("b"))
    assert path.read_bytes() == whole


def test_a_full_disk_is_told(path, monkeypatch):
    def full(handle, text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pytest_webeval.sessions.journal.os.write", full)
    with pytest.raises(SettingsError, match="No space left on device; this session cannot be resumed"):
        Journal(path).append(entry("a"))


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_json_does_not_know_is_no_line(path, number):
    journal = Journal(path)
    with pytest.raises(ValueError, match="not JSON compliant"):
        journal.append(Entry(Seal("result", "decided"), {"run": "a", "trajectory": {"process_score": number}}))
    assert read_entries(path) == {}


def test_each_line_is_on_the_disk_for_who_asks(path):
    seen = []
    journal = Journal(path, lambda handle: seen.append(str(Path(f"/proc/self/fd/{handle}").readlink())))
    journal.append(entry("a"))
    journal.append(entry("b"))
    assert seen == [str(path.parent), str(path), str(path)]


def test_a_journal_is_removed_once_and_for_all(path):
    journal = Journal(path)
    journal.append(entry("a"))
    journal.remove()
    journal.remove()
    assert not path.exists()


@pytest.mark.parametrize("label", ["a", "a\ud800"])
def test_halves_of_surrogate_pairs_stay_in_the_record(path, label):
    record = {"run": label, "status": "success", "trajectory": {"answer": "\ud800 \U0001f600", "steps": [1, 2.5, None]}}
    Journal(path).append(Entry(Seal("result", "decided"), record))
    Journal(path).append(entry("b"))
    assert path.read_bytes().isascii()
    assert entry_in(read_entries(path)[label]).record == record
    assert statuses(path) == {label: "success", "b": "success"}


@pytest.mark.parametrize(
    ("runs", "kept"), [("abab", "abab"), ("ababa", "ba"), ("aabb", "aabb"), ("aaab", "aaab"), ("", "")]
)
def test_a_journal_with_many_older_lines_keeps_the_latest(path, runs, kept):
    journal = Journal(path)
    for number, run in enumerate(runs):
        journal.append(entry(run, str(number)))
    latest = statuses(path)
    journal.compact()
    lines = path.read_bytes().splitlines() if path.exists() else []
    assert sorted(entry_in(line).record["run"] for line in lines) == sorted(kept)
    assert statuses(path) == latest
    journal.append(entry("c"))
    assert statuses(path) == latest | {"c": "success"}


@pytest.mark.parametrize("damaged", [b'{"record":{"run":"b","note":"\xff"}}', b'{"record":{"run":"b"}}'])
def test_damaged_lines_do_not_keep_a_journal_from_getting_shorter(path, damaged):
    Journal(path).append(entry("a"))
    path.write_bytes(path.read_bytes() + (damaged + b"\n") * 4)
    Journal(path).compact()
    assert path.read_bytes().count(b"\n") == 2
    assert entry_in(read_entries(path)["a"]) == entry("a")
    assert entry_in(read_entries(path)["b"]) is None
