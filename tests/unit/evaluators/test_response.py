"""The response evaluator: spec §1.3 for data, §6.1 for schemas, §6.2 for comparison."""

from __future__ import annotations

import json

import pytest

STRINGS = {"type": "array", "items": {"type": "string"}}
NULL = {"type": "null"}
BOTH = pytest.mark.parametrize("rules", ["reference", "default"])


def items(kind, **more):
    return {"type": "array", "items": {"type": kind, **more}}


def objects(**properties):
    return items("object", properties=properties)


def judged(bench, expected, actual, schema, rules="default", **config):
    response = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": actual}
    return bench.answer(response, bench.expecting(data=expected, schema=schema, **config), rules)


# Spec §1.3: expected, actual, schema, status.
NOTHING = [
    (None, None, STRINGS, "success"),
    ([], [], STRINGS, "success"),
    (None, "", NULL, "success"),
    (None, {}, NULL, "success"),
    (None, ["x"], STRINGS, "failure"),
    (None, 0, STRINGS, "failure"),
    (None, False, STRINGS, "failure"),
    (None, ["x"], NULL, "error"),
    (["x"], None, STRINGS, "failure"),
    (["x"], [], STRINGS, "failure"),
    (["x"], ["x"], NULL, "error"),
    ([0], 0, items("number"), "success"),
    ([False], False, items("boolean"), "success"),
    (["x"], "x", {}, "success"),
    (["x"], '["x"]', STRINGS, "failure"),
]


@BOTH
@pytest.mark.parametrize(("expected", "actual", "schema", "status"), NOTHING)
def test_empty_data_counts_as_none_but_zero_and_false_do_not(bench, rules, expected, actual, schema, status):
    assert judged(bench, expected, actual, schema, rules).status == status


@pytest.mark.parametrize(
    ("rules", "status", "wrong"),
    [("reference", "error", []), ("default", "error", []), ("strict", "failure", ["retrieved_data_unexpected"])],
)
def test_data_for_a_null_schema_is_an_error_that_strict_rules_make_a_failure(bench, failures, rules, status, wrong):
    result = judged(bench, None, ["x"], NULL, rules)
    assert (result.status, failures(result)) == (status, wrong)


@BOTH
@pytest.mark.parametrize(
    ("kind", "expected", "actual", "equal"),
    [
        ("string", "Café", "cafe", True),
        ("string", "end.", "end", True),
        ("number", 1234.5, "1,234.5", True),
        ("number", 5, "$5", False),
        ("integer", 23, "twenty-three", True),
        ("boolean", True, "yes", True),
        ("boolean", True, "correct", False),
        ("date", "2023-01-05", "Jan 5, 2023", True),
        ("date", "2023-01-05", "05/01/2023", False),
        ("currency", 10, "$10.10", True),
        ("currency", 10, 10.11, False),
        ("month", "September", "Sept", True),
        ("month", "May", "15", False),
        ("null", None, "N/A", True),
        ("null", None, "-", False),
        ("string", None, "", True),
        ("string", None, 0, True),
        ("string", None, False, True),
    ],
)
def test_each_item_is_read_as_its_type(bench, rules, kind, expected, actual, equal):
    assert (judged(bench, [expected], [actual], items(kind), rules).status == "success") is equal


def test_a_format_wins_over_the_type(bench):
    assert judged(bench, ["Jan 5, 2023"], ["2023-01-05"], items("string", format="date")).status == "success"


@BOTH
@pytest.mark.parametrize(
    ("expected", "actual", "status"),
    [
        ("git@__SSH_HOST__:a/b.git", "git@git.test:a/b.git", "success"),
        ("git@__SSH_HOST__:a/b.git", "ssh://git@git.test:2222/A/B.git", "success"),
        ("git@__SSH_HOST__:a/b.git", "git@git.test:2222/a/b.git", "failure"),
        ("git@__SSH_HOST__:a/b.git", "http://git.test:8023/a/b.git", "failure"),
        ("git@__SSH_HOST__:a/b.git", 5, "failure"),
        ("git@__SSH_HOST__:a/b.git", "", "failure"),
    ],
)
def test_an_address_to_clone_from_may_be_written_in_either_form(bench, rules, expected, actual, status):
    assert judged(bench, [expected], [actual], items("string", format="url"), rules).status == status


