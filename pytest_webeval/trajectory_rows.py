"""What a result says of a trajectory, on its way into the analysis of all trajectories."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from typing import Any

from pytest_webeval.analysis.rows import Row
from pytest_webeval.results import TaskResult
from pytest_webeval.tasks import RUBRIC_EVALUATOR

if TYPE_CHECKING:
    from pytest_webeval.summary import Record

_TRAJECTORIES = "/traj"


def told_of(result: TaskResult) -> str | None:
    """What the analysis needs to know of a result, as JSON text; None where the run is no trajectory."""
    found = result.webeval.get("trajectory")
    if found is None:
        return None
    judged = (one.actual for one in result.evaluators_results if one.evaluator_name == RUBRIC_EVALUATOR)
    verdict = next((actual for actual in judged if isinstance(actual, dict)), {})
    return json.dumps(found | {"verdict": verdict})


def row_of(record: Record) -> Row:
    """What one trajectory contributes."""
    told: dict[str, Any] = json.loads(record.trajectory or "{}")
    verdict, usage = told["verdict"], told["usage"] or {}
    return Row(
        task_id=str(record.task_id),
        run=_run(record.run),
        label=record.run,
        experiment=_experiment(told, _run(record.run)),
        kind=told["class"],
        score=record.score if record.excluded is None else None,
        reasons=told["reasons"],
        status=_status(record, told),
        flags=[*told["flags"], *verdict.get("flags", ())],
        group=told["group"],
        benchmark=told["benchmark"],
        steps=told["steps"],
        screenshots=told.get("screenshots"),
        max_rounds=told["max_rounds"],
        duration=told["duration"],
        prompt_tokens=usage.get("prompt_tokens"),
        completion_tokens=usage.get("completion_tokens"),
        attempts=told["attempts"],
        process_share=verdict.get("process_score"),
        process=verdict.get("process"),
        outcome=verdict.get("outcome"),
        violation=verdict.get("violation"),
        verdict_status=verdict.get("status"),
        is_inconsistent=verdict.get("status") == "inconsistent",
        degraded=bool(verdict.get("degraded_steps")),
        generation=verdict.get("generation"),
        failure=verdict.get("failure"),
        tool_failures=[one["code"] for one in verdict.get("tool_failures", ())],
        last_error=told["last_error"],
        is_long=told["is_long"],
        answer=told.get("answer"),
        reasoning=verdict.get("reason"),
    )


def _status(record: Record, told: dict[str, Any]) -> str:
    if not record.skipped:
        return record.status
    return "excluded" if told["class"] == "aborted" else "not_scored"


def _run(label: str) -> str:
    """The run folder that a trajectory belongs to: the one that holds it, or `traj` around it."""
    return label.rpartition("/")[0].removesuffix(_TRAJECTORIES)


def _experiment(told: dict[str, Any], run: str) -> str:
    """What repeated runs share: system, model and benchmark, or the folder around their own."""
    known = [told[name] for name in ("system", "model", "benchmark")]
    return "/".join(known) if all(known) else run.rpartition("/")[0]
