"""Scores and votes of several judges, which are stored in several places: one that was changed is named (R4, R5)."""

from __future__ import annotations

import json
from copy import deepcopy
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.recordings.trajectory.layout import ScoreFileName
from pytest_webeval.rubrics.derivation import derive
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rubrics.stored_verdict import RunFacts, StoredVerdict
from tests.support import recorded

POINTS = (9, 5, 7)  # of ten, of each instance; the last is the median
SHARES = [points / 10 for points in POINTS]
LIST, RUBRICS = "rubric_all_scores_list", "rubric_all_rubric_dicts"
VOTES, STEPS = "rubric_majority_vote_metadata", "rubric_intermediate_mm_rubric_steps"


def build_payload():
    """What WebTailBench's evaluator stores of three instances."""
    rubrics = [{"items": [recorded.item(10, points)]} for points in POINTS]
    votes = {"n_instances": 3, "outcome_votes": [True, True, None], "majority_output_success": True}
    scores = {"median_instance_idx": 2, "all_scores": [*SHARES], "median_score": 0.7}
    steps = {
        "majority_vote_steps67": {"all_scores": [*SHARES], "median_instance_idx": 2},
        "majority_vote_step8": {"all_votes": [True, True, None], "majority_output_success": True},
    }
    several = {VOTES: votes | scores, LIST: [*SHARES], RUBRICS: rubrics, STEPS: steps}
    return recorded.payload(items=tuple(rubrics[2]["items"]), **several)


def list_checks(payload):
    """The contradictions in a payload."""
    name = ScoreFileName("mmrubric", Decimal("0.8"), 5, 3)
    read = json.loads(json.dumps(payload), parse_float=Decimal)
    verdict = derive(StoredVerdict("x", name, payload["is_success"], read, None), VerdictPolicy(), RunFacts())
    assert verdict.is_inconsistent is bool([check for check in verdict.checks if check.is_contradiction])
    return [f"{check.rule}: {check.message}" for check in verdict.checks if check.is_contradiction]


def test_what_a_judge_of_three_instances_stores_is_consistent():
    assert list_checks(build_payload()) == []


@pytest.mark.parametrize(
    ("stored", "problem"),
    [
        ([1.0, 0.5, 0.7], f"{LIST}[0] is 1.0, but all_scores[0] is 0.9"),
        ([0.9, 0.5, 1], f"{LIST}[2] is 1, but all_scores[2] is 0.7"),
        ([0.5, 0.9, 0.7], f"{LIST}[0] is 0.5, but all_scores[0] is 0.9"),
        ([0.9, 0.5], f"{LIST} is a list of 2, but all_scores is a list of 3"),
        ([0.9, 0.5, 0.7, 0.7], f"{LIST} is a list of 4, but all_scores is a list of 3"),
        ([], f"{LIST} is a list of 0, but all_scores is a list of 3"),
        ([0.9, -0.5, 0.7], f"{LIST}[1] is -0.5; expected a number from 0 to 1"),
        ([0.9, 0.5, 1.0001], f"{LIST}[2] is 1.0001; expected a number from 0 to 1"),
        ([0.9, 0.5, 1e308], f"{LIST}[2] is 1E+308; expected a number from 0 to 1"),
        ([0.9, "0.5", 0.7], f'{LIST}[1] is "0.5"; expected a number from 0 to 1'),
        ([0.9, None, 0.7], f"{LIST}[1] is null; expected a number from 0 to 1"),
        ([True, 0.5, 0.7], f"{LIST}[0] is true; expected a number from 0 to 1"),
        ([[0.9], 0.5, 0.7], f"{LIST}[0] is a list of 1; expected a number from 0 to 1"),
        ([float("nan"), 0.5, 0.7], f"{LIST}[0] is NaN; expected a number from 0 to 1"),
        ("0.7", f'{LIST} is "0.7"; expected a list of scores'),
        (0.7, f"{LIST} is 0.7; expected a list of scores"),
        ({"0": 0.7}, f"{LIST} is an object; expected a list of scores"),
        (False, f"{LIST} is false; expected a list of scores"),
    ],
)
def test_a_changed_list_of_scores_is_named(stored, problem):
    assert list_checks(build_payload() | {LIST: stored}) == [f"R5: {problem}"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({LIST: [0.2, 0.5, 0.7]}, "the median of rubric_all_scores_list is 0.5, but the share of the points is 0.7"),
        ({LIST: [1]}, "the median of rubric_all_scores_list is 1.0, but the share of the points is 0.7"),
        ({LIST: [0.7], VOTES: {"n_instances": 3, "outcome_votes": [True, True, None]}},
         f"{LIST} is a list of 1, but 2 votes were cast"),
        ({LIST: [0.9, 0.7, 0.5], VOTES: {"n_instances": 1}}, f"{LIST} is a list of 3, but n_instances is 1"),
        ({LIST: [0.9, 0.5, 0.7], VOTES: {"median_instance_idx": 0}},
         f"median_instance_idx is 0, but the median of {LIST} is {LIST}[2], 0.7"),
        ({LIST: [0.9, 0.5, 0.7], VOTES: {"median_instance_idx": 3}},
         f"median_instance_idx is 3, which is not an index of {LIST}, a list of 3"),
        ({LIST: [0.9, 0.5, 0.7], VOTES: {"median_instance_idx": 2, "median_score": 0.9}},
         f"median_score is 0.9, but {LIST}[2] is 0.7"),
    ],
)  # fmt: skip
def test_a_list_of_scores_alone_must_have_the_points_as_its_median(changes, problem):
    """Whoever changes one place may remove the others."""
    payload = {key: value for key, value in build_payload().items() if key not in (LIST, RUBRICS, VOTES, STEPS)}
    assert list_checks(payload | changes) == [f"R5: {problem}"]


