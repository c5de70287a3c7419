from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.evidence import FENCE_RULE
from pytest_webeval.judges.methods import load_method
from pytest_webeval.judges.verdicts import JudgeSettings
from tests.unit.judges.derived import derive_verdict
from tests.unit.judges.scripted import ScriptedJudge, calls_of, evidence, in_order

OUTCOME = {
    "primary_intent": "The price.",
    "outcome_reasoning": "The price is there.",
    "insufficient_evidence": "",
    "outcome": True,
}
RUBRIC = {
    "items": [
        {
            "criterion": "Find the atlas",
            "description": "It is open.",
            "max_points": Decimal("2.5"),
            "earned_points": "",
        },
        {
            "criterion": "Report",
            "max_points": 9,
            "items": [{"criterion": "Price", "max_points": 3, "justification": ""}],
        },
        {"criterion": "Ask the user", "condition": "There are two", "max_points": 3, "is_condition_met": True},
        {"criterion": "Penalize the cart", "max_points": 2, "penalty": True, "post_image_earned_points": 0},
    ],
    "total_max_points": 8,
}


def criterion(earned, maximum=4, condition=None, is_met=None, **changes):
    return {
        "criterion": "Find the atlas",
        "description": "All points if it is open.",
        "condition": condition,
        "max_points": maximum,
        "is_condition_met": is_met,
        "justification": "Screenshot 2 shows it.",
        "earned_points": earned,
    } | changes


def score(number, earned, is_met=None):
    return {"number": number, "is_condition_met": is_met, "justification": "Because.", "earned_points": earned}


def reply(*criteria, **changes):
    return json.dumps({"criteria": list(criteria), **OUTCOME, **changes})


SCORES = (score(1, 2.5), score(2, 1.2), score(3, 3, is_met=False))


def judge_with(*replies, votes=1, threshold="0.8", **changes):
    judge = ScriptedJudge(in_order(replies))
    calls = calls_of(judge, "rubric")
    settings = JudgeSettings(votes=votes, threshold=Decimal(threshold))
    return load_method("rubric").judge(evidence(**changes), calls, settings), judge, calls


def test_a_reply_becomes_the_payload_of_the_rubric_verifier():
    verdict, judge, _ = judge_with(reply(criterion(4), criterion(1, 2, "It is there", is_met=True)))
    assert (verdict.file_name, verdict.score, verdict.votes) == ("mmrubric_0.8-30-3.json", 1, (True,))
    assert verdict.response["rubric_items"][1] == {
        "criterion": "Find the atlas",
        "description": "All points if it is open.",
        "condition": "It is there",
        "max_points": 2,
        "is_condition_met": True,
        "justification": "Screenshot 2 shows it.",
        "earned_points": 1,
        "post_image_justification": "Screenshot 2 shows it.",
        "post_image_earned_points": 1,
    }
    assert "condition" not in verdict.response["rubric_items"][0]
    assert (verdict.response["rubric_total_earned_points"], verdict.response["rubric_total_max_points"]) == (5, 6)
    assert (verdict.response["is_success"], verdict.response["rubric_is_success"]) == (1, 1)
    assert judge.steps == ["rubric"]
    derived = derive_verdict(verdict)
    assert (derived.status, derived.score, derived.process, derived.outcome) == ("judged", 1, True, True)
    assert (derived.criterion, derived.criterion_source, derived.writer) == ("outcome", "payload", "webtailbench")
    assert (derived.checks, derived.flags, derived.degraded_steps) == ((), (), ())


def test_the_question_has_all_evidence_and_a_schema():
    _, judge, _ = judge_with(reply(criterion(4)))
    (question,) = judge.questions
    system, user = question.messages
    assert FENCE_RULE in system.text
    assert "First write the rubric" in system.text
    for text in ("Find the price of the atlas.", "It costs 12.50 EUR.", "thought 2", "4 screenshots of 4 (all)"):
        assert text in user.text
    assert question.rubric is None
    assert list(question.schema["properties"])[-1] == "outcome"
    assert "max_points" in question.schema["properties"]["criteria"]["items"]["required"]


