"""What a result says of a stored verdict and of the trajectory that it is about, as plain JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING
from typing import Any

from pytest_webeval.rubrics.base import StoredVerdict
from pytest_webeval.rubrics.failures import Failure
from pytest_webeval.rubrics.failures import failure_of
from pytest_webeval.rubrics.taxonomy import tool_failures
from pytest_webeval.rubrics.verdicts import Verdict

if TYPE_CHECKING:
    from pytest_webeval.trajectories.trajectory import Trajectory

MAX_TOLD = 20
# Codes that G2 leaves to the deterministic detectors, whatever a judge says (`fara_webeval.md` §6.7).
_DETECTED = ("6.1", "6.2")


def about(trajectory: Trajectory | None, generation: str | None = None) -> dict[str, Any]:
    """What is known of any trajectory: class, answer, and steps that the agent could not take. Raises `Unreadable`."""
    if trajectory is None:
        return {}
    outcome, log = trajectory.outcome, trajectory.log
    wrong = tool_failures(log.steps, log.dialect, generation)
    return {
        "class": outcome.kind.value,
        "reasons": list(outcome.reasons),
        "final_answer": trajectory.answer.final_answer,
        "tool_failures": [one._asdict() for one in wrong[:MAX_TOLD]],
        "tool_failure_count": len(wrong),
    }


def described(verdict: Verdict, stored: StoredVerdict, trajectory: Trajectory | None) -> dict[str, Any]:
    """The verdict with all its signals. Raises `Unreadable`."""
    points = verdict.points
    return about(trajectory, verdict.generation) | {
        "status": "inconsistent" if verdict.is_inconsistent else verdict.status,
        "score": verdict.score,
        "criterion": verdict.criterion,
        "criterion_source": verdict.criterion_source,
        "threshold_source": verdict.threshold_source,
        "process": verdict.process,
        "process_score": float(points.share) if points else None,
        "earned_points": float(points.earned) if points else None,
        "max_points": float(points.maximum) if points else None,
        "outcome": verdict.outcome,
        "violation": verdict.violation,
        "reason": verdict.reason,
        "source": stored.source,
        "writer": verdict.writer,
        "generation": verdict.generation,
        "flags": list(verdict.flags),
        "degraded_steps": list(verdict.degraded_steps),
        "failure": _failure(verdict, stored, trajectory),
    }


def _failure(verdict: Verdict, stored: StoredVerdict, trajectory: Trajectory | None) -> dict[str, Any] | None:
    if stored.payload is None:
        return None
    found = failure_of(stored.payload, trajectory.task_data.raw if trajectory else None)
    if found is None:
        return None
    told = asdict(found) | ({"codes": _judged_codes(found)} if verdict.generation == "G2" else {})
    return {name: list(value) if isinstance(value, tuple) else value for name, value in told.items()}


def _judged_codes(found: Failure) -> list[str]:
    return [code for code in found.codes if code not in _DETECTED]
