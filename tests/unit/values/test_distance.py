"""Distances: spec §5.7."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.errors import EvaluationError, ValueParseError
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.distance import _FACTORS, DistanceValue, calculate_metres, parse_metres
from pytest_webeval.values.string import StringValue
from tests.support.imports import list_loading

AS_WRITTEN_BY_AN_AGENT = ParseContext(patterns=False, alternatives=False, infinities=False)


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ("100 m", "110 m", True),
        ("100 m", "110.1 m", False),
        ("5km", "5.1 km", True),
        ("5km", "5.11 km", False),
        ("459km", "450 km", True),
        ("459km", "449 km", False),
        ("98 km", "100 km", True),
        ("97.99999999999999 km", "100 km", False),
        ("-100 km", "-102 km", False),
        ("1 mi", "1609 m", True),
        ("5 km", "5k", True),
        ("5 km", "5 K", True),
        ("500 m", "1/2k", True),
        ("1 km", "1,000 m", True),
        ("1.2 km", "1,2 km", False),
        ("12 km", "1,2 km", True),
        ("5 km", "5 KM.", True),
        ("3 km", "\u0663 km", True),
        ("0.5 mi", "½ mile", True),
        ("10 km", "5 * 2 km", True),
        ("0.5 mi", "1/2 mile", True),
        ("4 km", "5 km ± 1 km", True),
        ("5 km", "5 percent * 100 km", True),
        ("1 km", "5 % 20 km", True),
        ("10 km", "10 km dimensionless", True),
        ("1 km", "1.0**40000 km", True),
        ("81 km", "3**4 km", True),
        ("1 m", "m", True),
        (["5 km", "10 km"], "10 km", True),
        ("5 km", ["1 m", "5 km"], True),
        ("5 km", "inf m", True),
        ("5 km", "1e400 m", True),
        ("-5 km", "infinity km", True),
    ],
)
def test_distances_match_within_ten_metres_or_a_fiftieth(expected, actual, equal):
    assert DistanceValue.read(expected, ParseContext()).matches(DistanceValue.read(actual, ParseContext())) is equal


@pytest.mark.parametrize(
    "raw",
    [
        5,
        5.5,
        "5",
        None,
        "",
        True,
        {"km": 5},
        ["5 km"],
        "about 5 km",
        "five km",
        "5 hours",
        "5 km²",
        "1.5 km 200 m",
        "6'",
        '5"',
        "5k.",
        "5 kms",
        "^5 km$",
        "(5 km",
        "5/0 m",
        "(-1)**0.5 m",
        "km and mi",
        "__import__('os')",
        "9" * 10_001 + "m",
    ],
    ids=lambda raw: repr(raw)[:40],
)
def test_anything_but_a_length_is_refused(raw):
    with pytest.raises(ValueParseError, match=r"distance|list of 1"):
        DistanceValue.read(raw, ParseContext())


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9**9 m",
        "1e9**9**9 m",
        "2^99999999 m",
        "9 squared cubed squared squared cubed m",
        "(2 m)**99999999",
        "m**999999999/m**999999998",
        "9**(9 yobibyte) m",
        "yobibyte**99999999 m",
        "(yobibyte**100)**100 m",
        "9**9999*" * 1_000 + "m",
        "(" * 5_000 + "m",
        "m*" * 4_999 + "m",
    ],
    ids=lambda text: text[:40],
)
def test_a_calculation_that_would_not_end_is_refused(text):
    with pytest.raises(ValueParseError, match=r"is too long for a distance: |is not a distance; write it as"):
        DistanceValue.read(text, ParseContext())


@pytest.mark.parametrize(
    ("largest", "too_large"),
    [
        ("2**16384 / 2**16384 m", "2**16385 / 2**16385 m"),
        ("m * (2**16384 * 2**16383 // 2**16384 // 2**16383)", "m * (2**16384 * 2**16384 // 2**16384 // 2**16384)"),
        ("m**2000 / m**1999", "m**2001 / m**2000"),
        ("m**-1999 * m**2000", "m**-2001 * m**2002"),
    ],
)
def test_numbers_of_2_to_the_15_bits_and_powers_of_2000_are_large_enough_for_a_length(largest, too_large):
    assert float(DistanceValue.read(largest, ParseContext()).to_json()) == 1
    with pytest.raises(ValueParseError):
        DistanceValue.read(too_large, ParseContext())


@pytest.mark.parametrize("text", ["inf km", "-infinity m", "nan m", "1e400 m"])
def test_a_distance_without_end_is_none_of_an_agent(text):
    with pytest.raises(ValueParseError, match="is an infinite distance; write a finite one") as refusal:
        DistanceValue.read(text, AS_WRITTEN_BY_AN_AGENT)
    assert refusal.value.rule == "finite_quantities"


@pytest.mark.parametrize(("expected", "actual"), [("5 km", "nan m"), ("nan m", "nan m"), ("inf m", "inf m")])
def test_distances_without_order_cannot_be_compared(expected, actual):
    with pytest.raises(EvaluationError, match=r"cannot compare the distances .*; write finite ones"):
        DistanceValue.read(expected, ParseContext()).matches(DistanceValue.read(actual, ParseContext()))


@pytest.mark.parametrize("raw", [["5 km", "10 km"], "^.*$"])
def test_neither_a_list_nor_a_pattern_of_an_agent_is_a_distance(raw):
    with pytest.raises(ValueParseError):
        DistanceValue.read(raw, AS_WRITTEN_BY_AN_AGENT)


def test_a_distance_has_at_most_200_characters():
    longest = "5 km".ljust(200)
    assert DistanceValue.read(longest, ParseContext()) == DistanceValue.read("5 km", ParseContext())
    with pytest.raises(ValueParseError, match="is too long for a distance: 201 characters; write at most 200"):
        DistanceValue.read(f"{longest} ", ParseContext())


def test_units_read_before_make_no_others_readable():
    assert DistanceValue.read("1 kilomile", ParseContext()).to_json() == "1609344.0"
    with pytest.raises(ValueParseError):
        DistanceValue.read("1 kilokilomile", ParseContext())


def test_a_distance_does_not_match_a_value_of_another_type():
    assert not DistanceValue.read("5 km", ParseContext()).matches(StringValue.read("5 km", ParseContext()))


def test_a_report_shows_metres():
    assert DistanceValue.read(["1e30 m", "1 m"], ParseContext()).to_json() == "1" + "0" * 30


def test_units_are_read_from_the_library_alone():
    program = """
