"""How two trees become assertions: spec §6.2 for what is equal, §6.3 for names and messages."""

from __future__ import annotations

import pytest

from pytest_webeval.errors import EvaluationError
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.comparison import Comparison, ComparisonState, preview
from pytest_webeval.values.number import NumberValue
from pytest_webeval.values.schema import UnparsedValue
from pytest_webeval.values.string import StringValue


def text(raw) -> StringValue:
    return StringValue.read(raw, ParseContext())


FIVE = NumberValue.read(5, ParseContext())
UNREAD = UnparsedValue("a", "'a' is not a number")
IN_ORDER, WITH_MORE = Comparison(ordered=True), Comparison(extra_keys=True)


def names(found) -> dict[str, str]:
    return {one.assertion_name: one.status.value for one in found}


@pytest.mark.parametrize(
    ("expected", "actual", "told"),
    [
        (None, None, {"x_match": "success"}),
        (None, 0, {"x_none_mismatch": "failure"}),
        (None, [], {"x_none_mismatch": "failure"}),
        ("a", None, {"x_none_mismatch": "failure"}),
        ({}, None, {"x_none_mismatch": "failure"}),
        ("a", "a", {"x_match": "success"}),
        ("a", "b", {"x_mismatch": "failure"}),
        ("b", "a", {"x_mismatch": "failure"}),
        (1, 1.0, {"x_match": "success"}),
        (text("a."), text("A"), {"x_match": "success"}),
        (text("a"), text("b"), {"x_mismatch": "failure"}),
        (text("a"), "a", {"x_mismatch": "failure"}),
        ("a", text("a"), {"x_mismatch": "failure"}),
        (FIVE, text("5"), {"x_mismatch": "failure"}),
        (UNREAD, UNREAD, {"x_mismatch": "failure"}),
        (FIVE, UNREAD, {"x_mismatch": "failure"}),
        ({"a": 1}, [1], {"x_invalid_format": "failure"}),
        ({"a": 1}, text("a"), {"x_invalid_format": "failure"}),
        ({"b": 1, "a": 2}, {"a": 2, "b": 2}, {"x.a_match": "success", "x.b_mismatch": "failure"}),
        ({"a": 1}, {"a": 1, "b": 2}, {"x_keys_mismatch": "failure", "x.a_match": "success"}),
        ({"a": 1, "b": 2}, {"a": 1}, {"x_keys_mismatch": "failure", "x.a_match": "success"}),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, {"x.a.b_mismatch": "failure"}),
        ([1], {"a": 1}, {"x_invalid_format": "failure"}),
        ([1], "1", {"x_invalid_format": "failure"}),
        ([], [], {"x_match": "success"}),
        ((1, 2), [2, 1], {"x_match": "success"}),
        ([1, 2], (2, 1), {"x_match": "success"}),
        ([1, 2], [1], {"x_array_values_mismatch": "failure"}),
        ([1], [1, 2], {"x_array_values_mismatch": "failure"}),
        ([1, 1], [1, 2], {"x_array_values_mismatch": "failure"}),
        ([[1, 2]], [[2, 1]], {"x_match": "success"}),
        ([{"a": 1}], [{"a": 1, "b": 2}], {"x_array_values_mismatch": "failure"}),
    ],
)
def test_each_leaf_and_each_structure_that_differs_is_told_by_its_path(expected, actual, told):
    found = list(Comparison().compare(expected, actual, "x"))
    assert names(found) == told
    assert [one.assertion_name for one in found] == list(told)
    assert Comparison().equal(expected, actual) is ("failure" not in told.values())


