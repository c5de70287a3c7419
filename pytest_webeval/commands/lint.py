"""`webeval lint TASKS…`: mistakes in task definitions that no schema finds."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import structs

from pytest_webeval.commands.command import argument, print_text, read_sites
from pytest_webeval.lint.findings import Finding, Severity
from pytest_webeval.reports.ci import workflow_command
from pytest_webeval.safety.text import pluralize, sanitize
from pytest_webeval.summary.results.redacted_results import redact_text

HELP = "list mistakes in task definitions"


def _print_text(findings: Sequence[Finding]) -> None:
    """A line for each finding, and one with their number."""
    for finding in findings:
        hint = "hint: " if finding.severity is Severity.HINT else ""
        line = f"{finding.source} @ {finding.place}: {hint}{finding.text}"
        print_text(sanitize(line.replace("\n", " ")))
    hints = sum(finding.severity is Severity.HINT for finding in findings)
    warnings = pluralize(len(findings) - hints, "warning")
    print_text(f"{warnings}, {pluralize(hints, 'hint')}" if hints else warnings)


def _print_github(findings: Sequence[Finding]) -> None:
    """A workflow command for each finding, which GitHub shows at the line of the file."""
    for finding in findings:
        kind = "warning" if finding.severity is Severity.WARNING else "notice"
        properties = {"file": finding.source, "line": finding.line, "title": f"webeval lint: {finding.check}"}
        print_text(workflow_command(kind, f"{finding.place}: {finding.text}", **properties))


FORMATS: dict[str, Callable[[Sequence[Finding]], None]] = {
    "text": _print_text,
    "json": lambda findings: print_text(json.dumps([finding.to_json() for finding in findings], indent=2)),
    "github": _print_github,
}
ARGUMENTS = (
    argument("tasks", "TASKS", "a file with task definitions", nargs="+"),
    argument("--config", "FILE", "look for the site URLs of FILE, where placeholders belong"),
    argument("--format", None, "how to print findings (default: text)", choices=FORMATS, default="text"),
)


def run(arguments: argparse.Namespace) -> int:
    """Print the findings. Returns the exit code: 1 with a warning, 0 without or with hints alone.

    Raises `SettingsError` or `TaskDefinitionError`.
    """
    from pytest_webeval.lint.linter import lint_files  # imports all evaluators

    listed = lint_files([Path(name) for name in dict.fromkeys(arguments.tasks)], read_sites(arguments.config))
    findings = [structs.replace(finding, text=redact_text(finding.text)) for finding in listed]
    FORMATS[arguments.format](findings)
    return 1 if any(finding.severity is Severity.WARNING for finding in findings) else 0
