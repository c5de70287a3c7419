"""The files of a run directory: whether they may have changed since a result was written."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_webeval.safety.files import walk_directories
from pytest_webeval.sessions.runs import run_files as module
from pytest_webeval.sessions.runs.run_files import RunFiles, survey_files


def changing_a_size(run):
    (run / "a").write_text("longer")


def adding_a_file(run):
    (run / "inner" / "c").touch()


def adding_a_directory(run):
    (run / "inner" / "more").mkdir()


def removing_a_file(run):
    (run / "inner" / "b").unlink()


def renaming_a_file(run):
    (run / "a").rename(run / "aa")


@pytest.fixture
def run(tmp_path):
    """A directory with two files."""
    (tmp_path / "run" / "inner").mkdir(parents=True)
    (tmp_path / "run" / "a").write_text("text")
    (tmp_path / "run" / "inner" / "b").touch()
    return tmp_path / "run"


@pytest.mark.parametrize(
    "change", [changing_a_size, adding_a_file, adding_a_directory, removing_a_file, renaming_a_file]
)
def test_a_file_that_comes_goes_or_grows_is_noticed(run, change):
    before = survey_files(run)
    change(run)
    after = survey_files(run)
    assert after.listed != before.listed != ""
    assert after.identity != before.identity != ""


def rewriting_a_file(run):
    status = (run / "a").stat()
    (run / "a").write_text("TEXT")
    os.utime(run / "a", ns=(status.st_atime_ns, status.st_mtime_ns))  # as a program can that hides a change


def replacing_a_file(run):
    (run / "b").write_text("TEXT")
    (run / "b").rename(run / "a")


@pytest.mark.parametrize("change", [rewriting_a_file, replacing_a_file])
def test_other_content_of_the_same_size_is_another_identity(run, change):
    before = survey_files(run)
    time.sleep(0.02)  # the clock of the file system ticks every 4 to 10 ms
    change(run)
    after = survey_files(run)
    assert (after.listed == before.listed, after.identity == before.identity) == (True, False)
    assert after.latest_change > before.latest_change


def test_a_run_that_was_moved_has_the_same_files(run):
    before = survey_files(run)
    moved = run.rename(run.with_name("moved"))
    assert survey_files(moved) == before


@pytest.mark.parametrize("name", ["st_ino", "st_mtime_ns", "st_ctime_ns", "none"])
def test_each_part_of_the_identity_decides(run, monkeypatch, name):
    before = survey_files(run)
    monkeypatch.setattr(module, "_list_entries", changing(module._list_entries, name))
    after = survey_files(run)
    assert (after.listed == before.listed, after.identity == before.identity) == (True, name == "none")


def changing(list_below, name):
    """Lists the same entries, with another value in the status of each file."""

    def change(entry):
        path, status = entry
        fields = ("st_mode", "st_size", "st_ino", "st_mtime_ns", "st_ctime_ns")
        changed = SimpleNamespace(**{field: getattr(status, field) + (field == name) for field in fields})
        return path, changed

    return lambda directory: map(change, list_below(directory))


def test_the_order_in_which_a_directory_lists_its_files_does_not_matter(run, monkeypatch):
    before, list_below = survey_files(run), module._list_entries
    monkeypatch.setattr(module, "_list_entries", lambda directory: reversed(list(list_below(directory))))
    assert survey_files(run) == before


@pytest.mark.unchecked_files("a text stands in place of our files")
def test_what_we_write_into_a_run_is_not_counted(run):
    before = survey_files(run)
    names = ("eval_result.json", "eval_summary.json", "eval_shard-1-of-4.json")
    side_files = ("eval_summary-webeval_failures-0123456789ab.jsonl", "eval_shard-1-of-4-records-0123456789ab.jsonl")
    shards = ("eval_results.json", "eval_results-00001.jsonl", "eval_results-1-of-4-00001.parquet")
    for name in (*names, *side_files, *shards, ".eval_result.json.0123456789abcdef"):
        (run / name).write_text("ours")
    assert survey_files(run) == before


@pytest.mark.unchecked_files("a text stands in place of our files")
@pytest.mark.parametrize(
    "name",
    ["my_eval_result.json", "eval_result.json.bak", "eval_result_json", "eval_results.jsonl", "eval_summary-x.jsonl"],
)
def test_a_file_with_a_name_like_ours_is_counted(run, name):
    before = survey_files(run)
    (run / name).write_text("theirs")
    assert survey_files(run).listed != before.listed


def test_links_are_not_followed_and_leave_no_identity(run):
    (run / "link").symlink_to(run)
    files = survey_files(run)
    assert (files.listed != "", files.identity) == (True, "")


@pytest.mark.parametrize(("seconds", "is_sealed"), [(-1.0, False), (1.9, False), (2.1, True)])
def test_the_identity_holds_for_what_changed_well_before_the_session(run, seconds, is_sealed):
    files = survey_files(run)
    assert abs(files.latest_change - time.time()) < 60
    assert files.sealed_identity(files.latest_change + seconds) == (files.identity if is_sealed else "")


def test_of_very_many_files_and_of_none_that_can_be_listed_nothing_is_known(run, monkeypatch):
    assert survey_files(run / "nowhere") == RunFiles()
    monkeypatch.setattr(module, "MOST_FILES", 2)
    assert survey_files(run) == RunFiles()


@pytest.fixture
def deep(run):
    """The directory, with more directories in each other than Python can call functions."""
    paths = [Path(f"{run}{'/d' * depth}") for depth in range(1, 1_501)]
    for path in paths:
        path.mkdir()
    yield run
    for path in reversed(paths):  # which pytest could not remove
        path.rmdir()


@pytest.mark.parametrize(("most", "is_known"), [(299, False), (300, True)])
def test_the_content_of_very_large_files_is_not_hashed(tmp_path, monkeypatch, most, is_known):
    monkeypatch.setattr(module, "MOST_BYTES", most)
    for name in ("a", "b", "c"):
        (tmp_path / name).write_bytes(bytes(100))
    assert bool(survey_files(tmp_path, with_content=True).listed) is is_known
    assert survey_files(tmp_path).listed


def test_no_depth_is_too_deep(deep):
    names = [len(names) for _, names, _ in walk_directories(deep / "d")]
    assert (len(names), sum(names)) == (1_500, 1_499)
    assert survey_files(deep).listed != ""
