"""Steps that an agent reported are what a report shows of a run."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.recordings.action_trace import load_action_trace
from pytest_webeval.recordings.inputs import RunInputs

JPEG = b"\xff\xd8\xff"


def load(tmp_path, *lines):
    folder = tmp_path / "webeval_steps"
    folder.mkdir()
    (folder / "steps.jsonl").write_bytes(
        b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    )
    return load_action_trace(RunInputs(tmp_path))


def test_a_step_has_what_the_agent_reported(tmp_path):
    line = {"action": "click", "thought": "buy", "arguments": {"selector": "#buy"}, "url": "http://shop.test"}
    (step,) = load(tmp_path, line | {"screenshot": "1.jpg", "observation": "added", "timestamp": "2026-01-01"}).steps
    assert (step.index, step.action, step.thought, step.arguments) == (1, "click", "buy", {"selector": "#buy"})
    assert (step.url, step.observation, step.timestamp) == ("http://shop.test", "added", "2026-01-01")
    assert step.before is not None
    assert step.before.name == "webeval_steps/1.jpg"


@pytest.mark.parametrize(
    "line", [b"", b'{"action": "cl', b"[]", b"\xff", b"[" * 9_000, b'{"x": "' + b"y" * 2**20 + b'"}']
)
def test_a_line_that_cannot_be_read_is_skipped(tmp_path, line):
    assert [step.index for step in load(tmp_path, {"action": "a"}, line, {"action": "b"}).steps] == [1, 2]


@pytest.mark.parametrize("name", ["../1.png", "/etc/1.png", "1.svg", "01.png", "1.png\n", 7, None, "x/1.png"])
def test_a_screenshot_of_another_name_is_ignored(tmp_path, name):
    (step,) = load(tmp_path, {"action": "a", "screenshot": name}).steps
    assert step.before is None


def test_members_of_other_types_are_ignored(tmp_path):
    (step,) = load(tmp_path, {"action": 7, "arguments": [], "thought": {}, "url": 1}).steps
    assert (step.action, step.arguments, step.thought, step.url) == ("unknown", {}, "", None)


def test_the_last_thousand_steps_count(tmp_path):
    steps = load(tmp_path, *({"action": str(number)} for number in range(1, 1_003))).steps
    assert (len(steps), steps[0].index, steps[-1].index) == (1_000, 3, 1_002)


def test_a_log_without_steps_shows_nothing(tmp_path):
    assert load(tmp_path, b"") is None


def test_the_screenshot_of_a_step_is_read_from_the_run(tmp_path):
    trace = load(tmp_path, {"action": "a", "screenshot": "1.jpg"})
    (tmp_path / "webeval_steps/1.jpg").write_bytes(JPEG)
    assert trace.image(trace.steps[0].before) == JPEG
