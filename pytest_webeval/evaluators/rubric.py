"""The verdict of a rubric judge, recomputed from its stored data (`fara_webeval.md` §4-6). No judge is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pytest_webeval.evaluators.base import Evaluator, silently
from pytest_webeval.evaluators.case import Case
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.tasks.expectations import RUBRIC_EVALUATOR
from pytest_webeval.tasks.task import Expectation


@dataclass(frozen=True)
class RubricEvaluator(Evaluator):
    """Evaluator for verdicts that a judge stored; checked for contradictions, without a model call."""

    name: ClassVar[str] = RUBRIC_EVALUATOR

    @silently
    def evaluate(self, expectation: Expectation, case: Case) -> EvaluatorResult:
        """An assertion for each signal, leaf and check. Raises `RunUnjudged` for a run that was not judged yet."""
        from pytest_webeval.evaluators.rubric_verdict import (
            judge_stored_verdict,  # all about trajectories, which most sessions have not
        )

        return judge_stored_verdict(self, expectation, case)
