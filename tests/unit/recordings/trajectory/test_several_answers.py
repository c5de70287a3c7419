"""Several answer files in one trajectory: which one counts is said, and webeval loads none (`fara_webeval.md` Q4)."""

from __future__ import annotations

import pytest

from pytest_webeval.api import load_run
from pytest_webeval.api import score
from pytest_webeval.recordings.trajectory.answer import other_answers
from pytest_webeval.recordings.trajectory.outcome import OutcomeClass
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from tests.support import recorded

FIRST = "a_final_answer.json: the answer is read from this file, not from"
TWO = f"{FIRST} 'b_final_answer.json'; webeval loads neither, so keep one"


@pytest.fixture
def run(tmp_path):
    """A trajectory called `a` with more answer files, under some rules."""

    def load(rules, *more):
        path = tmp_path / recorded.RUN / "a"
        if not path.exists():
            recorded.write(path)
        for name in more:
            recorded.put(path / name, recorded.final_answer("another"))
        return load_run(path, rules)

    return load


@pytest.mark.parametrize("rules", ["default", "strict"])
@pytest.mark.parametrize(
    ("more", "warning"),
    [
        (["b_final_answer.json"], TWO),
        (["a_answer.json"], f"{FIRST} 'a_answer.json'; webeval loads neither, so keep one"),
        (
            ["c_answer.json", "b_final_answer.json"],
            f"{FIRST} 'b_final_answer.json', 'c_answer.json'; webeval loads none",
        ),
    ],
)
def test_the_answer_that_counts_and_those_that_do_not_are_named(run, rules, more, warning):
    found = run(rules, *more)
    result = score(found)
    assert (result.status, found.trajectory.answer.final_answer) == ("success", "done")
    (told,) = result.webeval["warnings"]
    assert told.startswith(warning)


def test_for_the_reference_a_run_with_two_answers_is_an_error(run):
    assert score(run("reference")).status == "success"
    found = run("reference", "b_final_answer.json")
    assert (found.trajectory.outcome.kind, found.trajectory.outcome.message) == (OutcomeClass.UNREADABLE, TWO)
    with pytest.raises(UnreadableTrajectory) as raised:
        score(found)
    assert str(raised.value) == f"answer_ambiguous: {TWO}"


@pytest.mark.parametrize("rules", ["reference", "default"])
def test_one_answer_beside_what_a_system_left_is_one(run, rules):
    result = score(run(rules, "._a_final_answer.json", "answer.json"))
    assert (result.status, result.webeval["warnings"]) == ("success", [])


def test_of_many_other_answers_the_first_are_named():
    names = [f"{name}_answer.json" for name in "abcdefgh"]
    assert other_answers(names[0], names) == (
        "a_answer.json: the answer is read from this file, not from 'b_answer.json', 'c_answer.json', 'd_answer.json', "
        "'e_answer.json', 'f_answer.json' and 2 more; webeval loads none of them, so keep one"
    )
