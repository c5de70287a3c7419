"""When a trajectory has no points whatever the verdict is, or without a judge (`fara_webeval.md` §4.2-4.4)."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_webeval.recordings.trajectory.recorded import Gate, OutcomeClass, Trajectory
from pytest_webeval.rubrics.policy import VerdictPolicy


@dataclass(frozen=True, slots=True)
class Gating:
    """What decides about a trajectory without a judge. Reading a property may raise `UnreadableTrajectory`.

    `benchmark` is that of the task's definition, if there is one; `ends` are the actions that end a run in good order.
    """

    trajectory: Trajectory
    benchmark: str
    ends: tuple[str, ...]

    @property
    def is_gated(self) -> bool:
        """Whether the recorder gives no points to some runs without asking a judge."""
        return self.trajectory.is_gated(self.benchmark)

    @property
    def gate(self) -> Gate | None:
        """The gate that the run does not pass, of a benchmark that has any."""
        return self.trajectory.find_gate(self.ends) if self.is_gated else None

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