@BOTH
@pytest.mark.parametrize(
    ("expected", "kind"),
    [([None], "number"), ([["x"]], "string"), (["soon"], "date"), (["x"], "array"), (["x"], "email")],
)
def test_what_a_task_expects_must_be_readable_as_its_type(bench, rules, expected, kind):
    assert judged(bench, expected, ["x"], items(kind), rules).status == "error"


@BOTH
@pytest.mark.parametrize(("actual", "status"), [({}, "error"), ({"a": 1}, "error"), ("x", "failure"), (5, "failure")])
def test_an_expected_object_has_a_key_for_whatever_object_comes(bench, rules, actual, status):
    assert judged(bench, [{}], [actual], items("object"), rules).status == status


OFFER = objects(
    name={"type": "string"},
    count={"type": "number"},
    price={"type": "string", "format": "currency"},
    tags={"type": "array", "items": {"type": "string"}},
    maker={"type": "object", "properties": {"since": {"format": "date"}}},
)
MUG = {"name": "Mug", "count": 1, "price": 9.99, "tags": ["a", "b"], "maker": {"since": "2023-01-05"}}
SAME = {"maker": {"since": "Jan 5, 2023"}, "tags": ["b", "A"], "price": "$9.95", "count": "1", "name": "mug"}
TAGS = objects(tags={"type": "array"})


# Spec §6.1: expected, actual, schema, status.
TABLE_6_1 = [
    ([MUG], [SAME], OFFER, "success"),
    ([MUG], [{**SAME, "x": 1}], OFFER, "failure"),
    ([MUG], [{name: value for name, value in SAME.items() if name != "price"}], OFFER, "failure"),
    ([{"name": "a"}], [{"Name": "a"}], OFFER, "failure"),
    ([{"name": None}], [{"name": None}], OFFER, "success"),
    ([{"name": None}], [{}], OFFER, "failure"),
    ([{"name": None}], [{"name": 0}], OFFER, "failure"),
    ([MUG], [json.dumps(SAME)], OFFER, "success"),
    ([MUG], SAME, OFFER, "success"),
    ([MUG, MUG], json.dumps([SAME, SAME]), OFFER, "failure"),
    ([{"name": ["A", "B"]}], [{"name": "b"}], OFFER, "success"),
    ([{"name": ["A"]}], [{"name": "a"}], OFFER, "error"),
    ([[{"name": "a"}, {"name": "b"}]], [{"name": "a"}], OFFER, "failure"),
    ([[{"name": "a"}, {"name": "b"}]], [[{"name": "a"}, {"name": "b"}]], OFFER, "success"),
    ([{"tags": ["x", "y"]}], [{"tags": "x, y"}], TAGS, "failure"),
    ([{"tags": ["x", "y"]}], [{"tags": '["x","y"]'}], TAGS, "success"),
    ([{}], [{}], OFFER, "error"),
    ([{"mail": "A"}], [{"mail": "a."}], objects(mail={"format": "email"}), "success"),
    ([{"note": "A"}], [{"note": "a."}], OFFER, "success"),
    ([MUG], ["Mug"], OFFER, "failure"),
    ([MUG], [5], OFFER, "failure"),
]


@BOTH
@pytest.mark.parametrize(("expected", "actual", "schema", "status"), TABLE_6_1)
def test_objects_are_read_by_their_schema(bench, rules, expected, actual, schema, status):
    assert judged(bench, expected, actual, schema, rules).status == status


