"""Arrays of many items in any order: what is compared, counted, and that the verdict is that of trying every pair."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.errors import EvaluationError
from pytest_webeval.values.base import ParseContext, Value
from pytest_webeval.values.comparison import MOST_PAIRS_IN_MESSAGE, Comparison
from pytest_webeval.values.currency import CurrencyValue
from pytest_webeval.values.distance import DistanceValue
from pytest_webeval.values.number import NumberValue
from pytest_webeval.values.schema import UnparsedValue
from pytest_webeval.values.string import StringValue

MANY = 1_000
GREEDY, MAXIMUM = Comparison(), Comparison(maximum_matching=True)
BOTH = pytest.mark.parametrize("comparison", [GREEDY, MAXIMUM], ids=["greedy", "maximum"])


def text(raw) -> StringValue:
    return StringValue.read(raw, ParseContext())


def price(raw) -> CurrencyValue:
    return CurrencyValue.read(raw, ParseContext())


def product(name, amount) -> dict[str, Value]:
    return {"name": text(name), "price": price(amount)}


@pytest.fixture
def count_matches(monkeypatch):
    """How often values were compared since, by their type."""
    counts = {}
    for kind in (StringValue, CurrencyValue):

        def counting(self, actual, kind=kind, matches=kind.matches):
            counts[kind] = counts.get(kind, 0) + 1
            return matches(self, actual)

        monkeypatch.setattr(kind, "matches", counting)
    return counts


@pytest.mark.thinned(every=4)
@BOTH
@pytest.mark.parametrize(
    ("expected", "actual", "most"),
    [
        ([text(f"a{each}") for each in range(MANY)], [text(f"b{each}") for each in range(MANY)], 0),
        ([product(f"a{each}", each) for each in range(MANY)], [product(f"b{each}", each) for each in range(MANY)], 0),
        ([product("a", 1)] * MANY, [product("a", 2)] * MANY, 2),
        ([text("a")] * MANY, [text("a")] * (MANY // 2) + [text("b")] * (MANY // 2), 1),
        ([text("a")] * MANY, [text("b")] * (MANY + 1), 0),
        ([price(each) for each in range(MANY)], [price(each + 0.5) for each in range(MANY + 1)], 0),
        (
            [price(each) for each in range(MANY)],
            [price(each + 0.5) for each in range(MANY)],
            MOST_PAIRS_IN_MESSAGE + MANY,
        ),
        ([{"x": text("^a.*$")}], [{"x": text(f"b{each}")} for each in range(MANY)], MANY),
    ],
    ids=["texts", "objects", "same objects", "half", "more", "more prices", "prices", "one"],
)
def test_few_pairs_of_many_items_are_compared(comparison, expected, actual, most, count_matches):
    assert [each.status.value for each in comparison.compare(expected, actual, "x")] == ["failure"]
    assert sum(count_matches.values()) <= most
    count_matches.clear()
    assert not comparison.equal(expected, actual)
    assert sum(count_matches.values()) <= most


@BOTH
def test_many_right_items_match_in_any_order(comparison, count_matches):
    expected = [product(f"a{each}", each) for each in range(MANY)]
    assert comparison.equal(expected, expected[::-1])
    assert sum(count_matches.values()) == 2 * MANY


@pytest.mark.parametrize(
    ("expected", "actual", "message"),
    [
        (["a"] * 200, ["a"] * 201, "200 items expected, 201 found"),
        ([price(each) for each in range(300)], [price(each + 0.5) for each in range(300)], 'no item is "66"'),
        (["a"] * 11, ["a"] * 10, '10 of 11 items found; missing ["a"]'),
        (["a", *"bcdefghijk"], ["b", *"bcdefghijk"], '10 of 11 items found; missing ["a"]; not expected ["b"]'),
    ],
    ids=["lengths", "first", "missing", "different"],
)
def test_a_message_about_many_items_names_lengths_or_the_first_without_a_partner(expected, actual, message):
    assert next(GREEDY.compare(expected, actual, "x")).assertion_msgs[0] == message


LEAVES = st.sampled_from(
    [
        None,
        0,
        1,
        True,
        "a",
        text("a"),
        text("a."),
        text("b"),
        text("^a|b$"),
        text(["a", "b"]),
        price(1),
        price(1.05),
        price(1.1),
        NumberValue.read(1, ParseContext()),
        UnparsedValue("a", "is not a number"),
    ]
)
ITEMS = st.one_of(
    LEAVES,
    st.dictionaries(st.sampled_from("xy"), LEAVES, min_size=1),
    st.lists(LEAVES, min_size=1, max_size=2),
    st.fixed_dictionaries({"x": LEAVES, "y": st.dictionaries(st.sampled_from("xy"), LEAVES, min_size=1)}),
)


@pytest.mark.thinned(every=2)
@BOTH
@pytest.mark.parametrize("extra_keys", [False, True])
@given(data=st.data())
def test_many_items_match_as_few_do(comparison, extra_keys, data):
    """Each item is too few to be sorted out beforehand, so that the pairs of single items are the truth."""
    expected = data.draw(st.lists(ITEMS, min_size=11, max_size=12))
    actual = data.draw(st.one_of(st.permutations(expected), st.lists(ITEMS, min_size=11, max_size=12)))
    comparison = Comparison(extra_keys=extra_keys, maximum_matching=comparison.maximum_matching)
    pairs = comparison._find_pairs(expected, actual, "", len(expected) * len(actual))
    assert pairs == [
        [position for position, item in enumerate(actual) if comparison.equal(each, item)] for each in expected
    ]


@pytest.mark.parametrize(
    ("expected", "actual", "message"),
    [
        ([{}, *"abcdefghijk"], [{"x": 1}, *"abcdefghijk"], "object without keys"),
        ([{"x": [], "y": []}] * 12, [{"x": [], "y": []}] * 13, "second empty list"),
    ],
    ids=["keys", "lists"],
)
def test_what_is_an_error_in_any_pair_is_one_among_many(expected, actual, message):
    reference = Comparison(separate_lists=False)
    with pytest.raises(EvaluationError, match=message):
        list(reference.compare(expected, actual, "x"))
    with pytest.raises(EvaluationError, match=message):
        reference.equal(expected, actual)


def test_measures_without_end_are_errors_among_many():
    endless = DistanceValue.read("inf km", ParseContext())
    with pytest.raises(EvaluationError, match="cannot compare the distances"):
        GREEDY.equal([*"abcdefghijk", endless], [*"abcdefghijkl", endless])


def test_two_empty_lists_among_many_items_are_noticed_where_they_are_allowed():
    notices = []
    strict = Comparison(notice=lambda *notice: notices.append(notice))
    assert strict.equal([{"x": []}] * 20, [{"x": []}] * 20, path="y")
    assert ("separate_lists", "y") in notices


def test_a_value_type_that_compares_in_a_way_of_its_own_is_compared_with_every_item():
    class Near(Value):
        __slots__ = ()
        type_name = "near"

        @classmethod
        def canonical(cls, raw, context):  # noqa: ARG003  (the signature of the base class)
            return raw

        def matches(self, actual):
            return isinstance(actual, Near) and abs(self.alternatives[0] - actual.alternatives[0]) <= 1

    class Unhashable(Near):
        __slots__ = ()
        matches = Value.matches

    expected = [Near((2 * each,)) for each in range(20)]
    assert MAXIMUM.equal(expected, [Near((2 * each + 1,)) for each in range(20)])
    assert MAXIMUM.equal([Unhashable(([],))] * 20, [Unhashable(([],))] * 20)
