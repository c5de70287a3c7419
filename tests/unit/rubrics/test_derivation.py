"""Verdicts derived from what was stored: `fara_webeval.md` §5.2-5.4, §6.3, §8 Q20-Q26, §11 vectors 7 and 10."""

from __future__ import annotations

import json
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.recordings.trajectory.layout import ScoreFileName
from pytest_webeval.rubrics.derivation import derive
from pytest_webeval.rubrics.policy import CRITERIA, UnreadableVerdict, VerdictPolicy
from pytest_webeval.rubrics.stored_verdict import RunFacts, StoredVerdict
from tests.support.made_payloads import OTHER_FILE, RUBRIC_FILE, item, payload, rules, verdict

D = Decimal
ANSWER = "The Pocket Atlas costs 12.50 EUR and is in stock."
# §9.1, as it stands there
BOOKS = """
{"is_success":1,"success_criterion":"outcome","final_answer":"The Pocket Atlas costs 12.50 EUR and is in stock.",
 "outcome_success":true,"outcome_reasoning":"Correct and visible.","outcome_primary_intent":"Price and stock of one book.","rubric_is_success":1,
 "rubric_total_max_points":7.0,"rubric_total_earned_points":6.5,
 "rubric_outcome_verification":{"primary_intent":"Price and stock of one book.","reasoning":"Correct and visible.","output_success":true},
 "rubric_majority_vote_metadata":{"n_instances":1,"median_instance_idx":0,"all_scores":[0.9285714285714286],"median_score":0.9285714285714286,"outcome_votes":[true],"majority_output_success":true},
 "rubric_items":[
  {"criterion":"Find the Pocket Atlas page","description":"d","max_points":4,"earned_points":4,"justification":"reached","reality_notes":"","applicable_evidence":"Screenshot 3","post_image_justification":"page visible","post_image_earned_points":4.0},
  {"criterion":"Report price and stock","description":"d","max_points":3,"earned_points":3,"justification":"reported","reality_notes":"","applicable_evidence":"Screenshot 3","post_image_justification":"minor wording","post_image_earned_points":2.5},
  {"criterion":"Report a substitute","condition":"Only applies if the atlas is sold out","description":"d","max_points":3,"earned_points":0,"justification":"in stock","is_condition_met":false,"reality_notes":"","applicable_evidence":"n/a","post_image_justification":"condition not met","post_image_earned_points":0.0}]}
"""  # noqa: E501  (as it stands there)


def test_the_worked_example_is_derived_without_any_doubt():
    read = json.loads(BOOKS, parse_float=Decimal)
    found = derive(StoredVerdict("scores/x.json", RUBRIC_FILE, 1, read, None), VerdictPolicy(), RunFacts(ANSWER, 3))
    assert (found.points.maximum, found.points.earned, found.process, found.outcome) == (7, D("6.5"), True, True)
    assert (found.status, found.score, found.criterion, found.criterion_source) == ("judged", 1, "outcome", "payload")
    assert (found.threshold, found.threshold_source, found.writer) == (D("0.8"), "file name", "webtailbench")
    assert (found.checks, found.flags, found.degraded_steps, found.violation) == ((), (), (), None)
    assert found.reason == "Correct and visible."
    assert [leaf.counts for leaf in found.items] == [True, True, False]


@pytest.mark.parametrize(
    ("more", "share", "process"), [([], Fraction(13, 14), True), ([item(2, 0, penalty=True)], Fraction(13, 18), False)]
)
def test_a_penalty_can_cost_the_process(more, share, process):
    unmet = item(3, 0, condition="if sold out", is_condition_met=False)
    found = verdict(payload(item(4, 4), item(3, 2.5), unmet, *more, outcome=False))
    assert (found.points.share, found.process) == (share, process)


