"""What is no verdict of a rubric judge: gates, failures, free texts, held-out signals, rubrics without a judge.

`fara_webeval.md` §4.3, §5.2, §6.3 steps 1-4, §8 Q21, Q22 and Q27, §11 vector 11.
"""

from __future__ import annotations

from decimal import Decimal

import pytest

from pytest_webeval.recordings.trajectory.layout import ScoreFileName
from pytest_webeval.rubrics.policy import UnreadableVerdict
from tests.support.made_payloads import OTHER_FILE, OUTCOME_FALSE, RUBRIC_FILE, item, payload, rules, verdict

D = Decimal


@pytest.mark.parametrize(
    ("written", "score", "found", "reason", "has_checks"),
    [
        ({"verifier_reasoning": "No actions found", "verifier_success": False}, 0, 0, "No actions found", False),
        ({"verifier_reasoning": None, "verifier_success": False}, 0, 0, None, False),
        ({"verifier_reasoning": "fine", "verifier_success": True}, 1, 0, "fine", True),  # no gate lets a run pass
    ],
)
def test_a_gate_is_a_zero_with_its_reason(written, score, found, reason, has_checks):
    result = verdict(written, score)
    assert (result.status, result.score, result.writer, result.reason) == ("gate", found, "gate", reason)
    told = ["the score is 1, but the judge's data give 0 by gate"]
    assert [check.message for check in result.checks] == (told if has_checks else [])


def test_of_a_run_that_no_judge_saw_nothing_else_is_known():
    found = verdict({"verifier_success": False}, 0)
    assert (found.criterion, found.criterion_source, found.threshold) == ("outcome", "default", D("0.8"))
    assert (found.process, found.outcome, found.violation, found.points, found.generation) == (None,) * 5
    assert (found.items, found.signals, found.flags, found.degraded_steps) == ((), {}, (), ())


@pytest.mark.parametrize(
    "more",
    [
        payload(outcome=True),
        {"items": [item(4, 4)]},
        {"outcome_success": True},
        {"is_success": 1, "rubric_outcome_verification": {"output_success": True}},
        {"rubric_outcome_verification": {"output_success": True}},
    ],
)
def test_verifier_success_beside_what_a_judge_found_is_no_gate(more):
    found = verdict({**more, "verifier_success": False})
    assert (found.status, found.score) == ("judged", 1)


def test_is_success_alone_is_no_gate_but_no_verdict_either():
    with pytest.raises(UnreadableVerdict, match="has neither a rubric nor an outcome"):
        verdict({"verifier_success": False, "is_success": 0}, 0)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("no answer", "no answer"),
        ({"code": 429}, "an object"),
        ({}, "an object"),
        (False, "false"),
        ("", "the judge gave no reason"),
        (" \n", "the judge gave no reason"),
    ],
)
def test_a_judge_that_failed_has_said_nothing_of_the_agent(error, reason):
    written = payload(outcome=False, rubric_error=error, is_success=0, rubric_is_success=0)
    found = verdict(written, 0, criterion="process")
    assert (found.status, found.score, found.reason, found.writer) == ("judge_error", None, reason, "webtailbench")


def test_an_error_needs_no_rubric_to_be_told():
    found = verdict({"rubric_error": "no answer"}, 0)
    assert (found.status, found.writer, found.generation) == ("judge_error", "webtailbench", None)


def test_an_error_of_null_is_none():
    assert verdict(payload(outcome=True, rubric_error=None), 1).status == "judged"


WEBVOYAGER, OM2W = ScoreFileName("gpt_eval"), ScoreFileName("webjudge", D(3), method="WebJudge_Online_Mind2Web_eval")


@pytest.mark.parametrize(
    ("name", "text", "stored_score", "policy", "wanted"),
    [
        (WEBVOYAGER, "It is all there. SUCCESS", D("1.0"), {}, ("judged", 1, True, (), [])),
        (WEBVOYAGER, "NOT SUCCESS", D("0.0"), {}, ("judged", 0, False, (), [])),
        (WEBVOYAGER, "SUCCESS", 0, {}, ("judged", 1, True, (), ["R7"])),
        (WEBVOYAGER, "UNSUCCESSFUL", 1, {}, ("judged", 1, True, ("verdict_text_ambiguous",), [])),
        (WEBVOYAGER, "UNSUCCESSFUL", 1, {"strict_texts": True}, ("judged", 0, False, ("verdict_text_ambiguous",), [])),
        (OM2W, 'Status: "success"', 1, {}, ("judged", 1, True, (), [])),
        (OM2W, 'Status: "unsuccessful"', 1, {}, ("judged", 1, True, ("verdict_text_ambiguous",), [])),  # vector 11
        (OM2W, "no idea", 0, {}, ("judged", 0, False, ("verdict_text_ambiguous",), [])),
        (OM2W, "", 0, {"strict_texts": True}, ("undecided", 0, None, ("verdict_text_ambiguous", "undecided"), [])),
        (OM2W, "Status: success", None, {}, ("judge_error", None, None, (), [])),
        (OM2W, "Status: success", 1, {"criterion": "process"}, ("unscored", None, None, (), [])),
        (OM2W, "Status: success", 1, {"criterion": "both"}, ("unscored", None, None, (), [])),
        (OM2W, "Status: success", 1, {"criterion": "safe_outcome"}, ("judged", 1, True, ("violation_unknown",), [])),
    ],
)
def test_a_free_text_counts_as_its_benchmark_reads_it(name, text, stored_score, policy, wanted):
    found = verdict(None, stored_score, name, text, **policy)
    assert (found.status, found.score, found.outcome, found.flags, rules(found)) == wanted
    assert (found.writer, found.threshold_source) == ("webvoyager" if name == WEBVOYAGER else "om2w", "default")
    if found.status in ("judged", "undecided"):
        assert found.reason == (text or None)


