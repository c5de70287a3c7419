"""Amounts of money: spec §5.4."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from pytest_webeval.errors import EvaluationError, ValueParseError
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.currency import CurrencyValue
from pytest_webeval.values.number import NumberValue


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        (10, 10.1, True),
        (10, 10.11, False),
        (10, "9.9", True),
        (1234.56, "$1,234.56", True),
        (1234.56, "1.234,56 €", True),
        (1234, "$1,234", False),
        (1.234, "$1,234", True),
        (1234, "1,234.00", True),
        (10.5, "10,5", True),
        (-50, "-$50", True),
        (-50, "\u2212$50", True),
        (-50, "$-50", False),
        (50, "$-50", True),
        (-50, "(50)", False),
        (23, "23-12", True),
        (-2312, "-23-12", True),
        (0, "free", True),
        (5, "USD 5", True),
        (10, "$10 - $20", True),
        (0.99, "99¢", False),
        (99, "99¢", True),
        ([10, 20], 20, False),
        (20, [10, 20], False),
        ([10, 20], [10, 30], True),
        (5, {"price": 5}, True),
    ],
)
def test_amounts_match_within_a_tenth_of_the_first(expected, actual, equal):
    assert CurrencyValue.read(expected, ParseContext()).matches(CurrencyValue.read(actual, ParseContext())) is equal


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        (50, "$50", True),
        (-50, "$-50", True),
        (50, "$-50", False),
        (50, "total - $50", True),
        (-50, "(50)", True),
        (-1234.5, "($1,234.50)", True),
        (50, "50 (5)", True),
        (50, "(50) each", True),
        (50, "50-20", True),
        (1234, "$1,234", True),
        (1234567, "1,234,567", True),
        (1.2345, "1,2345", True),
        (10.5, "10,5", True),
        (1234.56, "1.234,56 €", True),
    ],
)
def test_signed_currency_has_its_sign_and_its_thousands_wherever_they_stand(expected, actual, equal):
    context = ParseContext(signed_currency=True)
    assert CurrencyValue.read(expected, context).matches(CurrencyValue.read(actual, context)) is equal


@pytest.mark.parametrize(
    ("expected", "actual", "exact", "rounded"),
    [
        (12345678901234567890, "12345678901234567891", False, True),
        ("123456789012345678", "123456789012345679", False, True),
        (12345678901234567890, 12345678901234567890, True, True),
        ("10000000000000000000.00", "10000000000000000000", True, True),
        ("-12345678901234567890", "-12345678901234567891", False, True),
        (9.9, "10.0000000000000000001", False, True),
        ("12345678901234567", "12345678901234567", True, True),
        ("9" * 400, 5, False, False),
        ("9" * 400, "-" + "9" * 400, False, False),
    ],
)
def test_every_digit_of_money_counts_where_the_reference_keeps_seventeen(expected, actual, exact, rounded):
    for context, equal in ((ParseContext(), exact), (ParseContext(exact_money=False), rounded)):
        assert CurrencyValue.read(expected, context).matches(CurrencyValue.read(actual, context)) is equal


def test_amounts_that_a_float_has_no_room_for_are_an_error_where_they_are_rounded():
    one, other = (CurrencyValue.read(raw, ParseContext(exact_money=False)) for raw in ("9" * 400, "8" * 400))
    with pytest.raises(EvaluationError) as refusal:
        one.matches(other)
    told = "cannot compare two amounts of more than 308 digits; --webeval-rules=default compares them"
    assert str(refusal.value) == told
    assert not CurrencyValue.read("9" * 400, ParseContext()).matches(CurrencyValue.read("8" * 400, ParseContext()))


@pytest.mark.parametrize(
    ("raw", "context", "switches"),
    [
        ("12345678901234567891", ParseContext(), ["exact_money"]),
        ("12345678901234567891", ParseContext(exact_money=False), []),
        ("$5.10", ParseContext(), []),
        ("$5.10", ParseContext(signed_currency=True), ["signed_currency"]),
    ],
)
def test_an_amount_knows_where_it_may_be_another_than_the_references(raw, context, switches):
    assert list(CurrencyValue.read(raw, context).departures(context)) == switches


@pytest.mark.parametrize(
    "raw", ["", None, True, False, {}, "five dollars", "5%", "1,234,567", float("nan"), float("inf"), [5], "1" * 10_001]
)
def test_truth_values_and_texts_without_a_price_are_no_amounts(raw):
    with pytest.raises(ValueParseError):
        CurrencyValue.read(raw, ParseContext())


def test_a_list_of_an_agent_is_no_amount():
    with pytest.raises(ValueParseError):
        CurrencyValue.read([4, 5], ParseContext(patterns=False, alternatives=False))


def test_equality_is_exact_where_matching_is_not():
    assert CurrencyValue.read(10, ParseContext()) != CurrencyValue.read(10.1, ParseContext())
    assert CurrencyValue.read("$10", ParseContext()) == CurrencyValue.read("10.00", ParseContext())


def test_an_amount_does_not_match_a_number():
    assert not CurrencyValue.read(10, ParseContext()).matches(NumberValue.read(10, ParseContext()))


@pytest.mark.parametrize(("raw", "written"), [("$1,234.50", "1234.50"), ([-3, 4], "-3"), ("free", "0")])
def test_a_report_shows_the_first_alternative_in_digits(raw, written):
    assert CurrencyValue.read(raw, ParseContext()).to_json() == written


def test_a_refusal_says_what_to_write():
    with pytest.raises(ValueParseError) as refusal:
        CurrencyValue.read("five dollars", ParseContext())
    assert str(refusal.value) == "'five dollars' is not an amount of money; write it as 1234.50"


@pytest.mark.parametrize("sign", ["", "-"])
def test_an_exact_amount_keeps_more_digits_than_arithmetic_does(sign):
    text = f"{sign}{'1234567890' * 4}.25"
    assert CurrencyValue.read(text, ParseContext(exact_money=True)).to_json() == text


def repr_type(raw):
    return "huge" if isinstance(raw, int) and raw > 1 else repr(raw)


SIGNED = ParseContext(signed_currency=True)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("-$50", "-50"),
        ("$-50", "-50"),
        ("- $50", "-50"),
        ("\u221250", "-50"),
        ("\u2212$50", "-50"),
        ("($50)", "-50"),
        ("(50)", "-50"),
        ("( $ 1,234.50 )", "-1234.50"),
        ("(USD 50)", "-50"),
        ("(50 EUR)", "-50"),
        ("(50 dollars)", "-50"),
        ("(\u20ac50)", "-50"),
        ("($50", "50"),
        ("50-", "-50"),
        ("$1,234-", "-1234"),
        ("12,00-", "-12.00"),
        ("12,-", "12"),
        ("\u20ac 12,-", "12"),
        ("\u20ac12,\u2013", "12"),
        ("12,- \u20ac", "12"),
        ("EUR 12,-", "12"),
        ("12.-", "12"),
        ("CHF 12.-", "12"),
        ("-12,-", "-12"),
        ("(approx) $50", "50"),
        ("(approx) $50 (incl. tax)", "50"),
        ("(about $50)", "50"),
        ("(50 items)", "50"),
        ("$50 (incl. tax)", "50"),
        ("Total: ($50)", "50"),
        ("$10-20", "10"),
        ("pre-tax $50", "50"),
        ("(free)", "0"),
    ],
)
def test_an_amount_is_negative_by_its_own_minus_or_by_parentheses_around_it_alone(text, amount):
    assert CurrencyValue.read(text, SIGNED).to_json() == amount


EXACT = ParseContext(exact_numbers=True)


@pytest.mark.parametrize(
    ("raw", "amount"),
    [
        (5e-05, "0.00005"),
        (1e-7, "0.0000001"),
        (-5e-05, "-0.00005"),
        (1e5, "100000.0"),
        (1e22, "10000000000000000000000"),
        (12345678901234567890, "12345678901234567890"),
        (9007199254740993, "9007199254740993"),
        (-3, "-3"),
        (0, "0"),
        (0.1, "0.1"),
        ("1E+5", "100000"),
        (" 5e-05 ", "0.00005"),
        ("-1.5e3", "-1500"),
        ("9,007,199,254,740,993", "9007199254740993"),
        ("$5", "5"),
    ],
)
def test_money_keeps_its_exponent_and_all_its_digits(raw, amount):
    assert CurrencyValue.read(raw, replace(EXACT, signed_currency=True)).to_json() == amount


@pytest.mark.parametrize("raw", [float("inf"), float("nan"), "1e500", "1e-500", 10**5000, True], ids=repr_type)
def test_no_amount_is_without_end_or_too_long(raw):
    with pytest.raises(ValueParseError):
        CurrencyValue.read(raw, EXACT)


@pytest.mark.parametrize(("raw", "amount"), [(5e-05, "5"), ("1E+5", "1")])
def test_to_the_reference_an_exponent_is_no_part_of_money(raw, amount):
    assert CurrencyValue.read(raw, ParseContext()).to_json() == amount
