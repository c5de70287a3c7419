"""Lists in a text: spec §5.13."""

from __future__ import annotations

import pytest

from pytest_webeval.errors import ValueParseError
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.string_list import StringListValue


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ("3,2,1", "1, 2,3", True),
        ("a,b", "B,A", True),
        ("a", "a,a", False),
        ("a,b", "a,,b", True),
        ("a,b", "a;b", False),
        ("a,b", "a\uff0cb", True),
        ("9,10", "10,9", True),
        ("1,2", "[1,2]", False),
        ("1,2", "1,2.", False),
        ("1", 1, True),
        ("1.5", 1.5, True),
        ("true", True, False),
        (True, True, True),
        (["1,2", "3"], "2,1", True),
        ("['a, 'b']", [["a", "b"], "c"], False),
        ("'b'],['a'", [["a", "b"], "c"], True),
        ("^1.*$", "1,2", False),
    ],
)
def test_lists_match_whatever_their_order(expected, actual, equal):
    assert StringListValue.read(expected, ParseContext()).matches(StringListValue.read(actual, ParseContext())) is equal


@pytest.mark.parametrize("raw", [None, "", " , ", 0, False, {}, "™", ["a"], [0, 1]])
def test_nothing_is_no_list(raw):
    with pytest.raises(ValueParseError, match=r"is an empty list; write it as a,b,c|list of 1"):
        StringListValue.read(raw, ParseContext())


@pytest.mark.parametrize("raw", [["a", "b"], ["a"], []])
def test_a_list_of_an_agent_is_no_text_that_lists(raw):
    with pytest.raises(ValueParseError, match=r"is a list instead of one value|is an empty list"):
        StringListValue.read(raw, ParseContext(patterns=False, alternatives=False))


def test_a_report_shows_the_first_alternative_as_a_list():
    assert StringListValue.read(["B, a,,é", "c"], ParseContext()).to_json() == ["a", "b", "e"]
