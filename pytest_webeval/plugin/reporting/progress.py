"""One line that says how a long session is doing, in place of a letter for each run, where a person watches."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Sequence

import pytest
from msgspec import Struct, field

from pytest_webeval.plugin.collection.nodes import RunItem
from pytest_webeval.plugin.workspace import ITEMS
from pytest_webeval.reports.status_line import Tally, status_line
from pytest_webeval.sessions.runs.session_rows import SessionRows

FEWEST_RUNS = 50  # with fewer items, the letters of pytest are enough
PAUSE = 0.1  # seconds between two lines
_OTHER_LINE = -2  # how pytest marks a line that is not a path, which it ends before it writes another


class Progress(Struct, eq=False):
    """Plugin of the controller. `terminal` is there while the line is; `records` are those of the reporter."""

    records: SessionRows
    terminal: pytest.TerminalReporter | None = None
    tally: Tally = field(default_factory=Tally)
    last_draw: tuple[float, int] = (0.0, 0)  # when, and how many characters

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Begin if there is enough to do."""
        runs = sum(isinstance(item, RunItem) for item in session.items)
        self._begin(session.config, runs, len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: Sequence[str]) -> None:
        """The same under xdist, where each worker collects all items."""
        config: pytest.Config = node.config  # type: ignore[attr-defined]  # a worker of xdist's, which has no types
        self._begin(config, sum(nodeid.rpartition("::")[2] in ITEMS for nodeid in ids), len(ids))

    def _begin(self, config: pytest.Config, runs: int, items: int) -> None:
        if runs < FEWEST_RUNS or self.terminal is not None:
            return
        self.terminal, self.tally.expected = _find_terminal(config), items
        if self.terminal is not None:
            self.terminal.showfspath = False

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self) -> Generator[None, tuple[str, str, object], tuple[str, str, object]]:
        """Let pytest count an item without writing anything for it."""
        status = yield
        return status if self.terminal is None else (status[0], "", "")

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count, and say so now and then."""
        if self.terminal is None:
            return
        record = self.records.get(report.nodeid.rpartition("::")[0])
        if record is not None and report.nodeid.rpartition("::")[2] in ITEMS:
            self.tally.keep(record)
        elif report.failed or report.when == "teardown":
            self.tally.keep_other(report.nodeid, has_failed=report.failed)
        if time.monotonic() - self.last_draw[0] >= PAUSE:
            self._draw(self.terminal)

    def _draw(self, terminal: pytest.TerminalReporter) -> None:
        line = status_line(self.tally, terminal.config.get_terminal_writer().fullwidth - 1)
        self._write(terminal, line)
        terminal.currentfspath = _OTHER_LINE

    def _write(self, terminal: pytest.TerminalReporter, line: str) -> None:
        """Overwrite the line. Raw, because pytest stores the text of a line that it has not ended."""
        terminal.write_raw(f"\r{line:{self.last_draw[1]}}\r", flush=True)
        self.last_draw = time.monotonic(), len(line)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Take the line away, and let pytest name outcomes again: in its summary each has its word."""
        if self.terminal is not None:
            self._write(self.terminal, "")
            self.terminal.currentfspath = None
            self.terminal = None


def _find_terminal(config: pytest.Config) -> pytest.TerminalReporter | None:
    """The terminal, if it can write over a line and shows nothing but pytest's own progress."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if type(terminal) is not pytest.TerminalReporter or not terminal.isatty() or os.environ.get("TERM") == "dumb":
        return None
    levels = (config.get_verbosity(), config.get_verbosity(pytest.Config.VERBOSITY_TEST_CASES))
    is_busy = any(config.getoption(name, default=False) for name in ("usepdb", "setupshow"))
    is_captured = config.getoption("capture", default="fd") != "no"
    return terminal if levels == (0, 0) and is_captured and not is_busy else None
