"""Which directories are runs, for callers without pytest, and what of a directory nobody may read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_webeval import find_runs
from pytest_webeval import load_run
from pytest_webeval.errors import RecordingError


def make(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


@pytest.fixture
def refused(monkeypatch):
    """Lets no directory of some names be listed."""
    listing = os.scandir

    def refuse(*names):
        def scandir(path):
            if Path(path).name in names:
                raise PermissionError(13, "Permission denied", str(path))
            return listing(path)

        monkeypatch.setattr(os, "scandir", scandir)

    return refuse


def test_runs_are_found_at_any_depth_hidden_or_not_and_nothing_else_is_one(tmp_path):
    make(tmp_path, "2/network.har", "10/agent_response.json", ".3/trace.zip", "a/b/4/trace/trace.network")
    make(tmp_path, ".git/5/network.har", ".a/6/network.har", "logs/a.log", "b/trace/model.py", "env/pyvenv.cfg")
    make(tmp_path, "env/x/network.har", "node_modules/x/trace.zip", "lost+found/network.har", "c/trace")
    assert [run.label for run in find_runs(tmp_path)] == ["2", "10", ".3", "a/b/4"]


def test_a_directory_that_cannot_be_listed_is_a_run_of_which_nothing_can_be_read(tmp_path, refused):
    make(tmp_path, "1/network.har", "2/notes.txt", "3/network.har")
    refused("2")
    first, second, third = find_runs(tmp_path)
    assert [run.label for run in (first, second, third)] == ["1", "2", "3"]
    with pytest.raises(RecordingError, match=r"missing file: .*/2/agent_response\.json; add it"):
        second.check()


def test_a_directory_that_cannot_be_listed_says_so_where_it_is_named(tmp_path, refused):
    make(tmp_path, "2/notes.txt")
    refused("2")
    told = "cannot list .*/2: Permission denied; make it readable"
    with pytest.raises(RecordingError, match=told):
        load_run(tmp_path / "2")
    with pytest.raises(RecordingError, match=told):
        list(find_runs(tmp_path / "2"))


def test_what_is_no_run_is_told_by_what_is_wanted(tmp_path):
    with pytest.raises(
        RecordingError, match=f"unknown layout of {tmp_path}: expected the files of one of the formats fara, "
    ):
        load_run(tmp_path)
