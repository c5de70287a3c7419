"""The directory in which results wait until they are in a store."""

from __future__ import annotations

from pytest_webeval.sessions.staging import Staging
from pytest_webeval.stores.cache_directory import open_cache
from pytest_webeval.stores.local import LocalStore


def stage(tmp_path):
    (tmp_path / "store").mkdir()
    cache = open_cache(tmp_path / "cache", "results")
    staging = Staging(LocalStore(str(tmp_path / "store")), str(cache))
    (staging.path / "107").mkdir(parents=True)
    (staging.path / "107/notes.txt").write_text("scored")
    return staging


def test_what_is_uploaded_is_removed(tmp_path):
    staging = stage(tmp_path)
    assert staging.finish() is None
    assert (tmp_path / "store/107/notes.txt").read_text() == "scored"
    assert not staging.path.exists()


def test_all_stays_next_to_a_journal_which_is_not_uploaded(tmp_path):
    staging = stage(tmp_path)
    (staging.path / "eval_journal.jsonl").write_text("line")
    assert staging.finish() is None
    assert [path.name for path in (tmp_path / "store").rglob("*")] == ["107", "notes.txt"]
    assert (staging.path / "107/notes.txt").exists()
    assert list(staging.list_waiting()) == []
