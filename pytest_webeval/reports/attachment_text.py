"""The agent's answer and the differences of one run as plain text, for the reports of other plugins.

Both are taken from a result without secrets. Such a result may have been read from a file, so any value may have any
type.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from pytest_webeval.results import TaskResult
from pytest_webeval.safety.json import get_member
from pytest_webeval.safety.text import preview, sanitize, truncate
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR, RUBRIC_EVALUATOR

LONGEST_VALUE = 2_000  # characters of an expected or an actual value
_NAMES = {"expected": "expected", "actual": "got"}
# Which of the two values a difference has; one that is `different` or of another kind has both.
_VALUES_BY_KIND = {"missing": ("expected",), "extra": ("actual",)}


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
    explanations = result.webeval.get("explanations")
    rows = zip_longest(result.evaluators_results, explanations if isinstance(explanations, list) else ())
    lines = [line for part, explanation in rows if part for line in _format_part(part.evaluator_name, explanation)]
    return _bound("\n".join(lines), longest) if lines else None


def _find_answer(evaluator: str, actual: Any) -> Any:
    if evaluator == RUBRIC_EVALUATOR:
        return get_member(actual, "final_answer")
    return actual if evaluator == RESPONSE_EVALUATOR else None


def _to_json(value: Any) -> str:
    try:
        return json.dumps(value, indent=2, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return preview(value, LONGEST_VALUE)


def _format_part(evaluator: str, explanation: Any) -> Iterator[str]:
    differences = get_member(explanation, "differences")
    if not isinstance(differences, list) or not differences:
        return
    yield evaluator
    for difference in differences:
        kind = get_member(difference, "kind")
        yield f"  {get_member(difference, 'path')}: {kind}"
        for name in _VALUES_BY_KIND.get(kind if isinstance(kind, str) else "", tuple(_NAMES)):
            yield f"    {_NAMES[name]:<8} {preview(get_member(difference, name), LONGEST_VALUE)}"


def _bound(text: str, longest: int) -> str:
    """The beginning of a text, sanitized."""
    return truncate(sanitize(text[: longest + 1].replace("\r\n", "\n")), longest)
