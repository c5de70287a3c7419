"""What a result says of a trajectory, on its way into the analysis of all trajectories."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_webeval.results import TaskResult
from pytest_webeval.tasks import RUBRIC_EVALUATOR

if TYPE_CHECKING:
    from pytest_webeval.summary import Record


def told_of(result: TaskResult) -> str | None:
    """What the analysis needs to know of a result, as JSON text; None where the run is no trajectory."""
    found = result.webeval.get("trajectory")
    if found is None:
        return None
    from pytest_webeval.analysis.judged import Judged  # no other run needs anything of the analysis, or of pydantic

    actual = next((one.actual for one in result.evaluators_results if one.evaluator_name == RUBRIC_EVALUATOR), None)
    try:
        verdict = Judged.model_validate(actual or {})
    except ValueError:
        verdict = Judged()
    return json.dumps(found | {"verdict": verdict.model_dump()})


def about_trajectory(record: Record) -> dict[str, str]:
    """What became of a trajectory and by which criterion it was judged, in words; empty for any other run."""
    if record.trajectory is None:
        return {}
    from pytest_webeval.analysis.record_rows import row_of  # as above

    row = row_of(record)
    return {"class": row.kind, "criterion": row.criterion or "", "benchmark": row.benchmark or ""}
