"""What a definition lacks is said at once and by name, for a task and for what it expects."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.errors import EvaluationError, TaskDefinitionError
from pytest_webeval.tasks.dataset import parse_tasks
from pytest_webeval.tasks.expectations import NetworkExpectation, ResponseExpectation
from pytest_webeval.tasks.task import Expectation

TASK = {
    "sites": ["shopping"],
    "task_id": 7,
    "intent_template_id": 1,
    "start_urls": ["__SHOPPING__"],
    "intent": "Find the lamp.",
    "intent_template": "Find the {{thing}}.",
    "eval": [{"evaluator": "AgentResponseEvaluator"}],
    "instantiation_dict": {"thing": "lamp"},
    "revision": 1,
}


@pytest.mark.parametrize(
    ("without", "lacking"),
    [
        (["intent", "eval", "sites"], "the fields 'intent' and 'eval'"),
        (["eval", "revision"], "the field 'eval'"),
    ],
)
def test_all_fields_that_a_task_lacks_are_named_in_one_message(without, lacking):
    task = {name: value for name, value in TASK.items() if name not in without} | {"instantiation_dict": "of no type"}
    tasks = parse_tasks(json.dumps([task]).encode(), "tasks.json")
    with pytest.raises(TaskDefinitionError) as caught:
        tasks.get(7)
    assert str(caught.value) == f"invalid task in tasks.json: task 7 lacks {lacking}; fix the definition"


@pytest.mark.parametrize(
    ("model", "config", "lacking"),
    [
        (ResponseExpectation, {"ordered": 3}, "the field 'eval[2].expected'"),
        (ResponseExpectation, {"expected": {}, "results_schema": {}}, "the field 'eval[2].expected.task_type'"),
        (NetworkExpectation, {"expected": {"http_method": "GET"}}, "the field 'eval[2].expected.url'"),
    ],
)
def test_all_fields_that_an_expectation_lacks_are_named_in_one_message(model, config, lacking):
    expectation = Expectation("A", 2, {"evaluator": "A"} | config)
    with pytest.raises(EvaluationError) as caught:
        expectation.read_as(model)
    assert str(caught.value) == f"invalid task definition: the definition lacks {lacking}"
