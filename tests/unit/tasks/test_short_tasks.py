"""Tasks of one's own: what a short definition may leave out, and what that stands for."""

from __future__ import annotations

import json
import re
import time

import pytest

from pytest_webeval.diagnostics.unpassable import unpassable_reason
from pytest_webeval.errors import EvaluationError, TaskDefinitionError
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.scoring.score import score
from pytest_webeval.tasks.dataset import parse_tasks
from pytest_webeval.tasks.expectations import ResponseExpectation, infer_results_schema
from pytest_webeval.tasks.task import Expectation, read_task

ANSWER = {"evaluator": "AgentResponseEvaluator", "expected": {"task_type": "retrieve", "retrieved_data": [4.5]}}
SHORT = {"task_id": "cheapest_book", "intent": "What does it cost?", "eval": [ANSWER]}
DEFAULTS = {
    "sites": [],
    "intent_template_id": -1,
    "start_urls": [],
    "intent_template": "",
    "instantiation_dict": {},
    "revision": -1,
}


def read_answer(**expected):
    """What a response evaluator reads of an entry without a schema."""
    entry = {"evaluator": "AgentResponseEvaluator", "expected": {"task_type": "retrieve", **expected}}
    return Expectation("AgentResponseEvaluator", 0, entry).read_as(ResponseExpectation)


@pytest.mark.parametrize("task_id", ["cheapest_book", 7])
def test_a_task_needs_an_id_an_intent_and_expectations(task_id, monkeypatch):
    monkeypatch.setattr("pytest_webeval.tasks.lenient_models.read_leniently", None)
    task = read_task(SHORT | {"task_id": task_id}, "a test")
    assert {name: getattr(task, name) for name in DEFAULTS} == DEFAULTS
    assert (task.task_id, task.task_type, task.depends_on_day) == (task_id, "RETRIEVE", False)


def test_a_short_task_that_is_not_plain_has_the_same_defaults():
    task = read_task(SHORT | {"sites": ["__BOOKSHOP__"]}, "a test")
    assert {name: getattr(task, name) for name in DEFAULTS} == DEFAULTS | {"sites": ["bookshop"]}


@pytest.mark.parametrize("name", sorted(DEFAULTS))
def test_what_a_field_stands_for_may_be_left_out_and_not_misspelt(name):
    misspelt = f"{name[:-1]}x"
    tasks = parse_tasks(json.dumps([SHORT | {misspelt: DEFAULTS[name]}]).encode(), "tasks.json")
    with pytest.raises(TaskDefinitionError) as caught:
        tasks.get("cheapest_book")
    start = f"invalid task in tasks.json: unknown key '{misspelt}' @ the definition; did you mean '{name}'? known: "
    assert str(caught.value).startswith(start)


def test_definitions_that_differ_have_different_checksums():
    whole = SHORT | {"sites": ["bookshop"], "revision": 1}
    checksums = {read_task(task, "a test").checksum for task in (SHORT, whole, whole | {"revision": 2})}
    assert len(checksums) == 3


@pytest.mark.parametrize(
    ("data", "schema"),
    [
        (None, {"type": "null"}),
        ([], {"type": "null"}),
        ([4.5], {"type": "number"}),
        ([4, 5.5], {"type": "number"}),
        ([True], {"type": "boolean"}),
        (["a", None], {"type": "string"}),
        ([None], {}),
        (["a", ["b", "c"]], {"type": "string"}),
        ([[1, 2], 3], {"type": "number"}),
        ([{"a": 1}], {"type": "object", "properties": {"a": {"type": "number"}}}),
        (
            [{"a": 1}, {"a": None, "b": ["x"]}],
            {
                "type": "object",
                "properties": {"a": {"type": "number"}, "b": {"type": "array", "items": {"type": "string"}}},
            },
        ),
        (
            [{"a": []}, {"a": [2]}],
            {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "number"}}}},
        ),
    ],
    ids=repr,
)
def test_without_a_schema_the_types_of_the_data_count(data, schema):
    expected = schema if schema == {"type": "null"} else {"type": "array", "items": schema}
    assert read_answer(retrieved_data=data).results_schema == expected


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ([1, "a"], "retrieved_data has data of the types number and string"),
        ([["a", 1]], "retrieved_data has data of the types string and number"),
        ([{"a": 1}, {"a": "x"}], "'a' has data of the types number and string"),
        ([{"a": [1, True]}], "a list has data of the types number and boolean"),
    ],
    ids=repr,
)
def test_data_of_several_types_need_a_schema(data, problem):
    with pytest.raises(EvaluationError) as caught:
        read_answer(retrieved_data=data)
    assert str(caught.value) == f"invalid task definition: {problem}; write results_schema @ eval[0]"


