"""Points on the earth: spec §5.8."""

from __future__ import annotations

import pytest

from pytest_webeval.errors import ValueParseError
from pytest_webeval.values.base import Alternatives, ParseContext
from pytest_webeval.values.coordinates import CoordinatesValue
from pytest_webeval.values.string import StringValue

# The library behind points warns of its own; scoring lets no warning decide a verdict.
pytestmark = pytest.mark.filterwarnings("ignore:Latitude normalization:UserWarning")

AS_WRITTEN_BY_AN_AGENT = ParseContext(patterns=False, alternatives=False)
PITTSBURGH = [40.7128, -74.006]


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ({"latitude": "40.7128", "longitude": "-74.006"}, PITTSBURGH, True),
        (PITTSBURGH, "40.7128, -74.0060", True),
        (PITTSBURGH, "40.7128 -74.006", True),
        (PITTSBURGH, "40.7128; \u221274.006", True),
        (PITTSBURGH, "coordinates: 40.7128/-74.006", True),
        (PITTSBURGH, {"lat": 40.7128, "lng": -74.006}, True),
        (PITTSBURGH, {"LATI": 40.7128, "Lo": -74.006, "x": 1}, True),
        (PITTSBURGH, {"": 2, "la": 40.7128, "x": 1, "LNG": -74.006}, True),
        ([1, 2], {"lat": 1, "latitude": 5, "lon": 2, "long": 5}, True),
        ([0, 2], [1e-5, 2], True),
        (PITTSBURGH, [40.71281, -74.006], True),
        (PITTSBURGH, [40.712811, -74.006], False),
        (PITTSBURGH, ["40.7128", "-74.006"], True),
        (PITTSBURGH, ["40.7128 ", -74.006], True),
        ([0, -179], [0, 181], True),
        ([0, -180], [0, 540], True),
        ([0, -180], [0, 180], False),
        ([1, 2], [2, 1], False),
        ([1, 2], [True, 2], True),
        ([0, 2], ["", 2], True),
        ([0, 2], {"lat": None, "lon": 2}, True),
        ([1, 2], "1 2, 5km", True),
        ([2, 5], "1,2,5", True),
        ([[1, 2], [3, 4]], [3, 4], False),
        ([[1, 2], [3, 4]], [1, 2], True),
        ([1, 2], ["1,2", "3,4"], True),
        ([3, 4], ["1,2", "3,4"], False),
        ([1, 2], [{"lat": 1, "lon": 2}, "3 4"], True),
    ],
    ids=repr,
)
def test_the_first_points_match_within_a_hundred_thousandth_of_a_degree(expected, actual, equal):
    assert (
        CoordinatesValue.read(expected, ParseContext()).matches(CoordinatesValue.read(actual, ParseContext())) is equal
    )


@pytest.mark.parametrize(
    "raw",
    [
        "40.7128N 74.0060W",
        "40°42'46\" 74°0'22\"",
        "(40.7128, -74.006)",
        '{"lat":40.7128,"lon":-74.006}',
        "1,2.",
        "^1,2$",
        "north",
        "",
        None,
        0,
        5,
        True,
        [],
        [1],
        [1, None],
        ["1,2"],
        [[1, 2, 3], [4, 5, 6]],
        [1, 2, 3],
        [91, 2],
        ["nan", 2],
        [1, float("inf")],
        [10**400, 1],
        [[1, 2]],
        [[], []],
        {},
        {"lat": 1},
        {"lat": 1, "lon": None},
        {"lat": "1,2"},
        {"x": 1, "y": 2},
        {"latitudes": 1, "lon": 2},
        {"l": 1, "lon": 2},
        {"lat": 1, "l": 2},
        {"lat": "1 N", "lon": 2},
        {"lat": [1], "lon": 2},
        "1" * 5_000 + " 2",
        "1," * 5_001,
        {"lat": "1," * 5_001, "lon": None},
    ],
    ids=lambda raw: repr(raw)[:40],
)
def test_anything_but_a_point_is_refused(raw):
    with pytest.raises(ValueParseError, match=r"point|list of"):
        CoordinatesValue.read(raw, ParseContext())


def test_a_text_that_the_parser_should_not_be_given_is_no_point():
    longest = "1".ljust(10_000)
    assert CoordinatesValue.read([longest, 2], ParseContext()).alternatives == ((1.0, 2.0),)
    with pytest.raises(ValueParseError, match="is not a point"):
        CoordinatesValue.read([f"{longest} ", 2], ParseContext())


@pytest.mark.parametrize("raw", [[40.7128, -74.006], ("40.7128", "-74.006")])
def test_two_numbers_in_a_list_are_one_point_whoever_wrote_them(raw):
    assert CoordinatesValue.read(raw, AS_WRITTEN_BY_AN_AGENT).alternatives == ((40.7128, -74.006),)


@pytest.mark.parametrize("raw", [["1,2", "3,4"], [[1, 2], [3, 4]], [[], []], [None, None], [{"lat": 1, "lon": 2}] * 2])
def test_a_list_of_points_of_an_agent_is_no_point(raw):
    with pytest.raises(ValueParseError, match=r"is not a point; write it as \[40.4424, -79.9397\]"):
        CoordinatesValue.read(raw, AS_WRITTEN_BY_AN_AGENT)


def test_several_hits_of_a_path_are_alternatives_whoever_wrote_them():
    hits = Alternatives([[1, 2], [3, 4]])
    assert CoordinatesValue.read(hits, AS_WRITTEN_BY_AN_AGENT).alternatives == ((1.0, 2.0), (3.0, 4.0))


def test_coordinates_do_not_match_a_value_of_another_type():
    assert not CoordinatesValue.read([1, 2], ParseContext()).matches(StringValue.read("1, 2", ParseContext()))


def test_a_report_shows_the_first_point_as_an_object():
    assert CoordinatesValue.read(["1 -2", "3 4"], ParseContext()).to_json() == {"latitude": 1.0, "longitude": -2.0}
