"""A trajectory as any recorder leaves it: what its reader takes from the files, in the words of all formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from msgspec import Struct, field, structs

from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.trajectory.answer import Usage
from pytest_webeval.recordings.trajectory.files import MAX_FILE_BYTES
from pytest_webeval.recordings.trajectory.outcome import Gate, OutcomeClass, TrajectoryOutcome
from pytest_webeval.recordings.trajectory.step import Screenshot, Step
from pytest_webeval.recordings.trajectory.target import Target
from pytest_webeval.recordings.trajectory.task_data import TaskData
from pytest_webeval.safety.files import sha256

HUMAN = "human"  # the judge of a label that a person gave


class ReplyForm(StrEnum):
    """Which part of a judge's reply is the verdict."""

    STATUS = "status"  # the last line `Status: success` or `Status: failure`
    CAPITALS = "capitals"  # `SUCCESS`, unless `NOT SUCCESS` is anywhere
    FAILURE = "failure"  # a success, unless `FAILURE` is anywhere


class Judgement(Struct, frozen=True, kw_only=True):
    """A verdict that is stored with a run, or in a file of verdicts, before anything is derived again.

    `source` is the file, with the key where it holds more than the verdict, and `judge` who gave it. `success` is the
    stored verdict; None where the judge could not tell, and `ungraded` says why where nobody judged. `is_impossible` is
    for a task that nobody can do, as the judge sees it.

    `score` is the number that was stored, of which `full_score` is a success. `reply` is the judge's text if the
    verdict is a part of it, of the form `reply_form`. `rubric` holds criteria with points, in the keys of webeval's
    rubrics, which are added up again. `notes` are further findings of the judge, which decide nothing. `contradictions`
    are what the reader saw to be inconsistent: nothing follows from such a verdict; `warnings` had no effect on it.
    `replaces` are the sources of judges that were not asked because of this verdict, so that it counts where one of
    them is chosen.
    """

    source: str
    judge: str
    success: bool | None = None
    reasoning: str = ""
    score: float | None = None
    full_score: float = 1.0
    reply: str | None = None
    reply_form: ReplyForm = ReplyForm.STATUS
    rubric: Mapping[str, Any] | None = None
    notes: Mapping[str, bool] = field(default_factory=dict)
    contradictions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    ungraded: str | None = None
    is_impossible: bool = False
    replaces: tuple[str, ...] = ()

    @property
    def is_human(self) -> bool:
        """Whether a person gave it."""
        return self.judge == HUMAN

    @property
    def checksum(self) -> str:
        """The SHA-256 of all that it says."""
        return sha256(repr(self).encode("utf-8", "backslashreplace"))