@pytest.mark.parametrize(
    ("items", "score", "flags"),
    [
        ([item(4, 4, condition="x", is_condition_met=False)], 0, ()),  # nothing to earn
        ([item(4, 4), item(4)], 0, ("missing_post_image",)),
        ([item(4, earned_points=4), item(1, earned_points=1)], 1, ("action_only",)),
        ([item(3, 2.4)], 0, ("threshold_edge",)),
        ([item(6, 4.8)], 0, ("threshold_edge",)),
        ([item(5, 4)], 1, ()),
    ],
)
def test_points_that_are_odd_are_flagged(items, score, flags):
    found = verdict(payload(*items, outcome=False, success_criterion="process"), score)
    assert (found.score, found.flags, found.is_inconsistent) == (score, flags, False)


@pytest.mark.parametrize(
    ("name", "policy", "threshold", "source", "process"),
    [
        (RUBRIC_FILE, None, "0.8", "file name", False),  # as the writer compared
        (RUBRIC_FILE, "0.80", "0.80", "option", False),
        (RUBRIC_FILE, "0.799", "0.799", "option", True),
        (ScoreFileName("mmrubric", D("0.5")), "0.8", "0.8", "option", True),  # exact, as nobody stored it
        (ScoreFileName("mmrubric", D("0.5")), None, "0.5", "file name", True),
        (ScoreFileName("heldout", D("0.9")), None, "0.9", "file name", False),
        (ScoreFileName("webjudge", D(3)), None, "0.8", "default", False),  # 3 is no share of points
        (OTHER_FILE, None, "0.8", "default", False),
        (ScoreFileName("mmrubric", D("1e-99999999")), None, "0.8", "default", False),
    ],
)
def test_the_threshold_comes_from_the_option_the_file_name_or_the_default(name, policy, threshold, source, process):
    asked = None if policy is None else D(policy)
    found = verdict(payload(item(3, 2.4), outcome=False, rubric_is_success=0), 0, name, threshold=asked)
    assert (found.threshold, found.threshold_source, found.process) == (D(threshold), source, process)


def test_other_demands_leave_the_stored_verdict_as_consistent_as_it_was():
    asked = {"criterion": "process", "threshold": D("0.5")}
    found = verdict(
        payload(item(4, 2), outcome=False, success_criterion="outcome", is_success=0, rubric_is_success=0), 0, **asked
    )
    assert (found.score, found.process, found.checks) == (1, True, ())


@pytest.mark.parametrize(
    ("outcome", "points", "score", "criterion", "source"),
    [
        (True, 0, 1, "outcome", "inferred"),  # vector 10
        (False, 4, 1, "process", "inferred"),
        (False, 4, 0, "outcome", "undetermined (consistent with outcome, both)"),
        (True, 0, 0, "process", "undetermined (consistent with process, both)"),  # the outcome is what it was not
        (True, 4, 1, "outcome", "undetermined (consistent with outcome, process, both)"),
        (None, 4, 0, "outcome", "undetermined (consistent with outcome, both)"),
        (True, 4, 0, "outcome", "default"),  # and a contradiction
        (True, 4, None, "outcome", "default"),
    ],
)
def test_a_criterion_that_was_not_stored_is_inferred(outcome, points, score, criterion, source):
    found = verdict(payload(item(4, points), outcome=outcome), score)
    assert (found.criterion, found.criterion_source) == (criterion, source)
    assert found.is_inconsistent is (score in (0, None) and outcome is True and points == 4)


def test_without_a_top_score_the_criterion_is_inferred_from_is_success():
    assert verdict(payload(outcome=False, is_success=1)).criterion_source == "inferred"


def test_without_points_no_criterion_that_asks_for_them_explains_a_score():
    found = verdict({"outcome_success": True}, 0)
    told = "the score is 0, but the judge's data give 1 by outcome"
    assert (found.checks[0].message, rules(found), found.process) == (told, ["R7", "R18"], None)


@pytest.mark.parametrize("stored_criterion", ["luck", "", 7, ["outcome"]])
def test_a_criterion_that_nobody_knows_is_flagged_and_inferred(stored_criterion):
    found = verdict(payload(item(4, 0), outcome=True, success_criterion=stored_criterion), 1)
    assert (found.criterion, found.criterion_source, found.flags) == ("outcome", "inferred", ("criterion_unknown",))


