"""A directory as a store: its verbs, and what it refuses."""

from __future__ import annotations

import os

import pytest

from pytest_webeval.errors import StoreError
from pytest_webeval.stores.choice import LocalStore


@pytest.fixture
def store(tmp_path):
    return LocalStore(str(tmp_path / "runs"))


def test_what_is_written_is_listed_by_key_and_read(store):
    for key in ("b/c", "a.d", "a/b", "b-c"):
        store.write(key, key.encode())
    listed = list(store.list())
    assert [(entry.key, entry.size) for entry in listed] == [("a.d", 3), ("a/b", 3), ("b-c", 3), ("b/c", 3)]
    assert [store.read(entry.key).decode() for entry in listed] == [entry.key for entry in listed]
    assert [entry.key for entry in store.list("b")] == ["b/c"]


def test_a_file_that_changes_has_another_identity(store):
    store.write("a", b"1")
    os.utime(store.root / "a", (5, 5))
    first = next(store.list()).identity
    store.write("a", b"2")
    assert next(store.list()).identity != first


def test_links_and_pipes_are_no_objects_and_are_not_followed(store, tmp_path):
    store.write("run/a", b"1")
    (tmp_path / "secret").write_text("secret")
    (store.root / "run/link").symlink_to(tmp_path / "secret")
    (store.root / "out").symlink_to(tmp_path)
    os.mkfifo(store.root / "run/pipe")
    assert [entry.key for entry in store.list()] == ["run/a"]
    for key in ("run/link", "out/secret", "run/pipe", "run"):
        with pytest.raises(StoreError):
            store.read(key)
    with pytest.raises(StoreError, match="it is behind a link; use another key"):
        store.write("out/new", b"1")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("key", ["", "/a", "../a", "a/../b", "a//b", "a/", "./a", "a\0b", "a" * 256, "\ud800"])
def test_a_key_that_is_no_path_below_the_root_is_refused(store, key):
    store.root.mkdir()
    for action in (lambda: store.write(key, b"1"), lambda: store.read(key)):
        with pytest.raises(StoreError, match=r"cannot use .*: its key .*; use another key"):
            action()
    assert not list(store.list())


def test_a_missing_directory_and_a_missing_file_are_errors(store):
    with pytest.raises(StoreError, match="it is not a directory; check the path"):
        list(store.list())
    store.root.mkdir()
    with pytest.raises(StoreError, match="missing file"):
        store.read("a")


def test_a_file_that_cannot_be_written_is_an_error(store):
    store.write("a", b"1")
    with pytest.raises(StoreError, match="cannot write"):
        store.write("a/b", b"1")
