"""A text that names two different values is none (Q5), for each type: which texts still name one."""

from __future__ import annotations

from datetime import date

import pytest

from pytest_webeval.errors import ValueParseError
from pytest_webeval.values import value_type
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.date import list_dates

TODAY = date(2026, 11, 26)
AS_RECORDED = ParseContext(patterns=False, alternatives=False, today=TODAY)
ONE = ParseContext(patterns=False, alternatives=False, today=TODAY, signed_currency=True, one_value=True)

SEVERAL = {
    "date": [
        "2024-01-02 and 2024-02-01",
        "2024-01-02, 2024-02-01",
        "2024-01-02 2024-02-01",
        "2024-01-02/2024-02-01",
        "2024-01-02 - 2024-02-01",
        "2024-01-02;2024-02-01",
        "Jan 2, 2024 and 2024-02-01",
        "1/2/24 and 2024-02-01",
        "01/02/2024 2024-02-01",
        "2024-01-02 and 03",
        "Jan 5 and 6",
        "Monday and Tuesday",
        "5 and 6",
    ],
    "number": [
        "5 6",
        "5, 6",
        "5 or six",
        "five or six",
        "five and six",
        "zero or one",
        "between five and six",
        "one hundred, two hundred",
        "five hundred and six hundred",
        "two or 3 or four",
        "five apples and six pears",
    ],
    "currency": [
        "$10 - $20",
        "$10 or $20",
        "$10 $20",
        "$10-20",
        "$10/$20",
        "10 - 20 dollars",
        "10 or 20",
        "10;20",
        "10 and 20 total",
        "€5 or €6",
        "$1,000\u2013$2,000",
        "1,234 and 5,678",
        "-5 or 5",
        "2 x $25",
        "12/31/2023: $50",
        "$5 each, $10 total",
        "$10 (or 20)",
        "$10 (or $20)",
        "$10, or 20",
        "$10; or 20",
        "$10. Or 20",
        "$10, or maybe 20",
        "$10 (up to 20)",
        "$10 or up to 20",
        "10 (or 20)",
        "10, maybe 20",
        "10 perhaps 20",
        "10 versus 20",
        "10 vs. 20",
        "10 up to 20",
        "10or20",
        "10, to 20",
        "$10? 20?",
        "$10 -> 20",
        "$10 \u2192 20",
        "$10 \\ 20",
        "$10/20 each",
        "$10 - 20 per night",
        "$10 to 20 million",
        "$10 or 20 items",
        "10 to 20 items",
        "10.- or 20.-",
        "\u20ac 10,- \u2013 20,-",
        "CHF 1'234 or 1'500",
    ],
    "month": [
        "5 and 6",
        "5, 6",
        "5 6",
        "5 - 6",
        "5;6",
        "2024-01-02 and 2024-02-01",
        "May 5 2024 and 2024-06-01",
        "May and 6",
        "6 and May",
        "May, and 6",
        "May 2024 and 6",
        "Sept. and 12",
    ],
    "coordinates": [
        "40.7, -74.0 and 41, -75",
        "40.7 -74.0 41 -75",
        "40.7,-74.0;41,-75",
        "40.7, -74.0; 41.0, -75.0; 42, -76",
    ],
    "distance": ["10 km - 8 km", "10 km - 8000 m"],
}

SINGLE = {
    "date": {
        "Tuesday, January 2, 2024": "2024-01-02",
        "Tuesday - January 2, 2024": "2024-01-02",
        "10:00 on January 2, 2024": "2024-01-02",
        "2024-01-02 10:00 and 11:00": "2024-01-02",
        "2024-01-02T10:00:00-05:00": "2024-01-02",
        "20240102 101112": "2024-01-02",
        "Jan 2, 2024 / 2024-01-02": "2024-01-02",
        "2 of January, 2024": "2024-01-02",
        "March 2024": "2024-03-26",
    },
    "number": {
        "1 000 000.5": 1_000_000.5,
        "1,234": 1234.0,
        "+ 5": 5.0,
        "5 5.0": 55.0,
        "five apples": 5.0,
        "two hundred and five": 205.0,
        "six million two hundred": 6_000_200.0,
        "five thousand and six": 5006.0,
        "five point three": 5.3,
        "twenty-three": 23.0,
        "two hundred (200)": 200.0,
        "five, or 5": 5.0,
        "1e3": 1000.0,
    },
    "currency": {
        "about $50": "50",
        "$50 for 2 items": "50",
        "$10 and 3 items": "10",
        "$50 (10% off)": "50",
        "$10 and $10.00": "10",
        "USD 10.00 / $10.00": "10.00",
        "1.234,56 €": "1234.56",
        "$1 234.56": "1234.56",
        "£5": "5",
        "5 dollars": "5",
        "free": "0",
        "100 200": "100200",
        "50 for 2": "50",
        "$10 / 100 g": "10",
        "$10 / 100g": "10",
        "$10 / 3 pack": "10",
        "$10 / 12 months": "10",
        "10 / 12 months": "10",
        "$10 - 1 item": "10",
        "$10 to 5 people": "10",
        "$10 up to 5 people": "10",
        "$10 | 3 left": "10",
        "$10 & 2-day shipping": "10",
        "$10 + 2 for free": "10",
        "$10 (or $10.00)": "10",
        "$10 (2024-01-02)": "10",
        "10 on 1/2/2024": "10",
        "CHF 1'234.50": "1234.50",
        "1\u2019234.50": "1234.50",
        "12,- \u20ac": "12",
        "$5 kit": "5",
        "$20 M (medium)": "20",
        "$20 K-pop": "20",
        "5 m": "5",
    },
    "month": {
        "January 2023": "January",
        "5/6": "May",
        "5-6": "May",
        "March 5 and 6": "March",
        "5/6/2023": "May",
        "May and 5": "May",
        "May and 15": "May",
        "May 6": "May",
    },
    "coordinates": {
        "at 40.7, -74.0": {"latitude": 40.7, "longitude": -74.0},
        "route 66: 40.7, -74.0": {"latitude": 40.7, "longitude": -74.0},
        "40.7,-74.0 40.7,-74.0": {"latitude": 40.7, "longitude": -74.0},
        "40.7, -74.0, 10m": {"latitude": 40.7, "longitude": -74.0},
    },
    "distance": {"5 * 2 km": "10000.0", "1/2 mile": "804.672", "5 km + 200 m": "5200.0", "5 km - 5 km": "0.0"},
    "location-name": {
        "Portland, OR 97201": "portland, or 97201",
        "Bed Bath and Beyond": "bed bath and beyond",
        "Giant Eagle or Giant Egle": "giant eagle or giant egle",
    },
    "duration": {"1 hour, 30 minutes": "1:30:00", "1 week 3 days": "10 days, 0:00:00"},
    "boolean": {"yes": True},
}
# Types that take no text of several values for one of them anyway.
INVALID_ANYWAY = {
    "duration": "5 min or 10 min",
    "boolean": "yes and no",
    "distance": "5 km or 6 km",
    "null": "null or 5",
}


