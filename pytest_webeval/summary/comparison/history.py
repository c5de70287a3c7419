"""Sessions over time: rates with intervals, what decided verdicts in each, and the tasks whose verdicts changed."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache, lru_cache
from typing import Any

from msgspec import Struct, field, structs

from pytest_webeval.results import SCHEMA_VERSION
from pytest_webeval.safety.text import MORE, list_first, pluralize
from pytest_webeval.summary.comparison.flip_causes import LIBRARIES_NAMED, Cause, CauseFinder, list_changed_libraries
from pytest_webeval.summary.comparison.session_comparison import pair_runs
from pytest_webeval.summary.scored_session import (
    GROUPS,
    ScoredRun,
    ScoredSession,
    count_runs,
    find_differences,
    success_share,
)
from pytest_webeval.summary.statistics import group
from pytest_webeval.summary.task_identity import TaskKey, TaskKeys, count_tasks
from pytest_webeval.tasks.dataset import id_order

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


_NO_TAGS: list[str] = []
_NO_TIME = datetime.min.replace(tzinfo=UTC)
_NOTES = {  # of a checksum, the first 8 digits
    "rules": "other rules: {} to {}",
    "choices": "other evaluator choice: {:.80} to {:.80}",
    "policy": "other options for stored verdicts",
    "evaluators": "other evaluator code: {:.8} to {:.8}",
    "tasks": "other task definitions: {:.8} to {:.8}",
    "libraries": "other libraries: {}",
    "subset": "other subset: {} to {}",
}


def condense(session: ScoredSession) -> ScoredSession:
    """The same session without the texts of its runs, and with each label and site stored once: for many sessions."""
    runs = [
        structs.replace(
            run,
            run=sys.intern(run.run),
            sites=_share_sites(tuple(run.sites)),
            checksums=None if run.checksums is None else sys.intern(run.checksums),
            reason=None,
            tags=_NO_TAGS,
        )
        for run in session.runs
    ]
    return structs.replace(session, runs=runs)


@lru_cache(1_000)
def _share_sites(sites: tuple[str, ...]) -> list[str]:
    return list(sites)


def build_history(sessions: Iterable[ScoredSession], latest: ScoredSession | None = None) -> dict[str, Any]:
    """The history of sessions in any order as plain JSON, the oldest first; `latest` comes last, whatever its time.

    Of the tasks whose verdict changed, those that changed most often come first.
    The same session twice counts once. The time and the memory that this takes grow with the number of runs.
    """
    distinct, problems = _drop_duplicates(sessions)
    ordered = [*sorted(distinct, key=lambda session: (parse_time(session.timestamp) or _NO_TIME, session.name))]
    ordered += [] if latest is None else [latest]
    tasks = _follow_tasks(ordered)
    flipping = sorted(filter(lambda task: task.flips, tasks), key=lambda task: (-task.flips, id_order(task.task_id)))
    problems += [problem for session in ordered for problem in session.problems]
    return {
        "schema_version": SCHEMA_VERSION,
        "sessions": list(map(_describe, [None, *ordered], ordered)),
        **{
            name: sorted({find_name(run) for session in ordered for run in session.runs})
            for name, find_name in _GROUPS.items()
        },
        "tasks": _count_tasks(tasks),
        "flips": [task.to_json(len(ordered)) for task in flipping],
        "legend": dict(LEGEND),
        "problems": problems,
    }


def _drop_duplicates(sessions: Iterable[ScoredSession]) -> tuple[list[ScoredSession], list[str]]:
    """The sessions, each content once, and a line for each that is left."""
    by_size: dict[tuple[str, int], list[ScoredSession]] = {}
    problems = []
    for session in sessions:
        similar = by_size.setdefault((session.timestamp, len(session.runs)), [])
        first = next(
            (other for other in similar if other == structs.replace(session, name=other.name, problems=other.problems)),
            None,
        )
        if first is None:
            similar.append(session)
        else:
            problems.append(f"{session.name} is the same session as {first.name}: it counts once")
    return [session for similar in by_size.values() for session in similar], problems


def parse_time(timestamp: str) -> datetime | None:
    """The time that a summary has, in UTC; None if it is not a time. A directory of results has none."""
    with suppress(ValueError, OverflowError):
        time = datetime.fromisoformat(timestamp)
        return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)
    return None


def _follow_tasks(sessions: Sequence[ScoredSession]) -> list[TaskHistory]:
    """The tasks of all sessions. Only the last runs of each task are kept."""
    tasks: dict[TaskKey, TaskHistory] = {}
    keys = TaskKeys(*(session.runs for session in sessions))
    find_causes = cause_finders(sessions)
    for index, session in enumerate(sessions):
        for key, runs in group(session.runs, keys.find).items():
            task = tasks.setdefault(key, TaskHistory(runs[0].task_id))
            task.add(index, runs, find_causes)
    return list(tasks.values())


def _count_tasks(tasks: Sequence[TaskHistory]) -> dict[str, int]:
    judged = [task for task in tasks if task.last is not None]
    return {
        "count": len(tasks),
        "always_solved": sum(task.is_always_solved for task in judged),
        "never_solved": sum(task.is_never_solved for task in judged),
        "sometimes_solved": sum(not (task.is_always_solved or task.is_never_solved) for task in judged),
        "never_judged": len(tasks) - len(judged),
        "flipping": sum(task.flips > 0 for task in judged),
    }


def _describe(before: ScoredSession | None, session: ScoredSession) -> dict[str, Any]:
    return {
        "name": session.name,
        "timestamp": session.timestamp,
        "rules": session.rules,
        "evaluators": session.evaluators,
        "tasks": session.tasks,
        "partial": session.partial,
        "subset": session.subset,
        "task_count": count_tasks(session.runs),
        "error_count": sum(run.status == "error" for run in session.runs),
        "excluded_count": sum(not run.is_judged for run in session.runs),
        **count_runs(session.runs),
        **{
            table: {name: count_runs(runs) for name, runs in group(session.runs, find_name).items()}
            for table, find_name in _GROUPS.items()
        },
        "notes": list(_list_notes(before, session)),
    }


# A run folder is what an agent or an attempt has for itself.
_GROUPS: Mapping[str, Callable[[ScoredRun], str]] = {**GROUPS, "folders": lambda run: run.attempt}


def _list_notes(before: ScoredSession | None, session: ScoredSession) -> Iterator[str]:
    """What makes the rate of a session hard to compare with the one before, in a few words each."""
    if parse_time(session.timestamp) is None:
        yield "without a time, so it comes first"
    if session.partial:
        yield "partial session"
    if before is None:
        return
    differences = find_differences(before, session)
    if before.libraries and session.libraries:
        libraries = list(list_changed_libraries(before.libraries, session.libraries))
        differences |= {"libraries": (list_first(libraries, LIBRARIES_NAMED, more=MORE), "")} if libraries else {}
    yield from (text.format(*differences[name]) for name, text in _NOTES.items() if name in differences)
    old, new = count_tasks(before.runs), count_tasks(session.runs)
    if old != new:
        yield f"{pluralize(new, 'task')} after {old:,}"
