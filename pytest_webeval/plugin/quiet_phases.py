"""Reports of setups and teardowns that pytest would search for each failure that it shows.

Under each failure the terminal reporter shows what the teardown printed, and goes through the reports of all items to
find it: 3,333 failures of 10,000 items would take longer to show than to find. So it gets to see what can be shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field

import pytest

NAMELESS = ""  # the category in which pytest keeps setups and teardowns that passed


@dataclass(eq=False)
class QuietPhases:
    """Keeps those reports until the failures are shown, and gives them back for whoever comes after that."""

    config: pytest.Config
    kept: list[pytest.TestReport] = field(default_factory=list)

    @property
    def _shown(self) -> list[pytest.TestReport]:
        terminal: pytest.TerminalReporter | None = self.config.pluginmanager.get_plugin("terminalreporter")
        return [] if terminal is None else terminal.stats.get(NAMELESS, [])

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take a report away that the terminal reporter has just put there, unless it has something to show."""
        shown = self._shown
        if shown and shown[-1] is report:
            self.kept.append(report)
            if report.when != "teardown" or not any("teardown" in heading for heading, _ in report.sections):
                shown.pop()

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self) -> None:
        """Put them back: --durations and other plugins look at them."""
        self._shown[:] = self.kept