def test_points_are_grafted_onto_the_rubric_of_the_task():
    verdict, judge, calls = judge_with(reply(*SCORES, outcome=False), rubric=RUBRIC)
    (question,) = judge.questions
    assert "Find the atlas" in question.messages[1].text
    assert "Penalize" not in question.messages[1].text
    assert "First write the rubric" not in question.messages[0].text
    assert len(question.rubric) == 64
    first, group, conditional = verdict.response["rubric_items"]
    assert (first["max_points"], first["post_image_earned_points"]) == (2.5, 2.5)
    assert group["items"][0]["post_image_earned_points"] == 1.2
    assert (conditional["is_condition_met"], conditional["post_image_earned_points"]) == (False, 0)
    assert (verdict.response["rubric_total_earned_points"], verdict.response["rubric_total_max_points"]) == (3.7, 5.5)
    assert calls.degraded == {}
    derived = derive_verdict(verdict)
    assert (derived.score, derived.process, derived.checks) == (0, False, ())


@pytest.mark.parametrize(
    ("rubric", "problem"),
    [
        ({}, "items is null; expected a list"),
        ({"items": [{"criterion": "a", "max_points": "two"}]}, 'max_points is "two"'),
        ({"items": [RUBRIC["items"][3]]}, "items is a list of 0"),
        ({"items": [{"criterion": "a", "max_points": 1, "weight": float("nan")}]}, "not JSON compliant"),
    ],
)
def test_a_damaged_rubric_is_noted_and_the_judge_writes_its_own(rubric, problem):
    verdict, judge, calls = judge_with(reply(criterion(4)), rubric=rubric)
    assert problem in calls.degraded["rubric"]
    assert calls.degraded["rubric"].endswith("; the judge wrote its own")
    assert "First write the rubric" in judge.questions[0].messages[0].text
    assert verdict.score == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("It is a success.", "there is no JSON object in it"),
        (reply(), "invalid criteria a list of 0; use a list of 1 to 60 objects"),
        (reply(criterion(5)), "invalid criteria[0].earned_points 5; use a number from 0 to 4"),
        (reply(criterion(-1)), "invalid criteria[0].earned_points -1"),
        (reply(criterion("4")), 'invalid criteria[0].earned_points "4"'),
        (reply(criterion(0, 0)), "invalid criteria[0].max_points 0; use a number above 0"),
        (reply(criterion(1), criterion(1, justification=" ")), "invalid criteria[1].justification"),
        (reply(criterion(1, condition="It is there")), "invalid criteria[0].is_condition_met null; use true or false"),
        (reply(criterion(1), outcome="true"), 'invalid outcome "true"; use true, false or null'),
        (reply(criterion(1), outcome_reasoning=""), "invalid outcome_reasoning"),
        (json.dumps({"criteria": [criterion(1)]}), "the key primary_intent is missing; add it"),
    ],
)
def test_the_model_reads_what_is_wrong_with_its_reply(text, problem):
    _, judge, _ = judge_with(text, reply(criterion(4)))
    assert problem in judge.questions[1].messages[-1].text


@pytest.mark.parametrize(
    ("scores", "problem"),
    [
        (SCORES[:2], "numbers 1 to 3 in this order"),
        ((SCORES[1], SCORES[0], SCORES[2]), "numbers 1 to 3 in this order"),
        ((*SCORES, score(4, 1)), "use a list of 1 to 3 objects"),
        ((score(1, 3), *SCORES[1:]), "criteria[0].earned_points 3; use a number from 0 to 2.5"),
        ((*SCORES[:2], score(3, 3)), "criteria[2].is_condition_met null; use true or false"),
    ],
    ids=["fewer", "order", "more", "above", "condition"],
)
def test_scores_that_are_not_those_of_the_rubric_are_sent_back(scores, problem):
    _, judge, _ = judge_with(reply(*scores), reply(*SCORES), rubric=RUBRIC)
    assert problem in judge.questions[1].messages[-1].text


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"outcome": None, "insufficient_evidence": "The order page\nis missing."}, "the order page is missing"),
        ({"insufficient_evidence": "The order page is missing."}, "the order page is missing"),
        ({"outcome": None}, "0 of 1 votes for success"),
    ],
)
def test_insufficient_evidence_is_no_verdict(changes, problem):
    with pytest.raises(JudgeFailed, match=f"(?i){problem}") as caught:
        judge_with(reply(criterion(4), **changes))
    assert caught.value.outcome == "uncertain"


