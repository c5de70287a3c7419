"""Python's search for garbage, kept away from what stays to the end of a session anyway.

It goes through all objects again and again, most of which are modules and collected items.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field
from importlib.machinery import ModuleSpec
from importlib.machinery import PathFinder
from types import ModuleType

import pytest

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
    """Plugin that exempts all that is there when the tests begin, until the session is over.

    Garbage that nobody found by then is exempt too; it is little, and finding it would take a session with one task
    longer than to score that. Nothing happens where somebody else exempts objects: nobody could tell theirs from ours.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.is_freezing = False
        config.add_cleanup(self._stop)  # before others add theirs, so that it comes after those that search

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self) -> None:
        """Exempt what is there."""
        if not gc.get_freeze_count():
            gc.freeze()
            self.is_freezing = True

    def _stop(self) -> None:
        if self.is_freezing:
            gc.unfreeze()


class CollectAfterSlowFailure:
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


_OURS = f"{__name__.partition('.')[0]}."


class OwnModules:
    """A finder of our modules alone, to be asked before pytest's."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Where a module of ours lies, as Python's own finder says; None for any other module."""
        return PathFinder.find_spec(name, path, target) if name.startswith(_OURS) else None


def bypass_assertion_rewriting(config: pytest.Config) -> None:
    """Until the end of the session, import what is ours without pytest."""
    finder = OwnModules()
    sys.meta_path.insert(0, finder)
    config.add_cleanup(lambda: sys.meta_path.remove(finder))


NAMELESS = ""  # the category in which pytest keeps setups and teardowns that passed


@dataclass(eq=False)
class HidePassedPhases:
    """Keeps those reports until the failures are shown, and gives them back for whoever comes after that."""

    config: pytest.Config
    hidden: list[pytest.TestReport] = field(default_factory=list)

    @property
    def _reports(self) -> list[pytest.TestReport]:
        terminal: pytest.TerminalReporter | None = self.config.pluginmanager.get_plugin("terminalreporter")
        return [] if terminal is None else terminal.stats.get(NAMELESS, [])

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take a report away that the terminal reporter has just put there, unless it has something to show."""
        reports = self._reports
        if reports and reports[-1] is report:
            self.hidden.append(report)
            if report.when != "teardown" or not any("teardown" in heading for heading, _ in report.sections):
                reports.pop()

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self) -> None:
        """Put them back: --durations and other plugins look at them."""
        self._reports[:] = self.hidden
