"""A derived verdict becomes assertions: one for each signal, each rubric item and each check that reports something."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from pytest_webeval.recordings.trajectory.recorded import OutcomeClass, Trajectory
from pytest_webeval.results import NOTED, Assertion, Status
from pytest_webeval.rubrics.failure_analysis import FailureAnalysis, failure_of
from pytest_webeval.rubrics.rubric_items import RubricItem, awarded_points, is_action_only
from pytest_webeval.rubrics.stored_verdict import Check, StoredVerdict
from pytest_webeval.rubrics.taxonomy import TAXONOMY, ToolFailure, tool_failures
from pytest_webeval.rubrics.verdict import Verdict
from pytest_webeval.safety.text import truncate
from pytest_webeval.values.comparison import failed, passed

MAX_LINE, MAX_JUSTIFIED = 200, 150
MAX_LOSSES = 5
_DECIDING_SIGNALS = {
    "outcome": ("outcome",),
    "process": ("points",),
    "both": ("outcome", "points"),
    "safe_outcome": ("outcome", "violation"),
}
_OUTCOMES = {None: "judge undecided; counted as not achieved", True: "achieved", False: "not achieved"}
_VIOLATIONS = {
    None: "no result on critical point violations",
    True: "a critical point was violated",
    False: "no critical point was violated",
}
_UNSEEN_NOTE = "not scored after the screenshots"


def assertions_of(verdict: Verdict, failure: Mapping[str, Any] | None = None) -> list[Assertion]:
    """The deciding assertions first, then notes. Notes are successes and decide nothing.

    What decided holds just where the score is 1. `failure` is the analysis in the description of the verdict; what
    does not hold gets its summary as a message.
    """
    explanation, is_unseen = _first_failure(failure or {}), is_action_only(verdict.items)
    signals = sorted(_build_signals(verdict, explanation), key=lambda assertion: assertion.kind == NOTED)
    notes = [_build_item_note(item, is_unseen=is_unseen) for item in verdict.items]
    findings = [passed(f"rubric.{name}_noted", "yes" if holds else "no") for name, holds in verdict.notes.items()]
    return [*signals, *findings, *notes, *map(_build_check, verdict.checks)]


def _build_signals(verdict: Verdict, explanation: str) -> Iterator[Assertion]:
    """An assertion for each signal that decides; a note for each other one that is there.

    The stored score decides where no signal does: the combination of held-out signals is unknown.
    """
    is_as_stored = verdict.writer == "heldout" or "criterion_ignored" in verdict.flags
    is_stored = is_as_stored or verdict.score is None or verdict.status == "gate"
    deciding = ("verdict",) if is_stored else _DECIDING_SIGNALS[verdict.criterion]
    points = verdict.points is not None or verdict.process is not None
    stored = "no verdict" if verdict.score is None else f"the stored verdict is {verdict.score}"
    because = f": {_shorten(verdict.reason)}" if verdict.reason and verdict.reason.strip() else ""
    for name, is_there, holds, messages in (
        ("verdict", False, verdict.score == 1, [f"{stored}{because}"]),
        ("outcome", verdict.outcome is not None, verdict.outcome is True, [f"{_OUTCOMES[verdict.outcome]}{because}"]),
        ("points", points, verdict.process is True, _format_points(verdict)),
        ("violation", verdict.violation is not None, verdict.violation is not True, [_VIOLATIONS[verdict.violation]]),
    ):
        if name in deciding and not holds:
            yield failed(f"rubric.{name}_mismatch", *messages, *filter(None, [explanation]))
        elif name in deciding or is_there:
            yield passed(f"rubric.{name}_{'match' if name in deciding else 'noted'}", messages[0])


def _first_failure(failure: Mapping[str, Any]) -> str:
    if failure.get("has_failure") is False:
        return ""
    summary, step = failure.get("summary") or "", failure.get("first_step")
    return f"step {step}: {summary}" if summary and step is not None else summary


def _format_points(verdict: Verdict) -> list[str]:
    """The sum, then the items that cost most."""
    points = verdict.points
    if points is None:
        return [f"no points, but the stored process is {'a success' if verdict.process else 'a failure'}"]
    earned, most = float(points.earned), float(points.maximum)
    sums = f"{earned:g} of {most:g} points ({float(points.share):.0%}); {verdict.threshold:.0%} required"
    return [sums, *_format_losses(verdict.items)]


def _format_losses(items: Sequence[RubricItem]) -> Iterator[str]:
    is_unseen = is_action_only(items)
    losses = [(item.max_points - awarded_points(item, is_unseen=is_unseen), item) for item in items if item.counts]
    most_first = sorted((loss for loss in losses if loss[0] > 0), key=lambda loss: -loss[0])
    for lost, item in most_first[:MAX_LOSSES]:
        most = f"{float(item.max_points):g}"
        loss = f"penalty of {most}" if item.is_penalty else f"lost {float(lost):g} of {most}"
        why = _UNSEEN_NOTE if _is_missed(item, is_unseen=is_unseen) else _shorten(item.justification, MAX_JUSTIFIED)
        yield ": ".join(filter(None, (loss, _shorten(item.criterion), why)))


def _is_missed(item: RubricItem, *, is_unseen: bool) -> bool:
    """Whether it counts 0 only because the judge gave it nothing when it gave points to the others (Q25)."""
    return not is_unseen and item.counts and not item.is_penalty and item.post_image is None


def _build_item_note(item: RubricItem, *, is_unseen: bool) -> Assertion:
    awarded = item.earned if is_unseen else item.post_image
    message = f"{_shorten(item.criterion)}: {float(awarded or 0):g} of {float(item.max_points):g} points"
    if _is_missed(item, is_unseen=is_unseen):
        message += f", {_UNSEEN_NOTE}"
    if not item.counts:
        message += f", excluded: its condition is not met ({_shorten(item.condition or '')})"
    if item.is_penalty:
        message += ", a penalty"
    return passed(f"rubric.{item.place}_noted", message)


def _build_check(check: Check) -> Assertion:
    if check.is_contradiction:
        name, message = f"rubric.{check.rule}_mismatch", _shorten(check.message)
        return Assertion(assertion_name=name, status=Status.ERROR, assertion_msgs=[message])
    return passed(f"rubric.{check.rule}_noted", _shorten(check.message))


def _shorten(text: str, limit: int = MAX_LINE) -> str:
    return truncate(" ".join(text.split()), limit)


MAX_LISTED, MAX_ITEMS = 20, 100
MAX_TEXT = 500  # characters of a criterion, and of what a judge says of it
# Codes that G2 leaves to the deterministic detectors, whatever a judge says (`fara_webeval.md` §6.7).
_DETECTED = ("6.1", "6.2")


def trajectory_metadata(trajectory: Trajectory | None, generation: str | None = None) -> dict[str, Any]:
    """What is known of any trajectory: class, answer, and steps that the agent could not take.

    Raises `UnreadableTrajectory`.
    """
    if trajectory is None:
        return {}
    outcome, dialect = trajectory.outcome, trajectory.dialect
    is_aborted = outcome.kind is OutcomeClass.ABORTED
    wrong = () if dialect is None or is_aborted else tool_failures(trajectory.steps, dialect, generation)
    return {
        "class": outcome.kind.value,
        "reasons": list(outcome.reasons),
        "final_answer": trajectory.final_answer,
        "tool_failures": [failure._asdict() for failure in wrong[:MAX_LISTED]],
        "tool_failure_count": len(wrong),
    }


def verdict_to_json(verdict: Verdict, stored: StoredVerdict, trajectory: Trajectory | None) -> dict[str, Any]:
    """The verdict with all its signals. Raises `UnreadableTrajectory`."""
    points, metadata = verdict.points, trajectory_metadata(trajectory, verdict.generation)
    detected = [ToolFailure(**fields) for fields in metadata.get("tool_failures", ())]
    return metadata | {
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
        "failure": _failure_to_json(verdict, stored, trajectory, detected),
        "items": _items_to_json(verdict.items),
    }


def _items_to_json(items: Sequence[RubricItem]) -> list[dict[str, Any]]:
    """The criteria with the points that they were given, as reports show them."""
    is_unseen = is_action_only(items)
    awarded = [(item, item.earned if is_unseen else item.post_image) for item in items[:MAX_ITEMS]]
    return [
        {
            "text": item.criterion[:MAX_TEXT],
            "earned": None if points is None else float(points),
            "max": float(item.max_points),
            "note": item.justification[:MAX_TEXT] or None,
            "conditional": item.is_conditional,
            "counts": item.counts,
            "penalty": item.is_penalty,
        }
        for item, points in awarded
    ]


def _failure_to_json(
    verdict: Verdict, stored: StoredVerdict, trajectory: Trajectory | None, detected: Sequence[ToolFailure]
) -> dict[str, Any] | None:
    if stored.payload is None:
        return None
    is_detected = verdict.generation == "G2"
    task_data = None if trajectory is None else trajectory.task_data.raw
    analysis = failure_of(stored.payload, task_data, _DETECTED if is_detected else ())
    if analysis is None:
        return None
    fields = asdict(_add_detected(analysis, detected) if is_detected else analysis)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


def _add_detected(analysis: FailureAnalysis, detected: Sequence[ToolFailure]) -> FailureAnalysis:
    """The analysis with the failures that needed no judge after its own; the earliest of all is the first."""
    if not detected:
        return analysis
    types = TAXONOMY["G2"]
    first = min(detected, key=lambda failure: failure.step)
    if analysis.first_step is None or first.step < analysis.first_step:
        summary = f"[{first.code}] {types[first.code].type}: {first.message}"
        analysis = replace(analysis, first_step=first.step, summary=summary)
    return replace(
        analysis,
        has_failure=True,
        codes=(*analysis.codes, *(failure.code for failure in detected)),
        categories=(*analysis.categories, *(types[failure.code].category for failure in detected)),
    )