def test_of_votes_the_median_points_and_the_majority_of_outcomes_count():
    replies = [
        reply(criterion(4), outcome=False, outcome_reasoning="first"),
        reply(criterion(1), outcome_reasoning="second"),
        reply(criterion(2), outcome_reasoning="third"),
    ]
    verdict, _, _ = judge_with(*replies, votes=3)
    assert (verdict.score, verdict.votes, verdict.agreement) == (1, (False, True, True), 2 / 3)
    assert verdict.response["outcome_reasoning"] == "second"
    assert verdict.response["rubric_items"][0]["post_image_earned_points"] == 2
    assert verdict.response["rubric_all_scores_list"] == [1.0, 0.25, 0.5]
    assert verdict.response["rubric_majority_vote_metadata"]["median_instance_idx"] == 2
    assert derive_verdict(verdict).checks == ()


def test_a_lost_vote_has_no_points_and_no_outcome():
    lost = JudgeFailed("no reply", "unreachable")
    verdict, _, calls = judge_with(reply(criterion(1)), lost, reply(criterion(3)), votes=3)
    assert verdict.votes == (True, None, True)
    assert calls.degraded == {"rubric, vote 2": "no reply"}
    assert verdict.response["rubric_all_scores_list"] == [0.25, 0.75]
    derived = derive_verdict(verdict)
    assert derived.checks == ()
    assert derived.degraded_steps == ("step 8: 1 of 3 votes on the outcome failed",)


@pytest.mark.parametrize(("earned", "maximum"), [(2.4, 3), (4.8, 6)])
def test_exactly_the_threshold_is_enough(earned, maximum):
    verdict, _, _ = judge_with(reply(criterion(earned, maximum)))
    derived = derive_verdict(verdict)
    assert (verdict.response["rubric_is_success"], derived.process) == (1, True)
    assert [check.rule for check in derived.checks] == ["R14"]


@pytest.mark.parametrize(("threshold", "name"), [("0.80", "0.8"), ("1", "1"), ("0", "0"), ("1.0", "1"), ("0.5", "0.5")])
def test_the_name_of_the_file_has_the_threshold(threshold, name):
    verdict, _, _ = judge_with(reply(criterion(2)), threshold=threshold)
    assert verdict.file_name == f"mmrubric_{name}-30-3.json"
    assert derive_verdict(verdict).threshold == Decimal(threshold)


POINTS = st.decimals(0, 20, places=2).map(float)
CONDITIONS = st.sampled_from([(None, None), ("a", True), ("b", False)])
CRITERIA = st.tuples(POINTS, POINTS.filter(bool), CONDITIONS, st.text()).map(
    lambda drawn: criterion(min(drawn[:2]), drawn[1], *drawn[2], justification=f"Because{drawn[3]}")
)
REPLIES = st.builds(
    lambda criteria, outcome: reply(*criteria, outcome=outcome),
    st.lists(CRITERIA, min_size=1, max_size=5),
    st.sampled_from([True, False, None]),
)
THRESHOLDS = st.decimals(0, 1, places=2).map(str)


@given(st.sampled_from([1, 3, 5]).flatmap(lambda votes: st.lists(REPLIES, min_size=votes, max_size=votes)), THRESHOLDS)
def test_each_payload_is_derived_again_without_a_contradiction(replies, threshold):
    try:
        verdict, _, _ = judge_with(*replies, votes=len(replies), threshold=threshold)
    except JudgeFailed:  # votes without a majority
        return
    derived = derive_verdict(verdict)
    assert derived.score == verdict.score
    assert derived.process is (derived.points.share >= Fraction(threshold))
    assert {check.rule for check in derived.checks} <= {"R13", "R14"}
    assert not derived.is_inconsistent
