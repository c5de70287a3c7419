"""What the pipeline writes is derived again, without a contradiction, to what the judge meant."""

from __future__ import annotations

from decimal import Decimal

import pytest
from msgspec.structs import replace

from pytest_webeval.errors import JudgeFailed, SettingsError
from pytest_webeval.judges.methods import load_method
from pytest_webeval.judges.methods.rubric_pipeline.method import RubricPipeline
from pytest_webeval.judges.methods.rubric_pipeline.screenshots import MAX_IMAGES
from pytest_webeval.judges.questions import Reply
from pytest_webeval.judges.verdicts import JudgeSettings
from pytest_webeval.recordings.trajectory.layout import parse_name
from pytest_webeval.rubrics.failure_analysis import failure_of
from tests.unit.judges.rubric_pipeline.perfect_judge import (
    SIMPLE,
    Criterion,
    Plan,
    derive_again,
    judge,
    make_plan,
    reply_to,
)
from tests.unit.judges.scripted import ScriptedJudge, calls_of, evidence, image


def run(plan: Plan):
    judged, calls = judge(plan, ScriptedJudge(lambda question: reply_to(plan, question)))
    assert calls.degraded == {}
    return judged, derive_again(plan, judged), calls


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize("seeds", [range(start, start + 60) for start in range(0, 360, 60)], ids=lambda seeds: seeds[0])
def test_a_payload_is_derived_again_to_what_the_judge_meant(seeds):
    for seed in seeds:
        plan = make_plan(seed)
        judged, verdict, calls = run(plan)
        assert verdict.checks == (), seed
        assert verdict.flags == (), seed
        meant = (int(plan.outcome), plan.process, plan.outcome, plan.violation, Decimal(plan.threshold))
        derived = (verdict.score, verdict.process, verdict.outcome, verdict.violation, verdict.threshold)
        assert derived == meant, seed
        assert (judged.score, judged.votes) == (int(plan.outcome), plan.outcomes)
        assert (verdict.status, verdict.writer, verdict.generation) == ("judged", "webtailbench", "G2")
        assert (verdict.criterion, verdict.criterion_source) == ("outcome", "payload")
        assert verdict.degraded_steps == ()
        assert len(calls.asked) <= count_most_calls(plan)


def count_most_calls(plan):
    """The steps that ask once, and those that ask for each screenshot or vote."""
    screenshots, conditions = len(plan.relevance), sum(each.condition is not None for each in plan.criteria)
    evidence = min(screenshots, len(plan.criteria) * MAX_IMAGES) if plan.is_precomputed else screenshots
    once = 7 + (0 if plan.is_precomputed else 2) + (conditions > 1)
    return once + screenshots + evidence + 3 * plan.votes


EDGES = [
    ((3, 2.4),),
    ((1, 0.7), (1, 0.9)),
    ((0.7, 0.7), (0.1, 0.0), (0.2, 0.1)),
    ((1.1, 0.88), (2.2, 1.76), (3.3, 2.64)),
]


@pytest.mark.parametrize("points", EDGES)
def test_an_exact_share_reaches_the_threshold_for_every_reader(points):
    criteria = tuple(Criterion(f"criterion {at}", *pair[:1], 0, pair[1:]) for at, pair in enumerate(points))
    plan = Plan(criteria, (True,), (0,), ((5,) * len(criteria),))
    assert plan.process is True
    judged, verdict, _ = run(plan)
    assert (verdict.process, verdict.checks, verdict.flags) == (True, (), ())
    stored = [item["post_image_earned_points"] for item in judged.response["rubric_items"]]
    assert stored == pytest.approx([seen for _, seen in points], abs=1e-9)


def test_a_penalty_can_decide_an_edge_that_no_other_criterion_can_settle():
    plan = Plan((Criterion("all", 2.4, 2.4, (2.4,)),), (False,), (0.6,), ((5,),))
    _, verdict, _ = run(plan)
    assert verdict.process is plan.process is True


def test_conditions_that_all_hold_are_the_only_thing_that_a_reader_remarks():
    criteria = tuple(Criterion(f"criterion {at}", 2, 1, (2,), f"if {at}", is_met=True) for at in range(2))
    _, verdict, _ = run(Plan(criteria, (True,), (0,), ((5, 5),)))
    assert [check.rule for check in verdict.checks] == ["R13"]


