"""The mistakes in the definition of a task for which no agent can be blamed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import msgspec

from pytest_webeval.lint.checks import CHECKS, CONTRADICTION, Check
from pytest_webeval.lint.definition import Definition
from pytest_webeval.lint.findings import Problem, format_steps
from pytest_webeval.lint.linter import run_check
from pytest_webeval.lint.requests import is_never_compared
from pytest_webeval.results import Status
from pytest_webeval.tasks.task import DefinedTask, Task

_BOTH = frozenset((Status.FAILURE, Status.SUCCESS))


class TaskError(msgspec.Struct, frozen=True):
    """A mistake in one expectation of a task, or in all of them together if it has no index.

    `decides` are the statuses of the expectation that it can have led to.
    """

    index: int | None
    text: str
    decides: frozenset[Status]


def find_decisive_error(task: Task, index: int, status: Status) -> str | None:
    """The mistake that can have led to this status of an expectation: a success shows that it can be met."""
    return next(
        (each.text for each in _list_errors(task) if each.index in (index, None) and status in each.decides), None
    )


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
    fields: dict[str, Any] = msgspec.structs.asdict(task)
    definition = Definition(fields, fields, "", "", None, {}, {})
    forbidden = {request.steps[1] for request in definition.requests if request.config.should_not_exist}
    for check in CHECKS:
        for problem in run_check(check, definition) if check.is_fatal else ():
            if problem.is_fatal and problem.steps[:1] == ("eval",):
                index = next((step for step in problem.steps[1:2] if isinstance(step, int)), None)
                text = f"invalid task definition: {problem.text} @ {format_steps(problem.steps).lstrip('.')}"
                yield TaskError(index, text, _list_decided(check, problem, is_forbidden=index in forbidden))


def _list_decided(check: Check, problem: Problem, *, is_forbidden: bool) -> frozenset[Status]:
    """The statuses that a mistake can have led to.

    A request that must not exist is a success where none matches. What is never compared of it forbids more than it
    says, so that a failure may be due to that as well. Of two that contradict each other, one may be met.
    """
    if check.name == CONTRADICTION or (is_forbidden and is_never_compared(problem.steps)):
        return _BOTH
    return frozenset((Status.SUCCESS if is_forbidden else Status.FAILURE,))
