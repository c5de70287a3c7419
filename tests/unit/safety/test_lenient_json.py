"""`load_lenient` remembers which members of objects were no finite numbers, and leaves nothing but JSON."""

from __future__ import annotations

import json
import pickle

import msgspec
import pytest

from pytest_webeval.safety.json import RepairedObject, load_lenient

WARNING = ("it has NaN or an out-of-range number, read as null",)
DIGITS = "9" * 400


@pytest.mark.parametrize(
    ("text", "value", "nonfinite"),
    [
        ('{"a": NaN, "b": 1}', {"a": None, "b": 1}, {"a"}),
        ('{"a": Infinity, "b": -Infinity}', {"a": None, "b": None}, {"a", "b"}),
        (f'{{"a": 1e999, "b": {DIGITS}}}', {"a": None, "b": None}, {"a", "b"}),
        ('{"a": [1, [NaN]], "b": [2]}', {"a": [1, [None]], "b": [2]}, {"a"}),
        ('{"a": null, "b": NaN}', {"a": None, "b": None}, {"b"}),
    ],
)
def test_an_object_names_the_members_that_became_null(text, value, nonfinite):
    decoded = load_lenient(text)
    assert (decoded.value, decoded.warnings, decoded.has_nonfinite) == (value, WARNING, True)
    assert isinstance(decoded.value, RepairedObject)
    assert decoded.value.nonfinite == nonfinite


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("NaN", None),
        ("[NaN, [-Infinity], 1]", [None, [None], 1]),
        ('[{"a": [{"b": NaN}]}, {"c": 1}]', [{"a": [{"b": None}]}, {"c": 1}]),
    ],
)
def test_what_is_in_no_such_object_is_plain(text, value):
    decoded = load_lenient(text)
    assert (decoded.value, decoded.warnings) == (value, WARNING)
    assert not isinstance(decoded.value, RepairedObject)


def test_only_the_object_around_the_number_is_a_repaired_one():
    outer = load_lenient('{"a": {"b": NaN}, "c": {"d": 1}}').value
    assert [type(each) for each in (outer, outer["a"], outer["c"])] == [dict, RepairedObject, dict]


def test_json_without_such_numbers_is_plain():
    decoded = load_lenient('{"a": {"b": 1.5}}')
    assert (type(decoded.value), decoded.warnings, decoded.has_nonfinite) == (dict, (), False)


def test_a_repaired_object_can_be_written_and_sent():
    value = load_lenient('{"a": NaN, "b": {"c": [NaN]}}').value
    assert json.loads(msgspec.json.encode(value)) == json.loads(json.dumps(value)) == {"a": None, "b": {"c": [None]}}
    assert pickle.loads(pickle.dumps(value)).nonfinite == {"a"}
