"""What a record says of a trajectory, as the analysis takes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from typing import Any

from pytest_webeval.analysis.judged import Judged
from pytest_webeval.analysis.rows import Row
from pytest_webeval.trajectories.place import Place

if TYPE_CHECKING:
    from pytest_webeval.summary import Record

_TRAJECTORIES = "/traj"


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
