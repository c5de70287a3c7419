"""Where the verdict on a run is stored: a score file, `rubric.json`, or what the verifier left in `task_data.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_webeval.files import present
from pytest_webeval.rubrics.base import Facts
from pytest_webeval.rubrics.base import StoredVerdict
from pytest_webeval.rubrics.base import VerdictPolicy
from pytest_webeval.rubrics.base import VerdictUnreadable
from pytest_webeval.rubrics.derivation import derive
from pytest_webeval.rubrics.score_files import choose
from pytest_webeval.rubrics.score_files import read_rubric_file
from pytest_webeval.rubrics.score_files import read_score_file
from pytest_webeval.rubrics.score_files import stored_rubric
from pytest_webeval.trajectories.directory import SCORES
from pytest_webeval.trajectories.directory import TASK_DATA

if TYPE_CHECKING:
    from pytest_webeval.runs import Run
    from pytest_webeval.trajectories.trajectory import Trajectory

RUBRIC = "rubric.json"


def stored_verdict(run: Run, policy: VerdictPolicy) -> StoredVerdict | None:
    """The verdict on a run, or None where nobody judged it. Raises `RecordingError`.

    A score file is the source of truth (`fara_webeval.md` §2.7); what lies in the run elsewhere counts without one.
    """
    trajectory = run.trajectory
    if trajectory is not None and (name := choose(trajectory.score_names, policy.score_file)) is not None:
        source = f"{SCORES}/{name}"
        return read_score_file(source, run.inputs.read(source))
    if present(run.path / RUBRIC):
        return read_rubric_file(RUBRIC, run.inputs.read(RUBRIC))
    return _verifiers_own(trajectory) if trajectory is not None else None


def _verifiers_own(trajectory: Trajectory) -> StoredVerdict | None:
    """The scored rubric in task_data.json; a rubric without points, or a damaged one, is no verdict."""
    rubric = trajectory.task_data.rubric
    if rubric is None:
        return None
    try:
        found = stored_rubric(TASK_DATA, rubric)
        return found if derive(found, VerdictPolicy(), Facts()).status != "unscored" else None
    except VerdictUnreadable:  # that file is only diagnostic
        return None


def facts_of(run: Run) -> Facts:
    """What the run itself says that a stored verdict may contradict. Raises `Unreadable`."""
    trajectory = run.trajectory
    if trajectory is None:
        return Facts()
    return Facts(trajectory.answer.final_answer, len(trajectory.steps), trajectory.core.evaluation_is_stale)
