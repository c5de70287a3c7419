"""The evaluations of a result as the page of its task has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_webeval.reports.failure_sentence import event_check_name, in_agents_words
from pytest_webeval.reports.html.agent_answer import result_in_words
from pytest_webeval.results import Assertion, EvaluatorResult, Explanation, Status, TaskResult
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR, RUBRIC_EVALUATOR

MOST_ASSERTIONS = 500
_VERDICT = ("criterion", "status", "score", "reason", "source")


def list_evaluators(result: TaskResult, words: Mapping[str, str]) -> list[dict[str, Any]]:
    """Each evaluation with its explanation, those that failed first. `words` are the agent's names of fields."""
    return list(_evaluators(result, words))


def _evaluators(result: TaskResult, words: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    # first what failed: that is what people look for
    for evaluator_result in sorted(result.evaluators_results, key=lambda each: each.status is Status.SUCCESS):
        evaluator = _evaluator(evaluator_result) | (evaluator_result.explanation or Explanation([])).to_json()
        yield _in_agents_words(evaluator, words) if evaluator["name"] == RESPONSE_EVALUATOR else evaluator


def _in_agents_words(evaluator: dict[str, Any], words: Mapping[str, str]) -> dict[str, Any]:
    differences = [
        difference | {"path": in_agents_words(str(difference["path"]), words)}
        for difference in evaluator["differences"]
    ]
    sides = {side: result_in_words(evaluator[side], words) for side in ("expected", "actual")}
    return evaluator | sides | {"differences": differences}


def _evaluator(evaluator_result: EvaluatorResult) -> dict[str, Any]:
    actual = (
        evaluator_result.actual if evaluator_result.actual_normalized is None else evaluator_result.actual_normalized
    )
    is_rubric = evaluator_result.evaluator_name == RUBRIC_EVALUATOR  # of which the verdict is a table of its own
    return {
        "name": evaluator_result.evaluator_name,
        "status": evaluator_result.status.value,
        "score": evaluator_result.score,
        "error": evaluator_result.error_msg,
        "expected": None if is_rubric else evaluator_result.expected,
        "actual": None if is_rubric else actual,
        "assertions": [
            _assertion(assertion, evaluator_result.expected)
            for assertion in (evaluator_result.assertions or ())[:MOST_ASSERTIONS]
        ],
    }


def _assertion(assertion: Assertion, expected: Any) -> dict[str, Any]:
    messages = [*(assertion.assertion_msgs or ()), *filter(None, [assertion.error_msg])]
    method = expected.get("http_method") if isinstance(expected, Mapping) else None
    return {
        "name": event_check_name(assertion.assertion_name, method),
        "status": assertion.status.value,
        "messages": messages,
    }


def describe_rubric(result: TaskResult) -> dict[str, Any] | None:
    """The verdict of a judge, with its criteria where it gave points to some."""
    evaluator_result = next(
        (candidate for candidate in result.evaluators_results if candidate.evaluator_name == RUBRIC_EVALUATOR), None
    )
    if evaluator_result is None or not isinstance(evaluator_result.actual, dict):
        return None
    actual = evaluator_result.actual
    verdict = {name: value for name, value in actual.items() if name not in (*_VERDICT, "items")}
    return {name: actual.get(name) for name in _VERDICT} | {"items": actual.get("items") or [], "verdict": verdict}
