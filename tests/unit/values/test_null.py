"""Null: spec §5.13."""

from __future__ import annotations

import pytest

from pytest_webeval.errors import ValueParseError
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.null import NullValue


@pytest.mark.parametrize("raw", ["", "N/A", "NaN", "none", " n / a ", {}, None, "\tNULL\n", "na"])
def test_nothing_and_the_words_for_it_match_null(raw):
    assert NullValue.read(None, ParseContext()).matches(NullValue.read(raw, ParseContext()))


@pytest.mark.parametrize("raw", [0, 0.0, False, "-", "None.", "undefined", "n-a", "null™", "^$", [], float("nan")])
def test_zero_false_and_other_words_are_not_null(raw):
    with pytest.raises(ValueParseError, match="null"):
        NullValue.read(raw, ParseContext())


@pytest.mark.parametrize("raw", [[], [None], [None, ""], "^.*$"])
def test_neither_a_list_nor_a_pattern_of_an_agent_is_null(raw):
    with pytest.raises(ValueParseError, match="is not null; write it as null"):
        NullValue.read(raw, ParseContext(patterns=False, alternatives=False))


def test_an_empty_list_among_alternatives_is_null():
    assert NullValue.read([[], ""], ParseContext()).matches(NullValue.read(None, ParseContext()))


def test_a_report_shows_null():
    assert NullValue.read("n/a", ParseContext()).to_json() is None
