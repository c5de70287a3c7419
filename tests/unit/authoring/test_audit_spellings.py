"""Other spellings of a value mean the same to its type, and other values do not."""

from __future__ import annotations

import math
from datetime import date

import pytest

from pytest_webeval.authoring.audit.values import (
    OTHER_TEXT,
    carries_meaning,
    change_value,
    guess_kind,
    list_equal,
    list_other,
)
from pytest_webeval.errors import ValueParseError
from pytest_webeval.tasks.task import read_task
from pytest_webeval.values import value_type
from pytest_webeval.values.base import ParseContext

VALUES = [
    ("string", "Northlight", 2, 2),
    ("string", "1042", 1, 2),
    ("number", 4, 2, 2),
    ("number", 1149.0, 4, 2),
    ("integer", "12", 1, 2),
    ("currency", "$1,149.00", 2, 2),
    ("currency", 12.5, 2, 2),
    ("boolean", False, 2, 1),
    ("boolean", "yes", 2, 1),
    ("date", "2024-03-09", 2, 2),
    ("date", "March 9, 2024", 2, 2),
    ("duration", "2h 30m", 2, 2),
    ("distance", "5 km", 1, 2),
    ("url", "http://shop.test/a", 1, 1),
    ("location-name", "Carnegie Museum", 2, 1),
    ("month", "January", 0, 1),
    ("json", '{"a": 1}', 0, 1),
]


@pytest.mark.parametrize(("kind", "value", "equal", "other"), VALUES)
def test_equal_spellings_match_and_other_values_do_not(kind, value, equal, other):
    context = ParseContext(patterns=False, alternatives=False, today=date(2026, 1, 31))
    parser = value_type(kind)
    expected = parser.read(value, context)
    spellings = [spelling.value for spelling in list_equal(value, kind)]
    others = [spelling.value for spelling in list_other(value, kind)]
    assert len(spellings) >= equal
    assert len(others) >= other
    assert all(expected.matches(parser.read(spelling, context)) for spelling in spellings)
    assert not any(matches(expected, parser, changed, context) for changed in others)


def matches(expected, parser, raw, context):
    try:
        return expected.matches(parser.read(raw, context))
    except ValueParseError:  # what the type does not understand equals nothing
        return False


@pytest.mark.thinned
@pytest.mark.parametrize(
    "value",
    [None, "", [], {}, "^.*$", "x" * 20_000, float("inf"), float("nan"), 10**400, -3],
    ids=lambda value: repr(value)[:30],
)
@pytest.mark.parametrize("kind", ["string", "number", "currency", "date", "duration", "distance", "boolean", "no-type"])
def test_no_value_is_too_strange(kind, value):
    assert all(spelling.name for spelling in [*list_equal(value, kind), *list_other(value, kind)])


@pytest.mark.parametrize(
    ("value", "kind", "topic", "guess"),
    [
        ("2024-03-09", "string", "", "date"),
        ("$1,149.00", "string", "", "currency"),
        ("1,149.00", "string", "", "currency"),
        ("2h 30m", "string", "", "duration"),
        ("No", "string", "", "boolean"),
        ("1042", "string", "What is the price?", "string"),
        (1149.0, "number", "What is the price?", "currency"),
        (3, "number", "order count", "number"),
        (3, "number", "How much did I spend?", "currency"),
        ("2024-03-09", "url", "", "url"),
    ],
)
def test_the_type_of_what_a_value_means(value, kind, topic, guess):
    assert guess_kind(value, kind, topic) == guess


@pytest.fixture
def task(bench):
    texts = {"intent": "Put 5 of the Dot Grid Notebook into my cart on March 9, 2024", "intent_template": "Put"}
    fields = texts | {"instantiation_dict": {"label": ["help wanted"], "project": "acme/rocket"}}
    return read_task(bench.task(bench.expecting("MUTATE", schema={"type": "null"}), **fields), "a test")


@pytest.mark.parametrize(
    "value",
    ["5", 5, "dot-notebook", "DOT notebook", "acme/rocket", "help wanted", "2024-03-09"],
    ids=lambda value: repr(value)[:30],
)
def test_a_value_of_the_task_carries_its_meaning(task, value):
    assert carries_meaning(value, task)


@pytest.mark.parametrize(
    "value", ["", None, True, "on", "my", "3f2a9c", "6", "gel-pens", "dot-pen", "2024-03-10", "15"]
)
def test_another_value_does_not(task, value):
    assert not carries_meaning(value, task)


def test_a_date_in_american_figures_carries_meaning(task):
    assert carries_meaning("03/09/2024", task)


@pytest.mark.parametrize(
    "value",
    [
        "a",
        "",
        "5",
        5,
        0,
        2.5,
        True,
        None,
        "2024-03-09",
        "03/09/2024",
        "audit",
        OTHER_TEXT,
        -3.5,
        math.inf,
        -math.inf,
        10**400,
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_changed_value_is_another_one(value):
    assert change_value(value) != value


def test_what_is_no_number_changes_to_a_number():
    assert change_value(math.nan) == 7
