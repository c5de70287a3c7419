"""Failures that a baseline lists: they are expected, and a success is a surprise."""

from __future__ import annotations

import pytest

from pytest_webeval.plugin.workspace import KNOWN
from pytest_webeval.results import Status
from pytest_webeval.safety.text import sanitize
from pytest_webeval.summary.baseline import KnownFailure
from pytest_webeval.summary.record import Record


def expect_failure(report: pytest.TestReport, record: Record, config: pytest.Config) -> None:
    """Turn the report of a known failure into an expected failure, and that of a success into a surprise."""
    known = config.stash[KNOWN]
    if report.failed and (entry := known.find_expected(record)) is not None:
        report.outcome = "skipped"
        report.wasxfail = f"reason: {_describe(entry)}"
    elif report.passed and report.when == "call" and record.status == Status.SUCCESS and not record.skipped:
        entry = known.find(record.run, record.task_id)
        if entry is not None:
            _surprise(report, entry, config)


def _surprise(report: pytest.TestReport, entry: KnownFailure, config: pytest.Config) -> None:
    """As with a marker of pytest: a failure where the project wants its expected failures to be strict."""
    if _is_strict(config):
        report.outcome, report.longrepr = "failed", f"[XPASS(strict)] {_describe(entry)}"
    else:
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
