"""Failure analysis: `fara_webeval.md` §5.3, §6.7 and Q50."""

from __future__ import annotations

import json
from dataclasses import asdict
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.rubrics.failure_analysis import FailureAnalysis, failure_of


def point(code="1.1", steps="1", **more):
    return {"error_code": code, "step_numbers": steps, "error_type": "T", "what_happened": "w", **more}


def of_points(*points, **more):
    return failure_of({"rubric_first_point_of_failure": {"failure_points": list(points), **more}}, None)


def test_an_analysis_is_told_by_its_earliest_point():
    found = of_points(point("6.4", "9", error_category="x"), point("3.1", "5-7"), point("3.1", "5"), has_failure=True)
    assert found == FailureAnalysis(
        has_failure=True,
        first_step=5,
        summary="[3.1] T: w",
        codes=("6.4", "3.1", "3.1"),
        categories=("Tool Interaction", "Execution & Strategy", "Execution & Strategy"),
    )


PLACES = [
    ({"rubric_first_point_of_failure": "HERE"}, None),
    ({"first_point_of_failure": "HERE"}, None),
    ({"error_taxonomy": {"first_point_of_failure": "HERE"}}, None),
    ({"rubric_intermediate_mm_rubric_steps": {"step9_first_point_of_failure": "HERE"}}, None),
    ({"intermediate_mm_rubric_steps": {"step9_first_point_of_failure": "HERE"}}, None),
    ({}, {"precomputed_rubric": {"first_point_of_failure": "HERE"}}),
    ({}, {"precomputed_rubric": {"intermediate_mm_rubric_steps": {"step9_first_point_of_failure": "HERE"}}}),
    ({}, {"intermediate_mm_rubric_steps": {"step9_first_point_of_failure": "HERE"}}),
]


def put(place, value):
    return json.loads(json.dumps(place).replace('"HERE"', json.dumps(value)))


def merged(one, other):
    if not isinstance(one, dict) or not isinstance(other, dict):
        return other if one is None else one
    return {key: merged(one.get(key), other.get(key)) for key in {**one, **other}}


@pytest.mark.parametrize("place", PLACES)
def test_an_analysis_is_found_in_each_of_its_places(place):
    payload, task_data = put(place, {"first_failure_step": 4})
    assert failure_of(payload, task_data) == FailureAnalysis(first_step=4)
    payload, task_data = put(place, {})
    assert failure_of(payload, task_data) is None


@pytest.mark.parametrize(("place", "next_place"), list(pairwise(PLACES)))
def test_of_two_places_the_first_counts_unless_it_is_empty(place, next_place):
    for first, step in (({"first_failure_step": 4}, 4), ({}, 5), (None, 5), (["x"], 5)):
        one, other = put(place, first), put(next_place, {"first_failure_step": 5})
        payload, task_data = (merged(mine, yours) for mine, yours in zip(one, other, strict=True))
        assert failure_of(payload, task_data) == FailureAnalysis(first_step=step)


def test_each_datum_is_looked_up_for_itself():
    payload = {
        "error_taxonomy": {"first_point_of_failure": {"has_failure": False}, "task_verification": None},
        "rubric_intermediate_mm_rubric_steps": {
            "step9_first_point_of_failure": {"has_failure": True},
            "step9b_task_verification_with_trajectory": {"is_invalid": True},
        },
    }
    task_data = {"precomputed_rubric": [{"task_verification": {"is_ambiguous": True}}, {"task_verification": {}}]}
    assert failure_of(payload, task_data) == FailureAnalysis(has_failure=False, is_ambiguous=True, is_invalid=True)


@pytest.mark.parametrize(
    ("payload", "task_data"),
    [
        ({}, None),
        ({}, {}),
        ({"outcome_success": True}, {"precomputed_rubric": None}),
        ({"error_taxonomy": {"first_point_of_failure": None}}, {"precomputed_rubric": []}),
        ({"error_taxonomy": ["x"], "rubric_first_point_of_failure": "x"}, {"intermediate_mm_rubric_steps": 7}),
    ],
)
def test_without_an_analysis_there_is_no_failure(payload, task_data):
    assert failure_of(payload, task_data) is None


@pytest.mark.parametrize(
    ("steps", "first"),
    [
        ("5", 5),
        ("5-7", 5),
        ("9, 8,12", 8),
        ("10 - 7", 7),
        ("Step 3.", 3),
        ("0", 0),
        (6, 6),
        ([9, "7-8", None], 7),
        ("", None),
        ("the end", None),
        ("2.5", None),
        ("9" * 10, None),
        (10**12, None),
        (True, None),
        (None, None),
        ({"5": 5}, None),
        (Decimal("5.0"), None),
    ],
)
def test_the_first_step_is_the_smallest_whole_number_of_any_point(steps, first):
    assert of_points(point(steps=steps)).first_step == first
    assert of_points(point(steps="99"), point(steps=steps)).first_step == (99 if first is None else first)


@pytest.mark.parametrize(
    ("stored", "first"), [(4, 4), (0, 0), (None, None), ("4", None), (True, None), (-1, None), (10**9, None)]
)
def test_the_stored_step_counts_where_no_point_has_one(stored, first):
    assert of_points(first_failure_step=stored).first_step == first
    assert of_points(point(steps="?"), first_failure_step=stored).first_step == first
    assert of_points(point(steps="7"), first_failure_step=stored).first_step == 7


