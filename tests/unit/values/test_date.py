"""Dates: spec §5.5."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from pytest_webeval.errors import ValueParseError
from pytest_webeval.values.base import ParseContext, present_day
from pytest_webeval.values.date import DateValue


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ("2023-01-05", "Jan 5, 2023", True),
        ("2023-01-05", "01/05/2023", True),
        ("2023-01-05", "05/01/2023", False),
        ("2023-05-01", "05/01/2023", True),
        ("2023-01-13", "13/01/2023", True),
        ("March 2, 2022", "2 Mar 2022", True),
        ("January 5th, 2023", "Jan 5,2023", True),
        ("2023-01-05", "2023-01-05T23:59:00Z", True),
        ("2023-01-05", "2023-01-05T23:59:00-08:00", True),
        ("2023-01-05", "2023-01-05T10:00+24:00", True),
        ("2023-01-05", "20230105", True),
        ("2023-05-01", "05.01.2023", True),
        (["2023-01-05", "2023-01-06"], "Jan 6 2023", True),
    ],
)
def test_dates_match_when_they_are_the_same_day(expected, actual, equal):
    assert DateValue.read(expected, ParseContext()).matches(DateValue.read(actual, ParseContext())) is equal


@pytest.mark.parametrize(
    "raw",
    [
        20230105,
        "Jan 5 - Jan 6 2023",
        "yesterday",
        "^2023.*$",
        "2023-02-30",
        "",
        None,
        True,
        5.0,
        {},
        ["2023-01-05"],
        "9" * 10_000,
        "9" * 10_001,
    ],
)
def test_numbers_ranges_patterns_and_days_that_do_not_exist_are_no_dates(raw):
    with pytest.raises(ValueParseError, match="date"):
        DateValue.read(raw, ParseContext())


@pytest.mark.parametrize("raw", ["^.*$", ["2023-01-05", "2023-01-06"]])
def test_neither_a_pattern_nor_a_list_of_an_agent_is_a_date(raw):
    with pytest.raises(ValueParseError, match="is not a date"):
        DateValue.read(raw, ParseContext(patterns=False, alternatives=False))


@pytest.mark.parametrize(
    ("partial", "iso"),
    [("March 2022", "2022-03-21"), ("Monday", "2026-07-27"), ("12:30", "2026-07-21"), ("5", "2026-07-05")],
)
def test_missing_parts_are_those_of_today(partial, iso):
    assert DateValue.read(partial, ParseContext(today=date(2026, 7, 21))).to_json() == iso


def test_a_day_that_the_month_lacks_becomes_its_last():
    assert DateValue.read("February 2023", ParseContext(today=date(2026, 7, 31))).alternatives == (date(2023, 2, 28),)


def test_today_is_read_from_the_clock():
    before = datetime.now().astimezone().date()
    assert before <= present_day() <= ParseContext().today <= datetime.now().astimezone().date()


def test_a_report_shows_the_first_date():
    assert DateValue.read(["Jan 5 2023", "Jan 6 2023"], ParseContext()).to_json() == "2023-01-05"


def test_a_refusal_says_what_to_write():
    with pytest.raises(ValueParseError) as refusal:
        DateValue.read("yesterday", ParseContext())
    assert str(refusal.value) == "'yesterday' is not a date; write it as 2023-01-31"
