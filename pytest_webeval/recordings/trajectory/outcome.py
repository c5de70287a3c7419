"""The outcome of a trajectory, and the points that need no judge (`fara_webeval.md` §4)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from pytest_webeval.recordings.trajectory.answer import FinalAnswer
from pytest_webeval.recordings.trajectory.core_log import CoreLog
from pytest_webeval.recordings.trajectory.step import Step, UnreadableTrajectory
from pytest_webeval.safety.text import pluralize
from pytest_webeval.values.string import find_equal

INVALID_REWARD = "invalid_reward"  # the reason of a run that its benchmark leaves out of its own means
_SELF_REPORTS = {"success": True, "failure": False}  # the statuses of `terminate`
MISMATCH = 2  # as many screenshots more or fewer than actions do not belong to them
SUPERSEDED = "superseded"  # the reason of a run that its recorder replaced by another one


class OutcomeClass(StrEnum):
    """How a trajectory ended. Only formats that store more than a verdict have the last two."""

    COMPLETED = "completed"
    OVER_BUDGET = "over_budget"
    ABORTED = "aborted"
    UNREADABLE = "unreadable"
    IMPOSSIBLE = "impossible"  # the judge says that nobody can do the task
    UNGRADED = "ungraded"  # the agent is done, and nobody has judged it


class TrajectoryOutcome(Struct, frozen=True):
    """A class with its reason codes, the first of which decided; `message` says it to a person in one line."""

    kind: OutcomeClass
    reasons: tuple[str, ...]
    message: str

    @property
    def is_scored(self) -> bool:
        """Whether the run says something about the agent, so that it counts in means."""
        return self.kind in (OutcomeClass.COMPLETED, OutcomeClass.OVER_BUDGET, OutcomeClass.IMPOSSIBLE)


def unreadable(problem: UnreadableTrajectory) -> TrajectoryOutcome:
    """The outcome of an unreadable trajectory."""
    return TrajectoryOutcome(OutcomeClass.UNREADABLE, (problem.code,), str(problem))


def classify_unanswered(problem: UnreadableTrajectory, core: CoreLog) -> TrajectoryOutcome:
    """The outcome where no answer file can be used: a crash if the log of the execution shows one (§4.2, rows 1, 2)."""
    has_crashed = core.crash is not None or (core.attempts > 0 and not core.is_completed)
    if problem.code == "answer_missing" and has_crashed:
        message = f"the run crashed: {core.crash}" if core.crash else "the run did not finish and has no answer"
        return TrajectoryOutcome(OutcomeClass.ABORTED, ("crash_no_answer",), message)
    return unreadable(problem)


def classify_answered(answer: FinalAnswer, steps: Sequence[Step], max_rounds: int | None) -> TrajectoryOutcome:
    """The outcome of a trajectory with an answer file and a log (§4.2, rows 3, 5, 6)."""
    if answer.is_aborted:
        more = ("aborted_with_answer",) if answer.is_answered else ()
        message = "the environment failed during the run (is_aborted)"
        return TrajectoryOutcome(OutcomeClass.ABORTED, ("flagged", *more), message)
    if not answer.is_answered:
        return TrajectoryOutcome(
            OutcomeClass.OVER_BUDGET,
            ("no_answer", *_list_budget_reasons(steps, max_rounds)),
            f"the agent gave no answer in {pluralize(len(steps), 'step')}",
        )
    return TrajectoryOutcome(OutcomeClass.COMPLETED, tuple(_list_answer_reasons(answer, steps)), "the agent answered")


def _list_budget_reasons(steps: Sequence[Step], max_rounds: int | None) -> list[str]:
    reasons = ["below_budget"] if max_rounds is not None and len(steps) < max_rounds else []
    return [*reasons, "terminate_without_answer"] if _is_terminated(steps) else reasons


def _list_answer_reasons(answer: FinalAnswer, steps: Sequence[Step]) -> list[str]:
    reasons = [] if answer.final_answer.strip() else ["empty_answer"]
    if not _is_terminated(steps):
        return [*reasons, "no_terminate"]
    return [*reasons, "self_reported_failure"] if find_self_report(steps) is False else reasons


def find_self_report(steps: Sequence[Step]) -> bool | None:
    """Whether the agent reports a success with its last action; None if it reports neither success nor failure."""
    status = steps[-1].arguments.get("status") if _is_terminated(steps) else None
    return _SELF_REPORTS.get(find_equal(status, tuple(_SELF_REPORTS)) or "")


def _is_terminated(steps: Sequence[Step]) -> bool:
    return bool(steps) and steps[-1].action == "terminate"


class Gate(Struct, frozen=True):
    """A reason for which WebTailBench gives a run no points without asking a judge (§4.3); `number` is 1 to 3."""

    number: int
    reason: str


def gate_of(steps: Sequence[Step], listed_screenshots: int, ends: Sequence[str] = ("terminate",)) -> Gate | None:
    """The first gate that a run does not pass, or None. `ends` are the actions that end a run in good order."""
    if not steps:
        return Gate(1, "No actions found in the trajectory")
    last = steps[-1].action
    if last not in ends and not last.startswith("finished("):
        return Gate(2, f'The last action must be "terminate", it is {last[:80]!r}')
    if abs(listed_screenshots - len(steps)) >= MISMATCH:
        return Gate(3, f"Actions and screenshots mismatch: {len(steps)} actions, {listed_screenshots} screenshots")
    return None
