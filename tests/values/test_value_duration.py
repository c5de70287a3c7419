"""Durations: the table of spec §5.6."""

import pytest

from pytest_webeval.errors import ValueUnreadable
from pytest_webeval.values.base import Reading
from pytest_webeval.values.duration import DurationValue

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
]
REFUSED = ["2 hours and 30 minutes", "about 5 minutes", "5 minutes.", 5, "5", "half an hour", None, "", "9" * 20_000]


@pytest.mark.parametrize(("expected", "actual", "equal"), TABLE)
def test_durations_match_within_three_minutes_or_a_tenth(expected, actual, equal):
    assert DurationValue.read(expected, Reading()).matches(DurationValue.read(actual, Reading())) is equal


@pytest.mark.parametrize("raw", REFUSED, ids=lambda raw: repr(raw)[:40])
def test_anything_but_a_length_of_time_is_refused(raw):
    with pytest.raises(ValueUnreadable, match=r"duration|characters"):
        DurationValue.read(raw, Reading())


def test_a_duration_is_shown_as_hours_minutes_and_seconds():
    assert DurationValue.read("2h32m", Reading()).to_json() == "2:32:00"