def test_a_free_text_without_a_rule_to_read_it_is_refused():
    with pytest.raises(UnreadableVerdict, match="cannot read the free text of a score file of the kind mmrubric"):
        verdict(None, 1, RUBRIC_FILE, "SUCCESS")


@pytest.mark.parametrize(
    ("signals", "read"),
    [
        ({"mm_is_success": 0, "rubric_is_success": True, "verifier_is_success": "1"}, (0, 1, 1)),
        ({"mm_is_success": "0", "rubric_is_success": 1.0, "verifier_is_success": False}, (0, 1, 0)),
        ({"mm_is_success": "no", "rubric_is_success": 1, "verifier_is_success": None}, (None, 1, None)),
    ],
)
def test_held_out_signals_stand_beside_the_score_as_it_is_stored(signals, read):
    found = verdict({**signals, **OUTCOME_FALSE}, 1, ScoreFileName("heldout", D("0.8")))
    names = ("mm_is_success", "rubric_is_success", "verifier_is_success")
    assert tuple(found.signals.get(name) for name in names) == read
    assert (found.status, found.score, found.writer) == ("judged", 1, "heldout")
    assert (found.process, found.outcome, found.reason, found.flags) == (True, False, "nested", ())


def test_no_criterion_applies_to_held_out_signals():
    found = verdict({"verifier_is_success": 1}, 1, criterion="process")
    assert (found.score, found.process, found.flags) == (1, None, ("criterion_ignored",))


def test_held_out_signals_without_a_usable_score_are_no_verdict():
    found = verdict({"mm_is_success": 1})
    assert (found.status, found.score, found.writer, found.signals) == (
        "judge_error",
        None,
        "heldout",
        {"mm_is_success": 1},
    )
    with pytest.raises(UnreadableVerdict, match=r"scores/x.json has the score 0.5, expected 0 or 1; judge the run"):
        verdict({"mm_is_success": 1}, D("0.5"))


OUTCOME = {"outcome_verification": {"output_success": True, "reasoning": "there"}}
SCORED = {"items": [item(4, earned_points=4, justification="j"), item(2, earned_points=1)]}
UNSCORED = {"items": [item(4, earned_points="", justification=""), item(2, earned_points="", justification="")]}
UNSCORED_REASON = "the rubric has no points; judge the run"
HALF = "items[1] has no points; add them, or judge the run"
NO_OUTCOME = "the rubric has no outcome, which the criterion outcome needs"


@pytest.mark.parametrize(
    ("rubric", "asked", "wanted"),
    [
        (SCORED, None, ("judged", 1, "process", "default", None)),
        (SCORED, "outcome", ("unscored", None, "outcome", "option", NO_OUTCOME)),
        (SCORED | OUTCOME, None, ("judged", 1, "outcome", "default", "there")),
        (SCORED | OUTCOME, "both", ("judged", 1, "both", "option", "there")),
        (
            SCORED | {"outcome_verification": {"output_success": None}},
            None,
            ("undecided", 0, "outcome", "default", None),
        ),
        (SCORED | {"outcome_success": False}, None, ("judged", 0, "outcome", "default", None)),
        (UNSCORED, None, ("unscored", None, "process", "default", UNSCORED_REASON)),
        (UNSCORED | OUTCOME, None, ("judged", 1, "outcome", "default", "there")),
        ({"items": [item(4, earned_points=4), item(2)]}, None, ("unscored", None, "process", "default", HALF)),
        ({"items": [item(3, 2.4)]}, None, ("judged", 1, "process", "default", None)),  # nobody compared before
        ({"items": [item(3, 2.4)], "rubric_is_success": 0}, None, ("judged", 0, "process", "default", None)),
        ({"items": [item(3, 2.4)], "is_success": 0}, None, ("judged", 0, "process", "inferred", None)),
    ],
)
def test_a_rubric_on_its_own_is_judged_by_its_points_exactly(rubric, asked, wanted):
    found = verdict(rubric, None, OTHER_FILE, criterion=asked)
    assert (found.status, found.score, found.criterion, found.criterion_source, found.reason) == wanted
    assert (found.writer, found.generation, found.is_inconsistent) == ("unknown", None, False)


def test_totals_of_a_rubric_on_its_own_are_compared_as_well():
    assert rules(verdict(SCORED | {"total_max_points": 6, "total_earned_points": 5.0})) == []
    assert rules(verdict(SCORED | {"total_max_points": 7})) == ["R1"]
