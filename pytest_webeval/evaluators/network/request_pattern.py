"""Whether the browser made a request with a URL that fits a pattern, and with some fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pytest_webeval.errors import EvaluationError
from pytest_webeval.evaluators.base import Evaluator, silently
from pytest_webeval.evaluators.case import Case
from pytest_webeval.results import EvaluatorResult, Status
from pytest_webeval.tasks.expectations import REQUEST_EVALUATOR, RequestPatternExpectation
from pytest_webeval.tasks.task import Expectation


@dataclass(frozen=True, slots=True)
class RequestPatternEvaluator(Evaluator):
    """Evaluator for one request, of which the response does not matter."""

    name: ClassVar[str] = REQUEST_EVALUATOR

    @silently
    def evaluate(self, expectation: Expectation, case: Case) -> EvaluatorResult:
        """The first request that matches, or the nearest miss with each differing field. Raises `WebEvalError`."""
        from pytest_webeval.evaluators.network.request_search import RequestSearch  # for tasks that expect one

        expected = expectation.read_as(RequestPatternExpectation).expected
        _check_pattern(expected.url_pattern, f"eval[{expectation.index}].expected.url_pattern")
        search = RequestSearch(expected, case)
        event, assertions = search.choose_event()
        actual = None if event is None else search.recorded_to_json(event)
        result = self.result(assertions, actual=actual, normalized=actual, expected=search.expected_to_json())
        if result.status is not Status.FAILURE:
            return result
        return result.with_changes(explanation=case.explain(lambda: search.explain(event, assertions)))


def _check_pattern(pattern: str, where: str) -> None:
    from pytest_webeval.safety import regex  # same

    try:
        regex.search(pattern, "")
    except regex.InvalidPattern as error:
        raise EvaluationError(f"invalid task definition: {error} @ {where}") from error
