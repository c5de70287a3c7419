from __future__ import annotations

import threading
import time

import pytest

from pytest_webeval.judges.calls import map_in_threads
from pytest_webeval.judges.exchanges import call_with_time_limit


@pytest.mark.parametrize("count", [1, 3, 50])
def test_values_come_in_the_order_of_the_items(count):
    assert map_in_threads(lambda item: item * item, range(20), count) == [item * item for item in range(20)]


def test_so_many_items_are_worked_on_at_the_same_time():
    barrier = threading.Barrier(4)
    assert map_in_threads(lambda _: barrier.wait(20), range(8), 4) != []
    assert map_in_threads(lambda item: item, [], 4) == []


def test_the_first_exception_is_raised_and_no_further_item_begun():
    begun = []

    def work(item):
        begun.append(item)
        if item == 1:
            raise KeyError(item)
        time.sleep(0.05)

    with pytest.raises(KeyError):
        map_in_threads(work, range(100), 2)
    assert len(begun) < 10


def test_threads_do_not_keep_a_process_alive():
    seen = []
    map_in_threads(lambda _: seen.append(threading.current_thread().daemon), range(2), 2)
    assert seen == [True, True]


def test_a_function_has_a_value_an_exception_or_no_more_time():
    def fail():
        raise KeyError("name")

    assert call_with_time_limit(lambda: None, 20) is None
    with pytest.raises(KeyError, match="name"):
        call_with_time_limit(fail, 20)
    released = threading.Event()
    with pytest.raises(TimeoutError):
        call_with_time_limit(lambda: released.wait(20), 0.05)
    assert {thread.daemon for thread in threading.enumerate() if thread.name == "webeval-judge"} == {True}
    released.set()