class RecordedTrajectory(Struct, frozen=True, kw_only=True):
    """What an agent did, read-only. `answer` is None where it gave none; a text that is unknown is empty.

    `duration` is in seconds. `system` is the agent, `group` what results of a benchmark are divided by. The judgement
    that counts is the first of `judgements`. `flags` are codes of unusual facts, `details` facts of one format.
    `load_image` returns the bytes of a screenshot that is not a file of its own. `is_complete` says that all that the
    agent said was recorded, so that it gave no answer where there is none. `has_steps` says that the steps were
    recorded, so that an empty list of them means none.

    `dialect` to `rubric_names` are what only Fara's harness writes so far: see `AgentTrajectory`.
    """

    inputs: RunInputs
    outcome: TrajectoryOutcome
    answer: str | None = None
    is_complete: bool = False
    steps: tuple[Step, ...] = ()
    has_steps: bool = True
    screenshots: tuple[Screenshot, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    task_text: str = ""
    start_url: str | None = None
    usage: Usage | None = None
    duration: float | None = None
    system: str | None = None
    model: str | None = None
    benchmark: str | None = None
    group: str | None = None
    run_id: str | None = None
    max_rounds: int | None = None
    attempts: int | None = None
    last_error: str | None = None
    flags: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    load_image: Callable[[Screenshot], bytes] | None = None
    dialect: str | None = None
    task_data: TaskData = TaskData()
    is_verdict_stale: bool | None = None
    score_names: tuple[str, ...] = ()
    rubric_names: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """The directory of the run."""
        return self.inputs.directory

    @property
    def final_answer(self) -> str | None:
        """The same as `answer`."""
        return self.answer

    @property
    def has_no_answer(self) -> bool:
        """Whether the recording shows that the agent ended without an answer, or was stopped before it gave one."""
        is_ended = self.is_complete and self.outcome.kind not in (OutcomeClass.ABORTED, OutcomeClass.UNREADABLE)
        return self.answer is None and (is_ended or self.outcome.kind is OutcomeClass.OVER_BUDGET)

    @property
    def verdict_sources(self) -> tuple[str, ...]:
        """The sources of all judgements."""
        return tuple(judgement.source for judgement in self.judgements)

    @property
    def reason_unjudged(self) -> str:
        """Why nobody judged the run, as its files have it."""
        why = next((judgement.ungraded for judgement in self.judgements), None)
        return why or "not judged yet; no file of the run holds a verdict"

    @property
    def missing_evidence(self) -> str | None:
        """None: only Fara's harness records the steps apart from the verdict."""
        return None

    def is_gated(self, benchmark: str) -> bool:  # noqa: ARG002  (as of any trajectory)
        """No: only Fara's harness has gates."""
        return False

    def find_gate(self, ends: Sequence[str]) -> Gate | None:  # noqa: ARG002  (same)
        """None."""
        return None

    def image(self, shot: Screenshot) -> bytes:
        """The bytes of a screenshot. Raises `RecordingError`."""
        return self.load_image(shot) if self.load_image else self.inputs.read(shot.name, MAX_FILE_BYTES)

    def graded(self) -> RecordedTrajectory:
        """The same with the outcome that follows from the verdicts: `ungraded` where a complete run has none."""
        if self.judgements and (first := self.judgements[0]).is_impossible:
            why = first.ungraded or first.reasoning
            outcome = TrajectoryOutcome(OutcomeClass.IMPOSSIBLE, ("not_executable",), why)
            return structs.replace(self, outcome=outcome)
        reasons = [judgement.ungraded for judgement in self.judgements]
        if self.outcome.kind is not OutcomeClass.COMPLETED or None in reasons:
            return self
        why = next(filter(None, reasons), "not judged yet")
        outcome = TrajectoryOutcome(OutcomeClass.UNGRADED, ("no_verdict", *self.outcome.reasons), why)
        return structs.replace(self, outcome=outcome)

    def to_json(self) -> dict[str, Any]:
        """All details as plain JSON, by the names that results of all trajectories have; None where unknown."""
        usage = self.usage
        return {
            "class": self.outcome.kind.value,
            "reasons": list(self.outcome.reasons),
            "message": self.outcome.message,
            "flags": list(self.flags),
            "system": self.system,
            "model": self.model,
            "benchmark": self.benchmark,
            "run_id": self.run_id,
            "max_rounds": self.max_rounds,
            "duration": self.duration,
            "attempts": self.attempts,
            "last_error": self.last_error,
            "is_long": False,
            "steps": len(self.steps) if self.has_steps else None,
            "usage": None if usage is None else _usage_to_json(usage),
            "answer": self.answer,
            "screenshots": len(self.screenshots),
            "group": self.group,
            **({"details": dict(self.details)} if self.details else {}),
        }


def _usage_to_json(usage: Usage) -> dict[str, int | None]:
    names = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "num_calls")
    return {name: getattr(usage, name) for name in names}


def build_step(  # noqa: PLR0913  (each is a field of a step)
    index: int,
    action: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    thought: str = "",
    url: str | None = None,
    observation: str | None = None,
    timestamp: str | None = None,
    before: Screenshot | None = None,
    after: Screenshot | None = None,
    target: Target | None = None,
) -> Step:
    """A step of a format that has no log lines; `index` counts from 1, `timestamp` is ISO 8601."""
    return Step(
        index=index,
        action=action,
        raw_action=action,
        tool=None,
        arguments=arguments or {},
        thought=thought,
        url=url,
        timestamp=timestamp,
        source=None,
        observation=observation,
        line=index,
        before=before,
        after=after,
        target=target,
    )
