"""Why a task failed, as one plain sentence for people, with our names of checks in words.

Result files and terminals have the exact names of what failed; see `failure_text`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pytest_webeval.diagnostics.failure_groups import MISSING_EVENTS, deciding_assertion, failed_assertions
from pytest_webeval.redaction.messages import read_explanations
from pytest_webeval.reports.answer_sentence import describe_answer
from pytest_webeval.reports.request_sentence import FORBIDDEN_EVENT, describe_request
from pytest_webeval.results import EvaluatorResult, Status, TaskResult, WarningKind
from pytest_webeval.safety.text import to_line
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR, REQUEST_EVALUATOR, RESPONSE_EVALUATOR, RUBRIC_EVALUATOR

LONGEST_SENTENCE = 500  # characters
# A name of a check about an event, and the method of the request in its message.
_EVENT_REASON = re.compile(r"(missing_navigation_event|missing_request|unexpected_navigation_event): ")
_METHOD = re.compile(r"(?:no (?:matching )?|\d+ matching )([A-Za-z]+) ")


def failure_sentence(result: TaskResult, words: Mapping[str, str]) -> str | None:
    """The first failure as a sentence; None for a success, and where the reason alone can say what is wrong.

    `words` are the names of the answer's fields as the agent wrote them. Texts of the result stand in the sentence: it
    is as free of secrets as they are.
    """
    decisive = None if result.status is Status.SUCCESS else deciding_assertion(result)
    if decisive is None or decisive.assertion is None:
        return None
    sentence = _describe(decisive.result, explanation_of(result, decisive.result), words)
    if sentence and decisive.result.evaluator_name == NETWORK_EVALUATOR and _has_guessed_sites(result):
        sentence = f"{sentence} But the URLs of the sites were guessed: pass them with --webeval-config."
    return to_line(sentence, LONGEST_SENTENCE) if sentence else None


def _has_guessed_sites(result: TaskResult) -> bool:
    return any(warning.kind == WarningKind.GUESSED_SITES for warning in result.warnings)


def _describe(evaluated: EvaluatorResult, explanation: Mapping[str, Any], words: Mapping[str, str]) -> str | None:
    names = [assertion.assertion_name for assertion in failed_assertions(evaluated)]
    if evaluated.evaluator_name == RUBRIC_EVALUATOR:
        return _to_sentence(failed_assertions(evaluated)[0].assertion_msgs or [])
    if evaluated.evaluator_name == RESPONSE_EVALUATOR:
        return describe_answer(explanation, words)
    if evaluated.evaluator_name in (NETWORK_EVALUATOR, REQUEST_EVALUATOR):
        return describe_request(evaluated, names[0], explanation)
    return None


def explanation_of(result: TaskResult, evaluated: EvaluatorResult) -> Mapping[str, Any]:
    """The explanation of one evaluation in a result; empty where there is no valid one."""
    pairs = zip(result.evaluators_results, read_explanations(result) or (), strict=False)
    explanation = next((explanation for candidate, explanation in pairs if candidate is evaluated), None)
    return explanation or {}


def _to_sentence(messages: list[str]) -> str | None:
    """The first message with a capital and a full stop."""
    text = messages[0].strip() if messages else ""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?', '…')) else '.'}" if text else None


def event_check_name(name: str, method: object) -> str:
    """The name of a check about an event in words; other names stay. What a POST lacks is no navigation."""
    if name in MISSING_EVENTS:
        is_navigation = name != "missing_request" and method == "GET"
        return "missing navigation event" if is_navigation else "missing request"
    if name == FORBIDDEN_EVENT:
        return "forbidden request"
    return name


def reason_in_words(reason: str) -> str:
    """A reason for the eyes of people: a name of a check about an event at its beginning is in words."""
    match = _EVENT_REASON.match(reason)
    if match is None:
        return reason
    method = _METHOD.match(reason, match.end())
    return f"{event_check_name(match[1], method and method[1])}: {reason[match.end() :]}"
