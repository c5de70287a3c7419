"""Sessions over time: rates with intervals, what decided verdicts in each, and the tasks whose verdicts changed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from msgspec import structs

from pytest_webeval.results import SCHEMA_VERSION
from pytest_webeval.safety.text import MORE, list_first, pluralize
from pytest_webeval.summary.flip_causes import LIBRARIES_NAMED, list_changed_libraries
from pytest_webeval.summary.scored_session import (
    GROUPS,
    ScoredRun,
    ScoredSession,
    count_runs,
    find_differences,
)
from pytest_webeval.summary.statistics import group
from pytest_webeval.summary.task_history import LEGEND, TaskHistory, cause_finders
from pytest_webeval.summary.task_identity import TaskKey, TaskKeys, count_tasks
from pytest_webeval.tasks.dataset import id_order

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
