"""Tasks that no recording, or no natural one, can pass under the reference's rules (spec §10.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from pytest_webeval.errors import EvaluationError
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR
from pytest_webeval.tasks.expectations import NetworkExpectation
from pytest_webeval.tasks.expectations import ResponseExpectation
from pytest_webeval.tasks.task import Task
from pytest_webeval.values.schema import require_object

MOST = 50  # expectations that are compared with each other, which takes time that grows with their square
_PLACEHOLDER = re.compile(r"__[A-Z_]+__/")


def unpassable_reason(task: Task) -> str | None:
    """Why no natural recording can pass a task; None where one can, and of definitions that are invalid."""
    try:
        return next(_reasons(task), None)
    except EvaluationError:
        return None


def _reasons(task: Task) -> Iterator[str]:
    network = [one.read_as(NetworkExpectation) for one in task.expectations if one.evaluator == NETWORK_EVALUATOR]
    answers = [one.read_as(ResponseExpectation) for one in task.expectations if one.evaluator == RESPONSE_EVALUATOR]
    if not all(answer.expected.has_data for answer in answers):
        yield "Q16: the expected response has no retrieved_data, which fails every response"
    wanted = [one for one in network if not one.should_not_exist]
    yield from (reason for one in wanted for reason in _alone(one))
    for one, other in combinations(wanted[:MOST], 2):
        if (
            task.task_type == "NAVIGATE"
            and _is_page(one)
            and _is_page(other)
            and one.expected.url != other.expected.url
        ):
            yield "Q17: two expectations of different pages both look at the last one"
        elif _same_last_event(one, other) and _contradict(one, other):
            yield "Q15: two expectations of different posts both look at the last one"


def _alone(wanted: NetworkExpectation) -> Iterator[str]:
    event, types = wanted.expected, require_object((wanted.post_data_schema or {}).get("properties") or {})
    for key, value in (event.post_data or {}).items():
        schema = require_object(types.get(key) or {})
        if isinstance(value, list) and len(value) == 1 and "array" not in (schema.get("type"), schema.get("format")):
            yield f"Q35: {key} is a list of one item without an array schema, which is an error"
        if "markdown" in (schema.get("type"), schema.get("format")) and _PLACEHOLDER.search(str(value)):
            yield f"Q18: {key} is markdown with a placeholder, which recorded addresses never become"
    if event.post_data and event.http_method == "GET" and event.response_status != 200:
        yield "Q29: a saved form is expected as a GET"


def _is_page(wanted: NetworkExpectation) -> bool:
    return wanted.expected.http_method == "GET"


def _same_last_event(one: NetworkExpectation, other: NetworkExpectation) -> bool:
    events = [(each.expected.url, each.expected.http_method, each.last_event_only) for each in (one, other)]
    return events[0] == events[1] and one.last_event_only


def _contradict(one: NetworkExpectation, other: NetworkExpectation) -> bool:
    first, second = one.expected.post_data or {}, other.expected.post_data or {}
    return any(
        _is_plain(first[key]) and _is_plain(second[key]) and first[key] != second[key] for key in first.keys() & second
    )


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float) and not (isinstance(value, str) and value.startswith("^"))
