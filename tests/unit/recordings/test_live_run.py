"""A run that pytest-webeval recorded scores by its answer and its traffic, and never passes without an answer."""

from __future__ import annotations

import json

import pytest

from pytest_webeval import load_run, load_tasks, score
from pytest_webeval.errors import RecordingError
from pytest_webeval.tasks.sites import Environment, Sites
from tests.support.runs import Runs

STATE = "webeval_recording.json"
REASON = "recording was interrupted: the process ended before the browser was closed"


@pytest.fixture
def runs(tmp_path):
    return Runs(tmp_path)


def end(path, outcome, *, reason=None, has_answer=True):
    (path / STATE).write_text(json.dumps({"outcome": outcome, "reason": reason}))
    if not has_answer:
        (path / "agent_response.json").unlink()
    return path


def evaluate(path):
    return score(load_run(path), load_tasks(str(path.parent / "tasks.json")))


def evaluate_at(path):
    sites = Sites({"shopping": Environment(("http://shop.test",))})
    return score(load_run(path), load_tasks(str(path.parent / "tasks.json")), sites)


OUTCOMES = ["recording", "closed", "timeout", "budget", "crashed", "interrupted", "browser_lost"]


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("passes", [True, False])
def test_an_answer_counts_however_the_recording_ended(runs, outcome, passes):
    result = evaluate(end(runs.add(1, passes=passes), outcome, reason="because"))
    assert result.status == ("success" if passes else "failure")
    assert result.webeval["recording"] == {"outcome": outcome, "reason": "because"}
    assert ("because" in result.webeval["warnings"]) == (outcome != "closed")


@pytest.mark.parametrize("outcome", ["closed", "timeout", "budget", "crashed"])
def test_an_agent_that_did_not_answer_fails_with_the_reason(runs, outcome):
    result = evaluate(end(runs.add(1), outcome, reason="the time limit of 5 s was exceeded", has_answer=False))
    assert result.status == "failure"
    messages = [text for each in result.evaluators_results[0].assertions for text in each.assertion_msgs]
    assert "got no answer: the time limit of 5 s was exceeded" in " ".join(messages)


@pytest.mark.parametrize("content", [None, '{"log": {"entries": []}}', "{"])
def test_an_agent_that_did_nothing_fails(runs, content):
    path = end(runs.add(1, expects=(runs.visited(),)), "timeout", reason="too slow", has_answer=False)
    (path / "network.har").unlink()
    if content is not None:
        (path / "network.har").write_text(content)
    assert evaluate_at(path).status == "failure"


@pytest.mark.parametrize("content", [None, '{"log": {"entries": []}}', "{"])
@pytest.mark.parametrize("outcome", ["closed", "timeout", "crashed"])
def test_an_agent_that_was_to_do_nothing_needs_a_trace_that_shows_that(runs, outcome, content):
    path = end(runs.add(1), outcome, reason="because", has_answer=False)
    runs.tasks[0]["eval"] = [runs.visited() | {"should_not_exist": True}]
    runs.define()
    (path / "network.har").unlink()
    if content is not None:
        (path / "network.har").write_text(content)
    with pytest.raises(RecordingError, match=r"network|entries|trace") as caught:
        evaluate_at(path)
    assert str(caught.value).startswith("because; ") == (outcome != "closed")
    runs.tasks[0]["eval"].append(runs.visited("__SHOPPING__/other"))
    runs.define()
    assert evaluate_at(path).status == "failure"


def test_an_agent_that_answered_and_did_nothing_is_an_error_with_the_reason(runs):
    path = end(runs.add(1), "timeout", reason="too slow")
    (path / "network.har").unlink()
    with pytest.raises(RecordingError, match="too slow; no network trace"):
        evaluate(path)


@pytest.mark.parametrize(("outcome", "reason"), [("recording", REASON), ("browser_lost", "the browser ended")])
def test_a_recording_that_broke_before_the_answer_is_an_error(runs, outcome, reason):
    with pytest.raises(RecordingError, match=f"no answer in .*: {reason}.*; record the run again"):
        evaluate(end(runs.add(1), outcome, has_answer=False))


def test_a_recording_that_broke_before_the_browser_opened_is_an_error_with_that_reason(runs):
    path = end(runs.add(1), "recording", has_answer=False)
    (path / "network.har").unlink()
    with pytest.raises(RecordingError, match=REASON):
        evaluate(path)


def test_a_damaged_state_is_an_error(runs):
    path = runs.add(1)
    (path / STATE).write_text("{}")
    with pytest.raises(RecordingError, match="cannot read"):
        evaluate(path)
    assert load_run(path).describe(None) == {}


def test_control_characters_of_a_reason_are_spelled_out(runs):
    result = evaluate(end(runs.add(1), "crashed", reason="\x1b[31m" + "x" * 9_000))
    assert "\\u001b" in result.webeval["recording"]["reason"]
    assert len(result.webeval["recording"]["reason"]) < 600


def test_a_task_that_asks_for_no_answer_needs_none_of_an_agent_that_ended(runs):
    path = end(runs.add(1, expects=(runs.visited(),), kind="navigate"), "closed", has_answer=False)
    runs.tasks[0]["eval"] = [runs.visited()]
    runs.define()
    assert evaluate(path).status == "success"


def test_the_state_is_an_input_of_the_result(runs):
    assert STATE in evaluate(end(runs.add(1), "closed")).webeval["inputs"]


GAP = "the agent opened a browser context of its own"
FORBIDDEN = {
    "evaluator": "NetworkEventEvaluator",
    "expected": {"url": "__SHOPPING__/nowhere", "http_method": "POST"},
    "should_not_exist": True,
}


def lacks(path, *, outcome="closed", has_answer=True, **checks):
    end(path, outcome, has_answer=has_answer)
    (path / STATE).write_text(json.dumps({"outcome": outcome, "unrecorded": GAP}))
    tasks = json.loads((path.parent / "tasks.json").read_text())
    tasks[0]["eval"] += checks.get("checks", [])
    (path.parent / "tasks.json").write_text(json.dumps(tasks))
    return path


def test_requests_that_were_not_recorded_are_an_error_of_a_task_about_requests(runs):
    with pytest.raises(RecordingError) as refusal:
        evaluate_at(lacks(runs.add(1), checks=[FORBIDDEN]))
    assert str(refusal.value) == f"{GAP}; let the agent work in the context of the recording, and record the run again"


def test_they_are_a_warning_where_only_the_answer_counts(runs):
    result = evaluate_at(lacks(runs.add(1)))
    assert result.status == "success"
    assert GAP in result.webeval["warnings"]


def test_an_agent_without_an_answer_fails_whatever_it_sent(runs):
    assert evaluate_at(lacks(runs.add(1), has_answer=False, checks=[FORBIDDEN])).status == "failure"
