"""What a result says of a verdict in plain JSON: `fara_webeval.md` §6.7, §10."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from pytest_webeval.recordings.formats.fara_trajectory import read
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory.layout import ScoreFileName
from pytest_webeval.recordings.trajectory.recorded import Trajectory
from pytest_webeval.rubrics.derivation import derive
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rubrics.stored_verdict import RunFacts, StoredVerdict
from pytest_webeval.rubrics.verdict_report import verdict_to_json
from tests.support import recorded
from tests.support.made_payloads import RUBRIC_FILE, item, payload

FLY = {"action": "fly"}
WRONG_KEYS = {"action": "key", "keys": ["Enter"], "speed": 3}
NO_FLYING = '[6.2] Hallucinated action: the agent has no action "fly"'


@pytest.fixture
def trajectory(tmp_path):
    def of(*actions) -> Trajectory:
        path = recorded.write(tmp_path / recorded.RUN / "books_7", web_surfer_log=recorded.log(*actions))
        return read(RecordedFiles(RunInputs(path)))

    return of


def of_payload(written, score=1, name=RUBRIC_FILE, trajectory=None, text=None):
    stored = StoredVerdict("scores/x.json", name, score, written, text)
    found = verdict_to_json(derive(stored, VerdictPolicy(), RunFacts()), stored, trajectory)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    return found


def failed_at(*points, generation="G2"):
    listed = [{"error_code": code, "step_numbers": step, "what_happened": "w"} for code, step in points]
    more = {"cp_violation": False} if generation == "G2" else {"success_criterion": "outcome"}
    first = {"has_failure": True, "failure_points": listed}
    return payload(item(4, 4), outcome=True, rubric_first_point_of_failure=first, **more)


def failure(written, trajectory=None):
    found = of_payload(written, trajectory=trajectory)["failure"]
    return tuple(found[name] for name in ("has_failure", "first_step", "summary", "codes", "categories"))


@pytest.mark.parametrize(
    ("signals", "told"),
    [
        ({"mm_is_success": "1", "rubric_is_success": True}, {"mm_is_success": 1, "rubric_is_success": 1}),
        ({"verifier_is_success": 0}, {"verifier_is_success": 0}),
        ({"outcome_success": True}, {}),
    ],
)
def test_held_out_signals_are_told(signals, told):
    assert of_payload(signals, name=ScoreFileName("heldout", Decimal("0.8")))["signals"] == told


def test_a_free_text_is_its_own_reason():
    text = f"{'I saw much. ' * 50}\nThen a captcha: NOT SUCCESS"
    assert of_payload(None, 0, ScoreFileName("gpt_eval"), text=text)["reason"] == text


def test_a_judge_of_the_second_generation_does_not_say_which_calls_were_wrong(trajectory):
    told = failed_at(("6.1", "1"), ("1.1", "2"), ("6.2", "3"))
    wanted = (True, 2, "[1.1] w", ["1.1"], ["Selection"])
    assert failure(told) == wanted
    assert failure(told, trajectory(*recorded.WORKED)) == wanted
    assert failure(failed_at(("6.1", "1"))) == (False, None, "", [], [])


TOOL, SELECTION = "Tool Interaction", "Selection"


@pytest.mark.parametrize(
    ("points", "wanted"),
    [
        ([("1.1", "1")], (True, 1, "[1.1] w", ["1.1", "6.2", "6.1"], [SELECTION, TOOL, TOOL])),
        ([("1.1", "2")], (True, 2, "[1.1] w", ["1.1", "6.2", "6.1"], [SELECTION, TOOL, TOOL])),
        ([("1.1", "3")], (True, 2, NO_FLYING, ["1.1", "6.2", "6.1"], [SELECTION, TOOL, TOOL])),
        ([("1.1", "?")], (True, 2, NO_FLYING, ["1.1", "6.2", "6.1"], [SELECTION, TOOL, TOOL])),
        ([("6.2", "1")], (True, 2, NO_FLYING, ["6.2", "6.1"], [TOOL, TOOL])),
    ],
)
def test_what_needs_no_judge_stands_in_its_place(trajectory, points, wanted):
    run = trajectory(recorded.SEARCH, FLY, WRONG_KEYS, recorded.TERMINATE)
    assert failure(failed_at(*points), run) == wanted


def test_an_earlier_judge_is_taken_by_its_word(trajectory):
    told = failed_at(("6.1", "1"), ("1.1", "2"), generation="G1")
    assert failure(told, trajectory(FLY)) == (True, 1, "[6.1] w", ["6.1", "1.1"], [TOOL, SELECTION])


def test_without_an_analysis_nothing_is_analysed(trajectory):
    written = payload(item(4, 4), outcome=True, cp_violation=False)
    assert of_payload(written, trajectory=trajectory(FLY))["failure"] is None