def raise_everywhere(payload, index, score):
    """Change a score wherever it is stored."""
    for scores in (payload[LIST], payload[VOTES]["all_scores"], payload[STEPS]["majority_vote_steps67"]["all_scores"]):
        scores[index] = score


@pytest.mark.parametrize("score", [0.0, 0.65, 0.999999, 1.0])
def test_a_score_that_was_changed_everywhere_contradicts_its_rubric(score):
    payload = build_payload()
    raise_everywhere(payload, 1, score)
    (problem,) = list_checks(payload)
    assert problem.startswith("R5: ")


@pytest.mark.parametrize(
    ("rubrics", "problem"),
    [
        ([], f"{RUBRICS} is a list of 0, but all_scores is a list of 3"),
        ({}, f"{RUBRICS} is an object, but all_scores is a list of 3"),
        ([{"items": [recorded.item(10, 1)]}, None, None],
         f"all_scores[0] is 0.9, but the share of the points in {RUBRICS}[0] is 0.1"),
    ],
)  # fmt: skip
def test_rubrics_of_other_instances_are_named(rubrics, problem):
    assert list_checks(build_payload() | {RUBRICS: rubrics}) == [f"R5: {problem}"]


@pytest.mark.parametrize("rubric", [None, 7, {}, {"items": []}, {"items": [{"criterion": "c"}]}, {"items": [{}] * 3}])
def test_a_rubric_that_was_not_stored_as_one_says_nothing(rubric):
    assert list_checks(build_payload() | {RUBRICS: [rubric] * 3}) == []


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ((VOTES, "outcome_votes", 2), "yes", 'outcome_votes[2] is "yes"; expected true, false or null'),
        ((VOTES, "outcome_votes", 2), 1, "outcome_votes[2] is 1; expected true, false or null"),
        ((VOTES, "outcome_votes", 2), True, "majority_vote_step8.all_votes[2] is null, but outcome_votes[2] is true"),
        ((STEPS, "majority_vote_step8", "all_votes"), [True],
         "majority_vote_step8.all_votes is a list of 1, but outcome_votes is a list of 3"),
        ((STEPS, "majority_vote_step8", "all_votes", 0), False,
         "majority_vote_step8.all_votes[0] is false, but outcome_votes[0] is true"),
        ((STEPS, "majority_vote_step8", "all_votes"), "yes",
         'majority_vote_step8.all_votes is "yes", but outcome_votes is a list of 3'),
    ],
)  # fmt: skip
def test_changed_votes_are_named(path, value, problem):
    payload = build_payload()
    place = payload
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert list_checks(payload) == [f"R4: {problem}"]


@pytest.mark.parametrize("removed", [LIST, RUBRICS, VOTES, STEPS])
def test_what_a_writer_leaves_out_contradicts_nothing(removed):
    payload = build_payload()
    del payload[removed]
    assert list_checks(payload) == []


def test_an_instance_that_failed_has_neither_score_nor_vote():
    payload = build_payload() | {LIST: [0.5, 0.7], RUBRICS: None, STEPS: {}}
    votes = {"outcome_votes": [True, None, True], "all_scores": [0.5, 0.7], "median_instance_idx": 1}
    payload[VOTES] |= votes
    assert list_checks(payload) == []


JUNK = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.lists(st.floats(0, 1), max_size=4)
)


@given(st.integers(0, 2), JUNK)
def test_no_other_value_of_a_score_is_accepted(index, junk):
    payload = build_payload()
    payload[LIST][index] = junk
    is_same = isinstance(junk, int | float) and not isinstance(junk, bool) and abs(junk - SHARES[index]) <= 1e-9
    assert bool(list_checks(payload)) is not is_same


@given(JUNK, JUNK, JUNK, JUNK)
def test_no_value_stops_the_check(scores, rubrics, votes, steps):
    payload = deepcopy(build_payload()) | {LIST: scores, RUBRICS: rubrics, VOTES: votes, STEPS: steps}
    list_checks(payload)
