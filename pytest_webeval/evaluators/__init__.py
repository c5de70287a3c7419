"""Evaluators: each checks one kind of expectation against a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pytest_webeval.evaluators.base import Evaluator, build_evaluator, silently
from pytest_webeval.evaluators.case import Case
from pytest_webeval.evaluators.network.evaluator import NetworkEventEvaluator
from pytest_webeval.evaluators.response import ResponseEvaluator
from pytest_webeval.extensions import load_extensions
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.tasks.expectations import REQUEST_EVALUATOR, RUBRIC_EVALUATOR, RequestPatternExpectation
from pytest_webeval.tasks.task import Expectation


@dataclass(frozen=True)
class RubricEvaluator(Evaluator):
    """Evaluator for verdicts that a judge stored; checked for contradictions, without a model call."""

    name: ClassVar[str] = RUBRIC_EVALUATOR

    @silently
    def evaluate(self, expectation: Expectation, case: Case) -> EvaluatorResult:
        """An assertion for each signal, leaf and check. Raises `RunUnjudged` for a run that was not judged yet."""
        from pytest_webeval.evaluators.rubric_verdict import judge_stored_verdict  # most sessions have no trajectories

        return judge_stored_verdict(self, expectation, case)


@dataclass(frozen=True, slots=True)
class RequestPatternEvaluator(Evaluator):
    """Evaluator for one request, of which the response does not matter."""

    name: ClassVar[str] = REQUEST_EVALUATOR

    @silently
    def evaluate(self, expectation: Expectation, case: Case) -> EvaluatorResult:
        """The first request that matches, or the nearest miss with each differing field. Raises `WebEvalError`."""
        from pytest_webeval.evaluators.network.request_search import RequestSearch, check_pattern  # few tasks

        expected = expectation.read_as(RequestPatternExpectation).expected
        check_pattern(expected.url_pattern, f"eval[{expectation.index}].expected.url_pattern")
        return RequestSearch(expected, case).evaluate(self)


EVALUATORS: dict[str, type[Evaluator]] = {
    ResponseEvaluator.name: ResponseEvaluator,
    NetworkEventEvaluator.name: NetworkEventEvaluator,
    RubricEvaluator.name: RubricEvaluator,
    RequestPatternEvaluator.name: RequestPatternEvaluator,
}


def default_evaluators() -> list[Evaluator]:
    """Those of this package, and of others. Raises `SettingsError` for one that cannot be used."""
    return [*(kind() for kind in EVALUATORS.values()), *load_installed().values()]


def load_installed() -> Mapping[str, Evaluator]:
    """Evaluators of other packages by their names. Raises `SettingsError` for one that cannot be used."""
    return load_extensions("evaluators", (*EVALUATORS,), build_evaluator)


__all__ = [
    "EVALUATORS",
    "Evaluator",
    "NetworkEventEvaluator",
    "RequestPatternEvaluator",
    "ResponseEvaluator",
    "RubricEvaluator",
    "default_evaluators",
    "load_installed",
]
