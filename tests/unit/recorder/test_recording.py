"""A recording writes what the agent reports at once, and says of itself how it ended."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path

import pytest

from pytest_webeval.errors import EvaluationError, RecordingError, SettingsError
from pytest_webeval.recorder.recording import BudgetExceeded, Recording
from pytest_webeval.recorder.run_directory import create_run_directory, remove_run_directory
from pytest_webeval.recordings.action_trace import load_steps
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recording_state import Outcome, read_state
from pytest_webeval.tasks.sites import Environment, Sites
from pytest_webeval.tasks.task import read_task

PNG = b"\x89PNG\r\n\x1a\n"
SITES = Sites({"shopping": Environment(("http://127.0.0.1:7770",))})


@pytest.fixture
def recording(tmp_path):
    return Recording.create(tmp_path, name="first")


def read(recording):
    return read_state(RunInputs(recording.directory))


def read_steps(recording):
    return [json.loads(line) for line in (recording.directory / "webeval_steps/steps.jsonl").read_text().splitlines()]


def test_a_recording_that_nobody_closed_says_so(recording):
    recording.stop("timeout", "too slow")
    assert read(recording).outcome is Outcome.RECORDING
    assert "the process ended before the browser was closed" in read(recording).summary


def test_the_first_reason_counts(recording):
    recording.stop("timeout", "too slow")
    recording.crash(ValueError("late"))
    recording.close()
    recording.close()
    assert (read(recording).outcome, read(recording).reason) == (Outcome.TIMEOUT, "too slow")
    assert read(recording).ended


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(None, "closed"), (ValueError("no lamp"), "crashed"), (KeyboardInterrupt(), "interrupted")],
)
def test_the_end_of_a_block_is_the_end_of_the_recording(recording, error, outcome):
    try:
        with recording:
            if error:
                raise error
    except (ValueError, KeyboardInterrupt):
        pass
    assert read(recording).outcome == outcome


def test_the_reason_of_a_crash_names_the_exception(recording):
    recording.crash(ValueError("no lamp"))
    recording.close()
    assert read(recording).summary == "the agent crashed: ValueError: no lamp"


def test_an_agent_without_a_browser_is_not_to_blame(recording):
    recording.crash(SettingsError("no Chromium to record with"))
    recording.close()
    assert (read(recording).outcome, read(recording).reason) == (Outcome.INTERRUPTED, "no Chromium to record with")


def test_an_answer_is_written_at_once_and_the_last_counts(recording):
    recording.answer(1)
    recording.answer(2)
    assert json.loads((recording.directory / "agent_response.json").read_text())["retrieved_data"] == [2]
    assert recording.has_answer


def test_an_answer_after_the_end_is_refused(recording):
    recording.close()
    with pytest.raises(SettingsError, match="is closed; answer before it ends"):
        recording.answer(1)


def test_steps_are_written_at_once_with_their_screenshots(recording, tmp_path):
    (tmp_path / "seen.jpg").write_bytes(b"\xff\xd8\xff")
    recording.step("click", "a lamp", PNG, url="http://shop.test", selector="#buy")
    recording.step("wait", screenshot=tmp_path / "seen.jpg")
    first, second = read_steps(recording)
    assert (first["index"], first["action"], first["thought"], first["url"]) == (
        1,
        "click",
        "a lamp",
        "http://shop.test",
    )
    assert (first["arguments"], first["screenshot"], second["screenshot"]) == ({"selector": "#buy"}, "1.png", "2.jpg")
    assert (recording.directory / "webeval_steps/1.png").read_bytes() == PNG


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"screenshot": b"<svg>"}, "use PNG or JPEG"),
        ({"screenshot": "missing.png"}, "cannot read screenshot missing.png"),
        ({"screenshot": "a\0b"}, "cannot read screenshot"),
        ({"selector": object()}, "use JSON values only"),
    ],
)
def test_a_step_that_cannot_be_logged_is_refused(recording, words, problem):
    with pytest.raises(SettingsError, match=problem):
        recording.step("click", **words)
    assert recording.step_count == 0


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), "\ud800", "a\nb\u2028", 10**40, {7: None}])
def test_a_step_with_any_value_can_be_read_again(recording, value):
    recording.step("click", screenshot=bytearray(PNG), value=value)
    recording.step("wait")
    steps = load_steps(RunInputs(recording.directory))
    assert [(step.index, step.action) for step in steps] == [(1, "click"), (2, "wait")]


@pytest.mark.parametrize(
    "long", [{"observation": "ø " * 10**6}, {"thought": "\0" * 10**6}, {"pages": ["x" * 10**6] * 2}]
)
def test_what_is_too_long_of_a_step_is_left_out(recording, long):
    recording.step("click", **long, screenshot=PNG)
    recording.step("wait", seconds=1)
    first, second = load_steps(RunInputs(recording.directory))
    assert (first.action, first.arguments) == ("click", {"left_out": "a step of more than 1048576 bytes"})
    assert bool(first.observation or first.thought) == ("pages" not in long)
    assert len((first.observation or "") + first.thought) < 51_000
    assert second.arguments == {"seconds": 1}


def test_a_step_beyond_the_budget_is_not_logged(tmp_path):
    recording = Recording.create(tmp_path, name="first", max_steps=1)
    recording.step("click")
    for _ in range(2):  # an agent may go on all the same
        with pytest.raises(BudgetExceeded, match="the budget of 1 step was exceeded"):
            recording.step("click")
    recording.close()
    assert (len(read_steps(recording)), read(recording).outcome) == (1, "budget")


def looking(*start_urls):
    """A task to look at a site."""
    return read_task(
        {
            "sites": ["shopping"],
            "task_id": 107,
            "start_urls": start_urls,
            "intent": "Look.",
            "eval": [
                {"evaluator": "AgentResponseEvaluator", "expected": {"task_type": "navigate", "status": "SUCCESS"}}
            ],
        },
        "a test",
    )


@pytest.mark.parametrize(
    ("start_urls", "start_url"),
    [(["__SHOPPING__/cart", "__SHOPPING__"], "http://127.0.0.1:7770/cart"), ([], "http://127.0.0.1:7770")],
)
def test_the_start_page_has_the_address_of_its_site(tmp_path, start_urls, start_url):
    recording = Recording.create(tmp_path, looking(*start_urls), SITES)
    assert (recording.start_url, recording.directory.name) == (start_url, "107")
    assert (read(recording).task_id, read(recording).start_url) == (107, start_url)


def test_a_start_page_without_an_address_leaves_no_directory(tmp_path):
    with pytest.raises(EvaluationError, match="no URL for"):
        Recording.create(tmp_path, looking("__SHOPPING__"), Sites({"reddit": Environment(("http://forum.test",))}))
    assert not list(tmp_path.iterdir())


def test_an_agent_may_know_by_itself_where_to_start(tmp_path):
    assert Recording.create(tmp_path, looking(), Sites()).start_url is None


def test_each_attempt_has_a_directory_of_its_own(tmp_path):
    made = [create_run_directory(tmp_path, 107).relative_to(tmp_path).as_posix() for _ in range(3)]
    assert made == ["107", "attempt-2/107", "attempt-3/107"]


def test_an_attempt_that_is_a_link_is_passed_over(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/attempt-2").symlink_to(tmp_path / "elsewhere")
    made = [create_run_directory(tmp_path / "runs", 107).relative_to(tmp_path).as_posix() for _ in range(2)]
    assert made == ["runs/107", "runs/attempt-3/107"]


def test_a_recording_is_written_into_its_directory_whatever_takes_the_place_of_that(recording, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    recording.directory.rename(tmp_path / "aside")
    recording.directory.symlink_to(elsewhere)
    recording.step("click", screenshot=PNG)
    recording.answer("lamp")
    recording.close()
    assert list(elsewhere.iterdir()) == []
    names = ["agent_response.json", "webeval_recording.json", "webeval_steps"]
    assert sorted(path.name for path in (tmp_path / "aside").iterdir()) == names


@pytest.mark.parametrize("kind", ["pipe", "link", "hard link"])
def test_the_log_is_written_through_nothing_that_has_taken_its_place(recording, tmp_path, kind):
    other, log = tmp_path / "other", recording.directory / "webeval_steps/steps.jsonl"
    other.touch()
    recording.step("click")
    log.unlink()
    {"pipe": os.mkfifo, "link": partial(os.symlink, other), "hard link": partial(os.link, other)}[kind](log)
    with pytest.raises(SettingsError, match=r"cannot write .*steps\.jsonl: "):
        recording.step("click")
    assert other.read_bytes() == b""


def test_a_recording_may_have_the_directory_of_one_that_was_removed(recording, tmp_path):
    with recording.opened:
        remove_run_directory(recording.directory)
    second = Recording.create(tmp_path, name="first")
    assert second.directory == recording.directory
    assert read(second).outcome is Outcome.RECORDING
    second.close()


def test_steps_that_cannot_be_logged_leave_no_open_directory(recording):
    remove_run_directory(recording.directory)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        with pytest.raises(SettingsError, match="cannot write"):
            recording.step("click")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_removed_recording_leaves_no_empty_attempt(tmp_path):
    first, second, other = (create_run_directory(tmp_path, name) for name in (107, 107, 108))
    remove_run_directory(second)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["107", "108"]
    third, fourth = create_run_directory(tmp_path, 107), create_run_directory(tmp_path, 108)
    remove_run_directory(third)
    assert fourth.is_dir()
    for directory in (first, other):
        remove_run_directory(directory)
    assert [path.name for path in tmp_path.iterdir()] == ["attempt-2"]


@pytest.mark.parametrize("task_id", ["", ".", "..", ".git", "a/b", "a\\b", "a\nb", "a\0", "attempt-2", "x" * 201])
def test_an_id_that_cannot_name_a_directory_is_refused(tmp_path, task_id):
    problem = "names an attempt" if task_id == "attempt-2" else "cannot name a directory"
    with pytest.raises(SettingsError, match=f"{problem}.* task_id"):
        create_run_directory(tmp_path, task_id)
    assert not list(tmp_path.iterdir())


def test_a_file_in_place_of_the_root_is_refused(tmp_path):
    (tmp_path / "runs").write_text("")
    with pytest.raises(SettingsError, match="cannot record into"):
        create_run_directory(tmp_path / "runs", 107)


@pytest.mark.parametrize("content", [b"", b"[]", b'{"outcome": "fine"}', b"\xff", b"[" * 9_000, b" " * 70_000])
def test_a_damaged_state_is_refused(tmp_path, content):
    (tmp_path / "webeval_recording.json").write_bytes(content)
    with pytest.raises(RecordingError, match=r"webeval_recording\.json"):
        read_state(RunInputs(tmp_path))
