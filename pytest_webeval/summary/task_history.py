"""One task over several sessions: its outcomes in order, and how often and why its verdict changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any

from msgspec import Struct, field

from pytest_webeval.summary.flip_causes import Cause, CauseFinder
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession, success_share
from pytest_webeval.summary.session_comparison import pair_runs

_NEW_INPUTS = {Cause.RECORDING.value, Cause.TASK.value, Cause.RULES.value}


class Outcome(StrEnum):
    """How a task ended in a session. The values are the characters of the compact texts."""

    SUCCESS = "+"
    FAILURE = "-"
    MIXED = "~"
    ERROR = "!"
    EXCLUDED = "x"
    ABSENT = "."


LEGEND: Mapping[str, str] = {
    Outcome.SUCCESS.value: "success",
    Outcome.FAILURE.value: "failure",
    Outcome.MIXED.value: "success of some attempts",
    Outcome.ERROR.value: "error",
    Outcome.EXCLUDED.value: "excluded",
    Outcome.ABSENT.value: "absent",
}


def find_outcome(runs: Sequence[ScoredRun]) -> Outcome:
    """The outcome of a task with these runs. Only runs that count in rates decide; an error needs all of them."""
    if not runs:
        return Outcome.ABSENT
    judged = [run for run in runs if run.is_judged]
    if not judged:
        return Outcome.EXCLUDED
    share = success_share(judged)
    if share:
        return Outcome.SUCCESS if share == 1 else Outcome.MIXED
    return Outcome.ERROR if all(run.status == "error" for run in judged) else Outcome.FAILURE


FindCauses = Callable[[int, int], CauseFinder]  # what compares two sessions of a history, by their indexes


def cause_finders(sessions: Sequence[ScoredSession]) -> FindCauses:
    """What compares any two of some sessions, with one object for each two."""
    return cache(lambda before, after: CauseFinder(sessions[before], sessions[after]))


class _Judged(Struct, frozen=True):
    """The last session that judged a task: its index, the runs of the task, and the share that succeeded."""

    index: int
    runs: Sequence[ScoredRun]
    share: float


class TaskHistory(Struct):
    """Grows by one session after the other. `site` is that of the latest session."""

    task_id: int | str
    site: str = ""
    outcomes: str = ""
    flips: int = 0
    flips_same_inputs: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    is_always_solved: bool = True
    is_never_solved: bool = True
    last: _Judged | None = None
    last_outcome: str | None = None  # in words, of the last session that judged it

    def add(self, index: int, runs: Sequence[ScoredRun], find_causes: FindCauses) -> None:
        """Add the runs of the session with this index; those of sessions in between are absent."""
        outcome = find_outcome(runs)
        self.site = runs[0].site_key
        self.outcomes = self.outcomes.ljust(index, Outcome.ABSENT.value) + outcome.value
        if outcome is Outcome.EXCLUDED:
            return
        now = _Judged(index, runs, success_share([run for run in runs if run.is_judged]))
        self.is_always_solved &= now.share == 1
        self.is_never_solved &= now.share == 0
        if self.last is not None and self.last.share != now.share:
            self._count_flip(self.last, now, find_causes)
        self.last, self.last_outcome = now, LEGEND[outcome]

    def _count_flip(self, before: _Judged, after: _Judged, find_causes: FindCauses) -> None:
        """Count a change of the share of successes: what `compare` counts as better or worse."""
        finder = find_causes(before.index, after.index)
        changed = [
            pair
            for pair in pair_runs(before.runs, after.runs)
            if pair.before.is_judged and pair.after.is_judged and pair.before.is_success != pair.after.is_success
        ]
        causes = {cause for pair in changed for cause in finder.list_causes(pair)}
        known = causes - {Cause.UNKNOWN.value}
        self.flips += 1
        self.causes.update(known or {Cause.UNKNOWN.value})
        digests = [run.digests for pair in changed for run in (pair.before, pair.after)]
        is_recorded = bool(digests) and all("recording" in each for each in digests)  # another would be a cause
        self.flips_same_inputs += is_recorded and known.isdisjoint(_NEW_INPUTS)

    def to_json(self, session_count: int) -> dict[str, Any]:
        """The task in plain JSON, with an outcome for each session."""
        return {
            "task_id": self.task_id,
            "site": self.site,
            "outcomes": self.outcomes.ljust(session_count, Outcome.ABSENT.value),
            "flips": self.flips,
            "flips_same_inputs": self.flips_same_inputs,
            "causes": {cause.value: self.causes[cause.value] for cause in Cause if cause.value in self.causes},
            "last_outcome": self.last_outcome,
        }
