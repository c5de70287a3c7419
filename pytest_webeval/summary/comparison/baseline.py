"""An earlier session that a new one is compared with, and the failures that are known from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct, ValidationError, convert, to_builtins

from pytest_webeval.errors import SettingsError
from pytest_webeval.results import Status, Summary
from pytest_webeval.safety.text import pluralize
from pytest_webeval.summary.comparison.session_comparison import ChangeKind, SessionComparison
from pytest_webeval.summary.comparison.session_reading import read_session
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.scored_session import ScoredSession, have_same_rules, is_covered, parse_summary
from pytest_webeval.summary.store.spooled_list import LongList
from pytest_webeval.summary.summary_file import find_summary, read_summary_file
from pytest_webeval.summary.task_identity import count_tasks

OPTION = "--webeval-baseline"
FLIPS = (ChangeKind.REGRESSED, ChangeKind.FIXED, ChangeKind.NEWLY_ERRING)
_CHANGED = frozenset({*FLIPS, ChangeKind.EXCLUDED})


class KnownFailure(Struct, frozen=True):
    """A run that is known not to succeed. `since` is the day on which it was first seen to fail."""

    task_id: int | str
    run: str
    status: str
    reason: str | None = None
    since: str | None = None


class KnownFailures(Struct, frozen=True, dict=True):
    """The failures that a baseline lists."""

    entries: Sequence[KnownFailure]
    repeated: frozenset[str] = frozenset()  # tasks of which the baseline has several runs: only labels name those

    @cached_property
    def _by_run(self) -> dict[str, KnownFailure]:
        return {entry.run: entry for entry in self.entries}

    @cached_property
    def _by_task(self) -> dict[str, KnownFailure | None]:
        """None for a task with several runs: then labels decide."""
        by_task: dict[str, KnownFailure | None] = {}
        for entry in self.entries:
            is_ambiguous = str(entry.task_id) in by_task or str(entry.task_id) in self.repeated
            by_task[str(entry.task_id)] = None if is_ambiguous else entry
        return by_task

    def find(self, run: str, task_id: int | str) -> KnownFailure | None:
        """The failure of a run: the one with its label, or else the only one of its task."""
        return self._by_run.get(run) or self._by_task.get(str(task_id))

    def find_expected(self, record: Record) -> KnownFailure | None:
        """The entry about a run without success; None if that is new.

        An error is new unless it is the error that is known. A task without a recording always is.
        """
        if record.status == Status.SUCCESS or record.skipped or record.missing:
            return None
        entry = self.find(record.run, record.task_id)
        is_new = entry is None or (record.status == Status.ERROR and entry.status != Status.ERROR)
        return None if is_new else entry

    def add(self, rows: Iterable[Mapping[str, Any]], day: str) -> KnownFailures:
        """With the failures among some rows of a summary. What is known stays: one success may be luck."""
        new = [
            KnownFailure(row["task_id"], row["run"], row["status"], row["reason"], day)
            for row in rows
            if row["status"] not in ("success", "excluded") and self.find(row["run"], row["task_id"]) is None
        ]
        return KnownFailures([*self.entries, *new], self.repeated)


class Baseline(Struct, frozen=True):
    """The earlier session and its known failures."""

    session: ScoredSession
    known_failures: KnownFailures

    def list_lost_tasks(self, task_ids: Iterable[int | str], selected: Iterable[int | str] | None) -> list[int | str]:
        """The tasks of the session and of the list that are not among some ids; of the `selected` ones, if not None."""
        listed = [row.task_id for rows in (self.session.runs, self.known_failures.entries) for row in rows]
        tasks = {str(task_id): task_id for task_id in listed}
        chosen = tasks.keys() if selected is None else set(map(str, selected))
        seen = set(map(str, task_ids))
        return [task_id for text, task_id in tasks.items() if text in chosen and text not in seen]


def read_baseline(path: Path) -> Baseline:
    """The baseline in a summary file, or in a directory with one or with results. Raises `SettingsError`."""
    try:
        file = find_summary(path) if path.is_dir() else path
        raw = {} if file is None else read_summary_file(file, str(file))
        session = read_session(path) if file is None else parse_summary(raw, str(file))
        refuse_partial(session)
        counts = Counter(str(run.task_id) for run in session.runs)
        repeated = frozenset(task_id for task_id, count in counts.items() if count > 1)
        known = _read_known(raw.get("webeval", {}).get("known_failures"), session)
        return Baseline(session, KnownFailures(known, repeated))
    except (SettingsError, ValidationError) as error:
        text = str(error)
        if isinstance(error, ValidationError):
            text = f"invalid known_failures in {path}: {error}; fix the list, or write it with {OPTION}-update"
        raise SettingsError(f"{OPTION}: {text}") from error


def refuse_partial(session: ScoredSession) -> None:
    """Raise `SettingsError` for a baseline that lacks some of its runs."""
    if not session.partial:
        return
    count, noun = len(session.runs), "task" if count_tasks(session.runs) == len(session.runs) else "run"
    counts = f" ({count} of {pluralize(count + session.left_out, noun)})" if session.left_out > 0 else ""
    raise SettingsError(f"{session.name} is partial{counts}; use a complete session")


def _read_known(listed: object, session: ScoredSession) -> list[KnownFailure]:
    """The list in the file; if it has none, the runs of the session that did not succeed."""
    if listed is not None:
        return convert(list(listed) if isinstance(listed, LongList) else listed, list[KnownFailure])
    day = session.timestamp[:10] or None
    failed = (run for run in session.runs if run.status not in ("success", "excluded"))
    return [KnownFailure(run.task_id, run.run, run.status, run.reason, day) for run in failed]


def build_baseline(summary: Summary, known: KnownFailures) -> Summary:
    """The baseline for later sessions: a summary that lists all failures known by now."""
    entries = to_builtins(list(known.add(summary.task_results, summary.timestamp[:10]).entries))
    webeval = {name: value for name, value in summary.webeval.items() if name not in ("baseline", "gates")}
    return summary.with_changes(webeval=webeval | {"known_failures": entries})


def add_comparison(summary: Summary, comparison: SessionComparison) -> Summary:
    """The summary with what changed under `webeval.baseline`, and whether the two can be compared at all."""
    before, after = comparison.before, comparison.after
    content = comparison.to_json()
    fields = {
        "timestamp": before.timestamp,
        "success_rate": content["before"]["success_rate"],
        "rules": before.rules,
        "partial": before.partial,
        "same_rules": have_same_rules(before, after),
        "same_evaluators": is_covered(before.evaluators, after.evaluators),
        "same_tasks": is_covered(before.tasks, after.tasks),
    }
    fields |= {kind.value: [pair.after.run for pair in comparison.by_kind[kind]] for kind in FLIPS}
    fields |= {"new": [run.run for run in comparison.extra], "gone": [run.run for run in comparison.missing]}
    fields |= {name: content[name] for name in ("sentence", "is_regression", "overall", "sites", "problems")}
    fields["changes"] = [change for change in content["changes"] if change["kind"] in _CHANGED]
    return summary.with_changes(webeval=summary.webeval | {"baseline": fields})


def restrict_comparison(summary: Summary, part: Summary) -> Summary:
    """The summary of some runs, with the part of the session's comparison that is about them."""
    runs, comparison = {row["run"] for row in part.task_results}, summary.webeval["baseline"]
    names = (*(kind.value for kind in FLIPS), "new")
    of_runs: dict[str, Any] = {name: [run for run in comparison[name] if run in runs] for name in names}
    of_runs["changes"] = [change for change in comparison["changes"] if change["run"] in runs]
    return part.with_changes(webeval=part.webeval | {"baseline": comparison | of_runs})


def flip_by_run(webeval: Mapping[str, Any]) -> dict[str, str]:
    """The kind of change by the label of each run that flipped, of what stands under `webeval` in a summary."""
    comparison = webeval.get("baseline") or {}
    return {run: kind.value for kind in FLIPS for run in comparison.get(kind.value, ())}
