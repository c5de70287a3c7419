"""Steps that fell back to a default: `fara_webeval.md` §6.4, §8 Q23."""

from __future__ import annotations

import pytest

from pytest_webeval.rubrics.degradation import degraded_steps
from pytest_webeval.rubrics.payload import RubricPayload
from pytest_webeval.rubrics.rubric_items import flatten_items

LEAVES = [{"criterion": "c", "max_points": 4, "post_image_earned_points": 4}]
UNMET = [{**LEAVES[0], "condition": "if so", "is_condition_met": False}]
TOLD = {"screenshot_evidence": "e", "criterion_analysis": "a", "discrepancies": "none", "screenshot_idx": 0}


def degraded(steps, items=LEAVES, **more):
    return degraded_steps(RubricPayload({"rubric_intermediate_mm_rubric_steps": steps} | more), flatten_items(items))


def images(*numbers):
    return {f"screenshot_{number}": {"0": 0, "1": 0, "screenshot_idx": number} for number in numbers}


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ({"step2_relevance_scores": images(10, 2)}, "step 2: every relevance is 0 for screenshot_2, screenshot_10"),
        (
            {"step2_relevance_scores": images(*range(8))},
            f"step 2: every relevance is 0 for {', '.join(images(0, 1, 2, 3, 4))} and 3 more",
        ),
        (
            {"step2_relevance_scores": images(*range(5))},
            f"step 2: every relevance is 0 for {', '.join(images(0, 1, 2, 3, 4))}",
        ),
        ({"step2_relevance_scores": {"a\nb": {"0": 0}}}, "step 2: every relevance is 0 for a\\nb"),
        (
            {"step4_evidence_by_criterion": {"0": [TOLD], "1": [TOLD, TOLD | {"discrepancies": ""}], "2": ["error"]}},
            "step 4: no evidence for criterion 1, 2",
        ),
        ({"step6_rescoring_summary": []}, "step 6: no criterion was rescored after the screenshots"),
        ({"step7_reasoning": "", "step7_requires_penalty": False}, "step 7: side effects were not checked"),
        ({"step7_reasoning": None}, "step 7: side effects were not checked"),
        ({"step8_outcome_verification": {"output_success": None}}, "step 8: the outcome is undecided"),
        ({"step8_cp_violation_check": None}, "step 8: no result on critical point violations"),
        (
            {"step8_cp_violation_check": {"cp_violation": None}},
            "step 8: no result on critical point violations",
        ),
    ],
)
def test_a_fallback_is_recognized_by_what_a_step_left(steps, told):
    assert degraded(steps) == (told,)


def test_lost_votes_are_counted():
    votes = {"rubric_majority_vote_metadata": {"outcome_votes": [True, None, True]}, "outcome_success": True}
    assert degraded({}, **votes) == ("step 8: 1 of 3 votes on the outcome failed",)


@pytest.mark.parametrize(
    "steps",
    [
        {},
        [],
        {"step2_relevance_scores": {"screenshot_0": {"0": 0, "1": 3, "screenshot_idx": 0}}},
        {"step2_relevance_scores": {"screenshot_0": {"screenshot_idx": 0}}},
        {"step2_relevance_scores": [0, 0], "step4_evidence_by_criterion": "lost"},
        {"step4_evidence_by_criterion": {"0": [TOLD], "1": [], "2": None}},
        {"step6_rescoring_summary": [{}], "step7_reasoning": "nothing"},
        {"step8_cp_violation_check": {"cp_violation": False}, "step8_outcome_verification": {"output_success": False}},
    ],
)
def test_what_a_model_answered_is_no_fallback(steps):
    assert degraded(steps) == ()


def test_criteria_that_do_not_count_need_not_be_scored_again():
    assert degraded({"step6_rescoring_summary": []}, UNMET) == ()


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ({}, ()),
        ({"evidence": "no valid reply"}, ("evidence: no valid reply",)),
        ({"a\nb": "c\u202ed", "e": 1}, ("a b: c\\u202ed", "e: 1")),
        ({str(number): "x" * 1_000 for number in range(99)}, tuple(f"{at}: {'x' * 599}…" for at in range(50))),
    ],
)
def test_a_writer_that_lists_its_fallbacks_is_taken_at_its_word(listed, expected):
    assert degraded({"degraded_steps": listed, "step6_rescoring_summary": []}) == expected
