"""The agent's answer on the page of its task: in its own words, bounded, whatever it is."""

# ruff: noqa: E501  (rows of a table read best in one line)

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from pytest_webeval import load_run
from pytest_webeval.reports.html.task_page import (
    LONGEST_NAME,
    LONGEST_TEXT,
    MOST_FIELDS,
    final_answer,
    recorded_answer,
    result_in_words,
)


@pytest.fixture
def answered(tmp_path):
    """What the page has of a response, written as JSON unless it is a text."""

    def read(response: Any, rules: str = "default") -> Any:
        path = tmp_path / "107"
        path.mkdir(exist_ok=True)
        (path / "network.har").write_text('{"log": {"entries": []}}')
        (path / "agent_response.json").write_text(response if isinstance(response, str) else json.dumps(response))
        return recorded_answer(load_run(path, rules))

    return read


@pytest.mark.parametrize(
    ("response", "rules", "words"),
    [
        ({"task_type": "a", "status": "b", "retrieved_data": [1]}, "default", {}),
        ({"action": "a", "status": "b", "results": [1]}, "default", {"task_type": "action", "retrieved_data": "results"}),
        ({"performed_operation": "a", "action": "c"}, "default", {"task_type": "performed_operation"}),
        ({"task_type": "a", "results": [1]}, "default", {"retrieved_data": "results"}),
        ({"action": "a", "results": [1]}, "reference", {}),
        ({"performed_operation": "a", "results": [1]}, "reference", {"task_type": "performed_operation"}),
    ],
)  # fmt: skip
def test_fields_have_the_names_that_the_agent_wrote(answered, response, rules, words):
    answer = answered(response, rules)
    assert answer.data == {"fields": [{"name": name, "value": response[name]} for name in response], "more": 0}
    assert answer.words == words


@pytest.mark.parametrize(
    ("response", "value"),
    [
        ("I am done.", "I am done."),
        ("", ""),
        ("[1, 2]", [1, 2]),
        ("null", None),
        ('```json\n{"a": 1', '```json\n{"a": 1'),
    ],
)
def test_what_is_no_object_is_a_value(answered, response, value):
    assert answered(response).data == {"value": value}


def test_an_answer_in_a_fence_is_read_as_it_was_for_the_verdict(answered):
    assert answered('Done:\n```json\n{"status": "SUCCESS"}\n```').data["fields"] == [
        {"name": "status", "value": "SUCCESS"}
    ]


def test_a_huge_answer_is_bounded(answered):
    fields = {f"{number} {'n' * 500}": ["A" * 20_000] * 3 for number in range(50)} | {"text": "B" * 100_000}
    data = answered({"text": "B" * 100_000, **fields}).data
    assert (len(data["fields"]), data["more"]) == (MOST_FIELDS, 51 - MOST_FIELDS)
    assert all(len(field["name"]) <= LONGEST_NAME for field in data["fields"])
    assert all(len(json.dumps(field["value"])) < 1.2 * LONGEST_TEXT for field in data["fields"])
    assert len(answered("C" * 100_000).data["value"]) < LONGEST_TEXT + 50


@pytest.mark.parametrize("spoil", ["missing", "link", "pipe", "deep"])
def test_a_response_that_cannot_be_read_is_none(answered, tmp_path, spoil):
    answered({})
    path = tmp_path / "107" / "agent_response.json"
    path.unlink()
    if spoil == "link":
        (tmp_path / "other.json").write_text('{"status": "SUCCESS"}')
        path.symlink_to(tmp_path / "other.json")
    elif spoil == "pipe":
        os.mkfifo(path)
    elif spoil == "deep":
        path.write_text("[" * 100_000)
    data = recorded_answer(load_run(tmp_path / "107")).data
    assert data is None or (spoil == "deep" and len(data["value"]) < LONGEST_TEXT + 50)


def test_reading_for_the_page_is_no_input_of_the_result(answered, tmp_path):
    answered({})
    run = load_run(tmp_path / "107")
    recorded_answer(run)
    assert run.inputs.checksums == {}


@pytest.mark.parametrize(
    ("trajectory", "answer"),
    [
        (None, None),
        ({}, None),
        ({"answer": "39.95 EUR"}, {"value": "39.95 EUR"}),
        ({"answer": "<no_answer>"}, {"value": ""}),
        ({"answer": None}, {"value": ""}),
        ({"answer": ["x"]}, {"value": ""}),
    ],
)
def test_a_trajectory_has_its_final_answer(trajectory, answer):
    assert final_answer(trajectory) == answer


def test_a_long_final_answer_is_cut():
    assert len(final_answer({"answer": "A" * 100_000})["value"]) < LONGEST_TEXT + 50


def test_an_answer_of_a_result_has_the_names_that_the_agent_wrote():
    result = {"action": "retrieve", "status": "SUCCESS", "results": [{"action": 1}], "error_details": None}
    assert list(result_in_words(result, {})) == ["task_type", "status", "retrieved_data", "error_details"]
    assert result_in_words(result, {"task_type": "action", "retrieved_data": "results"}) == result
    assert result_in_words(result, {})["retrieved_data"] == [{"action": 1}]
    assert [result_in_words(value, {}) for value in (None, "x", ["action"])] == [None, "x", ["action"]]
