"""The directory in which results wait until they are in a store."""

from __future__ import annotations

import pytest

from pytest_webeval.sessions.settings.staging import Staging
from pytest_webeval.stores.cache import open_cache
from pytest_webeval.stores.choice import LocalStore


class NotingStore:
    """A directory that notes the keys that are written, and calls `then` after each."""

    def __init__(self, location):
        self.location, self.keys, self.then = location, [], lambda: None

    def write(self, key, content):
        LocalStore(self.location).write(key, content)
        self.keys.append(key)
        self.then()


def stage(tmp_path, store=LocalStore, name="107"):
    (tmp_path / "store").mkdir()
    cache = open_cache(tmp_path / "cache", "results")
    staging = Staging(store(str(tmp_path / "store")), str(cache))
    (staging.path / name).mkdir(parents=True)
    (staging.path / name / "notes.txt").write_text("scored")
    return staging


def test_what_is_uploaded_is_removed(tmp_path):
    staging = stage(tmp_path)
    assert staging.finish(is_kept=False) is None
    assert (tmp_path / "store/107/notes.txt").read_text() == "scored"
    assert not staging.path.exists()


@pytest.mark.parametrize(
    "name", ["eval_session.sqlite", "eval_session.sqlite-journal", "eval_session-1-of-2.old-1.sqlite"]
)
@pytest.mark.parametrize("is_kept", [False, True])
def test_rows_are_not_uploaded_and_stay_with_all_else_for_another_session(tmp_path, name, is_kept):
    staging = stage(tmp_path)
    (staging.path / name).write_text("rows")
    assert list(staging.list_waiting()) == [staging.path / "107/notes.txt"]
    assert staging.finish(is_kept=is_kept) is None
    assert [path.name for path in (tmp_path / "store").rglob("*")] == ["107", "notes.txt"]
    assert (staging.path / name).exists() == (staging.path / "107/notes.txt").exists() == is_kept
    assert list(staging.list_waiting()) == []


@pytest.mark.parametrize("name", ["a\tb", "\u2028", "\u00fc", " "])
def test_a_run_may_have_any_name(tmp_path, name):
    staging = stage(tmp_path, name=name)
    assert staging.finish(is_kept=False) is None
    assert (tmp_path / "store" / name / "notes.txt").read_text() == "scored"


def test_what_another_session_writes_meanwhile_stays_until_it_is_uploaded(tmp_path):
    staging = stage(tmp_path, NotingStore)
    staging.store.then = lambda: (staging.path / "107/of_another.txt").write_text("scored as well")
    assert staging.finish(is_kept=False) is None
    assert [path.name for path in staging.path.rglob("*")] == ["107", "of_another.txt"]
    staging.store.then = lambda: None
    assert staging.finish(is_kept=False) is None
    assert not staging.path.exists()
    assert staging.store.keys == ["107/notes.txt", "107/of_another.txt"]


def test_a_file_is_uploaded_again_only_once_it_was_written_again(tmp_path):
    staging = stage(tmp_path, NotingStore)
    path = staging.path / "107/notes.txt"
    for _ in range(2):
        assert Staging(staging.store, staging.cache).upload([path]) == {}
    assert staging.store.keys == ["107/notes.txt"]
    path.write_text("another")
    assert Staging(staging.store, staging.cache).upload([path]) == {}
    assert staging.store.keys == ["107/notes.txt"] * 2


def test_files_that_nobody_finished_go_with_the_others(tmp_path):
    staging = stage(tmp_path)
    (staging.path / "107/.eval_result.json.0123456789abcdef").write_text("half")
    assert staging.finish(is_kept=False) is None
    assert not staging.path.exists()


def test_what_another_session_has_uploaded_and_removed_is_no_problem(tmp_path):
    staging = stage(tmp_path)
    (staging.path / "107/second.txt").write_text("scored")
    waiting = staging.list_waiting()
    first = next(waiting)
    second = staging.path / "107/second.txt"
    second.unlink()
    assert [first.name, *waiting] == ["notes.txt"]
    assert staging.upload([second]) == {}
