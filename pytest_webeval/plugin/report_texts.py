"""What the report of a run's test says in place of a traceback."""

from __future__ import annotations

import re

import pytest

from pytest_webeval.errors import WebEvalError
from pytest_webeval.plugin.collection import RunItem
from pytest_webeval.plugin.outcome import Outcome
from pytest_webeval.reports.failure_text import harmless
from pytest_webeval.reports.failure_text import recording_lines


def tell_plainly(report: pytest.TestReport, item: RunItem, error: BaseException) -> None:
    """Let a report give the reason alone, and of a run that was left out its directory rather than a line of ours."""
    if isinstance(error, WebEvalError):
        report.longrepr = harmless(str(error))
    if isinstance(report.longrepr, tuple):
        report.longrepr = (harmless(str(item.path)), 0, report.longrepr[2])


_TOO_WIDE = re.compile(
    r"ScopeMismatch: .* the function scoped fixture (webeval_\w+|record_evaluation) with a (\w+) scoped"
)


def explain_scope(report: pytest.TestReport, error: BaseException) -> None:
    """Say in one line that a fixture of a wider scope asked for one of ours that is about a run."""
    mismatch = _TOO_WIDE.match(str(error)) if isinstance(error, pytest.fail.Exception) else None
    if mismatch is not None:
        fixture, scope = mismatch.groups()
        reason = f"a fixture of scope {scope} asks for {fixture}, which is another for each run"
        report.longrepr = f"{reason}; give that fixture the scope function"


def tell_recording(report: pytest.TestReport, item: pytest.Item, found: Outcome) -> None:
    """Let the report of a Python test that failed say what is wrong with the recording, after its traceback.

    The text of a run's own item says so already.
    """
    is_own = isinstance(item, RunItem)
    if report.failed and not is_own and found.seen is not None and (lines := recording_lines(found.seen)):
        report.sections.append(("webeval", "\n".join(lines)))


def fail(report: pytest.TestReport, told: str) -> None:
    """Let a report be a failure that says so, after what it said of one before."""
    before = f"{report.longreprtext}\n" if report.failed and report.longreprtext else ""
    report.outcome, report.longrepr = "failed", before + told
