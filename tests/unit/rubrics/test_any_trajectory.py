"""Rubrics ask a trajectory what it has, not who recorded it: what only Fara writes so far, others may state as well."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

import pytest_webeval
from pytest_webeval.evaluators.rubric_verdict import Gating
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.network.readers import load_trace
from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.trajectory.recorded import (
    Judgement,
    OutcomeClass,
    Trajectory,
    TrajectoryOutcome,
)
from pytest_webeval.recordings.trajectory.side_files import TaskData
from pytest_webeval.recordings.trajectory.step import build_step
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rubrics.score_files import facts_of, ignored_files, stored_verdict
from pytest_webeval.rubrics.stored_verdict import RunFacts
from pytest_webeval.rubrics.verdict_report import trajectory_metadata
from pytest_webeval.rules import RULES

PACKAGE = Path(pytest_webeval.__file__).parent
ABOVE = ("rubrics", "evaluators", "scoring", "reports", "summary", "plugin")
TRACE = partial(load_trace, name="trace.har")
COMPLETED = TrajectoryOutcome(OutcomeClass.COMPLETED, (), "the agent answered")
ITEMS = [{"criterion": "Find it", "max_points": 2, "post_image_earned_points": 2}]


@dataclass(frozen=True)
class AnyRun(Run):
    """A run with the trajectory that it was given."""

    recorded: Trajectory

    @property
    def trajectory(self):
        return self.recorded


@pytest.fixture
def run_of(tmp_path):
    def build(**members) -> Run:
        inputs = RunInputs(tmp_path)
        trajectory = Trajectory(inputs=inputs, outcome=COMPLETED, **members)
        return AnyRun(tmp_path, "7", 7, "any", "", inputs, RULES["default"], TRACE, trajectory)

    return build


def list_readers(path):
    """The readers of formats that a module imports."""
    nodes = ast.walk(ast.parse(path.read_text()))
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return [module for module in modules if module.startswith("pytest_webeval.recordings.formats.")]


@pytest.mark.parametrize("room", ABOVE)
def test_no_room_above_the_recordings_knows_a_reader_of_trajectories(room):
    paths = sorted((PACKAGE / room).rglob("*.py"))
    assert paths
    assert {str(path): readers for path in paths if (readers := list_readers(path))} == {}


def test_actions_that_the_agent_did_not_have_are_listed_where_the_dialect_is_known(run_of):
    steps = (build_step(1, "fly"), build_step(2, "terminate", {"status": "success"}))
    unknown, known = run_of(steps=steps).trajectory, run_of(steps=steps, dialect="fara").trajectory
    assert trajectory_metadata(unknown)["tool_failure_count"] == 0
    assert [failure["step"] for failure in trajectory_metadata(known)["tool_failures"]] == [1]


def test_facts_are_those_that_the_trajectory_states(run_of):
    run = run_of(answer="12 EUR", steps=(build_step(1, "click"),), is_verdict_stale=True)
    assert facts_of(run) == RunFacts("12 EUR", 1, is_stale=True)


def test_a_rubric_counts_by_request_where_the_trajectory_names_its_file(run_of):
    data = TaskData(rubric={"items": ITEMS})
    policy = VerdictPolicy(score_file="task_data.json")
    assert stored_verdict(run_of(task_data=data), policy) is None
    found = stored_verdict(run_of(task_data=data, rubric_names=("task_data.json",)), policy)
    assert found is not None
    assert (found.source, found.payload) == ("task_data.json", {"items": ITEMS})


def test_score_files_are_read_where_the_trajectory_lists_them(run_of, tmp_path):
    (tmp_path / "scores").mkdir()
    (tmp_path / "scores" / "gpt_eval.json").write_text('{"score": 1, "gpt_response_text": "SUCCESS"}')
    assert stored_verdict(run_of(), VerdictPolicy()) is None
    found = stored_verdict(run_of(names_of_scores=("gpt_eval.json",)), VerdictPolicy())
    assert found is not None
    assert (found.source, found.score, found.text) == ("scores/gpt_eval.json", 1, "SUCCESS")


def test_a_judgement_of_the_reader_counts_before_score_files(run_of):
    verdict = Judgement(source="verdict.json", judge="judge", success=True)
    run = run_of(judgements=(verdict,), names_of_scores=("gpt_eval.json",))
    found = stored_verdict(run, VerdictPolicy())
    assert found is not None
    assert (found.source, ignored_files(run, None), ignored_files(run, found)) == ("verdict.json", ["verdict.json"], [])


def test_only_a_trajectory_that_says_so_is_gated(run_of):
    gating = Gating(run_of().trajectory, "webtailbench", ("terminate",))
    assert (gating.is_gated, gating.gate, gating.without_verdict) == (False, None, None)
