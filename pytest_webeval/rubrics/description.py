"""What a result says of a stored verdict and of the trajectory that it is about, as plain JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING
from typing import Any

from pytest_webeval.rubrics.evidence import StoredVerdict
from pytest_webeval.rubrics.failures import Failure
from pytest_webeval.rubrics.failures import failure_of
from pytest_webeval.rubrics.items import Leaf
from pytest_webeval.rubrics.items import is_action_only
from pytest_webeval.rubrics.taxonomy import TAXONOMY
from pytest_webeval.rubrics.taxonomy import ToolFailure
from pytest_webeval.rubrics.taxonomy import tool_failures
from pytest_webeval.rubrics.verdicts import Verdict

if TYPE_CHECKING:
    from pytest_webeval.trajectories.trajectory import Trajectory

MAX_TOLD, MAX_ITEMS = 20, 100
MAX_TEXT = 500  # characters of a criterion, and of what a judge says of it
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
    points, known = verdict.points, about(trajectory, verdict.generation)
    detected = [ToolFailure(**one) for one in known.get("tool_failures", ())]
    return known | {
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
        "signals": dict(verdict.signals),
        "reason": verdict.reason,
        "source": stored.source,
        "writer": verdict.writer,
        "generation": verdict.generation,
        "flags": list(verdict.flags),
        "degraded_steps": list(verdict.degraded_steps),
        "failure": _failure(verdict, stored, trajectory, detected),
        "items": _items(verdict.leaves),
    }


def _items(leaves: Sequence[Leaf]) -> list[dict[str, Any]]:
    """The criteria with the points that they were given, as reports show them."""
    is_unseen = is_action_only(leaves)
    return [_item(leaf, leaf.earned if is_unseen else leaf.post_image) for leaf in leaves[:MAX_ITEMS]]


def _item(leaf: Leaf, given: Decimal | None) -> dict[str, Any]:
    return {
        "text": leaf.criterion[:MAX_TEXT],
        "earned": None if given is None else float(given),
        "max": float(leaf.max_points),
        "note": leaf.justification[:MAX_TEXT] or None,
        "conditional": leaf.is_conditional,
        "counts": leaf.counts,
        "penalty": leaf.is_penalty,
    }


def _failure(
    verdict: Verdict, stored: StoredVerdict, trajectory: Trajectory | None, detected: Sequence[ToolFailure]
) -> dict[str, Any] | None:
    if stored.payload is None:
        return None
    is_detected = verdict.generation == "G2"
    task_data = trajectory.task_data.raw if trajectory else None
    found = failure_of(stored.payload, task_data, _DETECTED if is_detected else ())
    if found is None:
        return None
    told = asdict(_with_detected(found, detected) if is_detected else found)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in told.items()}


def _with_detected(found: Failure, detected: Sequence[ToolFailure]) -> Failure:
    """The analysis with the failures that needed no judge after its own; the earliest of all is the first."""
    if not detected:
        return found
    types = TAXONOMY["G2"]
    first = min(detected, key=lambda one: one.step)
    if found.first_step is None or first.step < found.first_step:
        summary = f"[{first.code}] {types[first.code].type}: {first.message}"
        found = replace(found, first_step=first.step, summary=summary)
    return replace(
        found,
        has_failure=True,
        codes=(*found.codes, *(one.code for one in detected)),
        categories=(*found.categories, *(types[one.code].category for one in detected)),
    )
