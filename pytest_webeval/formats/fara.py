"""Trajectory directories of Fara's `webeval`: log, answer, screenshots, scores (`fara_webeval.md` §1, §2)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Any

from pytest_webeval.durations import DECODE
from pytest_webeval.errors import RunExcluded
from pytest_webeval.files import Inputs
from pytest_webeval.files import present
from pytest_webeval.formats.webarena_verified import RESPONSE
from pytest_webeval.formats.webarena_verified import TRACE_NAMES
from pytest_webeval.formats.webarena_verified import network_trace
from pytest_webeval.runs import Run
from pytest_webeval.tasks import NETWORK_EVALUATOR
from pytest_webeval.tasks import RESPONSE_EVALUATOR
from pytest_webeval.tasks import RUBRIC_EVALUATOR
from pytest_webeval.tasks import NumberedTask
from pytest_webeval.tasks import Task
from pytest_webeval.trajectories.base import Unreadable
from pytest_webeval.trajectories.description import described
from pytest_webeval.trajectories.directory import CORE_LOG
from pytest_webeval.trajectories.directory import SCORES
from pytest_webeval.trajectories.directory import TIMES
from pytest_webeval.trajectories.log import LOG
from pytest_webeval.trajectories.outcome import OutcomeClass
from pytest_webeval.trajectories.trajectory import Trajectory
from pytest_webeval.trajectory_tasks import TrajectoryTask
from pytest_webeval.trajectory_tasks import bare_task

if TYPE_CHECKING:
    from pytest_webeval.network import NetworkTrace
    from pytest_webeval.rules import Rules
    from pytest_webeval.task_sets import TaskSet

TRAJECTORIES = "traj"
_HOLDERS = ("runs", TRAJECTORIES)
ANSWER_SUFFIX = "_answer.json"
HARNESS_FILE = "data_point.json"  # Fara 1.5, whose layout is another


@dataclass(frozen=True)
class TrajectoryRun(Run):
    """A Fara trajectory as a run. It may be aborted, and it needs no task definition: its verdict is stored."""

    @cached_property
    def trajectory(self) -> Trajectory:
        """Steps, thoughts, screenshots, outcome: all that the directory holds."""
        return Trajectory(self.path, self.inputs)

    @cached_property
    def response(self) -> bytes:
        """The final answer as bytes. Raises `Unreadable`."""
        return self.trajectory.answer.final_answer.encode("utf-8", "surrogatepass")

    @cached_property
    def trace(self) -> NetworkTrace:
        """What the browser sent and received. Raises `RunExcluded` where nobody recorded that, or `RecordingError`."""
        if not self.has_trace:
            raise RunExcluded(f"{self.label} has no recorded traffic, which trajectories need not have")
        with self.inputs.durations.phase(DECODE):
            return self.load_trace(self.inputs)

    @property
    def mended(self) -> str | None:
        """As of any run, if an expectation asked for the browser's traffic: else it is a file like any other."""
        return self.trace.mended if "trace" in vars(self) else None

    @property
    def has_trace(self) -> bool:
        """Whether the browser's traffic was recorded, as it seldom is."""
        return any(present(self.path / name) for name in TRACE_NAMES)

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
        """Raise `Unreadable` if nothing can be said about the run."""
        if present(self.path / HARNESS_FILE) and not present(self.path / LOG):
            told = f"{self.path} has the layout of Fara 1.5 ({HARNESS_FILE}), which is not supported"
            raise Unreadable("unsupported_layout", f"{told}; convert it to a webeval trajectory")
        outcome = self.trajectory.outcome
        if outcome.kind is OutcomeClass.UNREADABLE:
            raise Unreadable(outcome.reasons[0], f"{outcome.reasons[0]}: {outcome.message}")

    def task(self, tasks: TaskSet | None) -> Task:
        """The definition if somebody gave one, otherwise what the directory itself says of the task."""
        if tasks is None or self.task_id not in tasks:
            told = self.trajectory.task_data
            return bare_task(str(self.task_id), told.text or "", told.init_url)
        found = tasks.get(self.task_id)
        return found if isinstance(found, TrajectoryTask) else self._checked(found)

    def _checked(self, task: Task) -> Task:
        """The definition with the checks that a trajectory allows: those of recorded traffic, and the verdict.

        Its answer is a sentence, so that what is expected of a response in JSON says nothing about it.
        """
        kept = [one for one in task.eval if one["evaluator"] != RESPONSE_EVALUATOR]
        kept = [one for one in kept if one["evaluator"] != NETWORK_EVALUATOR or self.has_trace]
        asked = any(one["evaluator"] == RUBRIC_EVALUATOR for one in kept)
        more = [] if asked else [{"evaluator": RUBRIC_EVALUATOR}]
        return NumberedTask.model_validate(task.model_dump() | {"eval": [*kept, *more]})

    def about(self, task: Task | None) -> dict[str, Any]:
        """Outcome, steps, times, tokens and where the run belongs, under `trajectory`."""
        group = (task.group if isinstance(task, TrajectoryTask) else None) or self.trajectory.place.split
        return {"trajectory": described(self.trajectory) | {"group": group}}


class Fara:
    """The layout that Microsoft's `webeval` writes, of whatever year."""

    name = "fara"
    wanted = f"{LOG} beside *_final_answer.json, {TIMES}, {CORE_LOG}, {SCORES}/ or a screenshot"

    def recognizes(self, path: Path) -> bool:
        """Whether the directory is a trajectory, or stands where only trajectories do (§1.3, rules 2, 3 and 9)."""
        if present(path / RESPONSE):
            return False
        names = _names(path)
        if _is_trajectory(names) or (HARNESS_FILE in names and any(name.endswith("_pre.png") for name in names)):
            return True
        stands_there = path.absolute().parent.name == TRAJECTORIES and names.isdisjoint(TRACE_NAMES)
        return stands_there and not _holds_runs(path)

    def load(self, path: Path, label: str, rules: Rules) -> Run:
        """The run, with the directory's name as task id."""
        return TrajectoryRun(
            path=path,
            label=label,
            task_id=path.name,
            format=self.name,
            response_file="",
            inputs=Inputs(path),
            rules=rules,
            load_trace=network_trace(path),
        )


def _is_trajectory(names: frozenset[str]) -> bool:
    answers = any(name.endswith(ANSWER_SUFFIX) for name in names)
    others = not names.isdisjoint((TIMES, CORE_LOG, SCORES))
    more = others or any(name.startswith("screenshot") and name.endswith(".png") for name in names)
    return (LOG in names and (answers or more)) or (answers and more)


def _holds_runs(path: Path) -> bool:
    """Whether a directory below is one of runs, so that a path called `traj` by chance is searched like any other."""
    try:
        with os.scandir(path) as entries:
            below = [Path(one.path) for one in entries if one.is_dir(follow_symlinks=False) and one.name != SCORES]
    except OSError:
        return False
    return any(one.name in _HOLDERS or _is_trajectory(names := _names(one)) or RESPONSE in names for one in below)


def _names(path: Path) -> frozenset[str]:
    try:
        return frozenset(os.listdir(path))  # noqa: PTH208  (names are all that is wanted)
    except OSError:  # who collects says what is wrong with it
        return frozenset()
