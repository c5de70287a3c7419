"""Tasks that no recording, or no natural one, can pass under the reference's rules (spec §10.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from pytest_webeval.errors import EvaluationError
from pytest_webeval.tasks.expectations import (
    NETWORK_EVALUATOR,
    RESPONSE_EVALUATOR,
    NetworkExpectation,
    ResponseExpectation,
)
from pytest_webeval.tasks.sites import PLACEHOLDER
from pytest_webeval.tasks.task import Expectation, Task
from pytest_webeval.values.schema import require_object

MOST = 50  # expectations that are compared with each other, which takes time that grows with their square
_PLACEHOLDER = re.compile(f"{PLACEHOLDER.pattern}/")


def unpassable_reason(task: Task, expectations: Sequence[Expectation] | None = None) -> str | None:
    """Why no natural recording can pass a task; None where one can, and of definitions that are invalid.

    `expectations` are those that count, by default all.
    """
    try:
        return next(_reasons(task, task.expectations if expectations is None else expectations), None)
    except EvaluationError:
        return None


def _reasons(task: Task, expectations: Sequence[Expectation]) -> Iterator[str]:
    network = [
        expectation.read_as(NetworkExpectation)
        for expectation in expectations
        if expectation.evaluator == NETWORK_EVALUATOR
    ]
    answers = [
        expectation.read_as(ResponseExpectation)
        for expectation in expectations
        if expectation.evaluator == RESPONSE_EVALUATOR
    ]
    if not all(answer.has_data for answer in answers):
        yield "Q16: the expected response has no retrieved_data, which fails every response"
    required = [expectation for expectation in network if not expectation.should_not_exist]
    yield from (reason for first in required for reason in _check_alone(first))
    for first, second in combinations(required[:MOST], 2):
        if (
            task.task_type == "NAVIGATE"
            and _is_page(first)
            and _is_page(second)
            and first.expected.url != second.expected.url
        ):
            yield "Q17: two expectations of different pages both use the last page"
        elif _same_last_event(first, second) and _contradict(first, second):
            yield "Q15: two expectations of different posts both use the last request"


def _check_alone(expectation: NetworkExpectation) -> Iterator[str]:
    event, types = expectation.expected, require_object((expectation.post_data_schema or {}).get("properties") or {})
    for key, value in (event.post_data or {}).items():
        schema = require_object(types.get(key) or {})
        if isinstance(value, list) and len(value) == 1 and "array" not in (schema.get("type"), schema.get("format")):
            yield f"Q35: {key} is a list of one item without an array schema, which is an error"
        if "markdown" in (schema.get("type"), schema.get("format")) and _PLACEHOLDER.search(str(value)):
            yield f"Q18: {key} is markdown with a placeholder, which never matches a recorded URL"
    if event.post_data and event.http_method == "GET" and event.response_status != 200:
        yield "Q29: a saved form is expected as a GET"


def _is_page(expectation: NetworkExpectation) -> bool:
    return expectation.expected.http_method == "GET"


def _same_last_event(first: NetworkExpectation, second: NetworkExpectation) -> bool:
    events = [(each.expected.url, each.expected.http_method, each.last_event_only) for each in (first, second)]
    return events[0] == events[1] and first.last_event_only


def _contradict(first: NetworkExpectation, second: NetworkExpectation) -> bool:
    first_data, second_data = first.expected.post_data or {}, second.expected.post_data or {}
    return any(
        _is_plain(first_data[key]) and _is_plain(second_data[key]) and first_data[key] != second_data[key]
        for key in first_data.keys() & second_data
    )


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float) and not (isinstance(value, str) and value.startswith("^"))
