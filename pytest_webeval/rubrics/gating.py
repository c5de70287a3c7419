"""When a trajectory has no points whatever the verdict is, or without a judge (`fara_webeval.md` §4.2-4.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_webeval.recordings.trajectory.outcome import Gate
from pytest_webeval.recordings.trajectory.outcome import OutcomeClass
from pytest_webeval.recordings.trajectory.outcome import gate_of
from pytest_webeval.recordings.trajectory.recorded import RecordedTrajectory
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rubrics.score_files import parse_name

if TYPE_CHECKING:
    from pytest_webeval.recordings.trajectory.trajectory import Trajectory


GATED = "webtailbench"


@dataclass(frozen=True, slots=True)
class Gating:
    """What decides about a trajectory without a judge. Reading a property may raise `Unreadable`.

    `benchmark` is that of the task's definition, if there is one; `ends` are the actions that end a run in good order.
    """

    trajectory: Trajectory | RecordedTrajectory
    benchmark: str
    ends: tuple[str, ...]

    @property
    def is_gated(self) -> bool:
        """Whether the benchmark turns runs away by itself. Where it is unknown, its kind of score file decides.

        Only Fara's harness has gates.
        """
        if isinstance(self.trajectory, RecordedTrajectory):
            return False
        benchmarks = {self.trajectory.place.benchmark_kind, self.benchmark} - {None, ""}
        if benchmarks:
            return GATED in benchmarks
        return any(parse_name(name).kind == "mmrubric" for name in self.trajectory.score_names)

    @property
    def gate(self) -> Gate | None:
        """The gate that the run does not pass, of a benchmark that has any."""
        if isinstance(self.trajectory, RecordedTrajectory):
            return None
        listed = len(self.trajectory.answer.screenshots)
        return gate_of(self.trajectory.steps, listed, self.ends) if self.is_gated else None

    def overrules(self, policy: VerdictPolicy) -> str | None:
        """Why no stored verdict counts, or None: a run over budget of a gated benchmark, or by the session's policy."""
        is_over = self.trajectory.outcome.kind is OutcomeClass.OVER_BUDGET
        return self.trajectory.outcome.message if is_over and (self.is_gated or policy.over_budget == "zero") else None

    @property
    def without_verdict(self) -> str | None:
        """Why the run has no points without a judge, or None if only a judge can decide."""
        if self.trajectory.outcome.kind is OutcomeClass.OVER_BUDGET:
            return self.trajectory.outcome.message
        return self.gate.reason if self.gate else None
