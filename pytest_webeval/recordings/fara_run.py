"""A trajectory as a run, whose files are read on demand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from typing import Any

from msgspec import structs

from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import RunExcluded
from pytest_webeval.recordings.discovery import list_directory
from pytest_webeval.recordings.inputs import DECODE
from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.trajectory.layout import HARNESS_FILE
from pytest_webeval.recordings.trajectory.layout import LOG
from pytest_webeval.recordings.trajectory.outcome import OutcomeClass
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from pytest_webeval.recordings.trajectory.trajectory import Trajectory
from pytest_webeval.recordings.trajectory.trajectory import trajectory_to_json
from pytest_webeval.recordings.webarena_verified import TRACE_NAMES
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR
from pytest_webeval.tasks.expectations import RUBRIC_EVALUATOR
from pytest_webeval.tasks.task import Task
from pytest_webeval.tasks.task import TrajectoryTask
from pytest_webeval.tasks.task import undefined_task

if TYPE_CHECKING:
    from pytest_webeval.recordings.network.events import NetworkTrace
    from pytest_webeval.tasks.dataset import TaskSet


@dataclass(frozen=True)
class TrajectoryRun(Run):
    """A Fara trajectory as a run. It may be aborted, and it needs no task definition: its verdict is stored."""

    @cached_property
    def trajectory(self) -> Trajectory:
        """Steps, thoughts, screenshots, outcome: all that the directory holds."""
        return Trajectory(self.path, self.inputs, is_tolerant=self.rules.named_answer)

    @cached_property
    def response(self) -> bytes:
        """The final answer as bytes. Raises `UnreadableTrajectory`."""
        return self.trajectory.answer.final_answer.encode("utf-8", "surrogatepass")

    @cached_property
    def trace(self) -> NetworkTrace:
        """What the browser sent and received. Raises `RunExcluded` if it was not recorded, or `RecordingError`."""
        if not self.has_trace:
            raise RunExcluded(f"{self.label} has no network trace; a trajectory need not have one")
        with self.inputs.durations.phase(DECODE):
            return self.load_trace(self.inputs)

    @property
    def repairs(self) -> str | None:
        """As of any run, if an expectation asked for the browser's traffic: else it is a file like any other."""
        return self.trace.repairs if self.is_trace_loaded else None

    @property
    def has_trace(self) -> bool:
        """Whether the browser's traffic was recorded, as it seldom is."""
        return any(exists_no_follow(self.path / name) for name in TRACE_NAMES)

    @property
    def exclusion(self) -> str | None:
        """Why the environment rather than the agent failed."""
        outcome = self.trajectory.outcome
        is_aborted = outcome.kind is OutcomeClass.ABORTED
        return f"aborted ({', '.join(outcome.reasons)}): {outcome.message}" if is_aborted else None

    @property
    def warnings(self) -> tuple[str, ...]:
        """As the trajectory has them."""
        return self.trajectory.warnings

    def check(self) -> None:
        """Raise `UnreadableTrajectory` if the run cannot be scored."""
        if exists_no_follow(self.path / HARNESS_FILE) and not exists_no_follow(self.path / LOG):
            message = f"{self.path} has the layout of Fara 1.5 ({HARNESS_FILE}), which is not supported"
            raise UnreadableTrajectory("unsupported_layout", f"{message}; convert it to a webeval trajectory")
        outcome = self.trajectory.outcome
        if outcome.kind is OutcomeClass.UNREADABLE:
            if (problem := list_directory(self.path).problem) is not None:
                raise RecordingError(problem)
            raise UnreadableTrajectory(outcome.reasons[0], f"{outcome.reasons[0]}: {outcome.message}")

    def task(self, tasks: TaskSet | None) -> Task:
        """The definition of the task if there is one, otherwise the task by the data of the directory."""
        if tasks is None or self.task_id not in tasks:
            task_data = self.trajectory.task_data
            return undefined_task(str(self.task_id), task_data.text or "", task_data.init_url)
        definition = tasks.get(self.task_id)
        return definition if isinstance(definition, TrajectoryTask) else self._select_checks(definition)

    def _select_checks(self, task: Task) -> Task:
        """The definition with the checks that a trajectory allows: those of recorded traffic, and the verdict.

        Its answer is a sentence, so that what is expected of a response in JSON says nothing about it.
        """
        checks = [check for check in task.eval if check["evaluator"] != RESPONSE_EVALUATOR]
        checks = [check for check in checks if check["evaluator"] != NETWORK_EVALUATOR or self.has_trace]
        has_rubric = any(check["evaluator"] == RUBRIC_EVALUATOR for check in checks)
        added = [] if has_rubric else [{"evaluator": RUBRIC_EVALUATOR}]
        return structs.replace(task, eval=[*checks, *added])

    def describe(self, task: Task | None) -> dict[str, Any]:
        """Outcome, steps, times, tokens and where the run belongs, under `trajectory`."""
        group = (task.group if isinstance(task, TrajectoryTask) else None) or self.trajectory.place.split
        return {"trajectory": trajectory_to_json(self.trajectory) | {"group": group}}
