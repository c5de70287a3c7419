"""The definition of a run's task: what it is, where it stands, and who wrote it."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from msgspec import Struct

from pytest_webeval.errors import WebEvalError
from pytest_webeval.evaluators.calls import EvaluatorCalls
from pytest_webeval.evaluators.case import Case
from pytest_webeval.recordings.run import Run
from pytest_webeval.results import WarningKind
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.tasks.dataset import TaskSet
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.tasks.task import Task

if TYPE_CHECKING:
    from pytest_webeval.judges.judging import Judging


class Trust(StrEnum):
    """Who wrote a definition."""

    USER = "user"  # the user, or the authors of a benchmark: an option names the file, or it lies in a run root
    RUN = "run"  # possibly the agent: the file lies in the run directory
    UNDEFINED = "undefined"  # nobody: the task is described by the trajectory alone


class Definition(Struct, frozen=True):
    """The task of a run, the checksum and the name of the file that defines it, and who wrote that file."""

    task: Task
    checksum: str
    origin: str
    trust: Trust

    @classmethod
    def of(cls, run: Run, tasks: TaskSet | None, trust: Trust = Trust.USER) -> Self:
        """The definition among these tasks. Raises `TaskDefinitionError` if the run requires one and has none."""
        defining = find_defining(run, tasks)
        if defining is None:
            return cls(run.task(tasks), "", "", Trust.UNDEFINED)
        return cls(run.task(tasks), defining.checksum, defining.origin, trust)

    def warn(self, case: Case, configured_origin: str | None) -> None:
        """Add the warnings about the definition. `configured_origin` is the name of the file that the user chose."""
        for text in getattr(self.task, "warnings", ()):  # which only tasks of trajectories have
            case.warn(text)
        if self.trust is Trust.UNDEFINED and configured_origin is not None:
            problem = f"task {case.run.task_id} is not defined in {configured_origin}"
            case.warn(f"{problem}; the run belongs to no group", WarningKind.UNDEFINED_TASK)
        if self.trust is Trust.RUN:
            problem = "the task definition comes from the run directory, where the agent could have written it"
            case.warn(problem, WarningKind.OWN_DEFINITION)


def build_case(  # noqa: PLR0913  (each has its name at the call)
    run: Run,
    definition: Definition,
    *,
    sites: Sites,
    today: date,
    policy: VerdictPolicy,
    tasks_origin: str | None = None,
    calls: EvaluatorCalls | None = None,
    judging: Judging | None = None,
) -> Case:
    """What evaluators may look at, with warnings about the definition.

    `tasks_origin` names the file of tasks that the user chose, if any: nobody judges a run whose task it does not
    define.
    """
    is_known = definition.trust is not Trust.UNDEFINED
    case = Case(
        run,
        definition.task,
        sites,
        today=today,
        requested_policy=policy,
        judging=judging if is_known or tasks_origin is None else None,
        has_definition=is_known,
        calls=calls or EvaluatorCalls(),
    )
    definition.warn(case, tasks_origin)
    return case


def find_defining(run: Run, tasks: TaskSet | None) -> TaskSet | None:
    """The definitions if the task of the run is among them, as it need not be for a trajectory."""
    return None if tasks is None or (run.is_trajectory and run.find_task_id(tasks) is None) else tasks


def find_source(run: Run, tasks: TaskSet | None) -> tuple[str, str]:
    """Checksum and name of the file with the definition of a run's task; empty where it has none."""
    try:
        defining = find_defining(run, tasks)
    except WebEvalError:
        return "", ""
    return (defining.checksum, defining.origin) if defining is not None else ("", "")


def find_task(run: Run, tasks: TaskSet | None) -> Task | None:
    """The definition of a run's task, if it can be used. Reads no recording."""
    try:
        task_id = None if tasks is None else run.find_task_id(tasks)
        return None if tasks is None or task_id is None else tasks.get(task_id)
    except WebEvalError:
        return None
