"""Fetches runs in stores ahead of the tests that score them."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import cached_property
from pathlib import Path

import pytest
from msgspec import Struct

from pytest_webeval.plugin.collection.nodes import run_path
from pytest_webeval.plugin.workspace import PytestWorkspace
from pytest_webeval.sessions.remote_roots import close_mirrors, prefetch, release, take_failure
from pytest_webeval.stores.mirror import Mirror, attach
from pytest_webeval.stores.prefetching import Ahead

MOST_AHEAD = 150  # runs


class Prefetching(Struct, eq=False, dict=True):
    """Plugin of every process that scores. A worker of xdist gets tests in runs of their order, as a rule."""

    workspace: PytestWorkspace
    _ahead: Ahead | None = None

    @cached_property
    def _mirrors(self) -> list[Mirror]:
        return list(map(attach, self.workspace.settings.mirrors))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note the order of the runs. What could not be read of them is told by then."""
        take_failure()
        paths = dict.fromkeys(path for item in session.items if (path := run_path(item)) is not None)
        self._ahead = Ahead(list(paths), self._fetch, MOST_AHEAD)

    def _fetch(self, paths: Sequence[Path]) -> None:
        prefetch(self._mirrors, paths, with_pictures=self.workspace.settings.report is not None)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        """Wait for the run of a test, and give its room back after its last one."""
        path = run_path(item)
        if path is None or self._ahead is None:
            return (yield)
        self._ahead.reach(path)
        result = yield
        if nextitem is None or run_path(nextitem) != path:
            release(self._mirrors, path)
        return result

    def pytest_unconfigure(self) -> None:
        """Fetch nothing more."""
        if self._ahead is not None:
            for mirror in self._mirrors:
                mirror.stop()
            self._ahead.close()
        close_mirrors(self.workspace.settings.mirrors)
