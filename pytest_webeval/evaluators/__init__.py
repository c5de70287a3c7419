"""Evaluators: each checks one kind of expectation against a run."""

from __future__ import annotations

from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.network.evaluator import NetworkEventEvaluator
from pytest_webeval.evaluators.network.request_pattern import RequestPatternEvaluator
from pytest_webeval.evaluators.response import ResponseEvaluator
from pytest_webeval.evaluators.rubric import RubricEvaluator

EVALUATORS: dict[str, type[Evaluator]] = {
    ResponseEvaluator.name: ResponseEvaluator,
    NetworkEventEvaluator.name: NetworkEventEvaluator,
    RubricEvaluator.name: RubricEvaluator,
    RequestPatternEvaluator.name: RequestPatternEvaluator,
}


def default_evaluators() -> list[Evaluator]:
    """One evaluator of each kind."""
    return [kind() for kind in EVALUATORS.values()]


__all__ = [
    "EVALUATORS",
    "Evaluator",
    "NetworkEventEvaluator",
    "RequestPatternEvaluator",
    "ResponseEvaluator",
    "RubricEvaluator",
    "default_evaluators",
]
