"""Where the verdict on a run is stored: a score file, `rubric.json`, or what the verifier left in `task_data.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_webeval.files import present
from pytest_webeval.rubrics.base import VerdictPolicy
from pytest_webeval.rubrics.evidence import Facts
from pytest_webeval.rubrics.evidence import StoredVerdict
from pytest_webeval.rubrics.score_files import choose
from pytest_webeval.rubrics.score_files import read_rubric_file
from pytest_webeval.rubrics.score_files import read_score_file
from pytest_webeval.rubrics.score_files import stored_rubric
from pytest_webeval.trajectories.directory import MAX_FILE_BYTES
from pytest_webeval.trajectories.file_names import SCORES
from pytest_webeval.trajectories.file_names import TASK_DATA

if TYPE_CHECKING:
    from pytest_webeval.runs import Run

RUBRIC = "rubric.json"


def stored_verdict(run: Run, policy: VerdictPolicy) -> StoredVerdict | None:
    """The verdict on a run, or None where nobody judged it. Raises `RecordingError`.

    Of a trajectory only `scores/` counts: what lies beside the log may be a download. A session that knows better asks
    for `rubric.json` or `task_data.json` by name.
    """
    trajectory = run.trajectory
    if trajectory is None or policy.score_file == RUBRIC:
        return read_rubric_file(RUBRIC, run.inputs.read(RUBRIC, MAX_FILE_BYTES)) if present(run.path / RUBRIC) else None
    if policy.score_file == TASK_DATA:
        rubric = trajectory.task_data.rubric
        return None if rubric is None else stored_rubric(TASK_DATA, rubric)
    name = choose(trajectory.score_names, policy.score_file)
    source = f"{SCORES}/{name}"
    return None if name is None else read_score_file(source, run.inputs.read(source, MAX_FILE_BYTES))


def left_aside(run: Run, stored: StoredVerdict | None) -> list[str]:
    """Files with verdicts that were not looked at, because another one counts or nothing says that they do."""
    trajectory = run.trajectory
    if trajectory is None:
        return []
    others = [f"{SCORES}/{name}" for name in trajectory.score_names]
    others += [RUBRIC] if present(run.path / RUBRIC) else []
    return [name for name in others if stored is None or name != stored.source]


def facts_of(run: Run) -> Facts:
    """What the run itself says that a stored verdict may contradict. Raises `Unreadable`."""
    trajectory = run.trajectory
    if trajectory is None:
        return Facts()
    return Facts(trajectory.answer.final_answer, len(trajectory.steps), trajectory.core.evaluation_is_stale)
