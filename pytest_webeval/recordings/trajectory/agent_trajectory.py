"""What verdicts and reports need to know of a trajectory, whoever recorded it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from pytest_webeval.recordings.trajectory.outcome import Gate, TrajectoryOutcome
from pytest_webeval.recordings.trajectory.recorded import Judgement
from pytest_webeval.recordings.trajectory.step import Screenshot, Step
from pytest_webeval.recordings.trajectory.task_data import TaskData


class AgentTrajectory(Protocol):
    """A trajectory of any kind. A member may raise `UnreadableTrajectory` over damaged files, `warnings` never does."""

    @property
    def path(self) -> Path:
        """The directory of the run."""
        ...

    @property
    def outcome(self) -> TrajectoryOutcome:
        """How the run ended."""
        ...

    @property
    def steps(self) -> tuple[Step, ...]:
        """What the agent did, in order."""
        ...

    @property
    def dialect(self) -> str | None:
        """The dialect of the log, which says what actions the agent had; None where nobody can know them."""
        ...

    @property
    def screenshots(self) -> tuple[Screenshot, ...]:
        """Images of the run in order."""
        ...

    @property
    def final_answer(self) -> str | None:
        """What the agent answered; None where it gave no answer, or none that counts."""
        ...

    @property
    def has_no_answer(self) -> bool:
        """Whether the recording shows that the agent ended without an answer, or was stopped before it gave one."""
        ...

    @property
    def flags(self) -> tuple[str, ...]:
        """Codes of unusual facts."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """Anomalies in the files, each with its file and place."""
        ...

    @property
    def task_data(self) -> TaskData:
        """What a rubric verifier wrote about the task; empty where none did."""
        ...

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """Verdicts that the reader of the format took from the files. The first that is one counts."""
        ...

    @property
    def score_names(self) -> tuple[str, ...]:
        """Names of the score files, whose content is yet to be read. Raises `RecordingError`."""
        ...

    @property
    def rubric_names(self) -> tuple[str, ...]:
        """Files with a rubric that counts only if a session asks for it by name."""
        ...

    @property
    def verdict_sources(self) -> tuple[str, ...]:
        """Places of all verdicts in the directory, whether they count or not. Raises `RecordingError`."""
        ...

    @property
    def is_verdict_stale(self) -> bool | None:
        """Whether the verdict is older than the answer; None where nobody can know."""
        ...

    @property
    def reason_unjudged(self) -> str:
        """Why there is no verdict, in one line. Raises `RecordingError`."""
        ...

    @property
    def missing_evidence(self) -> str | None:
        """Why no success follows from the recording, whatever verdict is stored; None where one may."""
        ...

    def image(self, shot: Screenshot) -> bytes:
        """The bytes of a screenshot. Raises `RecordingError`."""
        ...

    def is_gated(self, benchmark: str) -> bool:
        """Whether the recorder gives no points to some runs without asking a judge.

        `benchmark` is that of the task's definition, if there is one.
        """
        ...

    def find_gate(self, ends: Sequence[str]) -> Gate | None:
        """The first gate of a gated run that it does not pass. `ends` are the actions that end it in good order."""
        ...
