"""Whole tasks: what cannot be read, rows with one id, and expectations that repeat or contradict each other."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from pytest_webeval.diagnostics.unpassable import unpassable_reason
from pytest_webeval.errors import EvaluationError, TaskDefinitionError
from pytest_webeval.evaluators.network.event_matcher import URL_HEADERS
from pytest_webeval.lint.addresses import find_start
from pytest_webeval.lint.definition import MODELS, AnswerCheck, Definition, RequestCheck
from pytest_webeval.lint.findings import Problem, Steps
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR, ExpectedEvent
from pytest_webeval.tasks.task import TrajectoryTask
from pytest_webeval.values.schema import ValueParser

_PLACE = re.compile(r"(?P<text>.*) @ (?P<path>[\w.\[\]]+)(?P<rest>(?:; .*)?)", re.DOTALL)
_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
# Other checks report these with their place.
PLACED_BY_OTHERS = ("Q18", "Q29", "Q35")
_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


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
    if definition.task is not None:
        task_id = str(definition.task.task_id)
        first = definition.ids.setdefault(task_id, definition.place)
        if first != definition.place:
            yield Problem((), f"the id {task_id!r:.80} is defined before in {first}; give each task its own id")


def check_values(definition: Definition) -> Iterator[Problem]:
    """Expected values that their declared type, or the reader of URLs, cannot read: an error of every run."""
    for answer in definition.answers:
        data, kind = answer.expected.retrieved_data, answer.expected.task_type
        if data and kind == "RETRIEVE" and answer.schema.get("type", "array") in ("array", "null"):
            reader = ValueParser(definition.context, strict=True, where="retrieved_data")
            problems = _try(partial(reader.array, data, answer.schema), answer.steps)
            yield from (problem for problem in problems if not problem.text.startswith("unknown type"))
    for request in definition.requests:
        yield from _check_request(definition, request)


def _check_request(definition: Definition, request: RequestCheck) -> Iterator[Problem]:
    problems = list(_check_parts(definition, request))
    yield from problems
    if not problems and _are_sites_known(definition, (*request.urls, *request.referer_urls)):
        for problem in _try(request.matcher.normalize_expected, request.steps, "query_params"):
            text = problem.text
            if text.startswith("a list of 1 item"):  # what that can only mean where all else can be read
                text = "query_params_schema has no array for a parameter"
                text = f"{text}; give each the type array, and its own type as items"
            yield Problem(problem.steps, text)


def _check_parts(definition: Definition, request: RequestCheck) -> Iterator[Problem]:
    matcher, steps = request.matcher, request.steps
    yield from _try(lambda: matcher.bodies.expected_post, steps)
    if _are_sites_known(definition, request.urls):
        yield from _try(lambda: matcher.expected_urls, steps, "url")
    for name in request.expected.headers or ():
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
        yield Problem((*steps, "expected", *(place or _parse_path(error.where))), error.problem)


def _parse_path(path: str) -> Steps:
    """The steps in `network_event.post_data.qty` and `retrieved_data[0].price`, below `expected`."""
    name, dot, key = path.removeprefix("network_event.").partition(".")
    field, _, index = name.removesuffix("]").partition("[")
    position = (int(index),) if index.isdecimal() else ()
    return (*((field,) if field else ()), *position, *((key,) if dot else ()))


def check_repeated_expectations(definition: Definition) -> Iterator[Problem]:
    """Expectations that are written twice."""
    first: dict[str, int] = {}
    for expectation in definition.task.expectations if definition.task else ():
        text = json.dumps(expectation.config, sort_keys=True)
        position = first.setdefault(text, expectation.index)
        if position != expectation.index:
            text = f"the same as eval[{position}]; remove one, or change what differs"
            yield Problem(("eval", expectation.index), text)


def check_contradictions(definition: Definition) -> Iterator[Problem]:
    """Expectations that no run can meet together: a request that must and must not exist, or two answers."""
    required: dict[str, str | int] = {}
    for request in definition.requests:
        if not request.config.should_not_exist:
            for key in (_request_key(request.expected), _request_key(request.expected, is_from_any_page=True)):
                required.setdefault(key, request.steps[1])
    for request in definition.requests:
        index = required.get(_request_key(request.expected))
        if request.config.should_not_exist and index is not None:
            text = f"contradicts eval[{index}], which requires such a request; change the URL or method of one"
            yield Problem(request.steps, text)
    for answer in definition.answers[1:]:
        first = definition.answers[0]
        if (answer.expected.task_type, answer.expected.status) != (first.expected.task_type, first.expected.status):
            text = f"contradicts eval[{first.steps[1]}], which expects another task_type or status; keep one"
            yield Problem(answer.steps, text)


def _request_key(event: ExpectedEvent, *, is_from_any_page: bool = False) -> str:
    """What a request that must not exist forbids: any with this method and URL, or only those from a page."""
    referer = None if is_from_any_page else (event.headers or {}).get("referer")
    return json.dumps([event.http_method.upper(), event.url, referer])


def check_answers_of_types(answer: AnswerCheck) -> Iterator[Problem]:
    """Retrieve tasks without data, data of other tasks, and `error_details`, which no answer can meet."""
    expected, place = answer.expected, (*answer.steps, "expected")
    if expected.task_type == "RETRIEVE" and expected.status == "SUCCESS" and not expected.retrieved_data:
        if expected.has_data or "results_schema" not in answer.raw:  # or else nothing can pass
            text = "a retrieve task without data passes for every answer without data; write retrieved_data"
            yield Problem((*place, "retrieved_data"), text)
    elif expected.task_type != "RETRIEVE" and expected.retrieved_data:
        text = f"retrieved_data of a {expected.task_type.lower()} task is never compared; remove it"
        yield Problem((*place, "retrieved_data"), text)
    if expected.has_details:
        text = "error_details fails every answer that has some; remove it"
        yield Problem((*place, "error_details"), text)


def check_requests_of_types(definition: Definition) -> Iterator[Problem]:
    """Mutate and navigate tasks that only ask the agent whether it succeeded."""
    if definition.task is None or {each.evaluator for each in definition.task.expectations} != {RESPONSE_EVALUATOR}:
        return
    for answer in definition.answers[:1]:
        expected = answer.expected
        if expected.task_type in ("MUTATE", "NAVIGATE") and expected.status == "SUCCESS":
            kind = expected.task_type.lower()
            text = f"a {kind} task that checks no request believes the agent; add a NetworkEventEvaluator"
            yield Problem(("eval",), text)


def check_unpassable(definition: Definition) -> Iterator[Problem]:
    """Tasks that no natural recording can pass."""
    reason = unpassable_reason(definition.task) if definition.task else None
    if reason and not reason.startswith(PLACED_BY_OTHERS):
        number, _, text = reason.partition(": ")
        yield Problem(("eval",), f"no recording can pass: {text} ({number}); change one of them")


def check_templates(definition: Definition) -> Iterator[Problem]:
    """Intents with variables left in them, and templates that do not give the intent."""
    fields = definition.fields
    intent, template, values = (fields.get(name) for name in ("intent", "intent_template", "instantiation_dict"))
    if isinstance(intent, str) and (variable := _VARIABLE.search(intent)):
        yield Problem(("intent",), f"the variable {variable[0]!r:.80} is not filled in; write its value")
        return
    if not isinstance(intent, str) or not isinstance(template, str) or not isinstance(values, dict):
        return
    names = _VARIABLE.findall(template)
    is_plain = all(isinstance(values.get(name, ""), str | int | float) for name in names)
    if "{%" in template or template.count("{{") != len(names) or not is_plain:  # loops, filters and lists
        return
    missing = [name for name in names if name not in values]
    if missing:
        yield Problem(("instantiation_dict",), f"no value for {missing[0]!r:.80} of intent_template; add it")
        return
    filled = _VARIABLE.sub(lambda variable: str(values[variable[1]]), template)
    if template and filled.casefold().split() != intent.casefold().split():
        text = f"intent_template gives {filled!r:.160}, not the intent; correct the values or a text"
        yield Problem(("instantiation_dict",), text)
