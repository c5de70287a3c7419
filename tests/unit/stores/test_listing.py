"""Listings: which objects have a place in a tree, and how one is looked up in a file of very many."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.errors import StoreError
from pytest_webeval.safety.limits import Limits
from pytest_webeval.stores.listing import ListingFile, plan_tree, write_listing
from pytest_webeval.stores.store import StoredObject, find_key_problem

KEYS = st.lists(st.text(st.sampled_from("aAbé/.\n\0 \ud800"), max_size=8), max_size=12, unique=True)


def objects(*keys):
    return [StoredObject(key, 1) for key in sorted(keys)]


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("a", None),
        ("a/b.c/d", None),
        ("...", None),
        (".a", None),
        ("a\nb", None),
        ("a" * 255, None),
        ("/".join("a" * 64), None),
        ("", "its key has an empty part"),
        ("/a", "its key has an empty part"),
        ("a//b", "its key has an empty part"),
        ("a/", "its key has an empty part"),
        (".", "its key has the part '.'"),
        ("a/./b", "its key has the part '.'"),
        ("..", "its key has the part '..'"),
        ("../a", "its key has the part '..'"),
        ("a/..", "its key has the part '..'"),
        ("a\0", "its key has a NUL"),
        ("\ud800", "its key is not Unicode"),
        ("é" * 128, "its key has a name of more than 255 bytes"),
        ("abcdefgh/" * 114, "its key has an empty part"),
        ("/".join(["abcdefgh"] * 114), "its key has more than 1,024 bytes"),
        ("/".join("a" * 65), "its key has more than 64 levels"),
    ],
)
def test_a_key_is_a_path_or_has_a_problem(key, problem):
    assert find_key_problem(key) == problem


def test_objects_become_directories_and_files():
    plan = plan_tree([StoredObject("1/a/b", 1), StoredObject("2/", 0), StoredObject("c", 5)])
    assert plan.directories == {"", "1", "1/a", "2"}
    assert {name: list(files) for name, files in plan.files.items()} == {"1/a": ["b"], "": ["c"]}
    assert not plan.problems.list_all()


@pytest.mark.parametrize(
    ("entries", "kept", "problems"),
    [
        (objects("a", "a/b"), ["a/b"], ['skipped object "a": it is a file and a directory']),
        (objects("a", "a/b/c"), ["a/b/c"], ['skipped object "a": it is a file and a directory']),
        ([StoredObject("a", 1), StoredObject("a/", 0)], [], ['skipped object "a": it is a file and a directory']),
        ([StoredObject("a/", 3)], [], ['skipped object "a/": it is a directory with content']),
        ([StoredObject("a", -1)], [], ['skipped object "a": its size is impossible']),
        ([StoredObject("a", 2**62)], [], ['skipped object "a": its size is impossible']),
        (objects("../x", "b"), ["b"], ["skipped object \"../x\": its key has the part '..'"]),
        (objects("\x1b[31m\u202e\0"), [], ['skipped object "\\u001b[31m\\u202e\\u0000": its key has a NUL']),
    ],
)
def test_an_object_without_a_place_is_skipped_with_a_warning(entries, kept, problems):
    plan = plan_tree(entries)
    assert [entry.key for entry in plan.list_objects()] == kept
    assert plan.problems.list_all() == problems


def test_many_skipped_objects_are_counted():
    problems = plan_tree(objects(*(f"../{number}" for number in range(50)))).problems.list_all()
    assert len(problems) == 21
    assert problems[-1] == "skipped 30 more objects"


@pytest.mark.parametrize(
    ("keys", "kept"),
    [
        (["A/1", "a/2"], ["A/1"]),
        (["a/1", "a/2"], ["a/1", "a/2"]),
        (["x/A", "x/a"], ["x/A"]),
        (["E\u0301", "\u00e9"], ["E\u0301"]),
        (["a/b", "c/B"], ["a/b", "c/B"]),
    ],
)
def test_names_that_differ_in_case_only_need_a_disk_that_holds_both(keys, kept):
    assert [entry.key for entry in plan_tree(objects(*keys)).list_objects()] == sorted(keys)
    assert [entry.key for entry in plan_tree(objects(*keys), is_case_sensitive=False).list_objects()] == kept


def test_a_listing_of_too_many_objects_is_an_error_that_names_the_limit():
    message = r"cannot list s3://b: it has more than 2 objects; the limit is 2; raise stored_objects in webeval_limits"
    with pytest.raises(StoreError, match=message):
        plan_tree(objects("a", "b", "c"), limits=Limits(stored_objects=2), location="s3://b")


@given(KEYS)
def test_each_key_has_one_place_or_a_warning(keys):
    plan = plan_tree(objects(*keys))
    places = [entry.key for entry in plan.list_objects()]
    assert len(places) + plan.problems.count == len([key for key in keys if not _is_directory(key)]) + sum(
        1 for key in keys if key.endswith("/") and find_key_problem(key[:-1]) is None
    )
    for key in places:
        assert find_key_problem(key) is None
        assert key not in plan.directories


def _is_directory(key):
    return key.endswith("/") and find_key_problem(key[:-1]) is None


@given(KEYS, st.text("ab/é", max_size=4))
def test_an_object_is_looked_up_in_the_file_as_in_a_table(tmp_path_factory, keys, directory):
    directory, folder = directory.strip("/"), tmp_path_factory.mktemp("listing")
    entries = plan_tree(objects(*keys)).list_objects()
    listing = ListingFile(folder / write_listing(folder, entries))
    below = [entry for entry in entries if entry.key.startswith(f"{directory}/" if directory else "")]
    assert list(listing.list_below(directory)) == below
