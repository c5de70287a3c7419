"""A trajectory as its readers see it: fara_webeval.md §3.1-10, §3.2 and the worked examples of §9."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_webeval import load_run
from pytest_webeval.recordings.formats.fara_trajectory import read
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory.recorded import Trajectory
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from tests.support import recorded
from tests.support.recorded import final_answer, log


@pytest.fixture
def load(tmp_path):
    def loaded(spoil=Path.exists, **changed) -> Trajectory:
        path = recorded.write(tmp_path / recorded.RUN / "books_7", **changed)
        spoil(path)
        return read(RecordedFiles(RunInputs(path)))

    return loaded


def test_steps_carry_what_the_log_and_the_screenshots_say(load):
    first, second, last = load().steps
    assert (first.index, first.action, first.tool, first.thought) == (1, "web_search", "computer_use", "thought 1")
    assert second.arguments == {"coordinate": [410, 266]}
    assert (second.before.name, second.after.name) == ("screenshot1.png", "screenshot2.png")
    assert (last.observation, last.after.name) == ("saw 3", "screenshot3.png")


def test_thoughts_observations_and_screenshots_are_those_of_the_steps(load):
    trajectory = load()
    assert [step.thought for step in trajectory.steps] == ["thought 1", "thought 2", "thought 3"]
    assert [step.observation for step in trajectory.steps] == ["saw 1", "saw 2", "saw 3"]
    assert [shot.name for shot in trajectory.screenshots] == [f"screenshot{number}.png" for number in range(4)]
    assert trajectory.inputs.read(trajectory.screenshots[0].name) == recorded.PIXEL


def test_answer_times_usage_and_attempts_come_from_their_files(load):
    trajectory = load()
    assert trajectory.answer == "done"
    assert trajectory.duration == 25.5
    assert (trajectory.usage.prompt_tokens, trajectory.usage.completion_tokens) == (9100, 240)
    assert trajectory.attempts == 1


def test_what_is_not_there_is_none_and_nothing_is_warned_about(load):
    trajectory = load(times_json=None, core_log=None, scores=None)
    assert (trajectory.duration, trajectory.attempts, trajectory.score_names) == (None, None, ())
    assert trajectory.task_data.text is None
    assert trajectory.warnings == ()


def test_optional_files_that_cannot_be_read_are_told_and_cost_nothing_else(load):
    trajectory = load(lambda path: (path / "times.json").symlink_to(path / "core.log"), times_json=None)
    assert trajectory.duration is None
    assert trajectory.outcome.kind == "completed"
    assert [note for note in trajectory.warnings if note.startswith("times.json: cannot read")]


def test_files_are_hashed_and_read_once(load):
    trajectory = load()
    trajectory.to_json()
    assert sorted(trajectory.inputs.checksums) == [
        "books_7_final_answer.json",
        "core.log",
        "times.json",
        "web_surfer.log",
    ]


def test_a_missing_answer_raises_where_the_answer_is_asked_for(load):
    trajectory = load(answer=None, core_log=None)
    with pytest.raises(UnreadableTrajectory, match=r"missing answer file: neither 'books_7_final_answer.json'"):
        _ = trajectory.find_answer()
    assert len(trajectory.steps) == 3


def test_steps_that_cannot_be_read_are_not_counted_as_none(load):
    trajectory = load(web_surfer_log=None)
    assert (trajectory.steps, trajectory.to_json()["steps"]) == ((), None)
    with pytest.raises(UnreadableTrajectory, match=r"missing file: .*web_surfer\.log"):
        trajectory.count_steps()


@pytest.mark.parametrize(
    ("changed", "flags"),
    [
        ({}, ()),
        ({"web_surfer_log": ""}, ("log_lost", "misaligned")),
        ({"web_surfer_log": "", "answer": final_answer("", shots=1)}, ()),
        ({"web_surfer_log": "", "answer": final_answer(shots=1)}, ("log_lost",)),
        ({"web_surfer_log": "", "answer": final_answer("<no_answer>", shots=1)}, ()),
        ({"answer": final_answer(shots=5)}, ("misaligned",)),
        ({"web_surfer_log": log({"action": "wait"}, {"action": "wait"}, {"action": "stop"})}, ("nonstandard_stop",)),
        ({"core_log": recorded.core_log("books_7") * 2}, ("several_attempts",)),
    ],
)
def test_oddities_of_a_run_are_flagged(load, changed, flags):
    assert load(**changed).flags == flags


def test_a_listed_screenshot_that_is_not_there_is_flagged(load):
    trajectory = load(lambda path: (path / "screenshot3.png").unlink())
    assert trajectory.flags == ("missing_screenshots",)


def test_damage_is_told_with_file_and_line(load):
    text = log(*recorded.WORKED)
    trajectory = load(web_surfer_log=text[:-20], answer=final_answer(mood="good"))
    assert len(trajectory.steps) == 3
    told = "\n".join(trajectory.warnings)
    assert "web_surfer.log line 9" in told
    assert "mood" in told


def test_the_description_is_plain_json_and_names_no_user(load):
    found = load().to_json()
    assert json.loads(json.dumps(found)) == found
    assert "ana" not in json.dumps(found)
    assert (found["class"], found["steps"], found["alignment"], found["screenshots"]) == ("completed", 3, "n+1", 4)
    assert (found["system"], found["model"]) == ("WebSurfer-fara-3-max_n_images-3", "fara-7b")
    assert (found["benchmark"], found["run_id"], found["max_rounds"]) == ("WebTailBench_hf", "r1", 3)
    assert found["usage"] == {
        "prompt_tokens": 9100,
        "completion_tokens": 240,
        "reasoning_tokens": None,
        "num_calls": None,
    }


def test_a_run_without_answer_or_log_is_described_as_far_as_it_goes(load):
    found = load(answer=None, web_surfer_log=None, core_log=None).to_json()
    assert (found["class"], found["reasons"], found["steps"], found["usage"]) == (
        "unreadable",
        ["answer_missing"],
        None,
        None,
    )
    assert found["duration"] == 25.5


def test_a_run_of_the_format_has_the_trajectory(load):
    run = load_run(load().path)
    assert run.format == "fara"
    assert run.trajectory is run.trajectory
    assert run.trajectory.path.name == run.task_id == "books_7"
    assert run.response == b"done"
