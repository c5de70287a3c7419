"""A derived verdict becomes assertions: one for each signal, each leaf and each check that found something."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import asdict
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING
from typing import Any

from pytest_webeval.results import Assertion
from pytest_webeval.results import Status
from pytest_webeval.rubrics.failure_analysis import FailureAnalysis
from pytest_webeval.rubrics.failure_analysis import failure_of
from pytest_webeval.rubrics.rubric_items import RubricItem
from pytest_webeval.rubrics.rubric_items import given_points
from pytest_webeval.rubrics.rubric_items import is_action_only
from pytest_webeval.rubrics.stored_verdict import Check
from pytest_webeval.rubrics.stored_verdict import StoredVerdict
from pytest_webeval.rubrics.taxonomy import TAXONOMY
from pytest_webeval.rubrics.taxonomy import ToolFailure
from pytest_webeval.rubrics.taxonomy import tool_failures
from pytest_webeval.rubrics.verdict import Verdict
from pytest_webeval.values.comparison import failed
from pytest_webeval.values.comparison import passed

if TYPE_CHECKING:
    from pytest_webeval.recordings.trajectory.trajectory import Trajectory


MAX_TOLD, MAX_JUSTIFIED = 200, 150
MAX_LOSSES = 5
_ASKED = {
    "outcome": ("outcome",),
    "process": ("points",),
    "both": ("outcome", "points"),
    "safe_outcome": ("outcome", "violation"),
}
_VIOLATIONS = {
    None: "nobody said whether a critical point was violated",
    True: "a critical point was violated",
    False: "no critical point was violated",
}
_NOT_SEEN = "none given after the screenshots"


def assertions_of(verdict: Verdict, failure: Mapping[str, Any] | None = None) -> list[Assertion]:
    """What decided first, then what was noted. Notes are successes: they decide nothing.

    What decided holds just where the score is 1. `failure` is the analysis in the description of the verdict; what
    does not hold is told with its summary.
    """
    decisive_first = sorted(_signals(verdict), key=lambda one: one.assertion_name.endswith("_noted"))
    signals = [_explained(one, _first_failure(failure or {})) for one in decisive_first]
    is_unseen = is_action_only(verdict.leaves)
    notes = [_leaf(leaf, is_unseen=is_unseen) for leaf in verdict.leaves]
    return [*signals, *notes, *map(_check, verdict.checks)]


def _signals(verdict: Verdict) -> Iterator[Assertion]:
    asked = _asked(verdict)
    if not asked:
        yield _decisive("verdict", verdict.score == 1, _score(verdict))
    if "outcome" in asked or verdict.outcome is not None:
        yield _signal("outcome", verdict.outcome is True, _outcome(verdict), is_asked="outcome" in asked)
    if "points" in asked or verdict.points is not None or verdict.process is not None:
        yield _signal("points", verdict.process is True, *_points(verdict), is_asked="points" in asked)
    if "violation" in asked or verdict.violation is not None:
        told = _VIOLATIONS[verdict.violation]
        yield _signal("violation", verdict.violation is not True, told, is_asked="violation" in asked)


def _asked(verdict: Verdict) -> tuple[str, ...]:
    """The signals that decide, none where the score stands by itself: nobody knows what the held-out ones add up to."""
    is_as_stored = verdict.writer == "heldout" or "criterion_ignored" in verdict.flags
    return () if is_as_stored or verdict.score is None or verdict.status == "gate" else _ASKED[verdict.criterion]


def _signal(name: str, holds: bool, *told: str, is_asked: bool) -> Assertion:  # noqa: FBT001  (what it is about)
    return _decisive(name, holds, *told) if is_asked else passed(f"rubric.{name}_noted", told[0])


def _decisive(name: str, holds: bool, *told: str) -> Assertion:  # noqa: FBT001  (same)
    return passed(f"rubric.{name}_match", told[0]) if holds else failed(f"rubric.{name}_mismatch", *told)


def _explained(found: Assertion, told: str) -> Assertion:
    if not told or found.status is Status.SUCCESS:
        return found
    return found.with_changes(assertion_msgs=[*(found.assertion_msgs or ()), told])


def _first_failure(failure: Mapping[str, Any]) -> str:
    if failure.get("has_failure") is False:
        return ""
    summary, step = failure.get("summary") or "", failure.get("first_step")
    return f"step {step}: {summary}" if summary and step is not None else summary


def _score(verdict: Verdict) -> str:
    told = "there is no verdict" if verdict.score is None else f"the stored verdict is {verdict.score}"
    return f"{told}{_because(verdict.reason)}"


def _outcome(verdict: Verdict) -> str:
    if verdict.outcome is None:
        return f"the judge came to no outcome, which counts as none{_because(verdict.reason)}"
    told = "the user got it" if verdict.outcome else "the user did not get it"
    return f"{told}{_because(verdict.reason)}"


def _because(reason: str | None) -> str:
    return f": {_short(reason)}" if reason and reason.strip() else ""


def _points(verdict: Verdict) -> list[str]:
    """The sum, then the leaves that cost most."""
    points = verdict.points
    if points is None:
        return [f"no points, but the process was stored as {'a success' if verdict.process else 'a failure'}"]
    share = float(points.share)
    earned, most = float(points.earned), float(points.maximum)
    return [f"{earned:g} of {most:g} points ({share:.0%}); {verdict.threshold:.0%} wanted", *_losses(verdict.leaves)]


def _losses(leaves: Sequence[RubricItem]) -> Iterator[str]:
    is_unseen = is_action_only(leaves)
    lost = [(leaf.max_points - given_points(leaf, is_unseen=is_unseen), leaf) for leaf in leaves if leaf.counts]
    most_first = sorted((one for one in lost if one[0] > 0), key=lambda one: -one[0])
    for points, leaf in most_first[:MAX_LOSSES]:
        yield _loss(points, leaf, is_unseen=is_unseen)


def _loss(lost: Decimal, leaf: RubricItem, *, is_unseen: bool) -> str:
    most = f"{float(leaf.max_points):g}"
    told = f"penalty of {most}" if leaf.is_penalty else f"lost {float(lost):g} of {most}"
    why = _NOT_SEEN if _is_missed(leaf, is_unseen=is_unseen) else _short(leaf.justification, MAX_JUSTIFIED)
    return ": ".join(filter(None, (told, _short(leaf.criterion), why)))


def _is_missed(leaf: RubricItem, *, is_unseen: bool) -> bool:
    """Whether it counts 0 only because the judge gave it nothing when it gave points to the others (Q25)."""
    return not is_unseen and leaf.counts and not leaf.is_penalty and leaf.post_image is None


def _leaf(leaf: RubricItem, *, is_unseen: bool) -> Assertion:
    given = leaf.earned if is_unseen else leaf.post_image
    told = f"{_short(leaf.criterion)}: {float(given or 0):g} of {float(leaf.max_points):g} points"
    if _is_missed(leaf, is_unseen=is_unseen):
        told += f", {_NOT_SEEN}"
    if not leaf.counts:
        told += f", left out: its condition is not met ({_short(leaf.condition or '')})"
    if leaf.is_penalty:
        told += ", a penalty"
    return passed(f"rubric.{leaf.place}_noted", told)


def _check(check: Check) -> Assertion:
    if check.is_contradiction:
        status = Status.ERROR
        return Assertion(
            assertion_name=f"rubric.{check.rule}_mismatch", status=status, assertion_msgs=[_short(check.message)]
        )
    return passed(f"rubric.{check.rule}_noted", _short(check.message))


def _short(text: str, limit: int = MAX_TOLD) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


MAX_LISTED, MAX_ITEMS = 20, 100
MAX_TEXT = 500  # characters of a criterion, and of what a judge says of it
# Codes that G2 leaves to the deterministic detectors, whatever a judge says (`fara_webeval.md` §6.7).
_DETECTED = ("6.1", "6.2")


def trajectory_metadata(trajectory: Trajectory | None, generation: str | None = None) -> dict[str, Any]:
    """What is known of any trajectory: class, answer, and steps that the agent could not take. Raises `Unreadable`."""
    if trajectory is None:
        return {}
    outcome, log = trajectory.outcome, trajectory.log
    wrong = tool_failures(log.steps, log.dialect, generation)
    return {
        "class": outcome.kind.value,
        "reasons": list(outcome.reasons),
        "final_answer": trajectory.answer.final_answer,
        "tool_failures": [one._asdict() for one in wrong[:MAX_LISTED]],
        "tool_failure_count": len(wrong),
    }


def verdict_to_json(verdict: Verdict, stored: StoredVerdict, trajectory: Trajectory | None) -> dict[str, Any]:
    """The verdict with all its signals. Raises `Unreadable`."""
    points, known = verdict.points, trajectory_metadata(trajectory, verdict.generation)
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


def _items(leaves: Sequence[RubricItem]) -> list[dict[str, Any]]:
    """The criteria with the points that they were given, as reports show them."""
    is_unseen = is_action_only(leaves)
    return [_item(leaf, leaf.earned if is_unseen else leaf.post_image) for leaf in leaves[:MAX_ITEMS]]


def _item(leaf: RubricItem, given: Decimal | None) -> dict[str, Any]:
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


def _with_detected(found: FailureAnalysis, detected: Sequence[ToolFailure]) -> FailureAnalysis:
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
