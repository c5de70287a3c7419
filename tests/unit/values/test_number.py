"""Numbers: spec §5.3."""

from __future__ import annotations

import pytest

from pytest_webeval.errors import ValueParseError
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.number import NumberValue


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        (5, "5", True),
        (1234.5, "1,234.5", True),
        (1000, "1 000", True),
        (23, "twenty-three", True),
        (5, "five apples", True),
        (-5, "minus five", False),
        (5, "minus five", True),
        (1.5, "1,5", False),
        (15, "1,5", True),
        (1000.5, "1.000,5", False),
        (1.0005, "1.000,5", True),
        (0.3, 0.30000000000000004, False),
        (1, True, True),
        (0, False, True),
        (2, "²", True),
        (5, [4, 5], True),
        ([5, 6], 6, True),
        (1000, "1e3", True),
        (1000, "1_000", True),
        (5, "\u0665", True),
        (-5, "\u22125", True),
        (float("inf"), "inf", True),
        (2.5, "two point five", True),
    ],
)
def test_numbers_match_exactly(expected, actual, equal):
    assert NumberValue.read(expected, ParseContext()).matches(NumberValue.read(actual, ParseContext())) is equal


@pytest.mark.parametrize(
    "raw",
    [
        "5 apples",
        "$5",
        "5%",
        "",
        None,
        "½",
        {"a": 5},
        "thousand two",
        "million million",
        "^5$",
        10**400,
        [5],
        "x" * 10_001,
    ],
)
def test_units_signs_of_money_and_nothing_are_no_numbers(raw):
    with pytest.raises(ValueParseError, match="number"):
        NumberValue.read(raw, ParseContext())


@pytest.mark.parametrize("raw", [[4, 5], "^.*$"])
def test_neither_a_list_nor_a_pattern_of_an_agent_is_a_number(raw):
    with pytest.raises(ValueParseError):
        NumberValue.read(raw, ParseContext(patterns=False, alternatives=False))


def test_nan_equals_nothing_not_even_itself():
    nan = NumberValue.read(float("nan"), ParseContext())
    assert not nan.matches(nan)
    assert not nan.matches(NumberValue.read("nan", ParseContext()))


def test_a_refusal_says_what_to_write():
    with pytest.raises(ValueParseError) as refusal:
        NumberValue.read("5 apples", ParseContext())
    assert str(refusal.value) == "'5 apples' is not a number; write it as 1234.5, without a unit"


def test_a_text_has_at_most_10000_characters():
    longest = "5".ljust(10_000, ",")
    assert NumberValue.read(longest, ParseContext()).alternatives == (5.0,)
    with pytest.raises(ValueParseError, match="is too long for a number: 10001 characters; write at most 10000"):
        NumberValue.read(f"{longest},", ParseContext())


def test_a_refusal_shows_at_most_80_characters_of_a_text():
    with pytest.raises(ValueParseError) as refusal:
        NumberValue.read("x" * 1000, ParseContext())
    assert len(str(refusal.value).removesuffix(" is not a number; write it as 1234.5, without a unit")) == 80


def test_a_refusal_shortens_what_it_refuses_and_stays_on_one_line():
    with pytest.raises(ValueParseError) as refusal:
        NumberValue.read("a\nb" * 1000, ParseContext())
    assert len(str(refusal.value)) < 200
    assert "\n" not in str(refusal.value)


def test_a_refusal_can_name_a_number_too_long_to_print():
    with pytest.raises(ValueParseError, match="a huge int is too large"):
        NumberValue.read(10**5000, ParseContext())


def test_a_report_shows_the_first_alternative():
    assert NumberValue.read(["1", 2], ParseContext()).to_json() == 1.0


EXACT = ParseContext(exact_numbers=True)
TOO_MANY_DIGITS = 2**53 + 1


@pytest.mark.parametrize(
    "raw",
    [
        TOO_MANY_DIGITS,
        str(TOO_MANY_DIGITS),
        f"{TOO_MANY_DIGITS:,}",
        f"{TOO_MANY_DIGITS:,}".replace(",", " "),
        f"{TOO_MANY_DIGITS}.0",
        f" +{TOO_MANY_DIGITS} ",
    ],
    ids=["number", "text", "commas", "blanks", "fraction", "plus"],
)
def test_an_integer_beyond_a_float_keeps_its_digits(raw):
    expected = NumberValue.read(TOO_MANY_DIGITS, EXACT)
    assert expected.matches(NumberValue.read(raw, EXACT))
    assert not expected.matches(NumberValue.read(2**53, EXACT))
    assert not expected.matches(NumberValue.read(float(2**53), EXACT))
    assert not NumberValue.read(-TOO_MANY_DIGITS, EXACT).matches(NumberValue.read(raw, EXACT))
    assert NumberValue.read(TOO_MANY_DIGITS, ParseContext()).matches(NumberValue.read(2**53, ParseContext()))


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (1, 1.0),
        (1, True),
        (0.5, "0.5"),
        (10**22, 1e22),
        (10**22, "1e22"),
        ("1e400", "1e400"),
        (2**53, float(2**53)),
        (1e23, 1e23),
        ("1e23", 1e23),
        (1e23, f"{10**23:,}"),
        (1e23, 10**23),
        (10**23, 1e23),
        ("6.02e23", 6.02e23),
        (6.02e23, 602 * 10**21),
        (-6.02e23, "-602,000,000,000,000,000,000,000"),
        ("1e300", 1e300),
        (1e300, 10**300),
    ],
)
def test_what_is_equal_stays_equal_where_every_digit_counts(expected, actual):
    assert NumberValue.read(expected, EXACT).matches(NumberValue.read(actual, EXACT))


@pytest.mark.parametrize("raw", [10**400, 10**5_000], ids=["400", "5000"])
def test_an_integer_beyond_all_floats_is_invalid_still(raw):
    with pytest.raises(ValueParseError, match="too large"):
        NumberValue.read(raw, EXACT)
