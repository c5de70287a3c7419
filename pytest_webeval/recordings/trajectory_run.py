"""Trajectories as runs, whose files are read on demand: a judge has the say, not a definition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import structs

from pytest_webeval.errors import RecordingError, RunExcluded
from pytest_webeval.recordings.discovery import list_directory
from pytest_webeval.recordings.inputs import DECODE
from pytest_webeval.recordings.labels import default_task_id
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.trajectory.recorded import (
    INVALID_REWARD,
    SUPERSEDED,
    OutcomeClass,
    Trajectory,
    TrajectoryOutcome,
)
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from pytest_webeval.tasks.expectations import RUBRIC_EVALUATOR
from pytest_webeval.tasks.task import Expectation, Task, TrajectoryTask, undefined_task

if TYPE_CHECKING:
    from pytest_webeval.recordings.network.events import NetworkTrace
    from pytest_webeval.tasks.dataset import TaskSet


@dataclass(frozen=True)
class TrajectoryRun(Run):
    """A run that may be aborted, and that needs no task definition: its verdict is stored.

    `read` makes a trajectory of the files, and `list_traces` names those with recorded traffic.
    """

    read: Callable[[RecordedFiles], Trajectory] = field(kw_only=True, repr=False)
    list_traces: Callable[[], Sequence[str]] = field(kw_only=True, repr=False)

    @property
    def is_trajectory(self) -> bool:
        return True

    @cached_property
    def trajectory(self) -> Trajectory:
        """Steps, screenshots, outcome, verdicts: all that the directory holds. One that cannot be read says so."""
        files = RecordedFiles(self.inputs)
        try:
            with self.inputs.durations.phase(DECODE):
                trajectory = self.read(files)
        except RecordingError as error:
            code = error.code if isinstance(error, UnreadableTrajectory) else "file_unreadable"
            outcome = TrajectoryOutcome(OutcomeClass.UNREADABLE, (code,), str(error))
            trajectory = Trajectory(inputs=self.inputs, outcome=outcome, has_steps=False)
        warnings = (*trajectory.warnings, *files.warnings.texts)
        return structs.replace(trajectory, warnings=warnings).judged(self.external)

    def mark_judged(self) -> None:
        """Let a complete run without a verdict of its own count as completed."""
        if self.trajectory.outcome.kind is OutcomeClass.UNGRADED:
            reasons = tuple(reason for reason in self.trajectory.outcome.reasons if reason != "no_verdict")
            outcome = TrajectoryOutcome(OutcomeClass.COMPLETED, reasons, "")
            vars(self)["trajectory"] = structs.replace(self.trajectory, outcome=outcome)

    @property
    def impossible(self) -> str | None:
        """Why a session's own file says that the task cannot be done, so that the run says nothing about the agent."""
        first = next(iter(self.external), None)
        return first.ungraded if first is not None and first.is_impossible else None

    @cached_property
    def response(self) -> bytes:
        """The final answer as bytes; empty of an agent that gave none.

        Raises `RecordingError` where no answer was recorded, which does not mean that the agent gave none.
        """
        if (answer := self.trajectory.find_answer()) is not None:
            return answer.encode("utf-8", "surrogatepass")
        if self.absence is not None:
            return b""
        problem = f"no answer recorded in {self.label}: {self.trajectory.outcome.message}"
        raise RecordingError(f"{problem}; record the run again, with its answer")

    @property
    def absence(self) -> str | None:
        """Why there is no answer where the recording shows that the agent gave none; None for all other runs."""
        return f"no answer: {self.trajectory.outcome.message}" if self.trajectory.has_no_answer else None

    @cached_property
    def has_trace(self) -> bool:
        return bool(self.list_traces())

    @cached_property
    def trace(self) -> NetworkTrace:
        """What the browser sent and received. Raises `RunExcluded` if it was not recorded, or `RecordingError`."""
        if not self.has_trace:
            problem = f"no network recording in {self.label}; record the browser's traffic with the run"
            raise RunExcluded(f"{problem}, as a HAR file or a trace of Playwright", "not_recorded")
        with self.inputs.durations.phase(DECODE):
            trace = self.load_trace(self.inputs).under(self.rules)
        if trace.is_empty and not trace.may_be_empty:
            raise RecordingError(f"the trace in {self.path} has no usable events: {trace.emptiness}")
        return trace

    @property
    def exclusion(self) -> str | None:
        """Why the environment or the task rather than the agent failed; None where a file of the session judges it."""
        if self.impossible is not None:
            return f"{self.impossible} @ {self.external[0].source}"
        if self.external:
            return None
        outcome = self.trajectory.outcome
        if outcome.kind is not OutcomeClass.ABORTED:
            return None
        kind = "invalid reward" if INVALID_REWARD in outcome.reasons else f"aborted ({', '.join(outcome.reasons)})"
        return f"{kind}: {outcome.message}"

    @property
    def exclusion_kind(self) -> str:
        if self.impossible is not None:
            return "impossible"
        if INVALID_REWARD in self.trajectory.outcome.reasons:
            return INVALID_REWARD
        return SUPERSEDED if self.is_superseded else "aborted"

    @property
    def is_superseded(self) -> bool:
        """Whether the recorder ran the task again and keeps this run under another name."""
        return SUPERSEDED in self.trajectory.outcome.reasons

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.trajectory.warnings

    def check(self) -> None:
        """Raise `RecordingError` if the run cannot be scored."""
        if self.trajectory.unsupported is not None:
            raise self.trajectory.unsupported
        if self.external_problem is not None:
            raise RecordingError(self.external_problem)
        outcome = self.trajectory.outcome
        if outcome.kind is OutcomeClass.UNREADABLE:
            if (problem := list_directory(self.path).problem) is not None:
                raise RecordingError(problem)
            raise UnreadableTrajectory(outcome.reasons[0], f"{outcome.reasons[0]}: {outcome.message}")

    @property
    def repairs(self) -> str | None:
        """As of any run, if an expectation asked for the browser's traffic: else it is a file like any other."""
        return self.trace.repairs if self.is_trace_loaded else None

    def undefined(self) -> Task:
        return undefined_task(str(self.task_id), self.trajectory.task_text, self.trajectory.start_url)

    def task(self, tasks: TaskSet | None) -> Task:
        """The definition of the task if there is one, otherwise the task by the data of the directory."""
        task_id = None if tasks is None else self.find_task_id(tasks)
        return self.undefined() if tasks is None or task_id is None else tasks.get(task_id)

    def find_task_id(self, tasks: TaskSet) -> int | str | None:
        """The same, or else the name of the directory: how a format reads it must not hide that the task is defined."""
        task_id, name = super().find_task_id(tasks), default_task_id(self.path)
        return name if task_id is None and name in tasks else task_id

    def list_expectations(self, task: Task) -> tuple[Expectation, ...]:
        """All expectations of the definition, whatever the recording holds, and the stored verdict as well."""
        if any(each.evaluator == RUBRIC_EVALUATOR for each in task.expectations):
            return task.expectations
        verdict = Expectation(RUBRIC_EVALUATOR, len(task.expectations), {"evaluator": RUBRIC_EVALUATOR})
        return (*task.expectations, verdict)

    def describe(self, task: Task | None) -> dict[str, Any]:
        """Outcome, steps, times, tokens and where the run belongs, under `trajectory`."""
        group = task.group if isinstance(task, TrajectoryTask) else None
        facts = self.trajectory.to_json()
        place = {"is_named_by_run": True} if self.is_named_by_run else {}
        return {"trajectory": facts | place | {"group": group or facts["group"]}}
