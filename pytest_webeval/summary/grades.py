"""The grade of a run: the mean score of its evaluators, where one of them may give a partial score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_webeval.results import TaskResult
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR, REQUEST_EVALUATOR, RESPONSE_EVALUATOR, RUBRIC_EVALUATOR

_BUILT_IN = frozenset({NETWORK_EVALUATOR, REQUEST_EVALUATOR, RESPONSE_EVALUATOR, RUBRIC_EVALUATOR})


def find_grade(result: TaskResult) -> dict[str, Any] | None:
    """The mean score of a run that an evaluator of a user checked, as plain JSON; None for others, and for an error.

    `partial` names the evaluators that gave a partial score, `evaluators` also those that may do so in other runs.
    """
    partial = {row.evaluator_name for row in result.evaluators_results if row.is_partial}
    evaluators = partial | {row.evaluator_name for row in result.evaluators_results} - _BUILT_IN
    if not evaluators or result.mean_score is None:
        return None
    return {"score": result.mean_score, "evaluators": sorted(evaluators), "partial": sorted(partial)}


Grades = Mapping[str, Mapping[str, Any]]  # of the runs that count in rates, by label


def select_scores(grades: Grades) -> dict[str, float]:
    """The mean scores of the runs that were checked by an evaluator which gave a partial score to any of them.

    So a run that this evaluator gave 0 or 1 counts in a mean as well as one that it gave 0.5.
    """
    graders = list_graders(grades)
    return {run: grade["score"] for run, grade in grades.items() if not graders.isdisjoint(grade["evaluators"])}


def list_graders(grades: Grades) -> set[str]:
    """The names of the evaluators that gave a partial score."""
    return {name for grade in grades.values() for name in grade["partial"]}
