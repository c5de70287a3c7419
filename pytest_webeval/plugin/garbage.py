"""Python's search for garbage, kept away from what stays to the end of a session anyway.

It goes through all objects again and again; modules, models and collected items are most of them, and no garbage.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


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
    """Plugin that exempts all that is there when the tests begin, until the session is over."""

    def __init__(self, config: pytest.Config) -> None:
        config.add_cleanup(gc.unfreeze)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self) -> None:
        """Exempt what is there."""
        gc.freeze()
