"""Whole tasks: expectations that repeat or contradict each other, kinds of tasks without theirs, and templates."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_webeval.diagnostics.unpassable import unpassable_reason
from pytest_webeval.lint.definition import Definition
from pytest_webeval.lint.findings import Problem, Steps
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR, ExpectedEvent

# Other checks report these with their place.
PLACED_BY_OTHERS = ("Q18", "Q29", "Q35")
_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def check_repeated_expectations(definition: Definition) -> Iterator[Problem]:
    """Expectations that are written twice."""
    first: dict[str, int] = {}
    for expectation in definition.task.expectations if definition.task else ():
        text = json.dumps(expectation.config, sort_keys=True)
        position = first.setdefault(text, expectation.index)
        if position != expectation.index:
            yield Problem(
                ("eval", expectation.index), f"the same as eval[{position}]; remove one, or change what differs"
            )


def check_contradictions(definition: Definition) -> Iterator[Problem]:
    """Expectations that no run can meet together: a request that must and must not exist, or two answers."""
    required: dict[str, Steps] = {}
    for request in definition.requests:
        if not request.config.should_not_exist:
            event = request.config.expected
            for key in (_request_key(event, _find_referer(event)), _request_key(event)):
                required.setdefault(key, request.steps)
    for request in definition.requests:
        event = request.config.expected
        steps = required.get(_request_key(event, _find_referer(event)))
        if request.config.should_not_exist and steps is not None:
            text = f"contradicts eval[{steps[1]}], which requires such a request; change the URL or method of one"
            yield Problem(request.steps, text)
    answers = [(answer.steps, answer.config.expected) for answer in definition.answers]
    for steps, expected in answers[1:]:
        first = answers[0][1]
        if (expected.task_type, expected.status) != (first.task_type, first.status):
            text = f"contradicts eval[{answers[0][0][1]}], which expects another task_type or status; keep one"
            yield Problem(steps, text)


def _request_key(event: ExpectedEvent, referer: Any = None) -> str:
    """What a request that must not exist forbids: any with this method and URL, or only those from a page."""
    return json.dumps([event.http_method.upper(), event.url, referer])


def _find_referer(event: ExpectedEvent) -> Any:
    return (event.headers or {}).get("referer")


def check_answers_of_types(definition: Definition) -> Iterator[Problem]:
    """Retrieve tasks without data, data of other tasks, and `error_details`, which no answer can meet."""
    for answer in definition.answers:
        expected, place = answer.config.expected, (*answer.steps, "expected")
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
        expected = answer.config.expected
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
    elif template and _simplify(_fill(template, values)) != _simplify(intent):
        text = f"intent_template gives {_fill(template, values)!r:.160}, not the intent; correct the values or a text"
        yield Problem(("instantiation_dict",), text)


def _fill(template: str, values: Mapping[str, Any]) -> str:
    return _VARIABLE.sub(lambda variable: str(values[variable[1]]), template)


def _simplify(text: str) -> str:
    return " ".join(text.split()).casefold()
