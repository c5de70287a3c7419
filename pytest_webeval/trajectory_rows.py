"""What a result says of a trajectory, on its way into the analysis of all trajectories."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from typing import Any

from pydantic import BaseModel
from pydantic import ConfigDict
from pydantic import Field
from pydantic import ValidationError

from pytest_webeval.analysis.rows import Row
from pytest_webeval.results import TaskResult
from pytest_webeval.tasks import RUBRIC_EVALUATOR
from pytest_webeval.trajectories.place import Place

if TYPE_CHECKING:
    from pytest_webeval.summary import Record

_TRAJECTORIES = "/traj"


class ToolFailure(BaseModel):
    """A step that the agent could not take."""

    code: str


class Judged(BaseModel):
    """What the analysis takes of a verdict. Anybody may override the evaluator, so nothing is taken for granted."""

    model_config = ConfigDict(extra="ignore", strict=True)

    status: str | None = None
    criterion: str | None = None
    flags: list[str] = Field(default_factory=list)
    process_score: float | None = None
    process: bool | None = None
    outcome: bool | None = None
    violation: bool | None = None
    degraded_steps: list[str] = Field(default_factory=list)
    generation: str | None = None
    failure: dict[str, Any] | None = None
    tool_failures: list[ToolFailure] = Field(default_factory=list)
    reason: str | None = None


def told_of(result: TaskResult) -> str | None:
    """What the analysis needs to know of a result, as JSON text; None where the run is no trajectory."""
    found = result.webeval.get("trajectory")
    if found is None:
        return None
    actual = next((one.actual for one in result.evaluators_results if one.evaluator_name == RUBRIC_EVALUATOR), None)
    try:
        verdict = Judged.model_validate(actual or {})
    except ValidationError:
        verdict = Judged()
    return json.dumps(found | {"verdict": verdict.model_dump()})


def row_of(record: Record) -> Row:
    """What one trajectory contributes."""
    told: dict[str, Any] = json.loads(record.trajectory or "{}")
    verdict, usage = Judged(**told["verdict"]), told["usage"] or {}
    run = _run(record, told)
    return Row(
        task_id=str(record.task_id),
        run=run,
        label=record.run,
        experiment=_experiment(told) or run.rpartition("/")[0],
        kind=told["class"],
        score=record.score if record.excluded is None else None,
        reasons=told["reasons"],
        status=_status(record, told),
        flags=[*told["flags"], *verdict.flags],
        group=told["group"],
        benchmark=told["benchmark"],
        steps=told["steps"],
        screenshots=told.get("screenshots"),
        max_rounds=told["max_rounds"],
        duration=told["duration"],
        prompt_tokens=usage.get("prompt_tokens"),
        completion_tokens=usage.get("completion_tokens"),
        attempts=told["attempts"],
        criterion=verdict.criterion,
        process_share=verdict.process_score,
        process=verdict.process,
        outcome=verdict.outcome,
        violation=verdict.violation,
        verdict_status=verdict.status,
        is_inconsistent=verdict.status == "inconsistent",
        degraded=bool(verdict.degraded_steps),
        generation=verdict.generation,
        failure=verdict.failure,
        tool_failures=[one.code for one in verdict.tool_failures],
        last_error=told["last_error"],
        is_long=told["is_long"],
        answer=told.get("answer"),
        reasoning=verdict.reason,
    )


def about_trajectory(record: Record) -> dict[str, str]:
    """What became of a trajectory and by which criterion it was judged, in words; empty for any other run."""
    if record.trajectory is None:
        return {}
    row = row_of(record)
    return {"class": row.kind, "criterion": row.criterion or "", "benchmark": row.benchmark or ""}


def _status(record: Record, told: dict[str, Any]) -> str:
    if not record.skipped:
        return record.status
    return "excluded" if told["class"] == "aborted" else "not_scored"


def _run(record: Record, told: dict[str, Any]) -> str:
    """The run folder that a trajectory belongs to: the one that holds it, or `traj` around it.

    Where the root is a trajectory itself only its path on the disk says more.
    """
    inside = record.run.rpartition("/")[0].removesuffix(_TRAJECTORIES)
    return inside or "/".join(filter(None, (_experiment(told), told["run_id"])))


def _experiment(told: dict[str, Any]) -> str:
    """What repeated runs share; empty where that is not known."""
    place = Place(system=told["system"], model=told["model"], benchmark=told["benchmark"])
    return place.experiment or ""
