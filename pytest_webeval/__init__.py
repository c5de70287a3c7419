"""Recorded web-agent tasks as pytest tests. The names below need no pytest and are imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING
from typing import Any

if TYPE_CHECKING:
    from pytest_webeval.api import find_runs as find_runs
    from pytest_webeval.api import load_run as load_run
    from pytest_webeval.api import score as score
    from pytest_webeval.errors import RecordingError as RecordingError
    from pytest_webeval.errors import WebEvalError as WebEvalError
    from pytest_webeval.evaluators import NetworkEventEvaluator as NetworkEventEvaluator
    from pytest_webeval.evaluators import ResponseEvaluator as ResponseEvaluator
    from pytest_webeval.evaluators import RubricEvaluator as RubricEvaluator
    from pytest_webeval.evaluators.base import Case as Case
    from pytest_webeval.evaluators.base import Evaluator as Evaluator
    from pytest_webeval.limits import Limits as Limits
    from pytest_webeval.network import NetworkEvent as NetworkEvent
    from pytest_webeval.network import NetworkTrace as NetworkTrace
    from pytest_webeval.results import Assertion as Assertion
    from pytest_webeval.results import EvaluatorResult as EvaluatorResult
    from pytest_webeval.results import Status as Status
    from pytest_webeval.results import Summary as Summary
    from pytest_webeval.results import TaskResult as TaskResult
    from pytest_webeval.rubrics.base import VerdictPolicy as VerdictPolicy
    from pytest_webeval.runs import Run as Run
    from pytest_webeval.sites import Sites as Sites
    from pytest_webeval.sites import load_sites as load_sites
    from pytest_webeval.summary import summarize as summarize
    from pytest_webeval.task_sets import TaskSet as TaskSet
    from pytest_webeval.task_sets import load_tasks as load_tasks
    from pytest_webeval.tasks import Expectation as Expectation
    from pytest_webeval.tasks import Task as Task
    from pytest_webeval.trajectories.base import Step as Step
    from pytest_webeval.trajectories.trajectory import Trajectory as Trajectory

_HOMES = {
    "find_runs": "api",
    "load_run": "api",
    "score": "api",
    "RecordingError": "errors",
    "WebEvalError": "errors",
    "Case": "evaluators.base",
    "Evaluator": "evaluators.base",
    "NetworkEventEvaluator": "evaluators",
    "ResponseEvaluator": "evaluators",
    "RubricEvaluator": "evaluators",
    "Limits": "limits",
    "NetworkEvent": "network",
    "NetworkTrace": "network",
    "Assertion": "results",
    "EvaluatorResult": "results",
    "Status": "results",
    "Summary": "results",
    "TaskResult": "results",
    "Run": "runs",
    "VerdictPolicy": "rubrics.base",
    "Sites": "sites",
    "load_sites": "sites",
    "summarize": "summary",
    "Step": "trajectories.base",
    "Trajectory": "trajectories.trajectory",
    "TaskSet": "task_sets",
    "load_tasks": "task_sets",
    "Expectation": "tasks",
    "Task": "tasks",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
