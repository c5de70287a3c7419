"""Several answer files in one trajectory: an error under all rules, since any may be a better answer that was added."""

from __future__ import annotations

import os

import pytest

from pytest_webeval.api import load_run, score
from pytest_webeval.recordings.trajectory.answer import answer_name
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from pytest_webeval.rules import RULES
from tests.support import recorded

OWN = "a_final_answer.json"
ADVICE = "keep only the one that the recorder wrote, or record the run again"


@pytest.fixture
def trajectory(tmp_path):
    """A run called `a`, judged a success; `own` is the content of its answer file."""

    def write(own=None):
        return recorded.write(tmp_path / recorded.RUN / "a", answer=own or recorded.final_answer())

    return write


def write_answer(path):
    recorded.put(path, recorded.final_answer("another"))


def write_empty(path):
    path.touch()


def write_link(path):
    path.symlink_to(path.with_name(OWN))


def write_dangling_link(path):
    path.symlink_to("nowhere")


def write_directory(path):
    path.mkdir()


def write_pipe(path):
    os.mkfifo(path)


OTHERS = [
    ("b_final_answer.json", write_answer),
    ("a_answer.json", write_answer),
    ("final_answer.json", write_answer),
    ("_answer.json", write_answer),
    ("A_final_answer.json", write_answer),
    ("a_Final_Answer.json", write_answer),
    ("A_FINAL_ANSWER.JSON", write_answer),
    ("z_ANSWER.json", write_answer),
    ("a_final_answer.json_answer.json", write_answer),
    ("backup_a_final_answer.json", write_answer),
    ("b_final_answer.json", write_empty),
    ("b_final_answer.json", write_link),
    ("b_final_answer.json", write_dangling_link),
    ("b_final_answer.json", write_directory),
    ("b_final_answer.json", write_pipe),
]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize(("name", "write"), OTHERS)
def test_a_second_answer_file_is_an_error_that_names_both(trajectory, rules, name, write):
    path = trajectory()
    assert score(load_run(path, rules)).status == "success"
    write(path / name)
    with pytest.raises(UnreadableTrajectory) as raised:
        score(load_run(path, rules))
    first, second = sorted((OWN, name))
    assert str(raised.value) == f"answer_ambiguous: 2 answer files: '{first}', '{second}'; {ADVICE}"


@pytest.mark.parametrize("own", [recorded.final_answer("<no_answer>"), recorded.final_answer(is_aborted=True), "{"])
def test_a_second_answer_file_excludes_no_run_and_hides_no_damage(trajectory, own):
    path = trajectory(own)
    write_answer(path / "b_final_answer.json")
    with pytest.raises(UnreadableTrajectory, match="answer_ambiguous: 2 answer files"):
        score(load_run(path))


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize(
    "name",
    [
        "._a_final_answer.json",  # of an archiver
        "._b_final_answer.json",
        ".b_final_answer.json",
        "a_final_answer.json.bak",
        "a_final_answer.json~",
        "a_final_answer (1).json",
        "b_final_answer.json.tmp",
        "answer.json",
        "a_final_answer.jsonl",
        "final_answer",
    ],
)
def test_one_answer_next_to_files_with_other_names_is_one(trajectory, rules, name):
    path = trajectory()
    write_answer(path / name)
    result = score(load_run(path, rules))
    assert (result.status, result.webeval["warnings"]) == ("success", [])
    assert result.evaluators_results[0].actual["final_answer"] == "done"


def test_of_many_answer_files_the_first_are_named():
    with pytest.raises(UnreadableTrajectory) as raised:
        answer_name("a", [f"{name}_answer.json" for name in "hgfedcba"])
    assert str(raised.value) == (
        "8 answer files: 'a_answer.json', 'b_answer.json', 'c_answer.json', 'd_answer.json', 'e_answer.json' and 3 more"
        f"; {ADVICE}"
    )