@pytest.mark.parametrize(
    ("expected", "actual", "told"),
    [
        ([1, 2], [1, 2], {"x[0]_match": "success", "x[1]_match": "success"}),
        ([1, 2], [2, 2], {"x[0]_mismatch": "failure", "x[1]_match": "success"}),
        ([1, 2], [1], {"x_array_values_mismatch": "failure", "x[0]_match": "success"}),
        ([1], [1, 2], {"x_array_values_mismatch": "failure", "x[0]_match": "success"}),
        ([[1, 2]], [[2, 1]], {"x[0][0]_mismatch": "failure", "x[0][1]_mismatch": "failure"}),
        ([], [], {}),
        ([1] * 300, [1] * 300, {f"x[{index}]_match": "success" for index in range(300)}),
    ],
)
def test_in_order_each_place_is_compared(expected, actual, told):
    assert names(IN_ORDER.compare(expected, actual, "x")) == told


@pytest.mark.parametrize(
    ("expected", "actual", "told"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, {"x.a_match": "success"}),
        ({"a": 1, "c": 3}, {"a": 1, "b": 2}, {"x_keys_mismatch": "failure", "x.a_match": "success"}),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, {"x.a.b_match": "success"}),
        ([{"a": 1}], [{"a": 1, "b": 2}], {"x_match": "success"}),
    ],
)
def test_where_objects_may_say_more_only_missing_keys_count(expected, actual, told):
    assert names(WITH_MORE.compare(expected, actual, "x")) == told


@pytest.mark.parametrize(
    ("comparison", "expected", "actual", "messages"),
    [
        (Comparison(), None, None, ["both are null"]),
        (Comparison(), "é", "é", ['"é"']),
        (Comparison(), "a", "b", ['expected "a"', 'got "b"']),
        (Comparison(), FIVE, UNREAD, ["expected 5.0", 'got "a"', "'a' is not a number"]),
        (Comparison(), None, 0, ["expected null", "got 0"]),
        (Comparison(), {"a": 1}, [1], ['expected {"a": 1}', "got [1], not an object"]),
        (Comparison(), [1], "a", ["expected [1]", 'got "a", not a list']),
        (Comparison(), {"b": 1, "a": 1}, {}, ["missing keys: a, b"]),
        (Comparison(), {"a": 1}, {"d": 1, "c": 1, "a": 1}, ["extra keys: c, d"]),
        (Comparison(), {"a": 1}, {"c": 1}, ["missing keys: a", "extra keys: c"]),
        (WITH_MORE, {"a": 1}, {"c": 1}, ["missing keys: a"]),
        (IN_ORDER, [1, 2], [], ["2 items expected in this order, 0 found", "expected [1, 2]", "got []"]),
        (Comparison(), [1], [1], ["[1]"]),
        (Comparison(), [1, 2], [2], ["1 of 2 items found; missing [1]", "expected [1, 2]", "got [2]"]),
        (Comparison(), [1], [1, 3], ["1 of 1 item found; not expected [3]", "expected [1]", "got [1, 3]"]),
    ],
)
def test_messages_say_what_was_expected_what_was_found_and_what_is_wrong(comparison, expected, actual, messages):
    assert next(comparison.compare(expected, actual, "x")).assertion_msgs == messages


@pytest.mark.parametrize(
    ("text", "written"),
    [("x" * 298, f'"{"x" * 298}"'), ("x" * 299, f'"{"x" * 298}…'), ("x" * 3_000, f'"{"x" * 298}…')],
    ids=["whole", "cut by one", "cut"],
)
def test_a_value_is_shown_in_at_most_300_characters(text, written):
    assert preview(text) == written


@pytest.mark.parametrize(("tree", "written"), [(10**5_000, "<class 'int'>"), (1 + 2j, '"(1+2j)"')], ids=["huge", "odd"])
def test_what_cannot_be_written_as_json_is_shown_by_its_type_or_as_python_writes_it(tree, written):
    assert preview(tree) == written


PATTERN_FIRST = [text("^.*$"), text("a")]


def test_a_greedy_matching_gives_an_item_to_the_first_that_takes_it():
    found = list(Comparison().compare(PATTERN_FIRST, [text("a"), text("b")], "x"))
    assert found[0].assertion_msgs is not None
    assert found[0].assertion_msgs[0] == '1 of 2 items found; missing ["a"]; not expected ["b"]'


