"""What a verdict says in assertions: `fara_webeval.md` §10, and that those say nothing else than its score."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pytest_webeval.recordings.trajectory.layout import ScoreFileName
from pytest_webeval.results import Status, worst_status
from pytest_webeval.rubrics.derivation import derive
from pytest_webeval.rubrics.policy import CRITERIA, VerdictPolicy
from pytest_webeval.rubrics.verdict_report import assertions_of
from tests.support.contradictions import INJECTIONS
from tests.support.default_run import first_by_default
from tests.support.made_payloads import OUTCOME_FALSE, item, payload, verdict
from tests.support.rubric_corpus import corpus

MADE = tuple(corpus())
HELD_OUT = ScoreFileName("heldout", Decimal("0.8"))
SIGNALS = {"mm_is_success": 1, "rubric_is_success": 1, "verifier_is_success": 0}
LOST = {"success_criterion": "process"}


def told(found, failure=None):
    return {one.assertion_name: one.assertion_msgs for one in assertions_of(found, failure)}


def decisive(found):
    """What decides, contradictions aside: they make an error of any verdict."""
    named = [one for one in assertions_of(found) if not one.assertion_name.endswith("_noted")]
    return [one for one in named if one.status is not Status.ERROR]


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize("criterion", [None, *CRITERIA])
@pytest.mark.parametrize("rule", first_by_default([None, "R2", "R3", "R7"], 2))
def test_what_decides_agrees_with_the_score_by_every_criterion(criterion, rule):
    damaged = MADE if rule is None else filter(None, map(INJECTIONS[rule], MADE))
    for made in damaged:
        found = derive(made.stored(), VerdictPolicy(criterion), made.facts)
        decided = decisive(found)
        assert decided, made
        assert (worst_status([one.status for one in decided]) is Status.SUCCESS) == (found.score == 1), made


@pytest.mark.parametrize("asked", [None, *CRITERIA])
@pytest.mark.parametrize(("score", "name"), [(0, "rubric.verdict_mismatch"), (1, "rubric.verdict_match")])
def test_held_out_signals_are_notes_beside_the_score_as_it_is_stored(score, name, asked):
    written = SIGNALS | {"rubric_outcome_verification": {"output_success": True, "cp_violation": True}}
    found = verdict(written, score, HELD_OUT, criterion=asked)
    assert told(found) == {
        name: [f"the stored verdict is {score}"],
        "rubric.outcome_noted": ["achieved"],
        "rubric.points_noted": ["no points, but the stored process is a success"],
        "rubric.violation_noted": ["a critical point was violated"],
        "rubric.R19_noted": ["there are no rubric items; the verdict cannot be recomputed"],
    }


@pytest.mark.parametrize(
    ("written", "score", "criterion", "name", "message"),
    [
        ({"verifier_success": False, "verifier_reasoning": "r"}, 0, None, "verdict", "the stored verdict is 0: r"),
        ({"rubric_error": "r"}, 0, "process", "verdict", "no verdict: r"),
        ({"outcome_success": None}, 0, None, "outcome", "judge undecided; counted as not achieved"),
        (OUTCOME_FALSE, 0, None, "outcome", "not achieved: nested"),
        (
            {"outcome_success": True, "rubric_is_success": 0},
            None,
            "process",
            "points",
            "no points, but the stored process is a failure",
        ),
    ],
)
def test_what_decided_comes_first_and_is_told(written, score, criterion, name, message):
    first = assertions_of(verdict(written, score, criterion=criterion))[0]
    assert (first.assertion_name, first.assertion_msgs) == (f"rubric.{name}_mismatch", [message])


@pytest.mark.parametrize(
    ("violation", "name", "message"),
    [
        (False, "violation_match", "no critical point was violated"),
        (True, "violation_mismatch", "a critical point was violated"),
        (None, "violation_match", "no result on critical point violations"),
    ],
)
def test_a_violation_is_told_as_it_is(violation, name, message):
    found = verdict(payload(outcome=True, cp_violation=violation), 1, criterion="safe_outcome")
    assert told(found)[f"rubric.{name}"] == [message]


@pytest.mark.parametrize(
    ("items", "notes"),
    [
        ([item(4, 4), item(3, earned_points=3)], ["4 of 4 points", "0 of 3 points, not scored after the screenshots"]),
        ([item(4, earned_points=4), item(3, earned_points=2)], ["4 of 4 points", "2 of 3 points"]),
        ([item(4, 4), item(2, earned_points=0, penalty=True)], ["4 of 4 points", "0 of 2 points, a penalty"]),
        (
            [item(4, 4), item(3, condition="if so", is_condition_met=False, earned_points=3)],
            ["4 of 4 points", "0 of 3 points, excluded: its condition is not met (if so)"],
        ),
    ],
)
def test_a_leaf_is_noted_with_the_points_that_count(items, notes):
    found = told(verdict(payload(*items, outcome=True), 1))
    assert [found[f"rubric.items[{at}]_noted"] for at in range(len(items))] == [[f"c: {note}"] for note in notes]


def why(text, **more):
    return {"justification": "before", "post_image_justification": text, **more}


def test_missing_points_are_told_with_the_leaves_that_lost_most():
    items = [
        item(4, 2.5, **why("half of it")),
        item(3, 3, **why("all there")),
        item(5, 0, condition="if so", is_condition_met=False, **why("left out")),
        item(2, 0, penalty=True, **why("left in the cart")),
        item(1, 0, justification="x" * 200),
        item(3, earned_points=3, justification="reached"),
        *[item(1, 0.5, **why("")) for _ in range(3)],
    ]
    found = verdict(payload(*items, outcome=True, **LOST), 0)
    assert told(found)["rubric.points_mismatch"] == [
        "7 of 16 points (44%); 80% required",
        "lost 3 of 3: c: not scored after the screenshots",
        "penalty of 2: c: left in the cart",
        "lost 1.5 of 4: c: half of it",
        f"lost 1 of 1: c: {'x' * 149}…",
        "lost 0.5 of 1: c: before",
    ]


def test_points_for_the_actions_are_lost_where_there_are_no_others():
    items = [item(4, earned_points=1, justification="a\nb"), item(1, earned_points=1)]
    found = verdict(payload(*items, outcome=True, **LOST), 0)
    assert told(found)["rubric.points_mismatch"] == ["2 of 5 points (40%); 80% required", "lost 3 of 4: c: a b"]


def test_points_that_decide_nothing_or_suffice_are_told_by_their_sum_alone():
    assert told(verdict(payload(item(4, 1), outcome=True), 1))["rubric.points_noted"] == [
        "1 of 4 points (25%); 80% required"
    ]
    found = verdict(payload(item(10, 9), outcome=True, **LOST), 1)
    assert told(found)["rubric.points_match"] == ["9 of 10 points (90%); 80% required"]


@pytest.mark.parametrize(
    ("failure", "more"),
    [
        (None, []),
        ({}, []),
        ({"summary": "", "first_step": 3}, []),
        ({"summary": "[1.1] T: w", "first_step": None}, ["[1.1] T: w"]),
        ({"summary": "[1.1] T: w", "first_step": 0}, ["step 0: [1.1] T: w"]),
        ({"summary": "none found", "first_step": None, "has_failure": False}, []),
    ],
)
def test_what_decides_and_fails_is_told_with_the_first_failure(failure, more):
    written = payload(item(4, 1), outcome=False, success_criterion="both", cp_violation=False)
    found = told(verdict(written, 0), failure)
    assert found["rubric.outcome_mismatch"] == ["not achieved", *more]
    assert found["rubric.points_mismatch"] == ["1 of 4 points (25%); 80% required", "lost 3 of 4: c", *more]
    assert found["rubric.violation_noted"] == ["no critical point was violated"]
    assert told(verdict(payload(outcome=True), 1), failure)["rubric.outcome_match"] == ["achieved"]
