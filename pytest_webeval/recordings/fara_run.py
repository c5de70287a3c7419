"""A Fara trajectory as a run, whose files are read on demand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pytest_webeval.recordings.trajectory.layout import HARNESS_FILE, LOG
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from pytest_webeval.recordings.trajectory.trajectory import Trajectory, trajectory_to_json
from pytest_webeval.recordings.trajectory_run import TrajectoryRun
from pytest_webeval.recordings.webarena_verified import TRACE_NAMES
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.tasks.task import Task, TrajectoryTask, undefined_task


@dataclass(frozen=True)
class FaraRun(TrajectoryRun):
    """A Fara trajectory as a run."""

    @cached_property
    def trajectory(self) -> Trajectory:
        """Steps, thoughts, screenshots, outcome: all that the directory holds."""
        return Trajectory(self.path, self.inputs)

    @property
    def final_answer(self) -> str | None:
        """What the agent answered, in a run that was aborted later as well. Raises `UnreadableTrajectory`."""
        answer = self.trajectory.answer
        return answer.final_answer if answer.is_answered else None

    @property
    def has_trace(self) -> bool:
        """Whether the browser's traffic was recorded, as it seldom is."""
        return any(exists_no_follow(self.path / name) for name in TRACE_NAMES)

    def check(self) -> None:
        """Raise `RecordingError` if the run cannot be scored."""
        if exists_no_follow(self.path / HARNESS_FILE) and not exists_no_follow(self.path / LOG):
            message = f"{self.path} has the layout of Fara 1.5 ({HARNESS_FILE}), which is not supported"
            raise UnreadableTrajectory("unsupported_layout", f"{message}; convert it to a webeval trajectory")
        super().check()

    def undefined(self) -> Task:
        """The task by the data of the directory."""
        task_data = self.trajectory.task_data
        return undefined_task(str(self.task_id), task_data.text or "", task_data.init_url)

    def describe(self, task: Task | None) -> dict[str, Any]:
        """Outcome, steps, times, tokens and where the run belongs, under `trajectory`."""
        group = (task.group if isinstance(task, TrajectoryTask) else None) or self.trajectory.place.split
        return {"trajectory": trajectory_to_json(self.trajectory) | {"group": group}}
