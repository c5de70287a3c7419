"""Lists that go on in a file, and how their entries come back."""

from __future__ import annotations

import pytest

from pytest_webeval.errors import DiskFull
from pytest_webeval.summary.store.spooled_list import ScratchFile, SpooledList, SpooledMapping

ENTRIES = [1, "a", {"b": [None, True]}, "\ud800", 10**30, 2.5, [], "ä"]


@pytest.fixture
def spooled():
    entries = SpooledList(ScratchFile(), 3)
    for entry in ENTRIES:
        entries.append(entry)
    return entries


def test_all_entries_come_back_in_their_order_again_and_again(spooled):
    assert len(spooled) == len(ENTRIES)
    assert [list(spooled), list(spooled)] == [ENTRIES, ENTRIES]


@pytest.mark.parametrize("index", [0, 3, 7, -1, -8])
def test_an_index_is_that_of_a_list(spooled, index):
    assert spooled[index] == ENTRIES[index]


@pytest.mark.parametrize("index", [8, -9])
def test_an_index_beyond_the_list_is_an_error(spooled, index):
    with pytest.raises(IndexError, match=f"there is no entry {index} of 8"):
        spooled[index]


@pytest.mark.parametrize(
    "part",
    [slice(None), slice(2, 5), slice(-3, None), slice(1, 8, 3), slice(5, 2), slice(None, None, -1), slice(6, 1, -2)],
)
def test_a_slice_is_that_of_a_list(spooled, part):
    assert spooled[part] == ENTRIES[part]


def test_members_come_back_by_name_and_in_their_order():
    mapping = SpooledMapping(ScratchFile())
    for number in range(1_000):
        mapping[f"name {number}"] = [number]
    assert mapping["name 700"] == [700]
    assert dict(mapping.items()) == {f"name {number}": [number] for number in range(1_000)}
    with pytest.raises(KeyError):
        mapping["other"]


def test_a_full_disk_is_said_with_what_to_do():
    scratch = ScratchFile()
    scratch._frames.execute("PRAGMA max_page_count=3")
    with pytest.raises(DiskFull, match=r"cannot write .*; set TMPDIR to a directory with more room"):
        scratch.write([bytes(10_000).hex()])


def test_two_lists_of_one_file_do_not_mix():
    scratch = ScratchFile()
    first, second = SpooledList(scratch, 2), SpooledList(scratch, 2)
    for number in range(5):
        first.append(number)
        second.append(-number)
    assert (list(first), list(second)) == ([0, 1, 2, 3, 4], [0, -1, -2, -3, -4])