@pytest.mark.parametrize(
    ("expected", "actual", "told", "noticed"),
    [
        (PATTERN_FIRST, ["a", "b"], ['["a", "b"]'], [("maximum_matching", "x")]),
        (PATTERN_FIRST, ["b", "a"], ['["b", "a"]'], []),
        ([text("b")], ["a", "b"], ['1 of 1 item found; not expected ["a"]', 'expected ["b"]', 'got ["a", "b"]'], []),
        (
            [*PATTERN_FIRST, text("c")],
            ["d", "a", "b"],
            [
                '2 of 3 items found; missing ["c"]; not expected ["b"]',
                'expected ["^.*$", "a", "c"]',
                'got ["d", "a", "b"]',
            ],
            [("maximum_matching", "x")],
        ),
    ],
)
def test_a_maximum_matching_is_sought_where_a_greedy_one_leaves_something_out(expected, actual, told, noticed):
    notices = []
    comparison = Comparison(maximum_matching=True, notice=lambda *notice: notices.append(notice))
    found = list(comparison.compare(expected, [text(one) for one in actual], "x"))
    assert (found[0].assertion_msgs, notices) == (told, noticed)


ONE_IS_MET = {"a": [], "b": 1}


@pytest.mark.parametrize(
    ("expected", "actual", "second"),
    [
        ({"a": [], "b": []}, {"a": [], "b": []}, "x.b"),
        ({"a": [], "b": [1]}, {"a": (), "b": []}, "x.b"),
        ({"a": None, "b": 1}, {"a": [], "b": []}, "x.b"),
        ({"a": {"c": []}, "b": []}, {"a": {"c": []}, "b": []}, "x.b"),
        ({"a": [], "b": [1]}, {"a": [], "b": [1]}, None),
        ([[]], [[]], None),
        ([[], []], [[], []], ""),
        ([ONE_IS_MET], [{"a": [], "b": 2}, ONE_IS_MET], None),
        ([ONE_IS_MET, {"a": [], "b": 2}], [ONE_IS_MET, {"a": [], "b": 2}], ".a"),
        ({"a": [{"c": []}], "b": []}, {"a": [{"c": []}], "b": []}, "x.b"),
        ({"a": [{"c": [], "d": 1}], "b": []}, {"a": [{"c": [], "d": 2}], "b": []}, None),
        ({"a": [{"c": [], "d": 1, "e": []}]}, {"a": [{"c": [], "d": 2, "e": []}]}, ".e"),
    ],
)
def test_a_second_empty_list_in_an_answer_is_an_error_of_the_reference(expected, actual, second):
    notices = []
    lenient = Comparison(notice=lambda *notice: notices.append(notice))
    list(lenient.compare(expected, actual, "x"))
    assert notices == ([] if second is None else [("separate_lists", second)])
    reference = Comparison(separate_lists=False)
    if second is None:
        list(reference.compare(expected, actual, "x"))
    else:
        place = f" @ {second}" if second else ""  # items of unordered arrays have none
        with pytest.raises(EvaluationError, match=rf"^a second empty list{place};"):
            list(reference.compare(expected, actual, "x"))


@pytest.mark.parametrize(("expected", "place"), [({}, " @ x"), ([{}], "")])
def test_an_expected_object_without_keys_is_an_error(expected, place):
    with pytest.raises(EvaluationError) as caught:
        list(Comparison().compare(expected, expected, "x"))
    assert str(caught.value) == f"an expected object without keys{place}; write its keys, or null"


def test_what_was_met_before_counts():
    trail = ComparisonState()
    assert Comparison(separate_lists=False).equal([], [], trail)
    with pytest.raises(EvaluationError):
        Comparison(separate_lists=False).equal([], [], trail)
