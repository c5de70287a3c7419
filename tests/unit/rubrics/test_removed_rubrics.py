"""Verdicts whose rubric was removed, and free texts where the benchmark stores JSON (`fara_webeval.md` §5.2, §5.3)."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from pytest_webeval.api import load_run, score
from pytest_webeval.recordings.trajectory.layout import ScoreFileName
from pytest_webeval.rubrics.policy import VerdictPolicy
from tests.support import recorded
from tests.support.made_payloads import OTHER_FILE, RUBRIC_FILE, rules, verdict

HELD_OUT = ScoreFileName("heldout", Decimal("0.8"), 5, 3)
SIGNALS = {"mm_is_success": 1, "rubric_is_success": 1, "verifier_is_success": 1}
BENCHMARK, OTHER = "WebTailBench_hf", "Mine_hf"
TEXT = recorded.score_file("It is all there. SUCCESS", 1)
PROBLEM = (
    "scores/gpt_eval.json holds free text, but webtailbench stores a rubric as JSON: the verdict cannot be recomputed"
)


@pytest.mark.parametrize(
    ("name", "written", "found"),
    [
        (RUBRIC_FILE, {"outcome_success": True}, ["R18"]),
        (RUBRIC_FILE, {"outcome_success": True, "is_success": 1}, ["R18"]),
        (RUBRIC_FILE, SIGNALS, ["R18"]),
        (HELD_OUT, {"outcome_success": True, "is_success": 1}, ["R18"]),
        (HELD_OUT, {"outcome_success": True, "success_criterion": "outcome"}, ["R18"]),
        (HELD_OUT, SIGNALS | {"is_success": 1}, ["R18"]),
        (HELD_OUT, SIGNALS, ["R19"]),
        (HELD_OUT, SIGNALS | {"rubric_items": [recorded.item(1, 1)]}, ["R19"]),
        (RUBRIC_FILE, SIGNALS | {"rubric_items": [recorded.item(1, 1)]}, ["R19"]),
        (OTHER_FILE, {"outcome_success": True, "is_success": 1}, ["R19"]),
        (ScoreFileName("gpt_eval"), {"outcome_success": True}, ["R19"]),
        (RUBRIC_FILE, {"outcome_success": True, "rubric_items": [recorded.item(1, 1)]}, []),
    ],
)
def test_a_rubric_that_its_writer_always_stores_must_be_there(name, written, found):
    derived = verdict(written, 1, name)
    assert (derived.status, rules(derived), derived.is_inconsistent) == ("judged", found, found == ["R18"])


@pytest.mark.parametrize(
    "written", [{"verifier_success": False}, {"rubric_error": "no answer", "is_success": 0, "outcome_success": False}]
)
def test_where_no_judge_came_to_a_rubric_none_is_missing(written):
    assert rules(verdict(written, 0)) == []


@pytest.fixture
def run(tmp_path):
    """A trajectory of a benchmark with one score file."""

    def load(scores, name="mmrubric_0.8-5-3.json", benchmark=BENCHMARK):
        path = tmp_path / recorded.RUN.replace(BENCHMARK, benchmark) / "a"
        recorded.write(path, scores=None)
        recorded.put(path / "scores" / name, scores)
        return load_run(path)

    return load


def test_a_verdict_without_its_rubric_is_an_error_that_says_so(run):
    payload = {name: value for name, value in recorded.payload().items() if name != "rubric_items"}
    result = score(run(recorded.score_file(payload)))
    assert (result.status, result.evaluators_results[0].error_msg) == (
        "error",
        (
            "inconsistent: scores/mmrubric_0.8-5-3.json contradicts itself: "
            "R18: rubric_items is missing, although such a file always has it; judge the run again"
        ),
    )


def test_of_held_out_signals_a_warning_says_that_nothing_can_be_derived_again(run):
    result = score(run(json.dumps({"score": 1, "gpt_response_text": json.dumps(SIGNALS)}), "0.8-5-3.json"))
    assert (result.status, result.webeval["warnings"]) == (
        "success",
        ["scores/0.8-5-3.json: R19: there are no rubric items; the verdict cannot be recomputed"],
    )
    assert [warning.kind for warning in result.warnings] == ["R19"]


def test_a_free_text_where_the_benchmark_stores_a_rubric_is_an_error(run):
    result = score(run(TEXT, "gpt_eval.json"))
    advice = "judge the run again, or choose the file with --webeval-score-file"
    told = f"score_unreadable: {PROBLEM}; {advice}"
    assert (result.status, result.evaluators_results[0].error_msg) == ("error", told)


def test_a_free_text_that_the_session_asks_for_counts_with_a_warning(run):
    result = score(run(TEXT, "gpt_eval.json"), policy=VerdictPolicy(score_file="gpt_eval"))
    assert (result.status, result.webeval["warnings"]) == ("success", [PROBLEM])


def test_a_free_text_of_a_benchmark_that_stores_texts_counts(run):
    result = score(run(TEXT, "gpt_eval.json", OTHER))
    assert (result.status, result.webeval["warnings"]) == ("success", [])
