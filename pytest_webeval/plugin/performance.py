"""Exempts long-lived objects from Python's garbage collector.

The collector traverses all objects again and again, most of which are modules and collected items.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

import pytest
from msgspec import Struct, field

LONG = 0.1  # seconds; what takes as long may have read much


@contextmanager
def gc_paused() -> Iterator[None]:
    """Do something that makes many objects to stay, such as an import, without a search."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class FreezeCollected:
    """Plugin that exempts all objects that exist when the tests begin, until the session ends.

    Garbage that exists by then is exempt too: it is little, and a collection would take longer than to score one task.
    Does nothing if another plugin has exempted objects, since the two sets could not be separated again.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.is_freezing = False
        config.add_cleanup(self._stop)  # before others add theirs, so that it comes after those that search

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self) -> None:
        """Exempt all existing objects."""
        if not gc.get_freeze_count():
            gc.freeze()
            self.is_freezing = True

    def _stop(self) -> None:
        if self.is_freezing:
            gc.unfreeze()


class CollectAfterSlowFailure:
    """Plugin that collects garbage after a test that failed and took long.

    Its traceback is a reference cycle that holds all recorded data. Python collects by the number of objects, not by
    their size: a few hostile recordings would fill the memory first.
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
        """Collect garbage once the failure has been reported."""
        if self._is_due:
            self._is_due = False
            gc.collect()


_OURS = f"{__name__.partition('.')[0]}."


class OwnModules:
    """A finder for the modules of this package, which precedes that of pytest."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec of a module of this package from Python's own finder; None for any other module."""
        return PathFinder.find_spec(name, path, target) if name.startswith(_OURS) else None


def bypass_assertion_rewriting(config: pytest.Config) -> None:
    """Import the modules of this package without assertion rewriting until the end of the session."""
    finder = OwnModules()
    sys.meta_path.insert(0, finder)
    config.add_cleanup(lambda: sys.meta_path.remove(finder))


NAMELESS = ""  # the category in which pytest keeps setups and teardowns that passed


class HidePassedPhases(Struct, eq=False):
    """Hides the reports of passed phases until the failures are shown, and restores them for other plugins.

    pytest keeps all reports until the session ends: those of one item share their keywords.
    """

    config: pytest.Config
    hidden: list[pytest.TestReport] = field(default_factory=list)
    _keywords: Mapping[str, Any] = field(default_factory=dict)  # of the last report

    @property
    def _reports(self) -> list[pytest.TestReport]:
        terminal: pytest.TerminalReporter | None = self.config.pluginmanager.get_plugin("terminalreporter")
        return [] if terminal is None else terminal.stats.get(NAMELESS, [])

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take a report away that the terminal reporter has just put there, unless it has something to show."""
        self._keywords = report.keywords = self._keywords if report.keywords == self._keywords else report.keywords
        reports = self._reports
        if reports and reports[-1] is report:
            self.hidden.append(report)
            if report.when != "teardown" or not any("teardown" in heading for heading, _ in report.sections):
                reports.pop()

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self) -> None:
        """Restore the reports, which --durations and other plugins read."""
        self._reports[:] = self.hidden
