"""All checks: on all tasks of some files, and on a task with which runs are scored."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from pytest_webeval.errors import TaskDefinitionError, WebEvalError
from pytest_webeval.lint.checks import CHECKS, CONTRADICTION, UNREADABLE, Check
from pytest_webeval.lint.definition import Definition
from pytest_webeval.lint.findings import Finding, Problem, Severity, format_steps
from pytest_webeval.lint.keys import remove_unknown_keys
from pytest_webeval.lint.requests import is_never_compared
from pytest_webeval.lint.task_rows import RawRow, read_rows
from pytest_webeval.results import Status
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.tasks.task import DefinedTask, Task


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
        for part in (definition,) if check.of is None else getattr(definition, check.of):
            yield from check.run(part)
    except (WebEvalError, RecursionError):
        return


class TaskError(Struct, frozen=True):
    """A mistake for which no agent can be blamed, in one expectation or, without an index, in all of them together.

    `decides` are the statuses of the expectation that it can have led to.
    """

    index: int | None
    text: str
    decides: frozenset[Status]


def find_decisive_error(task: Task, index: int, status: Status) -> str | None:
    """The mistake that can have led to this status of an expectation: a success shows that it can be met."""
    errors = (each for each in _list_errors(task) if each.index in (index, None) and status in each.decides)
    return next((each.text for each in errors), None)


def _list_errors(task: Task) -> tuple[TaskError, ...]:
    """The mistakes, read once for all runs of a task, which share it."""
    if not isinstance(task, DefinedTask):
        return ()
    errors: tuple[TaskError, ...] | None = vars(task).get("definition_errors")
    if errors is None:
        with warnings.catch_warnings():  # of the parsers, which evaluators do not show either
            warnings.simplefilter("ignore")
            errors = vars(task)["definition_errors"] = tuple(_read_errors(task))
    return errors


def _read_errors(task: Task) -> Iterator[TaskError]:
    fields: dict[str, Any] = asdict(task)
    definition = Definition(fields, fields, "", "", None, {}, {})
    forbidden = {request.steps[1] for request in definition.requests if request.config.should_not_exist}
    for check in CHECKS:
        for problem in run_check(check, definition) if check.is_fatal else ():
            if problem.is_fatal and problem.steps[:1] == ("eval",):
                index = next((step for step in problem.steps[1:2] if isinstance(step, int)), None)
                text = f"invalid task definition: {problem.text} @ {format_steps(problem.steps).lstrip('.')}"
                is_forbidden = index in forbidden  # a request that must not exist is a success where none matches
                decides = frozenset((Status.SUCCESS if is_forbidden else Status.FAILURE,))
                # What is never compared of it forbids more than it says. Of two that contradict, one may be met.
                if check.name == CONTRADICTION or (is_forbidden and is_never_compared(problem.steps)):
                    decides = frozenset((Status.FAILURE, Status.SUCCESS))
                yield TaskError(index, text, decides)