def test_a_payload_has_the_analysis_of_failures():
    plan = Plan(SIMPLE.criteria, (False,), (0,), SIMPLE.relevance, violation=True)
    judged, _, _ = run(plan)
    analysis = failure_of(judged.response, None)
    assert (analysis.has_failure, analysis.first_step, analysis.codes) == (True, 3, ("1.4",))
    assert analysis.summary == "[1.4] Wrong values or constraint violation: w"
    assert (analysis.is_ambiguous, analysis.is_invalid, analysis.invalid_codes) == (False, True, ("8.1",))


def test_a_scored_rubric_is_scored_again():
    plan = Plan(SIMPLE.criteria, (True,), (0,), SIMPLE.relevance, is_precomputed=True)
    judged, _, calls = run(plan)
    items = judged.response["rubric_items"]
    assert [item["criterion"] for item in items] == ["find the atlas", "report its price"]
    assert [item["justification"] for item in items] == ["by its actions"] * 2
    assert not {"rubric", "dependencies"} & {asked.step for asked in calls.asked}


@pytest.mark.parametrize(
    "rubric",
    [
        {},
        {"items": []},
        {"items": [{"criterion": "c"}]},
        {"items": [{"criterion": "c", "max_points": 0}]},
        {"items": [{"criterion": "c", "max_points": 1, "penalty": True}]},
        {"items": [{"criterion": f"c{at}", "max_points": 1} for at in range(200)]},
    ],
)
def test_an_invalid_rubric_is_written_anew_and_that_is_listed(rubric):
    calls = calls_of(ScriptedJudge(lambda question: reply_to(SIMPLE, question)))
    verdict = RubricPipeline().judge(evidence(3, rubric=rubric), calls, JudgeSettings())
    assert verdict.score == 1
    assert list(calls.degraded) == ["rubric"]
    assert derive_again(SIMPLE, verdict).degraded_steps[0].startswith("rubric: another rubric was written")


def test_the_method_is_registered_and_names_the_file_as_the_benchmark_does():
    assert isinstance(load_method("rubric-pipeline"), RubricPipeline)
    judged, _, _ = run(Plan(SIMPLE.criteria, (True,), (0,), SIMPLE.relevance, threshold="0.80"))
    assert judged.file_name == "mmrubric_0.8-5-3.json"
    assert parse_name(judged.file_name).max_images == 5


@pytest.mark.parametrize("votes", [0, -1, 2])
def test_an_even_number_of_votes_is_an_error(votes):
    with pytest.raises(SettingsError, match=f"invalid number of votes {votes}; use 1, 3"):
        RubricPipeline().judge(evidence(), calls_of(ScriptedJudge(lambda _: "")), JudgeSettings(votes=votes))


def without(steps, number):
    return tuple(replace(step, before=None) if step.number == number else step for step in steps)


RUN = evidence(3)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"steps": ()}, "no actions"),
        ({"steps": without(RUN.steps, 2)}, "action 2 of 3 has no screenshot before it"),
        ({"screenshots": (*RUN.screenshots, image(9))}, "3 actions and 5 screenshots"),
        ({"screenshots": RUN.screenshots[::-1]}, "not in the order"),
        ({"screenshots": RUN.screenshots[:2]}, "share a screenshot"),
    ],
)
def test_a_run_without_a_screenshot_for_each_action_is_not_judged(changes, problem):
    calls = calls_of(ScriptedJudge(lambda question: reply_to(SIMPLE, question)))
    with pytest.raises(JudgeFailed, match=problem) as caught:
        RubricPipeline().judge(replace(RUN, **changes), calls, JudgeSettings())
    assert caught.value.outcome == "unjudgeable"
    assert calls.asked == []


@pytest.mark.parametrize("count", [3, 4])
def test_one_more_screenshot_than_actions_is_fine(count):
    calls = calls_of(ScriptedJudge(lambda question: reply_to(SIMPLE, question)))
    verdict = RubricPipeline().judge(replace(RUN, screenshots=RUN.screenshots[:count]), calls, JudgeSettings())
    assert verdict.response["rubric_intermediate_mm_rubric_steps"]["step1_num_screenshots"] == 3


def test_replies_of_a_model_that_wraps_json_in_a_code_block_are_read():
    judged, calls = judge(
        SIMPLE, ScriptedJudge(lambda question: Reply(text=f"```json\n{reply_to(SIMPLE, question)}\n```", model="m"))
    )
    assert (judged.score, calls.degraded) == (1, {})
