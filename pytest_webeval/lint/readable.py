"""What the package cannot read, though it may be JSON by its schema, and rows that hide each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from pytest_webeval.errors import EvaluationError, TaskDefinitionError
from pytest_webeval.evaluators.network.event_matcher import URL_HEADERS
from pytest_webeval.lint.addresses import find_start
from pytest_webeval.lint.definition import AnswerCheck, Definition, RequestCheck
from pytest_webeval.lint.findings import Problem, Steps
from pytest_webeval.tasks.expectations import (
    NETWORK_EVALUATOR,
    REQUEST_EVALUATOR,
    RESPONSE_EVALUATOR,
    RUBRIC_EVALUATOR,
    NetworkExpectation,
    RequestPatternExpectation,
    ResponseExpectation,
    RubricExpectation,
)
from pytest_webeval.tasks.task import TrajectoryTask
from pytest_webeval.values.schema import ValueParser

_PLACE = re.compile(r"(?P<text>.*) @ (?P<path>[\w.\[\]]+)(?P<rest>(?:; .*)?)", re.DOTALL)
_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
MODELS: dict[str, type] = {
    RESPONSE_EVALUATOR: ResponseExpectation,
    NETWORK_EVALUATOR: NetworkExpectation,
    REQUEST_EVALUATOR: RequestPatternExpectation,
    RUBRIC_EVALUATOR: RubricExpectation,
}


def check_readable(definition: Definition) -> Iterator[Problem]:
    """Tasks and expectations that no run can be scored by."""
    try:
        task = definition.read_task()
    except TaskDefinitionError as error:
        yield _place(str(error), definition, ())
        return
    for expectation in task.expectations:
        if expectation.evaluator in MODELS:
            try:
                expectation.read_as(MODELS[expectation.evaluator])
            except EvaluationError as error:
                yield _place(f"{error}; fix the definition", definition, ("eval", expectation.index))


def _place(text: str, definition: Definition, steps: Steps) -> Problem:
    """The problem in a message, at the place that the message names, or else at these steps."""
    for start in (f"invalid task in {definition.source}: ", "invalid task definition: "):
        text = text.removeprefix(start)
    parts = _PLACE.fullmatch(text)
    if parts is None:
        return Problem(steps, text)
    names = _STEP.findall(parts["path"].removeprefix(definition.location))
    return Problem(tuple(int(index) if index else name for index, name in names), f"{parts['text']}{parts['rest']}")


def check_ignored_fields(definition: Definition) -> Iterator[Problem]:
    """Fields of other benchmarks' rows that are invalid and ignored."""
    if isinstance(definition.task, TrajectoryTask):
        yield from (Problem((), text.partition(": ")[2] or text) for text in definition.task.warnings)


def check_duplicate_ids(definition: Definition) -> Iterator[Problem]:
    """Tasks whose id another row has."""
    if definition.task is not None:
        task_id = str(definition.task.task_id)
        first = definition.ids.setdefault(task_id, definition.place)
        if first != definition.place:
            yield Problem((), f"the id {task_id!r:.80} is defined before in {first}; give each task its own id")


def check_values(definition: Definition) -> Iterator[Problem]:
    """Expected values that their declared type, or the reader of URLs, cannot read: an error of every run."""
    for answer in definition.answers:
        yield from _check_answer(definition, answer)
    for request in definition.requests:
        yield from _check_request(definition, request)


def _check_answer(definition: Definition, answer: AnswerCheck) -> Iterator[Problem]:
    data, kind = answer.config.expected.retrieved_data, answer.config.expected.task_type
    if data and kind == "RETRIEVE" and answer.schema.get("type", "array") in ("array", "null"):
        reader = ValueParser(definition.context, strict=True, where="retrieved_data")
        problems = _try(lambda: reader.array(data, answer.schema), answer.steps)
        yield from (problem for problem in problems if not problem.text.startswith("unknown type"))


def _check_request(definition: Definition, request: RequestCheck) -> Iterator[Problem]:
    problems = list(_check_parts(definition, request))
    yield from problems
    if not problems and _are_sites_known(definition, (*request.urls, *request.referer_urls)):
        yield from map(_explain_query, _try(request.matcher.normalize_expected, request.steps, "query_params"))


def _explain_query(problem: Problem) -> Problem:
    """What all else of a request being readable can only mean."""
    if not problem.text.startswith("a list of 1 item"):
        return problem
    text = "query_params_schema has no array for a parameter; give each the type array, and its own type as items"
    return Problem(problem.steps, text)


def _check_parts(definition: Definition, request: RequestCheck) -> Iterator[Problem]:
    matcher, steps = request.matcher, request.steps
    yield from _try(lambda: matcher.bodies.expected_post, steps)
    if _are_sites_known(definition, request.urls):
        yield from _try(lambda: matcher.expected_urls, steps, "url")
    for name in request.config.expected.headers or ():
        read = partial(matcher.expected_header_urls if name in URL_HEADERS else matcher.expected_text, name)
        if name not in URL_HEADERS or _are_sites_known(definition, request.referer_urls):
            yield from _try(read, steps, "headers", name)
    yield from _try(lambda: matcher.expected_cookies, steps, "response_cookies")


def _are_sites_known(definition: Definition, places: Iterable[tuple[Steps, str]]) -> bool:
    """Whether URLs can be read: another check reports unknown placeholders, and only a configuration has addresses."""
    texts = [text.strip() for _, text in places]
    if any("://" in text and not text.startswith("^") for text in texts) and definition.sites is None:
        return False
    return all(name in definition.placeholders for text in texts if (name := find_start(text)))


def _try(read: Callable[[], Any], steps: Steps, *place: str) -> Iterator[Problem]:
    try:
        read()
    except (AttributeError, TypeError) as error:  # null or a number where the definition of a URL belongs
        yield Problem((*steps, "expected", *place), f"cannot be read: {error}; fix the definition")
    except EvaluationError as error:
        text, _, path = str(error).rpartition(" @ ")
        if not text:
            text, path = path, ""
        where = place or _parse_path(path)
        yield Problem((*steps, "expected", *where), text)


def _parse_path(path: str) -> Steps:
    """The steps in `network_event.post_data.qty` and `retrieved_data[0].price`, below `expected`."""
    inner = path.removeprefix("network_event.")
    name, dot, key = inner.partition(".")
    field, bracket, index = name.partition("[")
    position: Steps = ()
    with suppress(ValueError):
        position = (int(index.removesuffix("]")),) if bracket else ()
    return (*((field,) if field else ()), *position, *((key,) if dot else ()))
