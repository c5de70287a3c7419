"""Months: spec §5.9."""

from __future__ import annotations

import pytest

from pytest_webeval.errors import ValueParseError
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.month import MonthValue


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ("January", "Jan", True),
        ("January", "01", True),
        ("January", 1, True),
        ("January", 1.0, True),
        ("September", "Sept", True),
        ("September", "Sep.", True),
        ("May", "2023-05", True),
        ("May", "5/6/2023", True),
        ("January", "January 2023", True),
        ("January", "Monday", True),
        ("February", "Feb 29", True),
        ("January", True, True),
        (["Jan", "Feb"], "02", True),
        ("May", "June", False),
    ],
)
def test_months_match_by_name(expected, actual, equal):
    assert MonthValue.read(expected, ParseContext()).matches(MonthValue.read(actual, ParseContext())) is equal


@pytest.mark.parametrize(
    "raw",
    [
        "15",
        "0",
        13,
        0.0,
        -1,
        1.5,
        False,
        "Janu",
        "",
        None,
        {},
        "^May$",
        ["May"],
        float("inf"),
        float("nan"),
        "1" * 10_001,
    ],
)
def test_other_numbers_and_words_are_no_months(raw):
    with pytest.raises(ValueParseError, match=r"month|date"):
        MonthValue.read(raw, ParseContext())


@pytest.mark.parametrize("raw", [[4, 5], "^.*$"])
def test_neither_a_list_nor_a_pattern_of_an_agent_is_a_month(raw):
    with pytest.raises(ValueParseError):
        MonthValue.read(raw, ParseContext(patterns=False, alternatives=False))


def test_a_report_shows_the_english_name():
    assert MonthValue.read("12", ParseContext()).to_json() == "December"
