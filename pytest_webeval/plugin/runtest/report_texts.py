"""What the report of a test says: the reason alone, one line of explanation, the problems of its recording."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from pytest_webeval.errors import WebEvalError
from pytest_webeval.plugin.collection.nodes import RunItem, has_own_result
from pytest_webeval.plugin.workspace import WORKSPACE
from pytest_webeval.reports.failure_text import recording_lines
from pytest_webeval.safety.text import sanitize
from pytest_webeval.sessions.record_payload import RunOutcome
from pytest_webeval.sessions.session_header import name_locations

_TOO_WIDE = re.compile(
    r"ScopeMismatch: .* the function scoped fixture (webeval_\w+|record_evaluation) with a (\w+) scoped"
)


def set_plain_reason(report: pytest.TestReport, item: RunItem, error: BaseException) -> None:
    """Reduce a report to its reason, and locate a skipped run by its directory."""
    if isinstance(error, WebEvalError):
        report.longrepr = sanitize(name_locations([str(error)], item.config.stash[WORKSPACE].settings)[0])
    if isinstance(report.longrepr, tuple):
        report.longrepr = (sanitize(str(item.path)), 0, report.longrepr[2])


def explain_scope(report: pytest.TestReport, error: BaseException) -> None:
    """Explain in one line that a fixture of a wider scope requested a fixture about one run."""
    mismatch = _TOO_WIDE.match(str(error)) if isinstance(error, pytest.fail.Exception) else None
    if mismatch is not None:
        fixture, scope = mismatch.groups()
        reason = f"{scope}-scoped fixture requests {fixture}, which differs for each run"
        report.longrepr = f"{reason}; give it function scope"


def append_recording_problems(report: pytest.TestReport, item: pytest.Item, outcome: RunOutcome) -> None:
    """Add the problems of the recording to the report of a failed Python test.

    The report of a run's own item has them already.
    """
    is_own = has_own_result(item)
    if report.failed and not is_own and outcome.result is not None and (lines := recording_lines(outcome.result)):
        report.sections.append(("webeval", "\n".join(lines)))


def fail(report: pytest.TestReport, message: str) -> None:
    """Turn a report into a failure with this message, after its earlier text."""
    before = f"{report.longreprtext}\n" if report.failed and report.longreprtext else ""
    report.outcome, report.longrepr = "failed", before + message


def change_texts(report: pytest.TestReport, change: Callable[[str], str]) -> None:
    """Change the messages of pytest about a test and the captured output."""
    report.sections[:] = [(heading, change(text)) for heading, text in report.sections]
    if isinstance(report.longrepr, tuple):
        report.longrepr = (*report.longrepr[:2], change(report.longrepr[2]))
    elif report.longrepr is not None and (text := change(report.longreprtext)) != report.longreprtext:
        report.longrepr = text
    if hasattr(report, "wasxfail"):
        report.wasxfail = change(report.wasxfail)
