"""`task_data.json`: `fara_webeval.md` §2.6."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.recordings.trajectory.side_files import TaskData, read_task_data

RUBRIC = {"items": [{"criterion": "Find it", "max_points": 3}], "total_max_points": 3}


def read(**fields):
    return read_task_data(json.dumps(fields).encode())


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"task_proposal": "a", "task_summary": "b", "initial_task_proposal": "c"}, "a"),
        ({"task_proposal": "", "task_summary": "b", "initial_task_proposal": "c"}, "b"),
        ({"task_proposal": None, "task_summary": " \n", "initial_task_proposal": "c"}, "c"),
        ({"task_proposal": ["a"], "task_summary": 7, "initial_task_proposal": "c"}, "c"),
        ({"task_proposal": " a "}, " a "),
        ({"task_proposal": ""}, None),
        ({}, None),
    ],
)
def test_the_task_is_the_first_text_that_says_something(fields, text):
    found = read(**fields)
    assert (found.text, found.raw, found.warnings) == (text, fields, ())


@pytest.mark.parametrize(
    ("raw", "url"), [("https://shop.test/", "https://shop.test/"), ("", None), (None, None), (["x"], None)]
)
def test_a_start_address_is_a_text_that_is_not_empty(raw, url):
    assert read(init_url=raw).init_url == url


@pytest.mark.parametrize(
    ("raw", "rubric"),
    [(RUBRIC, RUBRIC), ([RUBRIC, {"items": []}], RUBRIC), ({}, {}), ([], None), (None, None), ([None, RUBRIC], None)],
)
def test_a_rubric_is_an_object_or_the_first_of_a_list(raw, rubric):
    found = read(precomputed_rubric=raw)
    assert found.rubric == rubric
    assert found.warnings == ()


@pytest.mark.parametrize("raw", ["{}", 7, True, [[RUBRIC]], ["x"]])
def test_a_rubric_that_is_none_is_told_of(raw):
    found = read(precomputed_rubric=raw, task_summary="b")
    assert (found.rubric, found.text) == (None, "b")
    told = "expected an object or a list of objects; the rubric is ignored @ precomputed_rubric"
    assert found.warnings == (f"task_data.json: {told}",)


def test_points_are_read_exactly():
    found = read_task_data(b'{"precomputed_rubric": {"earned": 0.1, "max": 3}, "rubric_score": [8e-1]}')
    assert found.rubric == {"earned": Decimal("0.1"), "max": 3}
    assert found.rubric["earned"] * 3 == Decimal("0.3")
    assert found.raw["rubric_score"] == [Decimal("0.8")]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is not valid JSON: Expecting value: line 1 column 1 (char 0); ignored"),
        (b'{"task_summary": "b"', "is not valid JSON: "),
        (b"\xff", "is not valid JSON: "),
        (b"[" * 100_000, "is not valid JSON: "),
        (b"[1]", "is not a JSON object; ignored"),
        (b'{"x": 1e99999999999999999999}', "has a number with an out-of-range exponent; ignored"),
    ],
)
def test_a_damaged_file_says_nothing_but_a_warning(content, told):
    found = read_task_data(content)
    assert found == TaskData(warnings=found.warnings)
    assert [text.startswith(f"task_data.json: {told}") for text in found.warnings] == [True]


def test_what_is_no_number_is_null():
    assert read_task_data(b'\xef\xbb\xbf{"rubric_score": NaN, "x": -Infinity}').raw == {"rubric_score": None, "x": None}


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
KEYS = st.sampled_from(["task_proposal", "init_url", "precomputed_rubric", "encountered_captcha"])
OBJECTS = st.dictionaries(KEYS, VALUES | st.lists(VALUES, max_size=2) | st.dictionaries(st.text(max_size=3), VALUES))


@given(st.binary(max_size=40) | OBJECTS.map(lambda raw: json.dumps(raw).encode()))
def test_any_bytes_are_task_data(content):
    found = read_task_data(content)
    assert found.text is None or found.text.strip()
    assert found.rubric is None or isinstance(found.rubric, dict)
    assert all(text.isprintable() for text in found.warnings)
