"""Python's search for garbage, kept away from what stays to the end of a session anyway.

It goes through all objects again and again, most of which are modules and collected items.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

LONG = 0.1  # seconds; what takes as long may have read much


@contextmanager
def unsearched() -> Iterator[None]:
    """Do something that makes many objects to stay, such as an import, without a search."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class SparedObjects:
    """Plugin that exempts all that is there when the tests begin, until the session is over.

    Garbage that nobody found by then is spared too; it is little, and finding it would take a session with one task
    longer than to score that. Nothing happens where somebody else exempts objects: nobody could tell theirs from ours.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.is_sparing = False
        config.add_cleanup(self._stop)  # before others add theirs, so that it comes after those that search

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self) -> None:
        """Exempt what is there."""
        if not gc.get_freeze_count():
            gc.freeze()
            self.is_sparing = True

    def _stop(self) -> None:
        if self.is_sparing:
            gc.unfreeze()


class LongFailures:
    """Plugin that searches for garbage after a test that failed and took long.

    Its traceback goes round in a circle and holds all that was read and found, and Python searches by the number of
    objects, not by their size: a few hostile recordings would fill the memory before it did.
    """

    def __init__(self) -> None:
        self._is_due = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Generator[None, object, object]:
        """Remember that a phase failed after a long time."""
        self._is_due |= call.excinfo is not None and call.duration > LONG
        return (yield)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self) -> None:
        """Search, once nobody has to do with the failure any more."""
        if self._is_due:
            self._is_due = False
            gc.collect()
