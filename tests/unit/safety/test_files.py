"""Files of a run directory: which names are read, and that they are read whole."""

from __future__ import annotations

import os

import pytest

from pytest_webeval.errors import RecordingError
from pytest_webeval.safety.files import read_file_inside


@pytest.mark.parametrize("name", ["a", "./a", "b/c", "b//c", "./b/./c", "b/...", "..."])
def test_a_name_inside_the_directory_is_read(tmp_path, name):
    (tmp_path / "b").mkdir()
    for one in ("a", "b/c", "b/...", "..."):
        (tmp_path / one).write_text(one)
    assert read_file_inside(tmp_path, name).decode() == os.path.normpath(name)


@pytest.mark.parametrize(
    "name", ["", ".", "./", "./.", "..", "../a", "b/..", "b/../a", "/", "/a", "//a", "a\n", "a\x00"]
)
def test_a_name_that_leads_elsewhere_is_refused(tmp_path, name):
    (tmp_path / "b").mkdir()
    (tmp_path / "a").touch()
    with pytest.raises(RecordingError, match="does not name a file inside"):
        read_file_inside(tmp_path, name)


@pytest.mark.parametrize(("size", "piece"), [(0, 1), (10, 3), (10, 10), (10, 99)])
def test_a_system_that_gives_a_few_bytes_at_a_time_gives_all_of_them(tmp_path, monkeypatch, size, piece):
    read = os.read
    (tmp_path / "a").write_bytes(b"0123456789"[:size])
    monkeypatch.setattr("pytest_webeval.safety.files.os.read", lambda handle, count: read(handle, min(count, piece)))
    assert read_file_inside(tmp_path, "a") == b"0123456789"[:size]


def test_a_file_that_was_cut_since_it_was_measured_is_what_is_left(tmp_path, monkeypatch):
    fstat = os.fstat
    (tmp_path / "a").write_bytes(b"0123")

    def before(handle):
        found = list(fstat(handle))
        found[6] = 10
        return os.stat_result(found)

    monkeypatch.setattr("pytest_webeval.safety.files.os.fstat", before)
    assert read_file_inside(tmp_path, "a") == b"0123"
