"""What became of a trajectory: fara_webeval.md §4, with the directories of §9.3."""

from __future__ import annotations

import pytest

from pytest_webeval.recordings.formats.fara_trajectory import read
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory.recorded import OutcomeClass, Trajectory, TrajectoryOutcome
from pytest_webeval.recordings.trajectory.step import build_step
from tests.support import recorded
from tests.support.recorded import CLICK, SEARCH, TERMINATE, core_log, final_answer, log

NO_ANSWER = "<no_answer>"
LONG = log(*[CLICK] * 3)
SHORT = log(SEARCH)
ENDED = log(SEARCH, TERMINATE)
FAILED = log(SEARCH, {"action": "terminate", "status": "failure"})


def load(tmp_path, **changed) -> Trajectory:
    path = recorded.write(tmp_path / recorded.RUN / "books_7", **changed)
    return read(RecordedFiles(RunInputs(path)))


CRASHED = core_log("books_7", crash="Captcha timed out")


@pytest.mark.parametrize(
    ("changed", "kind", "reasons"),
    [
        # row 1
        ({"answer": None, "core_log": CRASHED}, "aborted", ["crash_no_answer"]),
        ({"answer": None, "core_log": core_log("books_7", ended=False)}, "aborted", ["crash_no_answer"]),
        ({"answer": None, "core_log": core_log("books_7") + CRASHED}, "aborted", ["crash_no_answer"]),
        # row 2
        ({"answer": None, "core_log": CRASHED + core_log("books_7")}, "unreadable", ["answer_missing"]),
        ({"answer": None, "core_log": None}, "unreadable", ["answer_missing"]),
        ({"answer": "{"}, "unreadable", ["answer_invalid"]),
        ({"answer": final_answer(is_aborted="no")}, "unreadable", ["answer_invalid"]),
        # row 3
        ({"answer": final_answer(NO_ANSWER, is_aborted=True)}, "aborted", ["flagged"]),
        ({"answer": final_answer(is_aborted=True)}, "aborted", ["flagged", "aborted_with_answer"]),
        (
            {"answer": final_answer(is_aborted=True), "web_surfer_log": None},
            "aborted",
            ["flagged", "aborted_with_answer"],
        ),
        # row 4
        ({"web_surfer_log": None}, "unreadable", ["log_missing"]),
        # row 5
        ({"answer": final_answer(NO_ANSWER), "web_surfer_log": LONG}, "over_budget", ["no_answer"]),
        ({"answer": final_answer(None), "web_surfer_log": LONG}, "over_budget", ["no_answer"]),
        ({"answer": final_answer(NO_ANSWER), "web_surfer_log": SHORT}, "over_budget", ["no_answer", "below_budget"]),
        (
            {"answer": final_answer(NO_ANSWER), "web_surfer_log": ENDED},
            "over_budget",
            ["no_answer", "below_budget", "terminate_without_answer"],
        ),
        # row 6
        ({}, "completed", []),
        ({"answer": final_answer(" ")}, "completed", ["empty_answer"]),
        ({"answer": final_answer("")}, "completed", ["empty_answer"]),
        ({"web_surfer_log": SHORT}, "completed", ["no_terminate"]),
        ({"web_surfer_log": ""}, "completed", ["no_terminate"]),
        ({"web_surfer_log": FAILED}, "completed", ["self_reported_failure"]),
    ],
)
def test_the_first_row_of_the_decision_table_that_applies_decides(tmp_path, changed, kind, reasons):
    outcome = load(tmp_path, **changed).outcome
    assert (outcome.kind.value, list(outcome.reasons)) == (kind, reasons)
    assert outcome.is_scored == (kind in ("completed", "over_budget"))
    assert outcome.message
    assert "\n" not in outcome.message


@pytest.mark.parametrize(
    ("kind", "is_scored"),
    [
        ("completed", True),
        ("over_budget", True),
        ("impossible", True),
        ("aborted", False),
        ("unreadable", False),
        ("ungraded", False),
    ],
)
def test_a_run_is_scored_unless_nothing_says_how_the_agent_did(kind, is_scored):
    assert TrajectoryOutcome(OutcomeClass(kind), (), "").is_scored is is_scored


def test_the_message_of_a_crash_tells_what_crashed(tmp_path):
    assert load(tmp_path, answer=None, core_log=CRASHED).outcome.message == "the run crashed: Captcha timed out"


def ended_with(path, actions: list[str], shots: int) -> Trajectory:
    steps = tuple(build_step(index, action) for index, action in enumerate(actions, 1))
    outcome = TrajectoryOutcome(OutcomeClass.COMPLETED, (), "")
    return Trajectory(inputs=RunInputs(path), outcome=outcome, steps=steps, listed_screenshots=shots)


@pytest.mark.parametrize(
    ("actions", "shots", "ends", "number", "told"),
    [
        ([], 4, ("terminate",), 1, "No actions found in the trajectory"),
        (["left_click"], 2, ("terminate",), 2, "The last action must be \"terminate\", it is 'left_click'"),
        (["terminate", "wait"], 2, ("terminate",), 2, "The last action must be \"terminate\", it is 'wait'"),
        (["stop"], 1, ("terminate",), 2, "The last action must be \"terminate\", it is 'stop'"),
        (["terminate"], 3, ("terminate",), 3, "Actions and screenshots mismatch: 1 actions, 3 screenshots"),
        (
            ["wait", "wait", "terminate"],
            1,
            ("terminate",),
            3,
            "Actions and screenshots mismatch: 3 actions, 1 screenshots",
        ),
    ],
)
def test_a_run_that_meets_a_gate_gets_no_points_and_the_reason(tmp_path, actions, shots, ends, number, told):
    gate = ended_with(tmp_path, actions, shots).find_gate(ends)
    assert gate is not None
    assert (gate.number, gate.reason) == (number, told)


@pytest.mark.parametrize(
    ("actions", "shots", "ends"),
    [
        (["terminate"], 1, ("terminate",)),
        (["terminate"], 2, ("terminate",)),
        (["wait", "terminate"], 1, ("terminate",)),
        (["finished(content='x')"], 1, ("terminate",)),
        (["stop"], 1, ("terminate", "stop")),
    ],
)
def test_a_run_that_ends_in_good_order_meets_no_gate(tmp_path, actions, shots, ends):
    assert ended_with(tmp_path, actions, shots).find_gate(ends) is None
