"""Where each datum of a payload is looked up: `fara_webeval.md` §5.3, §6.3 step 7."""

from __future__ import annotations

import pytest

from pytest_webeval.rubrics.policy import UnreadableVerdict
from tests.support.made_payloads import OUTCOME_FALSE, item, payload, verdict

STEP_8 = {"rubric_intermediate_mm_rubric_steps": {"step8_outcome_verification": {"output_success": True}}}


@pytest.mark.parametrize(
    ("more", "outcome"),
    [
        ({"outcome_success": True} | OUTCOME_FALSE, True),
        ({"outcome_success": None} | OUTCOME_FALSE, None),  # undecided, not absent
        (OUTCOME_FALSE | STEP_8, False),
        ({"rubric_outcome_verification": {"reasoning": "r"}} | STEP_8, True),
        ({"rubric_outcome_verification": [1]} | STEP_8, True),
        ({}, None),
    ],
)
def test_the_outcome_is_looked_up_in_three_places(more, outcome):
    assert verdict({"rubric_items": [item(4, 4)], **more}).outcome is outcome


@pytest.mark.parametrize(
    ("more", "violation"),
    [
        ({"cp_violation": True, "rubric_outcome_verification": {"cp_violation": False}}, True),
        ({"cp_violation": None, "rubric_outcome_verification": {"cp_violation": False}}, False),
        ({"rubric_intermediate_mm_rubric_steps": {"step8_cp_violation_check": {"cp_violation": True}}}, True),
        ({"rubric_intermediate_mm_rubric_steps": {"step8_cp_violation_check": True}}, True),
        ({"rubric_intermediate_mm_rubric_steps": {"step8_cp_violation_check": None}}, None),
        ({"rubric_intermediate_mm_rubric_steps": "none"}, None),
        ({}, None),
    ],
)
def test_a_violation_is_looked_up_in_three_places(more, violation):
    assert verdict(payload(outcome=True, **more)).violation is violation


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"outcome_success": "true"}, '"true" for outcome_success'),
        ({"outcome_success": 1}, "1 for outcome_success"),
        ({"outcome_success": [True]}, "a list of 1 for outcome_success"),
        ({"outcome_success": {}}, "an object for outcome_success"),
        (
            {"outcome_success": True, "rubric_outcome_verification": {"output_success": "false"}},
            '"false" for rubric_outcome_verification.output_success',
        ),
        (
            {"rubric_intermediate_mm_rubric_steps": {"step8_outcome_verification": {"output_success": "yes"}}},
            '"yes" for step8_outcome_verification.output_success',
        ),
        ({"cp_violation": "yes"}, '"yes" for cp_violation'),
        ({"rubric_outcome_verification": {"cp_violation": 0}}, "0 for rubric_outcome_verification.cp_violation"),
        (
            {"rubric_intermediate_mm_rubric_steps": {"step8_cp_violation_check": "no"}},
            '"no" for step8_cp_violation_check',
        ),
        (
            {"rubric_intermediate_mm_rubric_steps": {"step8_cp_violation_check": {"cp_violation": "no"}}},
            '"no" for step8_cp_violation_check',
        ),
    ],
)
def test_a_yes_or_no_of_another_type_is_an_error_instead_of_undecided(more, problem):
    with pytest.raises(UnreadableVerdict) as caught:
        verdict({"rubric_items": [item(4, 4)], **more})
    assert str(caught.value).endswith(f" has {problem}, expected true, false or null; judge the run again")
    assert caught.value.code == "score_unreadable"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"outcome_reasoning": "top"} | OUTCOME_FALSE, "top"),
        ({"outcome_reasoning": " "} | OUTCOME_FALSE, "nested"),
        ({"outcome_reasoning": 5}, None),
    ],
)
def test_the_reason_is_the_first_text_that_says_something(more, reason):
    assert verdict(payload(outcome=False, **more)).reason == reason


@pytest.mark.parametrize(
    ("keys", "writer", "generation"),
    [
        ({"is_success": 1}, "webtailbench", "G0"),
        ({"is_success": 1, "success_criterion": "outcome"}, "webtailbench", None),
        ({"is_success": 1, "success_criterion": "outcome", "rubric_task_verification": {}}, "webtailbench", "G1"),
        ({"error_taxonomy": {}, "rubric_task_verification_with_trajectory": {}}, "verify_script", "G1"),
        ({"is_success": 1, "success_criterion": "outcome", "rubric_cp_classification": None}, "webtailbench", "G2"),
        ({"success_criterion": "outcome"}, "verify_script", None),
        ({"error_taxonomy": {}, "cp_violation": None}, "verify_script", "G2"),
        ({"error_taxonomy": {}, "rubric_first_point_of_failure": {}}, "verify_script", "G1"),
        ({"error_taxonomy": {}, "rubric_outcome_verification": {"cp_type_used": None}}, "verify_script", "G2"),
        ({}, "unknown", None),
    ],
)
def test_writer_and_generation_follow_from_keys_that_only_they_have(keys, writer, generation):
    found = verdict(payload(outcome=True, **keys), 1)
    assert (found.writer, found.generation) == (writer, generation)


@pytest.mark.parametrize(
    ("generation", "keys"),
    [
        ("G1", "step9_first_point_of_failure step9b_task_verification_with_trajectory step10_task_verification"),
        ("G2", "step8_cp_violation_check cp_prompt_blocks cp_classification_used"),
    ],
)
def test_stored_steps_tell_the_generation_as_well(generation, keys):
    for key in keys.split():
        steps = {"rubric_intermediate_mm_rubric_steps": {key: {}}}
        assert verdict(payload(outcome=True, **steps), 1).generation == generation


def test_the_rubric_of_a_writer_counts_before_one_without_a_prefix():
    found = verdict({"items": [item(4, 0)], "rubric_items": [item(4, 4)], "success_criterion": "process"}, 1)
    assert (found.score, found.writer) == (1, "verify_script")