@pytest.mark.parametrize(
    ("outcome", "points", "violation", "by_criterion"),
    [
        (True, 4, False, (1, 1, 1, 1)),
        (True, 4, True, (1, 1, 1, 0)),
        (True, 0, None, (1, 0, 0, 1)),
        (False, 4, False, (0, 1, 0, 0)),
        (None, 4, None, (0, 1, 0, 0)),
    ],
)
def test_each_criterion_makes_its_own_score_of_the_same_payload(outcome, points, violation, by_criterion):
    found = [
        verdict(payload(item(4, points), outcome=outcome, cp_violation=violation), criterion=one) for one in CRITERIA
    ]
    assert tuple(one.score for one in found) == by_criterion
    is_unsure = outcome is None
    assert [one.status for one in found] == ["undecided" if is_unsure and n != 1 else "judged" for n in range(4)]
    assert [("undecided" in one.flags) for one in found] == [is_unsure and n != 1 for n in range(4)]
    assert [("violation_unknown" in one.flags) for one in found] == [False] * 3 + [violation is None]


@pytest.mark.parametrize(
    "written", [{}, {"verdict": 1}, {"rubric_is_success": 1}, {"rubric_items": None}, {"items": None}]
)
def test_a_payload_that_says_nothing_is_refused(written):
    problem = r"scores/x.json has neither a rubric nor an outcome nor an error; judge the run again$"
    with pytest.raises(UnreadableVerdict, match=problem) as error:
        verdict(written, 1)
    assert error.value.source == "scores/x.json"  # so that nobody adds it once more


def test_an_outcome_without_a_rubric_is_enough_unless_points_are_asked_for():
    assert verdict({"outcome_success": True}, 1).score == 1
    assert verdict({"outcome_success": True}, 1, criterion="both").status == "unscored"


def test_a_malformed_rubric_makes_the_verdict_unreadable():
    with pytest.raises(
        UnreadableVerdict, match=r"the rubric's items\[0\].max_points is -1; expected a number of points$"
    ) as error:
        verdict(payload(item(-1), outcome=True), 1)
    assert error.value.source == ""


KEYS = [
    *(
        "items",
        "rubric_items",
        "is_success",
        "success_criterion",
        "outcome_success",
        "rubric_is_success",
        "rubric_error",
    ),
    *("rubric_outcome_verification", "rubric_intermediate_mm_rubric_steps", "rubric_majority_vote_metadata"),
    *("n_instances", "median_instance_idx", "all_scores", "median_score", "outcome_votes", "majority_output_success"),
    *("step1_num_screenshots", "step2_relevance_scores", "step4_evidence_by_criterion", "step7_requires_penalty"),
    *("step7_reasoning", "step8_cp_violation_check", "output_success", "cp_violation", "final_answer", "criterion"),
    *("max_points", "post_image_earned_points", "earned_points", "condition", "rubric_total_max_points"),
    *("mm_is_success", "verifier_success", "verifier_reasoning"),
]
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | st.sampled_from(["", "1", *CRITERIA])
)
LEAF = st.fixed_dictionaries(
    {"criterion": st.just("c"), "max_points": st.integers(0, 5)}, optional={"earned_points": SCALARS}
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(LEAF | inner) | st.dictionaries(st.sampled_from(KEYS), inner), max_leaves=12
)


@given(st.dictionaries(st.sampled_from(KEYS), JSON | st.lists(LEAF)), SCALARS, st.sampled_from([None, *CRITERIA]))
def test_whatever_was_stored_is_a_verdict_or_refused(written, score, criterion):
    with suppress(UnreadableVerdict):  # anything else fails the test
        verdict = derive(
            StoredVerdict("x", RUBRIC_FILE, score, written, None), VerdictPolicy(criterion), RunFacts("a", 3)
        )
        assert verdict.score in {"judged": (0, 1), "gate": (0,), "undecided": (0,)}.get(verdict.status, (None,))
        assert all(check.message.isprintable() for check in verdict.checks)
