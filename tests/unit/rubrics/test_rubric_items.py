"""Leaves and their points: `fara_webeval.md` §6.1, §6.2, §11 vector 7."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.rubrics.policy import UnreadableVerdict
from pytest_webeval.rubrics.rubric_items import (
    MAX_DEPTH,
    RubricItem,
    add_up,
    flatten_items,
    is_action_only,
    points_of,
    without_points,
)

D = Decimal
EIGHTY = D("0.8")


def item(maximum, post=None, **more):
    seen = {} if post is None else {"post_image_earned_points": post}
    return {"criterion": "c", "max_points": maximum, **seen, **more}


def unmet(maximum, **more):
    return item(maximum, 0, condition="if sold out", is_condition_met=False, **more)


def group(*items):
    return {"criterion": "g", "max_points": 50, "post_image_earned_points": 50, "items": list(items)}


def sums(*items):
    points = points_of(flatten_items(list(items)))
    return None if points is None else (points.earned, points.maximum)


@pytest.mark.parametrize(
    ("items", "earned", "maximum"),
    [
        ([item(4, 4), item(3, D("2.5")), unmet(3)], D("6.5"), 7),  # the example of §6.3
        ([item(4, 4), item(3, D("2.5")), unmet(3), item(2, 0, penalty=True)], D("6.5"), 9),
        ([item(4, 4), group(item(2, 1), group(item(1, 1))), item(1, 0)], 6, 8),
        ([item(3, 3, condition="", is_condition_met=True)], 3, 3),
        ([item(3, 3, condition=None)], 0, 0),  # the key makes it conditional, whatever it holds
        ([item(3, 3, condition="x", is_condition_met="true")], 0, 0),
        ([item(3, 3, is_condition_met=False)], 3, 3),  # no condition, so nothing to be met
        ([item(4, 4), item(2, 2, penalty=True)], 4, 6),
        ([item(4, 4), item(2, 2, penalty="yes")], 6, 6),  # only true makes a penalty
        ([item(4, 3), item(2, earned_points=2)], 3, 6),  # nobody looked at the screenshots for the second
        ([item(4, earned_points=3), item(2, earned_points=2)], 5, 6),
        ([item(4, earned_points=3), item(2, penalty=True)], 3, 6),
        ([item(4, 3, items=None)], 3, 4),
        ([item(D("0.7"), D("0.1")), item(D("0.7"), D("0.2"))], D("0.3"), D("1.4")),
        ([item(0.7, 0.1), item(0.7, 0.2)], D("0.3"), D("1.4")),  # floats are what JSON would say
    ],
)
def test_leaves_that_count_are_added_up(items, earned, maximum):
    assert sums(*items) == (earned, maximum)


@pytest.mark.parametrize(
    "items",
    [
        [item(4, earned_points=""), item(3, earned_points="")],
        [item(4), item(3)],
        [group()],
        [item(4, earned_points=4), item(3, earned_points="")],
        [item(4, condition="if so", earned_points="")],
    ],
)
def test_a_rubric_that_nobody_gave_points_for_has_none(items):
    assert sums(*items) is None


def test_a_condition_that_is_not_met_needs_no_points():
    assert sums(item(4, earned_points=4), item(3, condition="if so", is_condition_met=False, earned_points="")) == (
        4,
        4,
    )


def test_without_anything_to_earn_the_share_is_zero():
    points = points_of(flatten_items([unmet(4), unmet(2)]))
    assert (points.maximum, points.share, points.float_share, points.reaches(EIGHTY)) == (0, 0, 0.0, False)
    assert points.reaches(D(0))


def test_leaves_know_their_place_and_all_that_the_judge_said():
    found = flatten_items(
        [
            item(4, 3, earned_points=2, justification="reached", post_image_justification="visible"),
            group(item(1), unmet(2, penalty=True, justification="x", post_image_justification="")),
        ]
    )
    plain = {"criterion": "c", "condition": None, "is_conditional": False, "is_met": None, "is_penalty": False}
    seen = {"max_points": D(4), "earned": D(2), "post_image": D(3), "justification": "visible"}
    unscored = {"max_points": D(1), "earned": None, "post_image": None, "justification": ""}
    absent = {"criterion": "c", "condition": "if sold out", "is_conditional": True, "is_met": False, "is_penalty": True}
    explained = {"max_points": D(2), "earned": None, "post_image": D(0), "justification": "x"}
    assert found == (
        RubricItem(place="items[0]", **plain, **seen),
        RubricItem(place="items[1].items[0]", **plain, **unscored),
        RubricItem(place="items[1].items[1]", **absent, **explained),
    )


def test_points_before_the_screenshots_can_be_added_up_as_well():
    found = flatten_items([item(4, 1, earned_points=4), item(2, 1)])
    assert add_up(found, "earned").earned == 4
    assert add_up(found, "post_image").earned == 2


@pytest.mark.parametrize(
    ("items", "only_action", "lacking"),
    [
        ([item(4, 3), item(2)], False, ["items[1]"]),
        ([item(4, 3), item(2, condition="x")], False, []),
        ([item(4, 3), item(2, penalty=True)], False, []),
        ([item(4, earned_points=3), item(2, earned_points="")], True, ["items[1]"]),
        ([item(4, earned_points=3)], True, []),
    ],
)
def test_leaves_without_the_points_that_count_are_named(items, only_action, lacking):
    found = flatten_items(items)
    assert is_action_only(found) is only_action
    assert [leaf.place for leaf in without_points(found)] == lacking


@pytest.mark.parametrize(
    ("earned", "maximum", "exact", "as_floats"),
    [
        (["2.4"], ["3"], True, False),
        (["4.8"], ["6"], True, False),
        (["4"], ["5"], True, True),
        (["0.1", "0.7"], ["0.5", "0.5"], True, False),  # 0.1 + 0.7 is 0.7999999999999999 in binary
        (["0.79999999999999999999"], ["1"], False, True),  # rounded to 0.8
        (["2.3"], ["3"], False, False),
    ],
)
def test_eighty_percent_exactly_may_fail_in_binary_fractions(earned, maximum, exact, as_floats):
    points = points_of(flatten_items([item(D(most), D(given)) for given, most in zip(earned, maximum, strict=True)]))
    assert (points.reaches(EIGHTY), points.float_reaches(EIGHTY)) == (exact, as_floats)
    assert points.is_edge(EIGHTY) is (exact is not as_floats)


SOME_POINTS = st.decimals(0, 10**6, allow_nan=False, places=3)


@given(st.lists(st.tuples(SOME_POINTS, SOME_POINTS), min_size=1))
def test_sums_are_exact_beside_those_of_python_floats(pairs):
    points = points_of(flatten_items([item(most, given) for given, most in pairs]))
    earned = maximum = 0
    for given_points, most in pairs:
        earned, maximum = earned + float(given_points), maximum + float(most)
    assert (points.float_earned, points.float_maximum) == (earned, maximum)
    assert Fraction(points.earned) == sum(Fraction(given_points) for given_points, _ in pairs)
    assert Fraction(points.maximum) == sum(Fraction(most) for _, most in pairs)
    assert points.share == (Fraction(points.earned) / Fraction(points.maximum) if points.maximum else 0)


NOT_A_NUMBER = "; expected a number of points"


@pytest.mark.parametrize(
    ("items", "told"),
    [
        (None, "the rubric's items is null; expected a list of criteria"),
        ([], "the rubric's items is a list of 0; expected a list of criteria"),
        ({"0": {}}, "the rubric's items is an object; expected a list of criteria"),
        (["x"], 'the rubric\'s items[0] is "x"; expected an object with criterion and max_points'),
        ([item(1, 1), None], "the rubric's items[1] is null; expected an object with"),
        ([group(item(1), 7)], "the rubric's items[0].items[1] is 7; expected an object with"),
        ([item(1, items={})], "the rubric's items[0].items is an object; expected a list of criteria"),
        ([{"max_points": 1}], "the rubric's items[0].criterion is null; expected a string"),
        ([item(1) | {"criterion": " "}], 'items[0].criterion is " "; expected a string'),
        ([item(1) | {"criterion": ["x\n"]}], "items[0].criterion is a list of 1; expected a string"),
        ([{"criterion": "c"}], f"items[0].max_points is null{NOT_A_NUMBER}"),
        ([item("4")], f'items[0].max_points is "4"{NOT_A_NUMBER}'),
        ([item(maximum=True)], f"items[0].max_points is true{NOT_A_NUMBER}"),
        ([item(-1)], f"items[0].max_points is -1{NOT_A_NUMBER}"),
        ([item(10**4000)], f"items[0].max_points is a huge number{NOT_A_NUMBER}"),
        ([item(D("1e999999999"))], f"items[0].max_points is 1E+999999999{NOT_A_NUMBER}"),
        ([item(1, D("1e-999999999"))], f"items[0].post_image_earned_points is 1E-999999999{NOT_A_NUMBER}"),
        ([item(1, float("nan"))], f"items[0].post_image_earned_points is NaN{NOT_A_NUMBER}"),
        ([item(1, [1])], f"items[0].post_image_earned_points is a list of 1{NOT_A_NUMBER}"),
        ([item(1, earned_points="all\u2028")], f'items[0].earned_points is "all\\u2028"{NOT_A_NUMBER}'),
        ([item(1, earned_points=False)], f"items[0].earned_points is false{NOT_A_NUMBER}"),
    ],
)
def test_a_malformed_item_is_refused_with_its_place(items, told):
    with pytest.raises(UnreadableVerdict) as caught:
        flatten_items(items)
    assert told in str(caught.value)
    assert str(caught.value).isprintable()
    assert caught.value.code == "rubric_invalid"


def nested(depth):
    return item(1, 1) if depth == 1 else group(nested(depth - 1))


def test_groups_in_groups_are_followed_up_to_a_bound():
    assert len(flatten_items([nested(MAX_DEPTH)])) == 1
    with pytest.raises(UnreadableVerdict, match=rf"is nested in more than {MAX_DEPTH} groups; flatten the rubric"):
        flatten_items([nested(MAX_DEPTH + 1)])


def test_many_criteria_take_little_time():
    start = process_time()
    assert sums(*[item(D("0.001"), D("0.001"))] * 50_000) == (50, 50)
    assert process_time() - start < 5


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.decimals(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from([*item(1, 1, earned_points=1), "items", "condition"]), inner)
    ),
)


@given(JSON)
def test_whatever_stands_there_is_a_rubric_or_refused(raw):
    with suppress(UnreadableVerdict):  # anything else fails the test
        points_of(flatten_items(raw))