@pytest.mark.parametrize(
    ("written", "code", "category"),
    [
        ("6.3", "6.3", "Tool Interaction"),
        (" [3.2.1] ", "3.2.1", "Execution & Strategy"),
        ("8.1 Impossible.", "8.1", "Invalid Task"),
        ("Code 9.2: Harness only", "9.2", "Harness"),
        (Decimal("6.4"), "6.4", "Tool Interaction"),
        (6.4, "6.4", "Tool Interaction"),
        ("7.9", "7.9", "stored"),
        ("16.4", "16.4", "stored"),
        ("6.45", "6.45", "stored"),
        ("6.4.1.1", "6.4.1.1", "stored"),
        (6, "6", "stored"),
        ("no\x1b[31m \n\ncode", "no[31m code", "stored"),
        ("x" * 200, "x" * 77 + "...", "stored"),
    ],
)
def test_codes_are_normalised_and_unknown_ones_stay_visible_with_the_category_as_stored(written, code, category):
    found = of_points(point(written, error_category="stored"))
    assert (found.codes, found.categories) == ((code,), (category,))


@pytest.mark.parametrize("written", [None, True, "", "  ", [], {"6.4": 1}])
def test_a_point_without_a_code_still_tells_its_step(written):
    found = of_points(point(written, "3"))
    assert (found.codes, found.categories, found.first_step, found.summary) == ((), (), 3, "T: w")


@pytest.mark.parametrize(
    ("points", "stored", "summary"),
    [
        ([point()], "s", "[1.1] T: w"),
        ([point(what_happened=None)], "s", "[1.1] T"),
        ([point(error_type=7, what_happened=" a\n b\x00 ")], "s", "[1.1] a b"),
        ([point(what_happened="x" * 291)], "s", "[1.1] T: " + "x" * 291),
        ([point(what_happened="x" * 999)], "s", "[1.1] T: " + "x" * 288 + "..."),
        ([point("1.1", "?"), point("2.1", "?")], "s", "[1.1] T: w"),
        (["x", None, point("2.1", "?")], "s", "[2.1] T: w"),
        ([], " s\ns ", "s s"),
        ([], ["s"], ""),
    ],
)
def test_the_summary_tells_code_type_and_what_happened_on_one_line(points, stored, summary):
    assert of_points(*points, first_failure_summary=stored).summary == summary


@pytest.mark.parametrize(
    ("points", "wanted"),
    [
        ([], (True, 9, "s", (), ())),
        ([point("6.3", "4")], (True, 4, "[6.3] T: w", ("6.3",), ("Tool Interaction",))),
        (
            [point("6.1 Invalid invocation", "1"), point("1.1", "4"), point("6.2", "2"), point(None, "3")],
            (True, 3, "T: w", ("1.1",), ("Selection",)),
        ),
        ([point("6.1", "1"), point("1.1", "?")], (True, None, "[1.1] T: w", ("1.1",), ("Selection",))),
        ([point("6.1", "1"), point(None, "?", error_type="", what_happened="")], (True, None, "", (), ())),
        ([point("6.1", "1"), point("6.2", "2")], (False, None, "", (), ())),
    ],
)
def test_points_with_codes_that_do_not_count_are_left_out_of_all_that_is_told(points, wanted):
    first = {"failure_points": points, "has_failure": True, "first_failure_step": 9, "first_failure_summary": "s"}
    found = failure_of({"rubric_first_point_of_failure": first}, None, ("6.1", "6.2"))
    assert (found.has_failure, found.first_step, found.summary, found.codes, found.categories) == wanted


@pytest.mark.parametrize(
    ("task_only", "with_trajectory", "flag"),
    [
        (True, False, True),
        (False, True, True),
        (False, False, False),
        (False, None, False),
        (None, False, False),
        (None, None, None),
        ("yes", 1, None),
    ],
)
def test_a_task_is_flagged_by_itself_or_else_with_the_run(task_only, with_trajectory, flag):
    for name in ("is_ambiguous", "is_invalid"):
        payload = {"task_verification": {name: task_only}, "task_verification_with_trajectory": {name: with_trajectory}}
        assert failure_of(payload, None) == FailureAnalysis(**{name: flag})


@pytest.mark.parametrize(
    ("task_only", "with_trajectory", "codes"),
    [
        (["7.1", "7.2 Ambiguous"], ["7.3"], ("7.1", "7.2")),
        ([], ["7.3", "8.1"], ("7.3", "8.1")),
        ([None, {}], ["7.3"], ("7.3",)),
        ("7.1", {"7.2": 1}, ()),
    ],
)
def test_codes_of_a_task_are_those_of_the_task_alone_if_it_has_any(task_only, with_trajectory, codes):
    for stored, name in (("ambiguity_codes", "ambiguity_codes"), ("invalid_task_codes", "invalid_codes")):
        payload = {
            "rubric_task_verification": {stored: task_only},
            "rubric_task_verification_with_trajectory": {stored: with_trajectory},
        }
        assert failure_of(payload, None) == FailureAnalysis(**{name: codes})


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
points = st.fixed_dictionaries(dict.fromkeys(point(error_category=""), anything))
analyses = st.fixed_dictionaries({"has_failure": anything, "failure_points": st.lists(points | anything) | anything})
tasks = st.fixed_dictionaries(dict.fromkeys(["is_ambiguous", "ambiguity_codes", "invalid_task_codes"], anything))


@given(analyses | anything, tasks | anything, anything)
def test_any_json_gives_an_analysis_in_plain_json_or_none(first, task, task_data):
    payload = {"rubric_first_point_of_failure": first, "error_taxonomy": {"task_verification": task}}
    found = failure_of(payload, task_data)
    if found is not None:
        assert json.loads(json.dumps(asdict(found), allow_nan=False))["summary"] == found.summary
        assert all(text.isprintable() for text in (found.summary, *found.codes, *found.categories))
