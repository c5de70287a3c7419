"""What each check says, and what it lets pass: `fara_webeval.md` §6.3. The corpus has each of them in many verdicts."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from pytest_webeval.recordings.trajectory.layout import ScoreFileName
from pytest_webeval.rubrics.consistency import CHECKS
from pytest_webeval.rubrics.derivation import derive
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rubrics.stored_verdict import Check, RunFacts, StoredVerdict

RUBRIC_FILE = ScoreFileName("mmrubric", Decimal("0.8"), 5, 3)
LEAF = {"criterion": "c", "max_points": 4, "earned_points": 4, "post_image_earned_points": 3.5}
CONDITION = {**LEAF, "condition": "if so", "is_condition_met": True}
PENALTY = {"criterion": "p", "max_points": 0.3, "earned_points": 0, "post_image_earned_points": 0, "penalty": True}
PLAIN = {"rubric_items": [LEAF], "outcome_success": True, "success_criterion": "outcome"}
VOTES = {"n_instances": 3, "outcome_votes": [True, True, None], "majority_output_success": True}
SCORES = {"median_instance_idx": 2, "all_scores": [0.9, 0.5, 0.875], "median_score": 0.875}
OUTCOMES = "R3: the stored outcomes differ: outcome_success is true,"
STEPS = "rubric_intermediate_mm_rubric_steps"


def checks(more, score=1, **facts):
    payload = json.loads(json.dumps(PLAIN | more), parse_float=Decimal)
    return derive(
        StoredVerdict("scores/x.json", RUBRIC_FILE, score, payload, None), VerdictPolicy(), RunFacts(**facts)
    ).checks


def votes(**more):
    return {"rubric_majority_vote_metadata": more}


def nested(*, outcome):
    return {"rubric_outcome_verification": {"output_success": outcome}}


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"rubric_total_max_points": 5}, "R1: rubric_total_max_points is 5, but the criteria add up to 4"),
        (
            {"rubric_total_earned_points": 3.48},
            "R1: rubric_total_earned_points is 3.48, but the criteria add up to 3.5",
        ),
        ({"rubric_total_max_points": "4"}, 'R1: rubric_total_max_points is "4", but the criteria add up to 4'),
        ({"rubric_is_success": 0}, "R2: rubric_is_success is 0, but the points give 1: their share is 0.8750"),
        ({"rubric_is_success": "yes"}, 'R2: rubric_is_success is "yes", but the points give 1: their share is 0.8750'),
        (
            nested(outcome=None),
            f"{OUTCOMES} rubric_outcome_verification.output_success is null",
        ),
        (
            {STEPS: {"step8_outcome_verification": {"output_success": False}}},
            f"{OUTCOMES} step8_outcome_verification.output_success is false",
        ),
        (
            votes(**VOTES | {"n_instances": 4}),
            "R4: n_instances is 4; expected 1, 3, 5 or another number of votes with a majority",
        ),
        (
            votes(**VOTES | {"n_instances": 1.5}),
            "R4: n_instances is 1.5; expected 1, 3, 5 or another number of votes with a majority",
        ),
        (
            votes(**VOTES | {"n_instances": -1}),
            "R4: n_instances is -1; expected 1, 3, 5 or another number of votes with a majority",
        ),
        (
            votes(**VOTES | {"majority_output_success": None}),
            "R4: majority_output_success is null, but the majority of the votes is true",
        ),
        (
            votes(outcome_votes=[False]),
            "R4: outcome_success is true, but the majority of the votes is false",
        ),
        (
            votes(n_instances=3, outcome_votes=[True]),
            "R4: n_instances is 3, but the number of votes is 1",
        ),
        (votes(**SCORES | {"median_score": 0.9}), "R5: median_score is 0.9, but all_scores[2] is 0.875"),
        (votes(**SCORES | {"median_score": "x"}), 'R5: median_score is "x", but all_scores[2] is 0.875'),
        (
            votes(median_instance_idx=0, all_scores=[0.875, 0.5, 0.7]),
            "R5: median_instance_idx is 0, but the median of all_scores is all_scores[2], 0.7",
        ),
        (
            votes(median_instance_idx=0, all_scores=[0.5]),
            "R5: all_scores[0] is 0.5, but the share of the points is 0.875",
        ),
        (
            votes(median_instance_idx=3, all_scores=[0.9, 0.5, 0.875]),
            "R5: median_instance_idx is 3, which is not an index of all_scores, a list of 3",
        ),
        (
            votes(median_instance_idx="0", all_scores=[0.875]),
            'R5: median_instance_idx is "0", which is not an index of all_scores, a list of 1',
        ),
        (
            votes(median_instance_idx=0, all_scores=[0.875, None, 0.875]),
            "R5: median_instance_idx is 0, which is not an index of all_scores, a list of 3",
        ),
        ({"is_success": 0}, "R6: the score is 1, but is_success is 0"),
        ({"is_success": "1"}, 'R6: the score is 1, but is_success is "1"'),
        ({"outcome_success": False}, "R7: the score is 1, but the judge's data give 0 by outcome"),
        (
            {"outcome_success": False, "success_criterion": None, "rubric_items": [LEAF | {"max_points": 5}]},
            "R7: the score is 1, but the judge's data give 0 by outcome, 0 by process, 0 by both",
        ),
        (
            {"rubric_items": [LEAF, LEAF | {"earned_points": 5}]},
            "R8: items[1]: more points than the maximum, or negative points",
        ),
        (
            {"rubric_items": [LEAF | {"post_image_earned_points": -1}]},
            "R8: items[0]: more points than the maximum, or negative points",
        ),
        (
            {"rubric_items": [LEAF, CONDITION | {"is_condition_met": "no"}]},
            "R9: items[1]: a condition without is_condition_met; excluded",
        ),
        (
            {
                "outcome_success": False,
                "success_criterion": "process",
                "rubric_items": [LEAF, PENALTY | {"earned_points": 0.1}],
            },
            "R10: items[1]: points for a penalty",
        ),
        (
            {"rubric_items": [LEAF, PENALTY]},
            "R11: items[1]: a penalty, which means failure by the judge's instructions, but the outcome is true",
        ),
        (
            {STEPS: {"step7_requires_penalty": True}},
            "R12: step7_requires_penalty is true, but there is no penalty among the criteria",
        ),
        (
            {
                "outcome_success": False,
                "success_criterion": "process",
                "rubric_items": [LEAF, PENALTY],
                STEPS: {"step7_requires_penalty": False},
            },
            "R12: step7_requires_penalty is false, but there is a penalty among the criteria",
        ),
        (
            {"rubric_items": [CONDITION, CONDITION]},
            "R13: all of 2 conditions are met; usually they exclude each other",
        ),
        (
            {"rubric_items": [LEAF] + [CONDITION | {"is_condition_met": False}] * 3},
            "R13: none of 3 conditions are met; usually they exclude each other",
        ),
        (
            {"rubric_items": [LEAF | {"max_points": 3, "earned_points": 3, "post_image_earned_points": 2.4}]},
            "R14: 2.4 of 3 points reach the threshold 0.8 exactly but not as binary fractions",
        ),
    ],
)
def test_a_check_says_what_was_stored_and_what_follows(more, told):
    assert [f"{check.rule}: {check.message}" for check in checks(more)] == [told]


@pytest.mark.parametrize(
    ("more", "facts", "told"),
    [
        ({"final_answer": "x"}, {"final_answer": "y"}, 'R15: final_answer is "x", but the agent\'s answer is "y"'),
        ({"final_answer": 5}, {"final_answer": "5"}, 'R15: final_answer is 5, but the agent\'s answer is "5"'),
        (
            {STEPS: {"step1_num_screenshots": 4}},
            {"action_count": 3},
            "R16: step1_num_screenshots is 4, but the number of actions is 3",
        ),
        ({}, {"is_stale": True}, "R17: the verdict is older than the answer"),
    ],
)
def test_a_verdict_on_another_run_is_told(more, facts, told):
    assert [f"{check.rule}: {check.message}" for check in checks(more, **facts)] == [told]


@pytest.mark.parametrize(
    "more",
    [
        {"rubric_total_max_points": 4.01, "rubric_total_earned_points": 3.49},  # the tolerance of the writers
        {"rubric_total_max_points": None},
        {"rubric_is_success": True, "is_success": 1.0},
        {"rubric_is_success": None, "is_success": None},
        nested(outcome=True),
        votes(**VOTES | SCORES),
        votes(median_instance_idx=2.0, all_scores=[0.875, 0.5, 0.875]),  # another instance with the median score
        votes(median_instance_idx=0, all_scores=[0.8750000000001]),
        votes(outcome_votes="true", all_scores=[], median_instance_idx=3),
        votes(all_scores=[0.5]),
        {"rubric_items": [LEAF, CONDITION]},
        {"rubric_items": [LEAF, CONDITION, CONDITION | {"is_condition_met": False}]},
        {STEPS: {"step7_requires_penalty": False, "step1_num_screenshots": 3}},
        {STEPS: {"step7_requires_penalty": "perhaps", "step1_num_screenshots": None}},
        {"final_answer": "y"},
        {"final_answer": None},
    ],
)
def test_what_agrees_or_says_nothing_offends_no_rule(more):
    assert checks(more, final_answer="y", action_count=3, is_stale=False) == ()


def test_what_the_run_does_not_say_cannot_be_contradicted():
    assert checks({"final_answer": "x", STEPS: {"step1_num_screenshots": 4}}) == ()


def test_a_verdict_changed_in_one_place_offends_every_rule_that_looks_there():
    """The outcome is told three times, voted on, and decides the score."""
    found = checks({"outcome_success": False, "rubric_majority_vote_metadata": VOTES} | nested(outcome=True))
    assert [check.rule for check in found] == ["R3", "R4", "R7"]


def test_a_score_of_null_contradicts_what_a_judge_found():
    assert [(check.rule, check.message) for check in checks({"is_success": 1}, score=None)] == [
        ("R7", "the score is null, but the judge's data give 1 by outcome")
    ]


def test_a_score_that_is_neither_one_nor_zero_contradicts():
    assert [check.rule for check in checks({"is_success": 1}, score=Decimal("0.5"))] == ["R6", "R7"]


def test_many_places_are_counted_instead_of_listed():
    message = checks({"rubric_items": [LEAF | {"earned_points": 9}] * 30})[0].message
    assert message.startswith("items[0], items[1], items[2] and 27 more: more points")
    message = checks({"rubric_items": [LEAF | {"earned_points": 9}] * 3})[0].message
    assert message.startswith("items[0], items[1], items[2]: more points")


def test_the_first_seven_rules_and_removed_items_are_contradictions_and_the_others_warnings():
    assert list(CHECKS) == [f"R{number}" for number in range(1, 20)]
    assert [rule for rule in CHECKS if Check(rule, "").is_contradiction] == [*list(CHECKS)[:7], "R18"]
