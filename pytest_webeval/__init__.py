"""Recorded web-agent tasks as pytest tests. The names below need no pytest and are imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# The public names by the module that has them; `__init__.pyi` has the same for type checkers.
_NAMES = {
    "api": "find_runs load_run score score_run score_runs",
    "errors": "EvaluationError JudgeFailed RecordingError RunExcluded SettingsError TaskDefinitionError WebEvalError",
    "evaluators": "RequestPatternEvaluator RubricEvaluator",
    "evaluators.base": "Evaluator",
    "evaluators.case": "Case",
    "evaluators.network.evaluator": "NetworkEventEvaluator",
    "evaluators.response": "ResponseEvaluator",
    "exports.loading": "LoadedResults load_results",
    "exports.rows": "AssertionRow TaskRow",
    "judges.calls": "Judge",
    "judges.questions": "Question Reply TokenUsage",
    "recordings.inputs": "RunInputs",
    "recordings.network.events": "NetworkEvent NetworkTrace",
    "recordings.network.readers": "load_trace",
    "recordings.run": "Run RunFormat",
    "recordings.trajectory.recorded": "Trajectory",
    "recordings.trajectory.step": "Step",
    "redaction.policy": "RedactionPolicy",
    "redaction.redactor": "Redactor",
    "results": "Assertion EvaluatorResult Status Summary TaskResult",
    "rubrics.policy": "VerdictPolicy",
    "rules": "Rules",
    "safety.limits": "Limits",
    "sessions.placement.score_settings": "ScoreSettings",
    "summary.results.result_files": "find_result",
    "summary.summarize": "summarize",
    "tasks.dataset": "TaskSet load_tasks",
    "tasks.sites": "Sites load_sites",
    "tasks.task": "Expectation Task",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
