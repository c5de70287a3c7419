"""Which directories are runs, for callers without pytest, and what of a directory nobody may read."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from pytest_webeval import find_runs, load_run
from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.formats import format_of
from pytest_webeval.recordings.run_tree import Search


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
    with pytest.raises(RecordingError, match=r"cannot list .*/2: Permission denied; make it readable"):
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


RECORDED = Path(__file__).parents[2] / "recorded/atif"
RESULT = {"task_id": "7", "final_result_response": "Done"}


def search(root):
    """What the items of a root are, with their problems."""
    items = Search(root, format_of).tree().list_items()
    return {os.path.relpath(item.path, root): (item.kind.value, item.problem or "") for item in items}


LACKS_RESULT = "lacks result.json with trial_name, task_checksum; add the missing files"
EMPTY = "result.json is empty or cannot be read; restore the damaged files"


@pytest.mark.parametrize("place", ["trial", "."])
@pytest.mark.parametrize(
    ("content", "lack"),
    [
        (None, LACKS_RESULT),
        ("", EMPTY),
        ("{", "result.json is not valid JSON: Expecting property name enclosed in double quotes, character 2; restore"),
        ('{"trial_name": "x"}', LACKS_RESULT),
    ],
)
def test_the_steps_of_a_trial_without_its_result_are_no_runs(tmp_path, place, content, lack):
    path = tmp_path / "jobs" / place
    shutil.copytree(RECORDED / "shop-multi-step__aB3dE5f", path)
    (path / "result.json").unlink() if content is None else (path / "result.json").write_text(content)
    ((name, (kind, problem)),) = search(tmp_path / "jobs").items()
    assert (name, kind) == (place, "broken")
    assert f"trial.log of the format atif, but {lack}" in problem


@pytest.mark.parametrize("name", ["agent", "steps", "verifier", "exception.txt", "result.json"])
def test_a_trial_that_is_no_run_is_a_broken_one_whatever_lies_below_it(tmp_path, name):
    make(tmp_path, "job/trial/trial.log", f"job/trial/{name}", "job/trial/downloads/3/network.har")
    make(tmp_path, "job/other/trial.log", "job/other/4/network.har")
    kinds = {place: kind for place, (kind, _) in search(tmp_path).items()}
    assert kinds == {"job/trial": "broken", "job/other/4": "run"}


@pytest.mark.parametrize(
    ("content", "lack"),
    [
        ("", EMPTY),
        ("{", "result.json is not valid JSON: Expecting property name"),
        (json.dumps(RESULT)[:-40], "result.json is not valid JSON: Unterminated string starting at, character 2; "),
        (" " * 2**22 + json.dumps(RESULT), "lacks result.json with task_id"),
        (None, EMPTY),
    ],
)
def test_a_result_of_online_mind2web_that_is_not_recognized_is_a_broken_run(tmp_path, content, lack):
    make(tmp_path, "7/trajectory/0.png", "8/trajectory/0.png", "9/result.json")
    (tmp_path / "8/result.json").write_text(json.dumps(RESULT))
    if content is None:
        (tmp_path / "7/result.json").symlink_to(tmp_path / "8/result.json")
    else:
        (tmp_path / "7/result.json").write_text(content)
    items = search(tmp_path)
    assert {name: kind for name, (kind, _) in items.items()} == {"7": "broken", "8": "run", "9": "broken"}
    assert f"result.json and trajectory of the format online-mind2web, but {lack}" in items["7"][1]


def test_files_of_stagehand_without_its_keys_are_a_broken_run(tmp_path):
    make(tmp_path, "7/trajectory.json", "7/task_data.json", "8/trajectory.json", "9/trajectory.json", "9/scores/a")
    assert {name: kind for name, (kind, _) in search(tmp_path).items()} == {"7": "broken", "9": "broken"}


def test_a_group_with_the_names_of_a_result_is_searched(tmp_path):
    make(tmp_path, "a/result.json", "a/trajectory/3/network.har")
    assert search(tmp_path) == {"a/trajectory/3": ("run", "")}


def test_a_stray_file_does_not_hide_the_runs_below_it(tmp_path):
    for name in ("shop-judged-success", "shop-judged-failure"):
        shutil.copytree(RECORDED.parent / "browser_use" / name, tmp_path / "exp" / name)
    shutil.copy(tmp_path / "exp" / "shop-judged-success" / "AgentHistory.json", tmp_path / "exp")
    ((label, (kind, problem)),) = search(tmp_path).items()
    assert (label, kind) == ("exp", "broken")
    runs = '"shop-judged-failure", "shop-judged-success"'
    assert problem.endswith(
        f"exp has the files of a run, and holds runs: {runs}; move its own files, or these runs, away"
    )
    shutil.move(tmp_path / "exp" / "shop-judged-success", tmp_path / "other")
    assert {path: kind for path, (kind, _) in search(tmp_path).items()} == {"exp": "run", "other": "run"}
    (tmp_path / "exp" / "AgentHistory.json").unlink()
    assert {kind for kind, _ in search(tmp_path).values()} == {"run"}