def test_objects_with_many_names_are_read_quickly():
    started = time.process_time()
    schema = infer_results_schema([{f"name {number}": [{f"part {number}": 1}]} for number in range(10_000)])
    assert time.process_time() - started < 5  # a tenth of a second; a minute if anything were quadratic
    assert len(schema["items"]["properties"]) == 10_000


def test_data_that_nest_too_deep_need_a_schema():
    nested: object = 1
    for _ in range(60):
        nested = {"a": nested}
    with pytest.raises(ValueError, match="nests deeper than 50 levels; write results_schema"):
        infer_results_schema([nested])


def test_a_schema_that_is_null_is_refused():
    entry = ANSWER | {"results_schema": None}
    with pytest.raises(EvaluationError, match=r"should be a valid dictionary @ eval\[0\]\.results_schema"):
        Expectation("AgentResponseEvaluator", 0, entry).read_as(ResponseExpectation)


@pytest.mark.parametrize(
    ("answered", "expected", "status"),
    [
        ([4.5], {"retrieved_data": [4.5]}, "success"),
        (["4.5"], {"retrieved_data": [4.5]}, "success"),
        ([5], {"retrieved_data": [4.5]}, "failure"),
        (["Emma"], {"retrieved_data": [["emma", "Emma, a novel"]]}, "success"),
        (None, {}, "success"),
        ([4.5], {}, "failure"),
        (["x"], {"retrieved_data": []}, "failure"),
        ([], {"retrieved_data": []}, "success"),
        (None, {"retrieved_data": [4.5]}, "failure"),
        ([4.5], {"retrieved_data": [4.5], "status": "NOT_FOUND_ERROR"}, "failure"),
    ],
)
def test_an_answer_is_scored_by_a_short_expectation(bench, answered, expected, status):
    entry = {"evaluator": "AgentResponseEvaluator", "expected": {"task_type": "retrieve", **expected}}
    response = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": answered}
    assert bench.answer(response, entry).status == status


def test_an_entry_with_a_schema_still_says_what_it_expects(bench):
    response = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": None}
    entry = ANSWER | {"expected": {"task_type": "retrieve"}, "results_schema": {"type": "null"}}
    assert bench.answer(response, entry).status == "failure"
    assert bench.answer(response, {name: entry[name] for name in ("evaluator", "expected")}).status == "success"


SHORTEST = {"evaluator": "AgentResponseEvaluator", "expected": {"task_type": "retrieve"}}


@pytest.mark.parametrize(("more", "quirks"), [({}, []), ({"results_schema": {"type": "null"}}, ["Q16"])], ids=repr)
def test_only_an_entry_with_a_schema_can_be_one_that_no_response_passes(bench, more, quirks):
    reason = unpassable_reason(read_task(bench.task(SHORTEST | more), "a test"))
    assert re.findall(r"^Q\d+", reason or "") == quirks
    bench.record({"task_type": "RETRIEVE", "status": "NOT_FOUND_ERROR", "retrieved_data": None})
    case = bench.case(bench.task(SHORTEST | more))
    (result,) = score(case, default_evaluators()).evaluators_results
    explanation = json.dumps(result.explanation.to_json()).lower()
    assert ("not_found_error" in explanation, "retrieved_data" in explanation) == (True, bool(quirks))
