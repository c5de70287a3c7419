"""A derived verdict becomes assertions: one for each signal, each leaf and each check that found something."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_webeval.comparison import failed
from pytest_webeval.comparison import passed
from pytest_webeval.results import Assertion
from pytest_webeval.results import Status
from pytest_webeval.rubrics.base import Check
from pytest_webeval.rubrics.derivation import Verdict
from pytest_webeval.rubrics.items import Leaf

MAX_TOLD = 200
_ASKED = {
    "outcome": ("outcome",),
    "process": ("points",),
    "both": ("outcome", "points"),
    "safe_outcome": ("outcome", "violation"),
}


def assertions_of(verdict: Verdict) -> list[Assertion]:
    """What decided first, then what was noted. Notes are successes: they decide nothing."""
    return [*_signals(verdict), *map(_leaf, verdict.leaves), *map(_check, verdict.checks)]


def _signals(verdict: Verdict) -> Iterator[Assertion]:
    if verdict.points is None and verdict.outcome is None and verdict.status != "undecided":
        told = f"the stored verdict is {verdict.score}{_because(verdict.reason)}"
        yield _decisive("verdict", verdict.score == 1, told)
        return
    asked = _ASKED[verdict.criterion]
    if "outcome" in asked or verdict.outcome is not None:
        yield _signal("outcome", verdict.outcome is True, _outcome(verdict), is_asked="outcome" in asked)
    if verdict.points is not None:
        yield _signal("points", verdict.process is True, _points(verdict), is_asked="points" in asked)
    if "violation" in asked or verdict.violation is not None:
        told = {None: "nobody said whether", True: "yes:", False: "no:"}[verdict.violation]
        told = f"{told} a critical point was violated"
        yield _signal("violation", verdict.violation is not True, told, is_asked="violation" in asked)


def _signal(name: str, holds: bool, told: str, *, is_asked: bool) -> Assertion:  # noqa: FBT001  (what it is about)
    return _decisive(name, holds, told) if is_asked else passed(f"rubric.{name}_noted", told)


def _decisive(name: str, holds: bool, told: str) -> Assertion:  # noqa: FBT001  (same)
    return passed(f"rubric.{name}_match", told) if holds else failed(f"rubric.{name}_mismatch", told)


def _outcome(verdict: Verdict) -> str:
    if verdict.outcome is None:
        return f"the judge came to no outcome, which counts as none{_because(verdict.reason)}"
    told = "the user got it" if verdict.outcome else "the user did not get it"
    return f"{told}{_because(verdict.reason)}"


def _because(reason: str | None) -> str:
    return f": {_short(reason)}" if reason and reason.strip() else ""


def _points(verdict: Verdict) -> str:
    points = verdict.points
    if points is None:
        return "no points"
    share = float(points.share)
    earned, most = float(points.earned), float(points.maximum)
    return f"{earned:g} of {most:g} points ({share:.0%}); {verdict.threshold:.0%} wanted"


def _leaf(leaf: Leaf) -> Assertion:
    earned = leaf.post_image if leaf.post_image is not None else leaf.earned
    told = f"{_short(leaf.criterion)}: {float(earned or 0):g} of {float(leaf.max_points):g} points"
    if leaf.is_conditional and leaf.is_met is not True:
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


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_TOLD else f"{line[: MAX_TOLD - 1]}…"
