"""What the report of a test says: its reason, an explanation, problems of the recording, that it is expected."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from pytest_webeval.errors import WebEvalError
from pytest_webeval.plugin.collection.nodes import RunItem, has_own_result
from pytest_webeval.plugin.workspace import KNOWN, WORKSPACE
from pytest_webeval.reports.failure_text import recording_lines
from pytest_webeval.results import Status
from pytest_webeval.safety.text import sanitize
from pytest_webeval.sessions.runs.run_outcome import RunOutcome
from pytest_webeval.sessions.session_header import name_locations
from pytest_webeval.summary.record import Record

if TYPE_CHECKING:
    from pytest_webeval.summary.comparison.baseline import KnownFailure

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
    if report.failed and not is_own and (lines := recording_lines(outcome.classification.result)):
        report.sections.append(("webeval", "\n".join(lines)))


def fail(report: pytest.TestReport, message: str) -> None:
    """Turn a report into a failure with this message, after its earlier text."""
    before = f"{report.longreprtext}\n" if report.failed and report.longreprtext else ""
    report.outcome, report.longrepr = "failed", before + message


def expect_failure(report: pytest.TestReport, record: Record, config: pytest.Config) -> None:
    """Turn the report of a known failure into an expected failure, and that of a success into a surprise.

    As with a marker of pytest, that is a failure where the project wants its expected failures to be strict.
    """
    known = config.stash[KNOWN]
    if report.failed and (entry := known.find_expected(record)) is not None:
        report.outcome = "skipped"
        report.wasxfail = f"reason: {_describe(entry)}"
    elif report.passed and report.when == "call" and record.status == Status.SUCCESS and not record.skipped:
        entry = known.find(record.run, record.task_id)
        if entry is not None and _is_strict(config):
            report.outcome, report.longrepr = "failed", f"[XPASS(strict)] {_describe(entry)}"
        elif entry is not None:
            report.wasxfail = f"reason: {_describe(entry)}"


def _is_strict(config: pytest.Config) -> bool:
    """Whether the ini file wants that. A value of its own for expected failures outranks that for all."""
    for key in ("strict_xfail", "strict"):
        try:
            value = config.getini(key)
        except ValueError:  # a version of pytest without the key
            continue
        if value is not None:
            return bool(value)
    return False


def _describe(entry: KnownFailure) -> str:
    since = f" since {entry.since}" if entry.since else ""
    return sanitize(f"known {entry.status}{since}: {entry.reason or 'no reason recorded'}".replace("\n", " "))


def change_texts(report: pytest.TestReport, change: Callable[[str], str]) -> None:
    """Change the messages of pytest about a test and the captured output."""
    report.sections[:] = [(heading, change(text)) for heading, text in report.sections]
    if isinstance(report.longrepr, tuple):
        report.longrepr = (*report.longrepr[:2], change(report.longrepr[2]))
    elif report.longrepr is not None and (text := change(report.longreprtext)) != report.longreprtext:
        report.longrepr = text
    if hasattr(report, "wasxfail"):
        report.wasxfail = change(report.wasxfail)