# Spec §6.2: expected, actual, item type, ordered, status.
TABLE_6_2 = [
    (["a", "b"], ["b", "a"], "string", False, "success"),
    (["a", "b"], ["b", "a"], "string", True, "failure"),
    (["a", "b"], ["a", "b"], "string", True, "success"),
    (["a", "b"], ["a"], "string", True, "failure"),
    (["a"], ["a", "a"], "string", False, "failure"),
    (["a", "a"], ["a"], "string", False, "failure"),
    (["a", "a"], ["a", "b"], "string", False, "failure"),
    ([["a", "b"], "a"], ["a", "b"], "string", False, "failure"),
    ([["a", "b"], "a"], ["b", "a"], "string", False, "success"),
    ([10.0, 10.15], [10.08, 9.95], "currency", False, "failure"),
    ([10.15, 10.0], [10.08, 9.95], "currency", False, "success"),
    (["^.*$", "x"], ["x", "y"], "string", False, "failure"),
    (["x", "^.*$"], ["x", "y"], "string", False, "success"),
]


@BOTH
@pytest.mark.parametrize(("expected", "actual", "kind", "ordered", "status"), TABLE_6_2)
def test_arrays_are_compared_greedily_or_in_order(bench, rules, expected, actual, kind, ordered, status):
    assert judged(bench, expected, actual, items(kind), rules, ordered=ordered).status == status


def test_order_holds_for_nested_arrays_too(bench):
    swapped = [{"tags": ["b", "a"]}]
    assert judged(bench, [{"tags": ["a", "b"]}], swapped, TAGS).status == "success"
    assert judged(bench, [{"tags": ["a", "b"]}], swapped, TAGS, ordered=True).status == "failure"


@pytest.mark.parametrize(
    ("expected", "actual", "ordered", "wrong"),
    [
        (["a", "b"], ["a", "c"], False, ["retrieved_data_array_values_mismatch"]),
        (["a", "b"], ["a", "c"], True, ["retrieved_data[1]_mismatch"]),
        (["a", "b"], ["c"], True, ["retrieved_data_array_values_mismatch", "retrieved_data[0]_mismatch"]),
    ],
)
def test_an_assertion_names_the_place_that_differs(bench, failures, expected, actual, ordered, wrong):
    assert failures(judged(bench, expected, actual, STRINGS, ordered=ordered)) == wrong


def test_a_mismatch_tells_what_is_missing_and_what_is_too_much(bench):
    result = judged(bench, ["a", "b"], ["a", "C"], STRINGS)
    assert result.assertions[-1].assertion_msgs == [
        '1 of 2 items found; missing ["b"]; not expected ["c"]',
        'expected ["a", "b"]',
        'got ["a", "c"]',
    ]


def test_checks_that_hold_are_recorded_too(bench):
    result = judged(bench, ["a"], ["A"], STRINGS)
    assert [(one.assertion_name, one.status.value) for one in result.assertions] == [
        ("agent_response.status_match", "success"),
        ("agent_response.task_type_match", "success"),
        ("retrieved_data_match", "success"),
    ]


def test_a_result_shows_the_answer_as_it_was_and_both_sides_in_documented_names(bench):
    result = judged(bench, [1234.5], ["1,234.5"], items("number"))
    assert result.actual == {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["1,234.5"]}
    shown = {"action": "retrieve", "status": "SUCCESS", "results": [1234.5], "error_details": None}
    assert result.actual_normalized == result.expected == shown


def test_an_expectation_without_data_fails_whatever_is_answered(bench, failures):
    wanted = bench.expecting(schema=NULL)
    del wanted["expected"]["retrieved_data"]
    result = bench.answer({"task_type": "RETRIEVE", "status": "SUCCESS"}, wanted)
    assert failures(result) == ["agent_response_keys_mismatch"]


def test_a_wrong_type_does_not_hide_that_the_data_is_right(bench, failures):
    response = {"task_type": "MUTATE", "status": "SUCCESS", "retrieved_data": ["x"]}
    result = bench.answer(response, bench.expecting(data=["x"]))
    assert failures(result) == ["agent_response.task_type_mismatch"]
    assert result.assertions[-1].assertion_name == "retrieved_data_match"
