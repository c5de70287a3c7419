"""The keys of a definition: what the manual and the JSON Schema say of them is what reads them."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

import pytest
from definition_keys import EVALUATORS, list_keys
from write_tasks_schema import build_schema, format_json

from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.schemas.registry import get_schema
from pytest_webeval.schemas.validation import find_problems
from pytest_webeval.tasks.task import DefinedTask, decode_definition, read_task

SUITE = Path(__file__).parents[2] / "example_suite/runs/tasks.json"
ENTRIES = {
    "AgentResponseEvaluator": {"expected": {"task_type": "retrieve", "retrieved_data": [4.5]}},
    "NetworkEventEvaluator": {"expected": {"url": "__BOOKSHOP__/books"}},
    "RequestPatternEvaluator": {"expected": {"url_pattern": "/books"}},
    "RubricEvaluator": {},
}
TASK = {
    "task_id": "cheapest_book",
    "sites": ["bookshop"],
    "intent": "What does it cost?",
    "eval": [{"evaluator": name, **entry} for name, entry in ENTRIES.items()],
}
STRUCTS = [DefinedTask, *EVALUATORS.values()]
INNER = [key.inner for struct in STRUCTS for key in list_keys(struct) if key.inner]


def changed(path, value):
    """The task with another value at a place."""
    task = deepcopy(TASK)
    *above, last = path
    place = task
    for part in above:
        place = place[part]
    place[last] = value
    return task


def test_the_schema_in_the_package_is_the_one_that_the_code_defines():
    assert get_schema("tasks").text == f"{format_json(build_schema())}\n", "run python docs/_ext/write_tasks_schema.py"


@pytest.mark.parametrize("struct", [*STRUCTS, *INNER], ids=lambda struct: struct.__name__)
def test_each_key_has_a_type_and_a_meaning(struct):
    keys = list_keys(struct)
    assert [key.name for key in keys] == list(struct.__struct_encode_fields__)
    assert not [key.name for key in keys if not key.types or len(key.meaning) < 10]


def test_a_key_is_described_as_it_is_declared():
    keys = {key.name: key for key in list_keys(EVALUATORS["NetworkEventEvaluator"])}
    about = {
        name: (keys[name].types, keys[name].default) for name in ("expected", "last_event_only", "post_data_schema")
    }
    assert about == {
        "expected": (("object",), ...),
        "last_event_only": (("boolean",), True),
        "post_data_schema": (("object", "null"), None),
    }
    (url, *_) = list_keys(keys["expected"].inner)
    assert (url.types, url.items, url.is_required) == (("string", "array"), {"type": "string"}, True)


@pytest.mark.parametrize("name", ENTRIES)
def test_a_default_that_is_written_out_changes_nothing(name):
    entry = {"evaluator": name, **ENTRIES[name]}
    struct = EVALUATORS[name]
    read = decode_definition(struct, entry, "eval[0]")
    for key in list_keys(struct):
        if not key.is_required and key.name != "results_schema":
            assert decode_definition(struct, entry | {key.name: key.default}, "eval[0]") == read
    for key in list_keys(list_keys(struct)[1].inner) if "expected" in entry else ():
        if not key.is_required and key.name not in {"retrieved_data", "error_details", "response_status"}:
            explicit = {**entry, "expected": {**entry["expected"], key.name: key.default}}
            assert decode_definition(struct, explicit, "eval[0]") == read


@pytest.mark.parametrize(
    "task",
    [
        TASK,
        TASK | {"task_id": 7, "eval": [{"evaluator": "OwnEvaluator", "anything": {"goes": 1}}]},
        changed(["eval", 0, "expected", "status"], "not_found_error"),
        changed(["eval", 0, "expected"], {"performed_operation": "Mutate"}),
        changed(["eval", 1, "expected", "http_method"], "PROPFIND"),
        changed(["eval", 1, "last_event_only"], "no"),
        changed(["intent_template_id"], "12"),
        changed(["eval", 0, "results_schema"], {"type": "array", "items": {"type": "string", "format": "date"}}),
    ],
    ids=["short", "own evaluator", "status", "earlier name", "method", "text for boolean", "text for number", "schema"],
)
def test_the_schema_accepts_what_the_reader_accepts(task):
    assert find_problems("tasks", [task]) == []
    for expectation in read_task(task, "a test").expectations:
        if expectation.evaluator in EVALUATORS:
            expectation.read_as(EVALUATORS[expectation.evaluator])


def test_the_schema_accepts_the_tasks_of_the_example_suite():
    assert find_problems("tasks", json.loads(SUITE.read_bytes())) == []


@pytest.mark.parametrize("value", [1, None, [1], {"sort": "price"}], ids=repr)
def test_schema_and_reader_refuse_a_parameter_that_is_no_text(bench, value):
    task = changed(["eval", 1, "expected", "query_params"], {"sort": value})
    (problem,) = find_problems("tasks", task)
    assert problem.path.startswith("eval[1].expected.query_params.sort")
    bench.record()
    assert "eval[1].expected.query_params.sort" in read_problem(bench, task)


@pytest.mark.parametrize("value", ["price", ["price", "title"]], ids=repr)
def test_the_schema_accepts_a_parameter_with_one_text_or_several(value):
    assert find_problems("tasks", changed(["eval", 1, "expected", "query_params"], {"sort": value})) == []


MISSPELT = [
    ([], "site", "sites"),
    ([], "revisions", "revision"),
    ([], "start_url", "start_urls"),
    (["eval", 0], "result_schema", "results_schema"),
    (["eval", 0, "expected"], "retrived_data", "retrieved_data"),
    (["eval", 1], "should_not_exists", "should_not_exist"),
    (["eval", 1, "expected"], "querry_params", "query_params"),
    (["eval", 2], "expect", "expected"),
    (["eval", 2, "expected"], "methods", "method"),
    (["eval", 3], "treshold", "threshold"),
]


@pytest.mark.parametrize(
    ("path", "name", "nearest"), MISSPELT, ids=lambda value: value if isinstance(value, str) else ""
)
def test_schema_and_reader_refuse_a_misspelt_key_with_the_nearest(bench, path, name, nearest):
    task = changed([*path, name], None)
    (problem,) = find_problems("tasks", task)
    assert f"unknown field \"{name}\"; did you mean '{nearest}'?" in problem.text
    bench.record()
    hint = f"unknown key '{name}' @ {format_place(path)}; did you mean '{nearest}'? "
    assert hint in read_problem(bench, task)


def format_place(path):
    if not path:
        return "the definition"
    return f"eval[{path[1]}]" + "".join(f".{part}" for part in path[2:])


def read_problem(bench, task):
    """Why the reader refuses a task, or an evaluator its entry."""
    try:
        results = bench.score(task | {"sites": ["shopping"]}).evaluators_results
    except TaskDefinitionError as error:
        return str(error)
    return "\n".join(filter(None, (result.error_msg for result in results)))


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (["sites"], "bookshop", "expected a list"),
        (["start_urls"], [""], "expected a text"),
        (["eval", 0, "results_schema"], {"type": "array", "items": {"type": "price"}}, "expected one of"),
        (["eval", 0, "results_schema"], {"type": "string", "format": "dat"}, "expected one of"),
        (["eval", 1, "query_params_schema"], {"properties": {"q": {"type": "list"}}}, "expected one of"),
        (["eval", 1, "ignored_query_params"], [3], "expected a string"),
        (["eval", 2, "expected", "url_pattern"], "", "expected a text"),
        (["eval", 3, "criterion"], "all", "expected one of"),
    ],
    ids=lambda value: json.dumps(value)[:60],
)
def test_the_schema_says_which_values_are_wrong(path, value, problem):
    (first, *_) = find_problems("tasks", changed(path, value))
    assert first.text.startswith(problem)
