"""JSON in a text: spec §5.13."""

from __future__ import annotations

import pytest

from pytest_webeval.errors import ValueParseError
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.json import JsonValue


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ('{"a":2,"b":1}', '{"b": 1, "a": 2}', True),
        ('{"a":{"b":2,"c":1}}', '{"a":{"c":1,"b":2}}', True),
        ("[1,2]", "[2,1]", False),
        ('{"a":1}', '{"a":1.0}', False),
        ('{"a":"x"}', '{"A":"X"}', True),
        ('{"a":"b c"}', '{"a":"b-c"}', True),
        ('"e"', '"é"', True),
        ('"e"', '"\\u00e9"', False),
        ('"a"', "“A”", True),
        ("[true, null]", "[TRUE,Null]", True),
        ('{"a":2}', '{"a":1,"a":2}', True),
        ("{}", '{"a":null}', False),
        ("1e400", "1e500", True),
        (['{"a":1}', '{"b":1}'], '{"b": 1}', True),
    ],
)
def test_json_matches_whatever_the_order_of_its_keys(expected, actual, equal):
    assert JsonValue.read(expected, ParseContext()).matches(JsonValue.read(actual, ParseContext())) is equal


@pytest.mark.parametrize(
    "raw",
    [
        {"a": 1},
        1,
        None,
        "",
        "not json",
        "{'a': 1}",
        "[1e-5]",
        "[NaN]",
        "01",
        '^"a"$',
        "[" * 100_000,
        "9" * 5_000,
        [1, 2],
        ["1"],
    ],
    ids=lambda raw: repr(raw)[:40],
)
def test_anything_but_a_text_with_json_is_refused(raw):
    with pytest.raises(ValueParseError, match=r"JSON|list of 1"):
        JsonValue.read(raw, ParseContext())


def test_a_list_of_an_agent_is_no_json():
    with pytest.raises(ValueParseError, match="is not a string with JSON"):
        JsonValue.read(["1", "2"], ParseContext(patterns=False, alternatives=False))


def test_a_report_shows_the_json_with_its_keys_in_order():
    assert JsonValue.read('{"B": [1, 2.0], "a": null}', ParseContext()).to_json() == '{"a":null,"b":[1,2.0]}'
