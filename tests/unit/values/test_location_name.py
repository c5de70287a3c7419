"""Names of places: spec §5.11."""

from __future__ import annotations

import pytest

from pytest_webeval.errors import ValueParseError
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.location_name import LocationNameValue


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ("Carnegie Mellon University", "Carnegie Mellon Univ", True),
        ("Apple Store Shadyside", "Shadyside Apple Store", True),
        ("Giant Eagle", "Giant Egle", True),
        ("ALDI", "Aldi Market", False),
        ("Holiday Inn", "Holiday Inn Express", False),
        ("Pittsburgh, PA", "Pittsburgh", True),
        ("Hotel A", "Hotel B", True),
        ("Terminal 1", "Terminal 2", True),
        ("First Street", "Fifth Street", True),
        ("The Tavern", "Tavern", False),
        ("abcde", "abcdx", True),
        ("abcd", "abcx", False),
        ("abcdefghijklmnopq", "abcdefghijk", False),
        ("^Giant.*$", "Giant Eagle", False),
        ("^Straße$", "^STRASSE$", True),
        ("St. Mary's", "st marys", True),
        ("Hotel_A", "hotel a", True),
        ("北京", "Bei Jing", True),
        ("École", "ecole", True),
        (["Giant Eagle", "ALDI"], "aldi", True),
        ("Aldi", ["x", "ALDI"], True),
        (5, "5", True),
        (True, "true", True),
        ({"a": "é"}, "{'a': ''}", True),
        ("...", "!!!", True),
        ("", "", True),
        ("", 0, True),
        ("🤖", {}, True),
        ("", "...", False),
        ("x", "", False),
    ],
)
def test_names_match_when_four_fifths_of_their_sorted_words_do(expected, actual, equal):
    assert (
        LocationNameValue.read(expected, ParseContext()).matches(LocationNameValue.read(actual, ParseContext()))
        is equal
    )


ONE = ParseContext(patterns=False, alternatives=False, one_value=True)


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ("University of Pittsburgh", "University of Pittsburgh or CMU", False),
        ("Carnegie Mellon University", "Carnegie Mellon University or MIT or CMU", False),
        ("Pittsburgh Zoo and Aquarium", "Pittsburgh Zoo or Aquarium", False),
        ("Do or Die Cafe", "Do or Die Cafe", True),
        ("Now or Never Bar", "Never or Now Bar", True),
        ("Trick or Treat Studios", "trick or treat studio", True),
        ("Do or Die Cafe", "Do or Die Cafe or Now or Never Bar", False),
        (["Giant Eagle Market", "Do or Die Cafe"], "Giant Eagle Market or Do", False),
        (["Giant Eagle", "Do or Die Cafe"], "Do or Die Cafe", True),
        ("Portland, OR 97201", "Portland or 97201", True),
        ("Giant Eagle", "Giant Eagle or Giant Egle", False),
    ],
)
def test_a_choice_between_places_is_the_name_of_none_but_or_may_be_a_part_of_a_name(expected, actual, equal):
    assert LocationNameValue.read(expected, ParseContext()).matches(LocationNameValue.read(actual, ONE)) is equal


@pytest.mark.parametrize(
    ("raw", "context", "switches"),
    [("Pittsburgh or CMU", ONE, ["one_value"]), ("Pittsburgh", ONE, []), ("a or b", ParseContext(), [])],
)
def test_a_name_knows_where_it_may_match_less_than_the_references(raw, context, switches):
    assert list(LocationNameValue.read(raw, context).departures(context)) == switches


@pytest.mark.parametrize("raw", [None, [], ["x"], [None, "x"], "x" * 10_001])
def test_null_is_the_name_of_no_place(raw):
    with pytest.raises(ValueParseError, match=r"name of a place|list of"):
        LocationNameValue.read(raw, ParseContext())


def test_a_list_of_an_agent_is_no_name():
    with pytest.raises(ValueParseError, match="is a list instead of one value"):
        LocationNameValue.read(["Giant Eagle", "ALDI"], ParseContext(patterns=False, alternatives=False))


@pytest.mark.parametrize(("raw", "shown"), [("^Straße$", "^straße$"), ("Café  X", "cafe x"), ({"A": 1}, "{'a': 1}")])
def test_a_report_shows_the_prepared_name(raw, shown):
    assert LocationNameValue.read(raw, ParseContext()).to_json() == shown
