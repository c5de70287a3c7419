"""The directory of a run while the run is scored: opened once, whatever takes its place."""

from __future__ import annotations

import os
import shutil

import pytest

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.discovery import list_directory
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.safety import run_directory
from pytest_webeval.safety.files import (
    exists_no_follow,
    open_file_inside,
    read_beginning_inside,
    read_file_inside,
)
from pytest_webeval.safety.run_directory import find_change, is_writable, open_run_directory
from pytest_webeval.sessions.runs.run_files import survey_files
from pytest_webeval.storage import remove, remove_leftovers, write_json
from tests.support.swaps import SWAPS, remove_all, swap_for_directory, swap_for_link


@pytest.fixture
def root(tmp_path):
    """The run g7/7 of a root, and v7/7, whose files have other contents."""
    for group in ("g7", "v7"):
        path = tmp_path / "runs" / group / "7"
        (path / "folder").mkdir(parents=True)
        (path / "name.txt").write_text(group)
        (path / f"folder/of_{group}.txt").write_text(group)
    return tmp_path / "runs"


@pytest.fixture
def path(root):
    return root / "g7/7"


@pytest.mark.parametrize(("swap", "reason"), SWAPS.items())
def test_a_directory_that_was_swapped_is_not_read(root, path, swap, reason):
    swap(path)
    with open_run_directory(path, root):
        with pytest.raises(RecordingError, match=f"cannot open {path}: .*{reason}; check that it is a readable dir"):
            read_file_inside(path, "name.txt")
        assert read_beginning_inside(path, "name.txt", 9) == b""
        assert not exists_no_follow(path / "name.txt")
        assert f"cannot list {path}: " in (list_directory(path).problem or "")
        assert (survey_files(path).listed, is_writable(path)) == ("", False)
        with pytest.raises(RecordingError, match=f"cannot list {path}: .*{reason}"):
            RunInputs(path).list_names("")


@pytest.mark.parametrize(("swap", "reason"), SWAPS.items())
def test_nothing_is_written_through_a_directory_that_was_swapped(root, path, swap, reason):
    (root / "v7/7/.a.0123456789abcdef").touch()
    swap(path)
    before = survey_files(root).listed
    with open_run_directory(path, root):
        for write in (lambda: write_json(path / "written.json", {}), lambda: remove(path / "name.txt")):
            with pytest.raises(Exception, match=reason):
                write()
        remove_leftovers(path, "a")
    assert survey_files(root).listed == before


@pytest.mark.parametrize("swap", [*SWAPS, swap_for_directory])
def test_a_swap_after_the_directory_was_opened_changes_nothing(root, path, swap):
    with open_run_directory(path, root):
        files = RecordedFiles(RunInputs(path))
        before = survey_files(path, with_content=True)
        if swap is not remove_all:
            swap(path)
            assert survey_files(path, with_content=True).listed == before.listed
            assert read_file_inside(path, "name.txt") == read_beginning_inside(path, "name.txt", 9) == b"g7"
            with open_file_inside(path, "folder/of_g7.txt") as file:
                assert file.read() == b"g7"
            assert list_directory(path).names == {"name.txt", "folder"}
            assert [each.name for each in list_directory(path).directories()] == ["folder"]
            assert (files.list_names("folder"), files.list_verdicts("folder")) == (("of_g7.txt",), ("of_g7.txt",))
            assert exists_no_follow(path / "folder/of_g7.txt")
            write_json(path / "written.json", 1)
            assert read_file_inside(path, "written.json") == b"1\n"
            remove(path / "written.json")
            remove(path / "written.json")
            assert not exists_no_follow(path / "written.json")
        else:
            swap(path)
        assert find_change(path) in ("replaced", "removed")
    assert not list(root.rglob("written.json"))


def test_leftovers_are_removed_from_the_directory_that_was_opened(root, path):
    for group in ("g7", "v7"):
        (root / group / "7/.a.0123456789abcdef").touch()
    with open_run_directory(path, root):
        swap_for_link(path)
        remove_leftovers(path, "a")
    assert [str(each.relative_to(root)) for each in root.rglob(".a.*")] == ["v7/7/.a.0123456789abcdef"]


def test_a_directory_in_its_place_is_unchanged(root, path):
    assert find_change(path) is None
    with open_run_directory(path, root):
        assert find_change(path) is None


@pytest.mark.parametrize("is_link", [False, True])
@pytest.mark.parametrize("has_root", [False, True])
def test_what_the_user_named_may_be_behind_links(root, tmp_path, is_link, has_root):
    (tmp_path / "link").symlink_to("runs")
    (root / "linked").symlink_to("g7/7")
    top = tmp_path / "link" if is_link else root
    path = top / "g7/7" if has_root else top / "linked"
    with open_run_directory(path, top if has_root else None):
        assert read_file_inside(path, "name.txt") == b"g7"
        write_json(path / "written.json", 1)
        assert find_change(path) is None
    assert (root / "g7/7/written.json").exists()


def test_a_root_that_is_a_run_may_be_a_link(root, path, tmp_path):
    (tmp_path / "link").symlink_to(path)
    with open_run_directory(tmp_path / "link", tmp_path / "link"):
        assert (read_file_inside(tmp_path / "link", "name.txt"), find_change(tmp_path / "link")) == (b"g7", None)


def test_directories_below_a_run_are_never_links(root, path):
    shutil.rmtree(path / "folder")
    (path / "folder").symlink_to("../../v7/7/folder")
    with open_run_directory(path, root):
        assert RecordedFiles(RunInputs(path)).list_names("folder") == ()
        assert list_directory(path / "folder").problem is not None
        with pytest.raises(RecordingError, match="cannot list"):
            RunInputs(path).list_names("folder")
        with pytest.raises(Exception, match="cannot write"):
            write_json(path / "folder/new.json", {})
    assert not (root / "v7/7/folder/new.json").exists()


def test_a_directory_below_a_run_is_created_to_write_into_it(root, path):
    with open_run_directory(path, root):
        swap_for_link(path)
        write_json(path / "scores/judge/a.json", 1)
    assert (root / "g7/aside7/scores/judge/a.json").exists()
    assert not (root / "v7/7/scores").exists()


def list_handles():
    return os.listdir("/proc/self/fd")  # noqa: PTH208  (names are all that is wanted)


def test_no_handle_is_left_and_a_second_opening_uses_the_first(root, path):
    before = list_handles()
    with open_run_directory(path, root):
        opened = list_handles()
        with open_run_directory(path, root):
            assert list_handles() == opened
        assert read_file_inside(path, "name.txt") == b"g7"
    with open_run_directory(path / "missing", root):
        pass
    assert (list_handles(), run_directory._opened) == (before, {})


def test_very_deep_directories_are_not_opened_one_by_one_for_ever(root, path):
    deepest = path
    for _ in range(200):
        deepest = deepest / "d"
    deepest.mkdir(parents=True)
    with open_run_directory(path, root):
        assert survey_files(path).listed == ""
        assert list_directory(deepest).problem is not None


def test_what_is_not_being_scored_is_read_by_its_path(root, path):
    with open_run_directory(root / "v7/7", root):
        assert read_file_inside(path, "name.txt") == b"g7"
        assert exists_no_follow(path / "name.txt")
        assert list_directory(path).names == {"name.txt", "folder"}
