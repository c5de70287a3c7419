"""What one look at a directory shows, and which format that makes it."""

from __future__ import annotations

import os

import pytest

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.discovery import list_directory
from pytest_webeval.recordings.formats import format_of


def test_directories_come_in_the_order_of_their_numbers_and_without_tools_and_links(tmp_path):
    for name in ("10", "9", "b", "a10", "a9", ".git", "__pycache__", ".1", "0" * 20):
        (tmp_path / name).mkdir()
    (tmp_path / "1").touch()
    (tmp_path / "2").symlink_to("9", target_is_directory=True)
    assert [path.name for path in list_directory(tmp_path).directories()] == [
        "9",
        "10",
        ".1",
        "0" * 20,
        "a10",
        "a9",
        "b",
    ]


def test_links_that_lead_out_or_nowhere_are_told_in_the_order_of_their_names(tmp_path):
    root = tmp_path / "runs"
    root.mkdir()
    places = {"d": tmp_path, "c": "nowhere", "b": ".", "a": tmp_path, ".lock": "nowhere", "e": tmp_path / "file"}
    (tmp_path / "file").touch()
    for name, place in places.items():
        (root / name).symlink_to(place)
    assert [path.name for path in list_directory(root).links_out(root)] == ["a", "c", "d"]


def test_a_directory_that_cannot_be_listed_says_so_when_its_directories_are_asked_for(tmp_path):
    seen = list_directory(tmp_path / "nowhere")
    assert (seen.names, seen.links_out(tmp_path)) == (frozenset(), [])
    with pytest.raises(RecordingError, match=r"cannot list .*/nowhere: No such file or directory; make it readable"):
        seen.directories()


@pytest.mark.parametrize(("name", "known"), [("agent_response.json", "webarena-verified"), ("notes.txt", None)])
def test_a_run_that_cannot_be_listed_is_known_by_the_files_that_are_there(tmp_path, monkeypatch, name, known):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / name).touch()
    monkeypatch.setattr(os, "scandir", refuse)
    found = format_of(tmp_path)
    assert (found and found.name) == known
