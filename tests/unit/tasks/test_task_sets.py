"""A task set keeps its definitions in little memory, and has them as they were written."""

from __future__ import annotations

import json
from math import isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.tasks import benchmarks, dataset
from pytest_webeval.tasks.benchmarks import Packing
from pytest_webeval.tasks.dataset import parse_tasks

DEEPER_THAN_MARSHAL = 2_500
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda trees: st.lists(trees) | st.dictionaries(st.text(), trees),
    max_leaves=8,
)


def row(task_id):
    return {"id": task_id, "ques": f"find {task_id}", "web": "http://shop.test", "web_name": "Shop"}


def task_set(*ids):
    return parse_tasks(json.dumps([row(each) for each in ids]).encode(), "tasks.json")


PACKINGS = (Packing(), Packing(b"http://shop.test/ reads"))


@given(fields=st.dictionaries(st.text(), TREES), packing=st.sampled_from(PACKINGS))
def test_what_a_row_says_is_kept_exactly(fields, packing):
    kept = packing.unpack(packing.pack(fields))
    assert kept == fields
    assert json.dumps(kept) == json.dumps(fields)


@pytest.mark.parametrize("packing", PACKINGS)
def test_what_is_no_number_and_half_of_a_pair_is_kept(packing):
    kept = packing.unpack(packing.pack({"a": nan, "b": "\ud800", "c": 10**400}))
    assert isnan(kept["a"])
    assert (kept["b"], kept["c"]) == ("\ud800", 10**400)


@pytest.mark.parametrize("packing", PACKINGS)
def test_what_is_nested_too_deep_is_kept_as_it_is(packing):
    deep = []
    for _ in range(DEEPER_THAN_MARSHAL):
        deep = [deep]
    fields = {"a": deep}
    assert packing.unpack(packing.pack(fields)) is fields


def test_a_row_is_kept_in_little_memory():
    fields = {"eval": [{"evaluator": "x", "expected": {"a": 1}} for _ in range(20)]}
    packed = Packing().pack(fields)
    assert isinstance(packed, bytes)
    assert len(packed) < len(json.dumps(fields))


def test_very_many_rows_are_compressed_by_what_they_have_in_common(monkeypatch):
    monkeypatch.setattr(benchmarks, "COMPRESSED_FROM", 2)
    few, many = task_set("a", "b"), task_set("a", "b", "c")
    sizes = [len(tasks._rows["b"].packed_fields) for tasks in (few, many)]
    assert sizes[1] < sizes[0] / 2
    assert many.get("b") == few.get("b")


def test_a_first_row_that_is_nested_too_deep_is_no_pattern(monkeypatch):
    monkeypatch.setattr(benchmarks, "COMPRESSED_FROM", 0)
    deep = []
    for _ in range(DEEPER_THAN_MARSHAL):
        deep = [deep]
    row_with_depth = benchmarks.DatasetRow({"a": deep}, "[0]", "tasks.json", benchmarks.WebArenaRows())
    assert Packing.of([row_with_depth]) == Packing()


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
