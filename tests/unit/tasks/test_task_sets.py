"""A task set keeps its definitions in little memory, and has them as they were written."""

from __future__ import annotations

import json
import tracemalloc
from math import isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.tasks import dataset
from pytest_webeval.tasks.dataset import parse_tasks
from pytest_webeval.tasks.dataset_files import read_task_file

TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda trees: st.lists(trees) | st.dictionaries(st.text(), trees),
    max_leaves=8,
)


def row(task_id):
    return {"id": task_id, "ques": f"find {task_id}", "web": "http://shop.test", "web_name": "Shop"}


def task_set(*ids):
    return parse_tasks(json.dumps([row(each) for each in ids]).encode(), "tasks.json")


def load_fields(*rows):
    """What is kept of rows of a file."""
    return [row.load().fields for _, row in read_task_file(json.dumps(rows).encode(), "tasks.json").rows]


@given(fields=st.dictionaries(st.text(), TREES))
def test_what_a_row_says_is_kept_exactly(fields):
    (kept,) = load_fields(fields | {"task_id": 7})
    assert kept == fields | {"task_id": 7}
    assert json.dumps(kept) == json.dumps(fields | {"task_id": 7})


def test_what_is_no_number_and_half_of_a_pair_is_kept():
    kept, other = load_fields({"task_id": 7, "a": nan, "b": "\ud800", "c": 10**400}, {"task_id": 8})
    assert isnan(kept["a"])
    assert (kept["b"], kept["c"], other) == ("\ud800", 10**400, {"task_id": 8})


def test_many_rows_are_kept_in_little_memory_and_read_one_by_one():
    content = json.dumps(
        [row(f"shop_{number}") | {"eval": [{"expected": {}}] * 50} for number in range(1_000)]
    ).encode()
    tracemalloc.start()
    try:
        rows = read_task_file(content, "tasks.json").rows
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(rows) == 1_000
    assert kept < 1.5 * len(content)
    assert most < 3 * len(content)


def test_the_latest_tasks_are_ready_and_the_others_are_read_again(monkeypatch):
    monkeypatch.setattr(dataset, "MAX_READY_TASKS", 2)
    tasks = task_set("a", "b", "c")
    first, second = tasks.get("a"), tasks.get("b")
    assert tasks.get("a") is first
    third = tasks.get("c")
    assert (tasks.get("b") is second, tasks.get("c") is third) == (True, True)
    again = tasks.get("a")
    assert again is not first
    assert again == first


@pytest.mark.parametrize(
    ("written", "found"), [("7", 7), ("-7", -7), (8, "8"), ("x-1", "x-1"), ("1" * 700, "1" * 700)], ids=repr
)
def test_a_number_and_its_text_are_one_id(written, found):
    own = {"task_id": found, "eval": [], "intent": ""} if isinstance(found, int) else row(found)
    tasks = parse_tasks(json.dumps([own]).encode(), "tasks.json")
    assert written in tasks
    assert tasks.task_ids == (found,)


@pytest.mark.parametrize(
    "other",
    ["07", " 7", "7.0", "\N{ARABIC-INDIC DIGIT SEVEN}", "+7", "-", "", "7" * 5_000, 70],
    ids=lambda each: repr(each)[:9],
)
def test_another_text_of_a_number_is_another_id(other):
    tasks = parse_tasks(json.dumps([{"task_id": 7, "eval": []}]).encode(), "tasks.json")
    assert other not in tasks
    with pytest.raises(TaskDefinitionError, match="is not"):
        tasks.get(other)


def test_a_list_is_read_in_each_encoding_of_json():
    assert parse_tasks(json.dumps([row("a")]).encode("utf-16"), "tasks.json").task_ids == ("a",)


def test_a_list_that_is_not_utf_8_is_refused_with_the_place_in_the_file():
    problem = (
        r"^cannot parse tasks\.json as JSON: 'utf-8' codec can't decode byte 0xff in position 9: .*; fix the file$"
    )
    with pytest.raises(TaskDefinitionError, match=problem):
        parse_tasks(b'[{"id": "\xff"}]', "tasks.json")
