from __future__ import annotations

import pytest
from msgspec import structs

from pytest_webeval.reports.judging_text import format_judging
from pytest_webeval.results import EvaluatorResult, Status, TaskResult
from pytest_webeval.summary.judges.judging import build_judging
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.result_facts import find_judge

FACTS = {
    "model": "gpt-5",
    "text_model": None,
    "method": "rubric",
    "version": "1",
    "votes": 1,
    "threshold": "0.8",
    "criterion": "outcome",
    "calls": 2,
    "usage": {"gpt-5": {"prompt": 1000, "completion": 50, "reasoning": 0, "cached": 0}},
    "cost_usd": 0.25,
    "degraded": {},
    "agreement": None,
    "failure": None,
    "success": True,
    "replied_by": ["gpt-5-2026-01-01"],
}


IDENTITY = ("model", "text_model", "method", "version", "votes", "threshold", "criterion")


def result(judge, webeval=None):
    """A result whose RubricEvaluator says this of its judge."""
    evaluation = EvaluatorResult(
        evaluator_name="RubricEvaluator", status=Status.SUCCESS, score=1.0, actual={"judge": judge}
    )
    return TaskResult(
        task_id="a",
        intent_template_id=-1,
        sites=[],
        task_revision=-1,
        status=Status.SUCCESS,
        score=1.0,
        evaluators_results=[evaluation],
        error_msg=None,
        webarena_verified_version="1.2.3",
        webarena_verified_evaluator_checksum="",
        webarena_verified_data_checksum="",
        webeval={"run": "runs/a", "rules": "default"} | (webeval or {}),
    )


def record(**changes):
    return Record.of(result(FACTS | changes), None)


def test_a_record_has_what_its_result_says_of_the_judge():
    assert record().judge == FACTS
    assert Record.of(result(None), None).judge is None
    assert find_judge(result(None, {"judge": FACTS | {"failure": "refused"}})) == FACTS | {"failure": "refused"}


@pytest.mark.parametrize("judge", ["gpt-5", {"model": 5}, {}, [FACTS], FACTS | {"cost_usd": "much"}])
def test_what_an_evaluator_of_users_writes_there_is_ignored(judge):
    assert find_judge(result(judge)) is None


def test_without_a_judge_there_is_nothing_to_sum_up():
    assert build_judging([Record.of(result(None), None)]) is None


def test_runs_tokens_and_costs_are_summed_up():
    records = [
        record(agreement=1.0),
        record(agreement=0.5, degraded={"evidence": "no reply"}, success=False),
        record(failure="refused", cost_usd=0.5, success=None),
        record(failure="uncertain", cost_usd=0, usage={}, calls=0, success=None, degraded={"a": "", "b": ""}),
        structs.replace(record(), judge=None),
    ]
    assert build_judging(records) == {
        "judges": [{name: FACTS[name] for name in IDENTITY}],
        "judged": 2,
        "successes": 1,
        "not_judged": {"refused": 1, "uncertain": 1},
        "reasons": {name: {"run": "runs/a", "text": None} for name in ("refused", "uncertain")},
        "proposals": 0,
        "calls": 6,
        "usage": {"gpt-5": {"prompt": 3000, "completion": 150, "reasoning": 0, "cached": 0}},
        "cost_usd": 1.0,
        "degraded": {"a": 1, "b": 1, "evidence": 1},
        "fallbacks": {"runs/a": 2},
        "agreement": 0.75,
    }


def test_several_judges_are_listed_and_an_unknown_price_makes_the_cost_unknown():
    records = [record(), record(text_model="mini", cost_usd=None), record(model="a")]
    judging = build_judging(records)
    assert [(judge["model"], judge["text_model"]) for judge in judging["judges"]] == [
        ("a", None),
        ("gpt-5", None),
        ("gpt-5", "mini"),
    ]
    assert judging["cost_usd"] is None


UNKNOWN = "no certificate: how far people agree with this judge is unknown; run webeval calibrate"


def test_lines_name_judge_cost_and_certificate():
    judging = build_judging(
        [record(agreement=0.5, degraded={"evidence": "x"}), record(failure="over_limit", success=None, criterion=None)]
    )
    assert format_judging(judging) == [
        "judge gpt-5 (rubric 1): 1 run judged, 4 replies, 2,100 tokens, $0.5000, votes agree 50.0%",
        "not judged: over limit 1",
        "  over limit: runs/a: None",
        "steps of the judge with a fallback: evidence 1",
        UNKNOWN,
    ]


def test_a_line_counts_fallbacks_by_run_those_with_the_most_first():
    records = []
    for name, count in {"a": 1, "b": 3, "c": 1, "d": 2}.items():
        lost = record(failure="uncertain", success=None, degraded={f"step {at}": "no reply" for at in range(count)})
        records.append(structs.replace(lost, run=f"runs/{name}"))
    counts = "step 0 4, step 1 2, step 2 1"
    line = f"7 in 4 runs without a verdict (runs/b 3, runs/d 2, runs/a 1, …): {counts}"
    assert f"steps of the judge with a fallback: {line}" in format_judging(build_judging(records))


def test_names_in_lines_are_plain_text():
    judging = build_judging([record(model="a\x1b[2J\nb", text_model="mini", votes=3, cost_usd=None)])
    assert format_judging(judging) == [
        "judge a\\u001b[2J b and mini (rubric 1, 3 votes): 1 run judged, 2 replies, 1,050 tokens, cost unknown",
        UNKNOWN,
    ]


ESTIMATE = {"value": 0.9, "interval_95": [0.8, 0.95]}
AGREES = "certificate: agrees with people on 90.0% (95% interval 80.0% to 95.0%) of 60 runs"
CERTIFICATE = {
    "problem": None,
    "labelled": 60,
    "accuracy": ESTIMATE,
    "kappa": {"value": 0.8, "interval_95": None},
    "corrected_success_rate": {"value": 0.5, "interval_95": [0.25, 0.75]},
}


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {},
            f"{AGREES}, kappa 0.80, success rate corrected for its errors 50.0% (95% interval 25.0% to 75.0%)",
        ),
        (
            {"kappa": {"value": None}, "corrected_success_rate": {"value": None}},
            f"{AGREES}, kappa undefined",
        ),
        (
            {"problem": "version was 1 and is 2"},
            "certificate not valid: version was 1 and is 2",
        ),
    ],
)
def test_a_certificate_is_one_line(changes, line):
    judging = build_judging([record()]) | {"certificate": CERTIFICATE | changes}
    assert format_judging(judging)[-1] == line
