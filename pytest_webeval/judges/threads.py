"""Waits for several servers at the same time, in threads that never keep a session from ending."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock, Thread
from typing import TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")


def map_in_threads(function: Callable[[Item], Value], items: Sequence[Item], count: int) -> list[Value]:
    """What a function returns for each item, in their order, of which `count` are worked on at the same time.

    Raises the first exception of the function; then no further item is begun. Ctrl-C is raised at once: the threads are
    daemons, unlike those of `concurrent.futures`, for which Python waits when it ends.
    """
    if count < 2 or len(items) < 2:
        return [function(item) for item in items]
    values: dict[int, Value] = {}
    errors: list[BaseException] = []
    waiting, lock = iter(enumerate(items)), Lock()

    def work() -> None:
        while not errors:
            with lock:
                at, item = next(waiting, (-1, None))
            if at < 0 or item is None:
                return
            try:
                values[at] = function(item)
            except BaseException as error:  # noqa: BLE001  (raised again by the thread that waits)
                errors.append(error)

    threads = [Thread(target=work, name="webeval-judge", daemon=True) for _ in range(min(count, len(items)))]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except BaseException as error:
        errors.append(error)  # so that no thread begins another item
        raise
    if errors:
        raise errors[0]
    return [values[at] for at in range(len(items))]


def call_with_time_limit(function: Callable[[], Value], seconds: float) -> Value:
    """Return what a function returns. Raises its exception, or `TimeoutError`, and then leaves its thread behind."""
    values: list[Value] = []
    errors: list[Exception] = []

    def work() -> None:
        try:
            values.append(function())
        except Exception as error:  # noqa: BLE001  (raised again by the thread that waits)
            errors.append(error)

    thread = Thread(target=work, name="webeval-judge", daemon=True)
    thread.start()
    thread.join(seconds)
    if values:
        return values[0]
    raise errors[0] if errors else TimeoutError
