"""An answer is a response, a text around one, or data with type and status around them."""

from __future__ import annotations

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.recorder.recording import build_response
from pytest_webeval.tasks.task import read_task

TASK = read_task(
    {
        "sites": [],
        "task_id": 1,
        "intent_template_id": 1,
        "start_urls": ["http://shop.test"],
        "intent": "Add a radio.",
        "intent_template": "Add a radio.",
        "instantiation_dict": {},
        "eval": [{"evaluator": "AgentResponseEvaluator", "expected": {"task_type": "mutate", "status": "SUCCESS"}}],
        "revision": 1,
    },
    "a test",
)
RESPONSE = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["7"], "error_details": None}
FENCED = 'I have it:\n```json\n{"action": "retrieve", "status": "SUCCESS", "results": [7]}\n```'


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ("Northlight", ["Northlight"]),
        ('{"reviewer": "Ruth"}', ['{"reviewer": "Ruth"}']),
        (7, [7]),
        (0, [0]),
        (False, [False]),
        ("", [""]),
        ([1, 2], [1, 2]),
        ([], []),
        ((1, 2), [1, 2]),
        (None, None),
        ({"reviewer": "Ruth"}, [{"reviewer": "Ruth"}]),
        ({"status": "pending", "order": 7}, [{"status": "pending", "order": 7}]),
        ({"action": "refund"}, [{"action": "refund"}]),
    ],
)
def test_data_get_type_and_status(value, data):
    assert build_response(value, None) == {
        "task_type": "RETRIEVE",
        "status": "SUCCESS",
        "retrieved_data": data,
        "error_details": None,
    }


@pytest.mark.parametrize(
    ("value", "response"),
    [
        (RESPONSE, RESPONSE),
        (FENCED, FENCED),
        (
            {"status": "not_found_error"},
            {"task_type": "MUTATE", "status": "not_found_error"},
        ),
        ({"action": "retrieve", "results": [7]}, {"status": "SUCCESS", "action": "retrieve", "results": [7]}),
    ],
)
def test_a_response_stays_as_it_is_and_gets_what_it_lacks(value, response):
    assert build_response(value, TASK) == response


def test_the_type_is_that_of_the_task():
    assert build_response(None, TASK)["task_type"] == "MUTATE"


def test_data_may_have_another_status_and_an_error():
    response = build_response(None, None, "NOT_FOUND_ERROR", "no such lamp")
    assert (response["status"], response["error_details"]) == ("NOT_FOUND_ERROR", "no such lamp")


@pytest.mark.parametrize("words", [{"status": "SUCCESS"}, {"error": "no such lamp"}])
def test_a_response_and_a_second_status_are_refused(words):
    with pytest.raises(SettingsError, match="put them into the response"):
        build_response(RESPONSE, None, **words)


def test_an_unknown_status_is_refused_with_the_known_ones():
    with pytest.raises(SettingsError, match="unknown status 'NOT_FOUND'; use one of SUCCESS, "):
        build_response(None, None, "NOT_FOUND")
