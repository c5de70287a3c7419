"""A stored success counts only on evidence: actions in the log, and as many screenshots as belong to them."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.api import load_run, score
from tests.support import recorded

WORKED = recorded.log(*recorded.WORKED)  # three actions
PLAN = '{"timestamp": "2026-03-01T10:00:00", "type": "OtherEvent", "message": "captcha wait"}\n'
OBSERVED = '{"timestamp": "2026-03-01T10:00:00", "type": "OtherEvent", "message": "Observation#1: a page"}\n'
NULL = json.dumps(
    {"source": "WebSurfer", "message": "done", "url": "https://a.test", "action": None, "arguments": None}
)
WEBVOYAGER = recorded.RUN.replace("WebTailBench_hf", "WebVoyager_x.jsonl")
ONLINE_MIND2WEB = recorded.RUN.replace("WebTailBench_hf", "OnlineM2W_x.json")
GPT_EVAL = ("gpt_eval.json", recorded.score_file("SUCCESS", 1.0))
WEBJUDGE = ("WebJudge_Online_Mind2Web_eval-3.json", recorded.score_file('Status: "success"', 1))
RUBRIC = ("mmrubric_0.8-5-3.json", recorded.score_file(recorded.payload()))


def list_pairs(actions):
    """Names of an image before and one after each action."""
    return [f"screenshot_{number}_{side}.png" for number in range(actions) for side in ("pre", "post")]


@pytest.fixture
def judged(tmp_path):
    """The result of the rubric evaluator for a trajectory with such files."""

    def evaluate(rules="strict", place=recorded.RUN, file=RUBRIC, **changed):
        path = recorded.write(tmp_path / rules / place / "a", scores=None, **changed)
        if file is not None:
            recorded.put(path / "scores" / file[0], file[1])
        return score(load_run(path, rules)).evaluators_results[0]

    return evaluate


@pytest.mark.parametrize("rules", ["default", "strict"])
@pytest.mark.parametrize(
    "log",
    ["", "\n", " \n\t\n", "\ufeff", "\0" * 500, PLAN, OBSERVED, f"{NULL}\n", "not JSON\n", "[]\n"],
)
def test_a_success_of_a_run_whose_log_holds_no_action_is_an_error(judged, rules, log):
    result = judged(rules, web_surfer_log=log)
    assert (result.status, result.score) == ("error", 0.0)
    source = "scores/mmrubric_0.8-5-3.json"
    assert result.error_msg == (
        f"inconsistent: {source} has a success, but web_surfer.log holds no action; record the run again"
    )
    assert result.actual["status"] == "inconsistent"


@pytest.mark.parametrize("file", [GPT_EVAL, WEBJUDGE, RUBRIC])
@pytest.mark.parametrize(
    "place", [WEBVOYAGER, ONLINE_MIND2WEB, "elsewhere", recorded.RUN.replace("WebTailBench_hf", "Held_x")]
)
def test_that_holds_for_every_benchmark_and_kind_of_verdict(judged, place, file):
    assert judged(place=place, file=file).status == "success"
    result = judged("default", place=place, file=file, web_surfer_log="")
    assert (result.status, "holds no action" in result.error_msg) == ("error", True)


@pytest.mark.parametrize("rules", ["default", "strict"])
@pytest.mark.parametrize(
    ("answer", "shots"),
    [
        (recorded.final_answer(shots=5), "5 screenshots"),
        (recorded.final_answer(shots=40), "40 screenshots"),
        (recorded.final_answer(shots=1), "1 screenshot"),
        (recorded.final_answer(screenshots=[]), "0 screenshots"),
        (recorded.final_answer(screenshots=["screenshot0.png"] * 3), "1 screenshot"),
        (recorded.final_answer(screenshots=["../x.png"] * 9), "1 screenshot"),
        (recorded.final_answer(screenshots=list_pairs(6)), "6 screenshots"),
    ],
)
def test_a_success_with_screenshots_that_do_not_fit_the_log_is_an_error(judged, rules, answer, shots):
    result = judged(rules, answer=answer)
    assert result.status == "error"
    assert f"but web_surfer.log holds 3 actions, and the recording {shots}; record the run again" in result.error_msg


@pytest.mark.parametrize("count", [1, 6, 300])
def test_a_log_of_another_length_is_an_error(judged, count):
    log = recorded.log(*[recorded.CLICK] * (count - 1), recorded.TERMINATE)
    assert judged(web_surfer_log=log).error_msg.startswith("inconsistent: ")


@pytest.mark.parametrize("rules", ["reference", "default", "strict"])
@pytest.mark.parametrize(
    "changed",
    [
        {"answer": recorded.final_answer(shots=2)},  # the last ones are missing
        {"answer": recorded.final_answer(shots=3)},  # the gpt solver: one for each action
        {"answer": recorded.final_answer(shots=4)},  # Fara: one more
        {"answer": recorded.final_answer(screenshots=[f"screenshot_{n}.png" for n in range(1, 4)])},
        {"answer": recorded.final_answer(screenshots=[f"/moved/screenshot{n}.png" for n in range(4)])},
        {"answer": recorded.final_answer(screenshots=list_pairs(3))},
        {
            "answer": recorded.final_answer(
                screenshots=[f"screenshot_{m}{n}.png" for m in ("", "post_") for n in range(3)]
            )
        },
        {"web_surfer_log": "\n".join(WORKED.splitlines()[:-1])},
        {"web_surfer_log": "\n".join(line for line in WORKED.splitlines() if '"source"' not in line)},  # texts alone
    ],
)
def test_an_honest_recording_keeps_its_verdict(judged, rules, changed):
    assert judged(rules, **changed).status == "success"


def test_screenshots_that_no_list_names_are_evidence(tmp_path):
    """Some recorders write none into the answer file."""
    path = recorded.write(tmp_path / recorded.RUN / "a")
    recorded.put(path / "a_final_answer.json", recorded.final_answer(screenshots=[]))
    assert score(load_run(path)).status == "success"


@pytest.mark.parametrize("changed", [{"web_surfer_log": ""}, {"answer": recorded.final_answer(shots=9)}])
def test_the_reference_and_a_stored_failure_keep_their_verdict(judged, changed):
    """A failure is believed: nobody gains by it, and the benchmark itself gives such runs no points."""
    assert judged("reference", **changed).status == "success"
    failure = recorded.score_file(recorded.payload(outcome=False))
    assert judged(file=("mmrubric_0.8-5-3.json", failure), **changed).status == "failure"
    assert judged("default", file=None, **changed).status == "failure"  # by the gate of the benchmark
