"""All checks on all tasks of some files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_webeval.errors import TaskDefinitionError, WebEvalError
from pytest_webeval.lint.checks import CHECKS, UNREADABLE, Check
from pytest_webeval.lint.definition import Definition
from pytest_webeval.lint.findings import Finding, Problem, Severity
from pytest_webeval.lint.keys import remove_unknown_keys
from pytest_webeval.lint.task_rows import RawRow, read_rows
from pytest_webeval.tasks.sites import Sites


def lint_files(paths: Sequence[Path], sites: Sites | None = None) -> Iterator[Finding]:
    """The findings in task files, in their order. Ids count in all files together.

    Raises `TaskDefinitionError` for a file that cannot be read.
    """
    ids: dict[str, str] = {}
    for path in paths:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise TaskDefinitionError(f"cannot read {path}: {error.strerror}; name a task file") from error
        for row in read_rows(content, str(path)):
            yield from lint_row(row, str(path), sites, ids)


def lint_row(row: RawRow, source: str, sites: Sites | None, ids: dict[str, str]) -> Iterator[Finding]:
    """The findings in one row. `ids` maps the ids of earlier rows to their places; that of this row is added."""
    problem = row.problem
    if problem is None and not isinstance(row.raw, dict):
        problem = "a task is a JSON object; write its fields"
    try:
        fields = {} if problem is not None else remove_unknown_keys(row.raw)
    except RecursionError:
        problem = "nested too deeply for a task; remove some levels"
    if problem is not None:
        yield Finding(source, row.location, (), UNREADABLE, Severity.WARNING, problem, row.find_line(()))
        return
    definition = Definition(row.raw, fields, row.location, source, sites, ids, row.repeated)
    for check in CHECKS:
        for each in dict.fromkeys(run_check(check, definition)):
            line = row.find_line(each.steps)
            severity = each.severity or check.severity
            yield Finding(source, row.location, each.steps, check.name, severity, each.text, line)


def run_check(check: Check, definition: Definition) -> Iterator[Problem]:
    """The problems that a check reports. What it cannot read is reported by another."""
    try:
        yield from check.run(definition)
    except (WebEvalError, RecursionError):
        return
