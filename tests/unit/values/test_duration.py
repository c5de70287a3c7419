"""Durations: the table of spec §5.6."""

import pytest

from pytest_webeval.errors import ValueParseError
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.duration import DurationValue
from pytest_webeval.values.string import StringValue

TABLE = [
    ("10 min", "13 min", True),
    ("10 min", "13 min 1 s", False),
    ("1h", "66m", True),
    ("1h", "67 min", False),
    ("100h", "111h", True),
    ("34 min", "0:34:00", True),
    ("34 min", "00:34", False),
    ("01:33:00", "93 min", True),
    ("1h35m", "1:35 hours", True),
    ("2h30m", "2 hrs 30 mins", True),
    ("0 min", "3 min", True),
    (["5m", "2h"], "120 minutes", True),
    ("1h", "+0:60 hour", True),
    ("-1h", "-1:00 hours", True),
    ("26h", "1 day 2:00 hours", True),
    ("160 min", "1:100 hours", True),
    ("9999.9 s", "11111 s", False),
    ("0 s", "0.0000001 s", True),
    ("-999999999 days", "999999999 days", False),
]
REFUSED = [
    "1:35 hrs",
    "12:0h",
    "-5",
    "+1.5",
    "1e3",
    "1_000",
    "inf h",
    "nan s",
    "1e400 h",
    "1000000000 days",
    "999999999d 23h 59m 59.999s",
    {"a": 1},
    True,
    "2 hours and 30 minutes",
    "about 5 minutes",
    "5 minutes.",
    5,
    "5",
    "half an hour",
    None,
    "",
    "9" * 20_000,
]


@pytest.mark.parametrize(("expected", "actual", "equal"), TABLE)
def test_durations_match_within_three_minutes_or_a_tenth(expected, actual, equal):
    assert DurationValue.read(expected, ParseContext()).matches(DurationValue.read(actual, ParseContext())) is equal


@pytest.mark.parametrize("raw", REFUSED, ids=lambda raw: repr(raw)[:40])
def test_anything_but_a_length_of_time_is_refused(raw):
    with pytest.raises(ValueParseError, match=r"duration|characters"):
        DurationValue.read(raw, ParseContext())


def test_a_duration_does_not_match_a_value_of_another_type():
    assert not DurationValue.read("5 min", ParseContext()).matches(StringValue.read("5 min", ParseContext()))


def test_a_report_shows_the_first_duration_as_hours_minutes_and_seconds():
    assert DurationValue.read(["2h32m", "1h"], ParseContext()).to_json() == "2:32:00"
