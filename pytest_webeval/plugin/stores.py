"""The plugin that fetches runs from stores ahead of the tests that score them."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path

import pytest
from msgspec import Struct

from pytest_webeval.plugin.collection.nodes import RunItem, needs_no_fixtures, run_path
from pytest_webeval.plugin.workspace import PytestWorkspace
from pytest_webeval.sessions.runs.user_modules import list_installed_types
from pytest_webeval.stores.mirror import MOST_AHEAD, Ahead

SHOWING = ("htmlpath", "allure_report_dir")  # options of other plugins for reports with screenshots


class Prefetching(Struct, eq=False):
    """Plugin of every process that scores. A worker of xdist gets tests in runs of their order, as a rule."""

    workspace: PytestWorkspace
    _ahead: Ahead | None = None
    _with_pictures: bool = False

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note the order of the runs, and whether anything but our evaluators looks at them."""
        settings, config, hook = self.workspace.settings, session.config, session.config.hook
        items = {item: path for item in session.items if (path := run_path(item)) is not None}
        is_shown = settings.shows_pictures or any(config.getoption(name, default=None) for name in SHOWING)
        hooks = (hook.pytest_webeval_scored, hook.pytest_webeval_recognize)
        has_hooks = any(each.get_hookimpls() for each in hooks) or bool(list_installed_types())
        are_ours = all(isinstance(item, RunItem) and needs_no_fixtures(item) for item in items)
        self._with_pictures = is_shown or has_hooks or not are_ours
        self._ahead = Ahead(list(dict.fromkeys(items.values())), self._fetch, MOST_AHEAD)

    def _fetch(self, paths: Sequence[Path]) -> None:
        for mirror in self.workspace.settings.mirrors:
            mirror.prefetch(filter(mirror.holds, paths), with_pictures=self._with_pictures)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        """Wait for the run of a test, and give its room back after its last one."""
        path = run_path(item)
        mirror = None if path is None else self.workspace.settings.mirror_of(path)
        if path is None or mirror is None or self._ahead is None:
            return (yield)
        self._ahead.reach(path)
        with mirror.using(path, with_pictures=self._with_pictures):
            result = yield
        if nextitem is None or run_path(nextitem) != path:
            mirror.release(path)
        return result

    def pytest_unconfigure(self) -> None:
        """Fetch nothing more."""
        for mirror in self.workspace.settings.mirrors:
            mirror.stop()
        if self._ahead is not None:
            self._ahead.close()
