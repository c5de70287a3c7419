"""Booleans: spec §5.10."""

from __future__ import annotations

import pytest

from pytest_webeval.errors import ValueParseError
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.boolean import BooleanValue


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        (True, "yes", True),
        (True, "TRUE", True),
        (True, "y", True),
        (True, 1, True),
        (True, 2, True),
        (True, "on", True),
        (False, "off", True),
        (False, 0, True),
        (False, "0", True),
        (True, [False, True], True),
        (True, "no", False),
    ],
    ids=repr,
)
def test_booleans_match_when_both_are_true_or_both_false(expected, actual, equal):
    assert BooleanValue.read(expected, ParseContext()).matches(BooleanValue.read(actual, ParseContext())) is equal


@pytest.mark.parametrize("raw", ["n/a", "Yes.", "correct", None, "", {}, {"a": 1}, "^yes$", [True]])
def test_other_words_and_nothing_are_no_booleans(raw):
    with pytest.raises(ValueParseError, match="boolean"):
        BooleanValue.read(raw, ParseContext())


@pytest.mark.parametrize("raw", [[False, True], "^.*$"])
def test_neither_a_list_nor_a_pattern_of_an_agent_is_a_boolean(raw):
    with pytest.raises(ValueParseError, match="is not a boolean; write it as true or false"):
        BooleanValue.read(raw, ParseContext(patterns=False, alternatives=False))
