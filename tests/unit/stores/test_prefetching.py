"""What is needed next is fetched while that before it is used."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from pytest_webeval.stores.prefetching import Ahead, fetch_in_parts


@pytest.mark.parametrize("count", [0, 1, 3, 4, 7])
def test_parts_come_in_order_once_they_are_fetched(count):
    fetched = []
    for part in fetch_in_parts(range(count), fetched.extend, size=3):
        assert set(part) <= set(fetched)
    assert fetched == [*range(count)]


def test_the_next_part_is_fetched_while_one_is_used():
    second = threading.Event()
    parts = fetch_in_parts([1, 2], lambda part: second.set() if 2 in part else None, size=1)
    next(parts)
    assert second.wait(10)
    assert [*parts] == [[2]]


PATHS = [Path(str(number)) for number in range(20)]


def test_some_directories_are_fetched_ahead_from_any_on_and_each_once():
    fetched = []
    ahead = Ahead(PATHS, fetched.extend, most=4, size=2)
    ahead.reach(PATHS[10])
    ahead.reach(PATHS[11])
    assert fetched[:2] == PATHS[10:12]
    ahead.reach(PATHS[0])
    ahead.reach(Path("unknown"))
    ahead.close()
    assert sorted(fetched, key=PATHS.index) == [*PATHS[:6], *PATHS[10:16]]


def test_what_a_fetch_raises_reaches_whoever_waits_for_it():
    ahead = Ahead(PATHS, lambda _: 1 / 0, most=1)
    with pytest.raises(ZeroDivisionError):
        ahead.reach(PATHS[0])
