"""The mistakes in the definition of a task for which no agent can be blamed."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import msgspec

from pytest_webeval.lint.checks import CHECKS
from pytest_webeval.lint.definition import Definition
from pytest_webeval.lint.findings import Problem
from pytest_webeval.lint.findings import format_steps
from pytest_webeval.lint.linter import run_check
from pytest_webeval.rules import RULES
from pytest_webeval.tasks.task import DefinedTask
from pytest_webeval.tasks.task import Task

MOST_READY_TASKS = 5_000
_READY: dict[str, Mapping[int, str]] = {}  # by the checksums of tasks, several runs of which are usually scored


def find_task_errors(task: Task) -> Mapping[int, str]:
    """What is wrong with each expectation of a task of one's own that has a mistake, by its index."""
    if not isinstance(task, DefinedTask):
        return {}
    if task.checksum not in _READY:
        if len(_READY) == MOST_READY_TASKS:
            del _READY[next(iter(_READY))]
        with warnings.catch_warnings():  # of the parsers, which evaluators do not show either
            warnings.simplefilter("ignore")
            _READY[task.checksum] = _find(task)
    return _READY[task.checksum]


def _find(task: Task) -> Mapping[int, str]:
    fields: dict[str, Any] = msgspec.structs.asdict(task)
    definition = Definition(fields, fields, "", "", None, {}, {}, RULES["strict"])
    errors: dict[int, str] = {}
    for check in CHECKS:
        for problem in run_check(check, definition) if check.is_fatal else ():
            index = _find_index(problem)
            if index is not None:
                text = f"invalid task definition: {problem.text} @ {format_steps(problem.steps).lstrip('.')}"
                errors.setdefault(index, text)
    return errors


def _find_index(problem: Problem) -> int | None:
    """The index of the expectation that a problem is about: the first, if it is about all of them."""
    if problem.steps[:1] != ("eval",):
        return None
    return next((step for step in problem.steps[1:2] if isinstance(step, int)), 0)
