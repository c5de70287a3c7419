"""The run that a task's own expectations describe, as the specification's recipe has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from tests.parity.harness.bodies import FORM_KEY, content_body, post_body, rendered, rendered_text
from tests.parity.harness.drafts import FETCH, NAVIGATION, Body, Draft, Event
from tests.parity.harness.patterns import accepted_text, is_pattern
from tests.parity.harness.recording import SITES, Recording


def golden(task: Mapping[str, Any]) -> Recording:
    """The recording that does and answers what the task expects."""
    return golden_draft(task).recording("golden")


def golden_draft(task: Mapping[str, Any]) -> Draft:
    """The same in parts: a home page first, then one event for each that must exist."""
    events = (expected_event(config, task) for config in network_configs(task) if not config.get("should_not_exist"))
    return Draft(task, golden_answer(task), (home_page(task), *events))


def response_config(task: Mapping[str, Any]) -> Mapping[str, Any]:
    """The configuration of the task's first response evaluator."""
    return next(config for config in task["eval"] if config["evaluator"] == "AgentResponseEvaluator")


def network_configs(task: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The configurations of the task's network-event evaluators."""
    return (config for config in task["eval"] if config["evaluator"] == "NetworkEventEvaluator")


def kind_of(task: Mapping[str, Any]) -> str:
    """The kind of task: RETRIEVE, MUTATE or NAVIGATE."""
    expected = response_config(task)["expected"]
    return str(expected.get("task_type") or expected.get("performed_operation")).upper()


def home_page(task: Mapping[str, Any]) -> Event:
    """The page on which the run begins: that of the task's first site."""
    sites = task["sites"]
    return Event(SITES[sites[0]][0] + "/" if sites else "http://elsewhere.test/")


def golden_answer(task: Mapping[str, Any]) -> dict[str, Any]:
    """The expected response, with the first of alternatives and a text for each pattern."""
    config = response_config(task)
    expected, schema = config["expected"], config["results_schema"]
    data = expected.get("retrieved_data")
    items = None if data is None else [chosen(item, schema.get("items", {})) for item in data]
    return {
        "task_type": kind_of(task),
        "status": str(expected["status"]).upper(),
        "retrieved_data": items,
        "error_details": None,
    }


def chosen(value: Any, schema: Mapping[str, Any]) -> Any:
    """One value that the expectation accepts."""
    if isinstance(value, Mapping):
        kinds = schema.get("properties", {})
        return {name: chosen(member, kinds.get(name, {})) for name, member in value.items()}
    if isinstance(value, list) and value:
        if schema.get("type") == "array":
            return [chosen(item, schema.get("items", {})) for item in value]
        if schema.get("format") != "coordinates" or isinstance(value[0], list | dict):
            return chosen(value[0], schema)
    return rendered(value)


def expected_event(config: Mapping[str, Any], task: Mapping[str, Any]) -> Event:
    """The event that the evaluator looks for."""
    expected = config["expected"]
    method = expected.get("http_method") or "GET"
    posts = expected.get("post_data") is not None
    content = expected.get("response_content")
    return Event(
        url=expected_url(expected),
        method=method,
        status=expected.get("response_status", 200),
        headers=_headers(expected, navigates=method == "GET" and kind_of(task) == "NAVIGATE"),
        post=_post(config, expected) if posts or method != "GET" else None,
        content=None if content is None else content_body(content),
        cookies={name: quote(rendered(_first(wanted))) for name, wanted in _members(expected, "response_cookies")},
    )


def expected_url(expected: Mapping[str, Any]) -> str:
    """The first of the expected addresses as a browser would request it."""
    url = concrete_url(_first(expected["url"]))
    parameters = expected.get("query_params")
    if parameters is None:
        return url
    query = urlencode([(name, rendered(value)) for name, values in parameters.items() for value in values])
    return f"{url.partition('?')[0]}?{query}" if query else url.partition("?")[0]


def concrete_url(url: str) -> str:
    """The address with its pattern spelled out, its placeholder rendered and its blanks escaped."""
    text = rendered_text(accepted_text(url) if is_pattern(url) else url)
    if is_pattern(url) and not text.startswith("http"):
        text = "http://osrm.test/" + text.partition("/")[2]
    return text.replace(" ", "%20")


def _headers(expected: Mapping[str, Any], *, navigates: bool) -> dict[str, str]:
    headers = dict(NAVIGATION if navigates else FETCH)
    for name, wanted in _members(expected, "headers"):
        headers[name] = concrete_url(_first(wanted)) if name.lower() == "referer" else rendered(_first(wanted))
    return headers


def _post(config: Mapping[str, Any], expected: Mapping[str, Any]) -> Body:
    wanted = expected.get("post_data")
    return Body(FORM_KEY) if wanted is None else post_body(wanted, config.get("post_data_schema"))


def _members(expected: Mapping[str, Any], name: str) -> Iterator[tuple[str, Any]]:
    return iter((expected.get(name) or {}).items())


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) else value