def rows(table):
    return [pytest.param(kind, text, id=f"{kind}: {text}") for kind, texts in table.items() for text in texts]


@pytest.mark.parametrize(("kind", "text"), rows(SEVERAL))
def test_a_text_of_an_agent_that_names_several_values_is_none(kind, text):
    value_type(kind).read(text, AS_RECORDED)  # as the reference has it
    with pytest.raises(ValueParseError, match=r"names several \w+: .*, .*; write one$") as caught:
        value_type(kind).read(text, ONE)
    assert caught.value.rule == "one_value"


@pytest.mark.parametrize(("kind", "text"), rows(SINGLE))
def test_a_text_with_one_value_in_prose_or_in_two_notations_is_that_value(kind, text):
    assert value_type(kind).read(text, ONE).to_json() == SINGLE[kind][text]


FACTORS = [
    "k",
    "m",
    "b",
    " thousand",
    "  million",
    " millions",
    " mio",
    "mm",
    " bn",
    " billion",
    " trillion",
    " hundred",
]
SHARES = ["1149.0%", "10 per cent", "12 percent", "10 pct", "10 \u2030"]


@pytest.mark.parametrize("text", [f"{sign}1149.0{factor}" for factor in FACTORS for sign in ("", "$")] + SHARES)
def test_an_amount_with_a_factor_is_not_the_amount_without_it(text):
    value_type("currency").read(text, AS_RECORDED)
    with pytest.raises(
        ValueParseError, match=r"has '.*' behind the amount; write the amount in digits alone$"
    ) as caught:
        value_type("currency").read(text, ONE)
    assert caught.value.rule == "one_value"


@pytest.mark.parametrize(("kind", "text"), INVALID_ANYWAY.items())
def test_several_values_are_invalid_where_no_parser_takes_one_of_them(kind, text):
    with pytest.raises(ValueParseError):
        value_type(kind).read(text, AS_RECORDED)


def test_the_message_names_the_values():
    with pytest.raises(ValueParseError) as caught:
        value_type("currency").read("$10 - $20", ONE)
    assert str(caught.value) == "'$10 - $20' names several amounts: 10, 20; write one"


@pytest.mark.parametrize(
    "text", ["2024-01-02" + " at" * 2_000 + " 2024-02-01", "1 " + "2 at " * 1_600], ids=["dates", "numbers"]
)
def test_a_date_of_very_many_parts_is_refused_before_any_is_read(text):
    with pytest.raises(ValueParseError, match="parts; write one date"):
        list_dates(text, TODAY)


def test_a_point_among_very_many_numbers_is_refused_before_any_is_read():
    with pytest.raises(ValueParseError, match="numbers; write one point"):
        value_type("coordinates").read("1 2 " * 2_000 + "40.7, -74.0", ONE)


def test_a_long_text_with_several_numbers_is_refused_before_any_is_read_but_not_one_with_a_point():
    one_point = "at " * 100 + "40.7, -74.0"
    assert value_type("coordinates").read(one_point, ONE).to_json() == {"latitude": 40.7, "longitude": -74.0}
    with pytest.raises(ValueParseError, match="has several numbers in more than 200 characters; write one point"):
        value_type("coordinates").read("at " * 63 + "40.7,-74.0;41,-75", ONE)
    with pytest.raises(ValueParseError, match="write one point"):
        value_type("coordinates").read(("1" * 390 + " ") * 20, ONE)
