"""What an evaluator is: a frozen dataclass with a name and one method that checks one expectation."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, TypeVar

from pytest_webeval.evaluators.case import Case
from pytest_webeval.results import Assertion, EvaluatorResult, Status, worst_status
from pytest_webeval.tasks.task import Expectation


class Evaluator(ABC):
    """Checks one expectation of a task. `name` is what the task's `eval` calls it."""

    name: ClassVar[str]

    @abstractmethod
    def evaluate(self, expectation: Expectation, case: Case) -> EvaluatorResult:
        """What was checked and found. Raises `WebEvalError` where there can be no verdict."""

    def adding(self, usual: EvaluatorResult, *more: Assertion) -> EvaluatorResult:
        """The same result with more assertions, for an evaluator that builds on another."""
        score = usual.score if usual.is_partial else None
        combined = self.result([*(usual.assertions or ()), *more], score=score)
        recomputed = ("assertions", "status", "score")
        return usual.with_changes(**{name: getattr(combined, name) for name in recomputed})

    def result(
        self,
        assertions: list[Assertion],
        *,
        actual: Any = None,
        normalized: Any = None,
        expected: Any = None,
        score: float | None = None,
    ) -> EvaluatorResult:
        """A result whose status is that of its worst assertion. `score` is a partial one, from 0 to 1."""
        status = worst_status([assertion.status for assertion in assertions])
        return EvaluatorResult(
            evaluator_name=self.name,
            status=status,
            score=float(status is Status.SUCCESS) if score is None else score,
            actual=actual,
            actual_normalized=normalized,
            expected=expected,
            assertions=assertions or None,
        )


Own = TypeVar("Own", bound=Evaluator)


def silently(
    evaluate: Callable[[Own, Expectation, Case], EvaluatorResult],
) -> Callable[[Own, Expectation, Case], EvaluatorResult]:
    """Ignore the warnings of parsers in a method `evaluate` of ours: under a session's -W error they would decide."""

    @wraps(evaluate)
    def without_warnings(self: Own, expectation: Expectation, case: Case) -> EvaluatorResult:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return evaluate(self, expectation, case)

    return without_warnings
