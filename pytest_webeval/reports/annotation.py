"""A line on standard output that GitHub Actions shows on the page of a run."""

from __future__ import annotations

from pytest_webeval.reports.failure_text import harmless
from pytest_webeval.results import Summary


def annotation(summary: Summary, title: str) -> str:
    """The totals: a notice if everything succeeded, otherwise an error."""
    about = summary.webeval
    told = f"{summary.success_count} of {summary.total} succeeded"
    if about["success_rate"] is not None:
        told += f" ({about['success_rate']:.1%})"
    told += f", {summary.failed_count} failed, errors: {summary.error_count}"
    if flips := about.get("baseline"):
        told += f"; since {flips['timestamp'][:10]} {len(flips['lost'])} lost, {len(flips['gained'])} gained"
    kind = "notice" if summary.success_count == summary.total else "error"
    return f"::{kind} title={_property(harmless(title))}::{_message(harmless(told))}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
