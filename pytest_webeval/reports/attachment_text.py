"""The agent's answer and the differences of one run as plain text, for the reports of other plugins.

Both are taken from a result without secrets. Such a result may have been read from a file, so any value may have any
type.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pytest_webeval.results import EXTRA, MISSING, Difference, TaskResult
from pytest_webeval.safety.json import get_member
from pytest_webeval.safety.text import preview, sanitize, truncate
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR, RUBRIC_EVALUATOR

LONGEST_VALUE = 2_000  # characters of an expected or an actual value


def answer_text(result: TaskResult, longest: int) -> str | None:
    """What the agent answered, at most that many characters; None where nobody read an answer."""
    answers = (_find_answer(part.evaluator_name, part.actual) for part in result.evaluators_results)
    answer = next((found for found in answers if found is not None), None)
    if answer is None:
        answer = get_member(result.webeval.get("trajectory"), "answer")
    if answer is None:
        return None
    return _bound(answer if isinstance(answer, str) else _to_json(answer), longest)


def differences_text(result: TaskResult, longest: int) -> str | None:
    """Each difference with both values, at most that many characters; None where no evaluator lists any."""
    lines: list[str] = []
    for part in result.evaluators_results:
        differences = part.explanation.differences if part.explanation is not None else []
        lines += [part.evaluator_name] if differences else []
        lines += [line for difference in differences for line in _format_difference(difference)]
    return _bound("\n".join(lines), longest) if lines else None


def _format_difference(difference: Difference) -> Iterator[str]:
    yield f"  {difference.path}: {difference.kind}"
    if difference.kind != EXTRA:
        yield f"    expected {preview(difference.expected, LONGEST_VALUE)}"
    if difference.kind != MISSING:
        yield f"    got      {preview(difference.actual, LONGEST_VALUE)}"


def _find_answer(evaluator: str, actual: Any) -> Any:
    if evaluator == RUBRIC_EVALUATOR:
        return get_member(actual, "final_answer")
    return actual if evaluator == RESPONSE_EVALUATOR else None


def _to_json(value: Any) -> str:
    try:
        return json.dumps(value, indent=2, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return preview(value, LONGEST_VALUE)


def _bound(text: str, longest: int) -> str:
    """The beginning of a text, sanitized."""
    return truncate(sanitize(text[: longest + 1].replace("\r\n", "\n")), longest)
