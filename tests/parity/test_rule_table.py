"""What the rule table says of the data set, counted in the data set."""

from __future__ import annotations

import pytest

from pytest_webeval.diagnostics.unpassable import unpassable_reason
from pytest_webeval.rules import QUIRKS
from pytest_webeval.tasks.task import read_task


def network(task):
    return [one for one in task["eval"] if one["evaluator"] == "NetworkEventEvaluator"]


def expected_of(task):
    return task["eval"][0]["expected"]


def results(task):
    return expected_of(task).get("retrieved_data") or []


def types(schema):
    """All types and formats that a schema names, at any depth."""
    if isinstance(schema, dict):
        named = schema.get("format") or schema.get("type")
        yield from [named] if isinstance(named, str) else []
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        yield from types(part)


def typed(*names):
    schemas = ("results_schema", "post_data_schema", "query_params_schema")
    return lambda task: any(
        not set(names).isdisjoint(types(one.get(schema))) for one in task["eval"] for schema in schemas
    )


def urls(config):
    headers = config["expected"].get("headers") or {}
    for named in (config["expected"]["url"], *(headers.get(name) for name in ("referer", "redirect_url"))):
        yield from [named] if isinstance(named, str) else named or ()


def has_query(config):
    return config["expected"].get("query_params") or any("?" in url and url[0] != "^" for url in urls(config))


def has_null_in_form(config):
    posted = config["expected"].get("post_data") or {}
    is_form = config["expected"].get("http_method") == "POST"
    return is_form and any(value is None and not key.startswith("$") for key, value in posted.items())


def any_network(holds):
    return lambda task: any(holds(config) for config in network(task))


COUNTED = {
    "Q3": lambda task: any(answer is False or answer == 0 for answer in results(task)),
    "Q5": typed("number", "integer", "currency"),
    "Q6": any_network(lambda config: config["expected"].get("http_method") == "POST"),
    "§4.5": any_network(has_query),
    "Q7": typed("location-name"),
    "Q9": any_network(lambda config: config.get("ignored_query_params_patterns")),
    "§4.8": any_network(lambda config: any(url[0] == "^" and "__" in url for url in urls(config))),
    "§5.14": network,
    "§5.7": typed("distance", "duration"),
    "Q14": lambda task: len(results(task)) > 1,
    "Q19": any_network(lambda one: one["expected"].get("post_data") or one["expected"].get("response_content")),
    "§3.3": any_network(lambda one: one["expected"].get("post_data") or one["expected"].get("response_content")),
    "§4.3": network,
    "Q20": any_network(lambda config: None in (config["expected"].get("post_data") or {}).values()),
    "Q22": typed("currency"),
    "Q24": lambda task: expected_of(task)["task_type"].upper() == "NAVIGATE",
    "Q25": lambda task: len(task["sites"]) > 1,
    "Q31": lambda task: expected_of(task)["task_type"].upper() == "NAVIGATE",
    "Q42": network,
    "Q53": any_network(has_null_in_form),
    "Q56": typed("boolean"),
    "Q57": typed("currency"),
    "Q66": typed("number", "integer", "currency"),
    "Q67": network,
    "Q44": typed("date"),
}
NAMED = {
    "Q10": any_network(lambda config: any(key.startswith("$.^") for key in config["expected"].get("post_data") or {})),
    "Q21": any_network(lambda config: any("?(" in key for key in config["expected"].get("post_data") or {})),
    "Q41": any_network(lambda config: config.get("query_params_schema")),
    "§3.2": any_network(lambda config: config["expected"].get("response_cookies")),
}
BY_NUMBER = {quirk.number: quirk for quirk in QUIRKS}


def numbers(text):
    """The task ids in '411-414, 610'."""
    found = set()
    for part in text.partition(":")[0].split(", "):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


@pytest.mark.parametrize("number", COUNTED)
def test_the_number_of_tasks_that_a_quirk_touches_is_counted(dataset, number):
    count = sum(bool(COUNTED[number](task)) for task in dataset.tasks)
    assert BY_NUMBER[number].tasks.split()[0] == str(count)


@pytest.mark.parametrize("number", NAMED)
def test_the_tasks_that_a_quirk_touches_are_named(dataset, number):
    touched = {task["task_id"] for task in dataset.tasks if NAMED[number](task)}
    assert numbers(BY_NUMBER[number].tasks) == touched


def test_the_tasks_that_no_natural_recording_passes_are_recognized_by_their_definitions(dataset):
    found = {}
    for raw in dataset.tasks:
        if reason := unpassable_reason(read_task(raw, "the data set")):
            found.setdefault(reason.partition(":")[0], set()).add(raw["task_id"])
    assert found == {number: numbers(BY_NUMBER[number].tasks) for number in ("Q15", "Q16", "Q17", "Q18", "Q29", "Q35")}
    assert sum(map(len, found.values())) == 19
