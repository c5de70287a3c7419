"""No message says its advice, or its place, twice."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from pytest_webeval import find_runs, load_tasks, score
from pytest_webeval.errors import WebEvalError
from pytest_webeval.scoring.task_result import build_error_result
from tests.support import recorded
from tests.support.damage import damaged

AGAIN = "judge the run again"
SUITE = Path(__file__).parents[4] / "example_suite"
# What a score file may hold of which nothing can be derived.
UNREADABLE = [
    {"score": 1, "gpt_response_text": "{}"},
    {"score": 2, "gpt_response_text": {"rubric_is_success": 1}},
    {"score": 1, "gpt_response_text": {"rubric_items": {"items": [{"max_points": "x"}]}}},
    {"score": 1, "gpt_response_text": "yes"},
]


def scored(run, tasks=None):
    """The result of a run, as a session would write it."""
    try:
        return score(run, tasks)
    except WebEvalError as error:
        return build_error_result(run, None, str(error))


def messages_of(result):
    """All sentences of a result."""
    yield from filter(None, [result.error_msg, *result.webeval.get("warnings", ())])
    for evaluated in result.evaluators_results:
        yield from filter(None, [evaluated.error_msg])
        for assertion in evaluated.assertions or ():
            yield from filter(None, [assertion.error_msg, *(assertion.assertion_msgs or ())])


def repeated(message):
    """The parts of a message between semicolons, and its places, that stand in it more than once."""
    pieces = [piece for piece in re.split(r"; | @ ", message) if len(piece) > 8]
    return [piece for piece, count in Counter(pieces).items() if count > 1]


def score_all(root):
    return [message for run in find_runs(root) for message in messages_of(scored(run))]


@pytest.mark.parametrize("seed", range(3))
def test_damaged_trajectories(tmp_path, seed):
    random = Random(f"messages {seed}")
    for number in range(80):
        damaged(tmp_path / recorded.RUN, f"task_{number:02}", random, outcome=number % 2 == 0)
    messages = score_all(tmp_path)
    assert len(messages) > 20
    assert [message for message in messages if repeated(message)] == []


def test_the_example_suite():
    tasks = load_tasks(SUITE / "runs" / "tasks.json")
    results = [scored(run, tasks) for run in find_runs(SUITE / "runs")]
    messages = [message for result in results for message in messages_of(result)]
    messages += score_all(SUITE / "trajectories")
    assert len(messages) > 20
    assert [message for message in messages if repeated(message)] == []


@pytest.mark.parametrize("stored", UNREADABLE)
def test_a_stored_verdict_that_cannot_be_derived_gives_its_advice_and_its_source_once(tmp_path, stored):
    path = recorded.write(tmp_path / recorded.RUN / "task_01", scores=None)
    (path / "scores").mkdir(exist_ok=True)
    recorded.put(path / "scores/mmrubric_0.8-5-3.json", stored)
    messages = {message for message in score_all(tmp_path) if AGAIN in message}
    assert messages
    counts = {(message.count(AGAIN), message.count("scores/mmrubric_0.8-5-3.json")) for message in messages}
    assert counts == {(1, 1)}
    assert [message for message in messages if repeated(message)] == []


def test_a_repetition_is_noticed():
    assert repeated(f"it is broken; {AGAIN}; {AGAIN} @ scores/x.json") == [AGAIN]
