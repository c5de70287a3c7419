"""The time that the test of a run may take, so that a stuck one costs nothing but itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pytest_webeval.clock import at_most
from pytest_webeval.clock import stop
from pytest_webeval.plugin.settings import Settings

USED = pytest.StashKey[float]()  # seconds that the steps of a test took so far
LEAST = 0.01  # seconds for a step after one that used them all up


@contextmanager
def within_time(item: pytest.Item, settings: Settings) -> Iterator[None]:
    """Let a step of a test take what is left of the time of its run. Raises `EvaluationError`.

    Only what has to do with the run counts: what a fixture of a user's own sets up may take as long as it likes.
    """
    if not settings.timeout or item.config.getoption("usepdb", default=False):
        yield
        return
    used, began = item.stash.get(USED, 0.0), time.monotonic()
    try:
        with at_most(max(settings.timeout - used, LEAST), _told(settings.timeout)):
            yield
    finally:
        item.stash[USED] = used + time.monotonic() - began


def _told(seconds: float) -> str:
    told = f"scoring took longer than {seconds:g} s and was ended"
    return f"{told}; look for what is odd in the run, or raise --webeval-timeout"


class Debugged:
    """Stops the clock for who sits at a debugger."""

    def pytest_enter_pdb(self) -> None:
        """Called by pytest when a test asks for the debugger."""
        stop()
