"""The time of a session by phase and by run, with --webeval-durations."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

import pytest
from msgspec import Struct, field

from pytest_webeval.recordings.inputs import PHASES
from pytest_webeval.recordings.run import Run
from pytest_webeval.results import TaskResult
from pytest_webeval.safety.text import pluralize, sanitize

ON_REPORT = "webeval_durations"
SECONDS = pytest.StashKey[tuple[str, dict[str, float]]]()


class DurationsReport(Struct, eq=False):
    """Carries the seconds of each run to the controller, which shows the `limit` slowest runs; all for 0."""

    limit: int
    by_run: dict[str, dict[str, float]] = field(default_factory=dict)

    def pytest_webeval_scored(self, item: pytest.Item, run: Run, unredacted: TaskResult) -> None:
        """Store the durations of the run until the report of its item is made."""
        item.stash[SECONDS] = unredacted.webeval["run"], run.inputs.durations.seconds

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put it on the report."""
        report = yield
        if SECONDS in item.stash:
            setattr(report, ON_REPORT, item.stash[SECONDS])
            del item.stash[SECONDS]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take it from the report; of a run that was scored again the last."""
        if hasattr(report, ON_REPORT):
            label, seconds = getattr(report, ON_REPORT)
            self.by_run[label] = seconds

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the phases of all runs together, then the slowest runs."""
        if self.by_run:
            terminalreporter.section("webeval durations")
            for line in lines(self.by_run, self.limit):
                terminalreporter.line(sanitize(line))


def lines(by_run: Mapping[str, Mapping[str, float]], limit: int) -> Sequence[str]:
    """The total with the share of each phase, then a line for each of the `limit` slowest runs; 0 shows all."""
    total = {name: sum(seconds.get(name, 0.0) for seconds in by_run.values()) for name in PHASES}
    total_seconds = sum(total.values())
    shares = ", ".join(
        f"{name} {seconds:.2f} s ({seconds / (total_seconds or 1):.0%})" for name, seconds in total.items()
    )
    slowest = sorted(by_run, key=lambda label: (-sum(by_run[label].values()), label))[: limit or None]
    return [
        f"{total_seconds:.2f} s in {pluralize(len(by_run), 'run')}: {shares}",
        *(_line(label, by_run[label]) for label in slowest),
    ]


def _line(label: str, seconds: Mapping[str, float]) -> str:
    phases = ", ".join(f"{name} {seconds.get(name, 0.0):.3f}" for name in PHASES)
    return f"{sum(seconds.values()):8.3f} s  {label}  {phases}"
