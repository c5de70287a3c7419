"""`--webeval-audit-secrets`: lists the secrets in the runs without scoring them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from pytest_webeval.errors import WebEvalError
from pytest_webeval.plugin.settings.option_source import read_pytest_settings
from pytest_webeval.plugin.workspace import PytestWorkspace
from pytest_webeval.recordings.run_tree import Kind
from pytest_webeval.redaction.policy import DEFAULT, RedactionPolicy
from pytest_webeval.redaction.recording_secrets import Audit
from pytest_webeval.safety.text import pluralize, sanitize

NAME_SHOWN = 60


def audit(config: pytest.Config) -> int:
    """List the secrets in all runs, one run after the other. Raises `pytest.UsageError`."""
    if not (config.option.webeval_runs or config.getini("webeval_runs")):
        raise pytest.UsageError("--webeval-audit-secrets requires recorded runs; pass --webeval-runs=DIR")
    settings = read_pytest_settings(config)
    workspace = PytestWorkspace.of(config, settings)
    policy = RedactionPolicy(DEFAULT) if settings.redaction.is_off else settings.redaction
    try:
        paths = workspace.run_paths
    except WebEvalError as error:
        raise pytest.UsageError(str(error)) from error
    totals, affected_runs = Counter[str](), 0
    for path in paths:
        workspace.fetch([path])
        report = Audit.of(path, policy, _salt(path, workspace))
        _show(_lines(workspace.labels.of(path), report))
        affected_runs += bool(report.findings)
        for finding, count in report.findings.items():
            totals[finding.kind] += count
    unread = (branch for branch in workspace.branches if branch.kind is Kind.UNREADABLE)
    _show(f"{workspace.labels.of(branch.path)}: not read: {branch.problem}" for branch in unread)
    _show([f"{pluralize(totals.total(), 'secret')} in {affected_runs} of {pluralize(len(paths), 'run')}"])
    _show(f"  {kind}: {count}" for kind, count in sorted(totals.items()))
    return int(pytest.ExitCode.OK)


def _salt(path: Path, workspace: PytestWorkspace) -> bytes | None:
    """The salt that results of the run have, which scoring it reads."""
    try:
        run = workspace.run(path)
    except WebEvalError:
        return None
    with suppress(WebEvalError):
        run.check()
    return run.inputs.salt


def _lines(label: str, report: Audit) -> Iterator[str]:
    """The lines of a run: each secret and each unreadable file; empty for a run without either."""
    if report.findings or report.problems:
        yield f"{label}: {pluralize(report.findings.total(), 'secret')}"
    for finding in sorted(report.findings):
        location = f"{finding.file}, {finding.unit} {finding.number}" if finding.unit else finding.file
        secret = f"{location}: {finding.kind} {finding.name[:NAME_SHOWN]}".rstrip()
        yield f"  {secret}, {pluralize(report.findings[finding], 'time')}: {finding.replacement}"
    yield from (f"  not read: {problem}" for problem in report.problems)


def _show(lines: Iterable[str]) -> None:
    """Write lines that a terminal and its encoding can take."""
    encoding = sys.stdout.encoding or "ascii"
    for line in lines:
        printable = sanitize(line.replace("\n", " ")).encode(encoding, "backslashreplace").decode(encoding)
        sys.stdout.write(f"{printable}\n")