import sys
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.distance import DistanceValue
import pint.pint_eval
opened = []
sys.addaudithook(lambda event, arguments: opened.append((event, arguments)) if event in WATCHED else None)
WATCHED = {"open", "socket.connect", "subprocess.Popen", "os.mkdir"}
DistanceValue.read("5 km + 1 m", ParseContext())
names = {str(arguments[0]).rpartition("/")[2] for _, arguments in opened}
print(sorted(name for name in names if not name.endswith((".py", ".pyc"))))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "['constants_en.txt', 'default_en.txt']\n"


NUMBERS = ("0", "1", "7", "12.5", "0.1", "3.333333333", "999999999999999", "0.30")


@pytest.mark.parametrize("unit", _FACTORS)
def test_a_plain_distance_is_what_pint_makes_of_it(unit):
    for text in (f"{number}{blank}{unit}" for number in NUMBERS for blank in ("", " ")):
        assert str(parse_metres(text)) == str(calculate_metres(text)), text


@given(st.from_regex(r"[0-9]{0,4}\.?[0-9]{0,4} ?(m|km|mi|miles|ft|feet|yd|cm|centimetres|mm|knots|k|)", fullmatch=True))
def test_any_number_with_a_unit_is_what_pint_makes_of_it(text):
    found = []
    for parse in (parse_metres, calculate_metres):
        try:
            found.append(str(parse(text)))
        except ValueError as error:
            found.append(str(error))
    assert found[0] == found[1]


def test_plain_distances_do_not_load_pint():
    start = "from pytest_webeval.values.distance import parse_metres as p; p('1.5 km'); p('3 miles')"
    assert list_loading("pint", start, "p('1 km + 2 m')") == [False, True]
