"""What a session must reach: gates and the comparison with a baseline, and the exit code that follows from them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Self

from msgspec import Struct, field, structs

from pytest_webeval.errors import SettingsError
from pytest_webeval.recordings.labels import default_task_id
from pytest_webeval.results import SUMMARY, Summary
from pytest_webeval.safety.text import pluralize
from pytest_webeval.sessions.settings.settings import Settings
from pytest_webeval.sessions.workspace.missing_tasks import MissingTasks
from pytest_webeval.sessions.workspace.workspace import Workspace
from pytest_webeval.storage import write_json
from pytest_webeval.summary.comparison.baseline import (
    OPTION,
    Baseline,
    KnownFailures,
    add_comparison,
    build_baseline,
    restrict_comparison,
)
from pytest_webeval.summary.comparison.gate_checks import GateCase, format_lost_tasks, name_tasks
from pytest_webeval.summary.comparison.gates import COMPLETE, Gate, find_baseline_problem
from pytest_webeval.summary.comparison.session_comparison import SessionComparison
from pytest_webeval.summary.scored_session import ScoredSession, session_of
from pytest_webeval.summary.summary_file import write_summary
from pytest_webeval.tasks.dataset import id_order
from pytest_webeval.tasks.subset import Subset

PASSED, FAILED, INTERRUPTED, NO_RUNS = 0, 1, 2, 5  # exit codes, as pytest has them


class SessionChecks(Struct, eq=False):
    """One per session, in the process that sums up.

    `selection` says how the session selects some of its runs; None if it scores all.
    """

    workspace: Workspace
    missing: MissingTasks
    baseline: Baseline | None
    gates: list[Gate]
    selection: str | None = None
    has_other_failure: bool = False  # a test failed that is not the verdict on a task
    comparison: SessionComparison | None = None
    notes: list[str] = field(default_factory=list)  # lines about written files and the exit code

    @classmethod
    def of(cls, workspace: Workspace, missing: MissingTasks, selection: str | None = None) -> Self:
        """Read the baseline and the gates. Raises `WebEvalError`, also for a typed gate where runs are selected."""
        _check_baseline_path(workspace.settings)
        checks = cls(workspace, missing, workspace.baseline, list(workspace.settings.gate), selection)
        checks.check_baseline()
        if selection is not None and any(gate.is_typed for gate in checks.gates):
            raise SettingsError(f"{selection}, --webeval-gate judges all; remove one")
        return checks

    def check_baseline(self, task_ids: Iterable[str] | None = None) -> None:
        """Raise `SettingsError` if the baseline cannot serve for a session with some tasks, or else for any session."""
        if self.baseline is None:
            return
        problem = find_baseline_problem(self.gates, self._before, self.workspace.settings.attempts, task_ids)
        if problem is not None:
            raise SettingsError(problem)

    @property
    def _before(self) -> ScoredSession:
        """The part of the baseline that is about the tasks of the session."""
        assert self.baseline is not None  # noqa: S101  (as who asks knows)
        subset, earlier = self.workspace.tasks.subset, self.baseline.session
        return earlier if subset is None else earlier.select(subset.task_ids)

    def note_unscored(self) -> bool:
        """Note that gates are not evaluated in a session that scored no run; False without gates."""
        if self.gates:
            self.notes.append("gates not evaluated: no run was scored")
        return bool(self.gates)

    def list_writes(self, summary: Summary) -> list[Callable[[], None]]:
        """What is to be written that follows from a checked summary. Each raises `SettingsError`."""
        return [partial(write, summary) for write in (self._write_baseline, self._write_subset)]

    def check(self, summary: Summary) -> Summary:
        """The summary with the comparison and the gates. Those of a configuration file judge no selection of runs."""
        if self.gates and self.selection is not None and summary.webeval["partial"]:
            self.gates.clear()
            self.notes.append(f"gates not evaluated: {self.selection}")
        if self.baseline is not None:
            self.comparison = SessionComparison(self._before, session_of(summary))
            summary = add_comparison(summary, self.comparison)
        if not self.gates:
            return summary
        case = self._build_case(summary)
        lines = [gate.evaluate(case).to_json() for gate in self.gates]
        return summary.with_changes(webeval=summary.webeval | {"gates": lines})

    def _build_case(self, summary: Summary) -> GateCase:
        """What the gates check. A shard is a part of the session by intention."""
        session = self.comparison.after if self.comparison is not None else session_of(summary)
        if self.workspace.settings.shard is not None:
            session = structs.replace(session, partial=False)
        return GateCase(
            session,
            self.comparison,
            self._list_missing(session),
            summary.webeval["unscored_count"],
            self.workspace.settings.attempts,
            summary.webeval.get("judging"),
        )

    def restrict(self, summary: Summary, part: Summary) -> Summary:
        """The summary of the runs of one root, with the part of the comparison that is about them."""
        return part if self.baseline is None else restrict_comparison(summary, part)

    def _list_missing(self, session: ScoredSession) -> list[int | str]:
        """The expected tasks without a run; none where no gate asks for them."""
        if self.workspace.settings.shard is not None or all(gate.text != COMPLETE for gate in self.gates):
            return []
        recorded = {str(run.task_id) for run in session.runs} - set(map(str, self.missing.by_path.values()))
        return [task_id for task_id in self.missing.expected() if str(task_id) not in recorded]

    def decide_exit_code(self, code: int, summary: Summary) -> int:
        """The exit code of a session that had this one. A disturbed session is never green."""
        if lost := self._list_lost(summary):
            problem = f"{pluralize(len(lost), 'task')} of the baseline without a run{name_tasks(lost)}"
            self.notes.append(f"--webeval-known-failures: {problem}; record them, or remove them from the baseline")
            self.has_other_failure, code = True, code or FAILED
        if not _have_passed(summary):
            return code or FAILED
        if code == FAILED and self.gates and not self.has_other_failure:
            self.notes.append("gates alone decide: failed tasks do not count for the exit code")
            return PASSED
        return code

    def _list_lost(self, summary: Summary) -> list[int | str]:
        """The tasks of a baseline with known failures that a session over all runs has not: none of them fails."""
        if self.baseline is None or self.workspace.known_failures is None or summary.webeval["partial"]:
            return []
        subset = self.workspace.tasks.subset
        task_ids = (row["task_id"] for row in summary.task_results)
        return self.baseline.list_lost_tasks(task_ids, None if subset is None else subset.task_ids)

    def _write_baseline(self, summary: Summary) -> None:
        """Replace the baseline by this session."""
        path = self.workspace.settings.baseline
        if path is None or not self.workspace.settings.baseline_update:
            return
        if problem := self._find_obstacle(summary):
            raise SettingsError(f"baseline {path} not written: {problem}")
        known = self.baseline.known_failures if self.baseline is not None else KnownFailures([])
        write_summary(path, build_baseline(summary, known), self.workspace.settings.sync)
        self.notes.append(f"baseline: {path}")

    def _find_obstacle(self, summary: Summary) -> str | None:
        """Why the session cannot replace the baseline."""
        if summary.webeval["partial"] or summary.webeval["subset"]:
            return "the session is partial; score all runs to update it"
        if not _have_passed(summary):
            return "a gate failed; leave the gate out to accept these results"
        if self.comparison is not None and (lost := format_lost_tasks(self.comparison)):
            return f"{lost}; record them, or delete the file to start again"
        return "the session had other problems; solve them to update it" if self.has_other_failure else None

    def _write_subset(self, summary: Summary) -> None:
        """Write the tasks without success."""
        path = self.workspace.settings.write_subset
        if path is None:
            return
        ids = self._list_unsuccessful(summary)
        subset = Subset(path.name, tuple(sorted(ids, key=id_order)))
        if ids:
            content = {"task_ids": list(subset.task_ids), "checksum": subset.checksum}
            write_json(path, content, self.workspace.settings.sync)
            self.notes.append(f"subset of {pluralize(len(ids), 'task')} without success: {path}")
        else:
            self.notes.append(f"no subset written, for all tasks succeeded: {path}")

    def _list_unsuccessful(self, summary: Summary) -> list[int | str]:
        """The tasks of which a run did not succeed or was not scored, each once."""
        unscored = filter(None, map(self.workspace.labels.path_of, summary.webeval["unscored"]))
        rows = summary.task_results
        ids = [*map(default_task_id, unscored), *(row["task_id"] for row in rows if row["status"] != "success")]
        return list({str(task_id): task_id for task_id in ids}.values())


def _have_passed(summary: Summary) -> bool:
    return all(line["passed"] for line in summary.webeval.get("gates", ()))


def _check_baseline_path(settings: Settings) -> None:
    """Raise `SettingsError` if the baseline is not there, or is what the session writes."""
    path = settings.baseline
    if path is None:
        return
    if (summary := _find_own_summary(path, settings)) is not None:
        raise SettingsError(f"{OPTION}: this session writes {summary}; copy it to another directory")
    if not (settings.baseline_update or path.exists()):
        raise SettingsError(f"{OPTION}: not found: {path}; name a summary or a directory of results")


def _find_own_summary(path: Path, settings: Settings) -> Path | None:
    """The summary or directory of results that is a baseline and that the session writes; None if there is none."""
    directories = (settings.output, settings.report) if settings.output else (*settings.roots, settings.report)
    own = [Path(os.path.realpath(directory)) for directory in directories if directory is not None]
    real = Path(os.path.realpath(path))
    if not real.is_dir():
        return path if real.parent in own and real.name == SUMMARY else None
    if (real / SUMMARY).exists():
        return path / SUMMARY if real in own else None
    return path if any(real.is_relative_to(directory) or directory.is_relative_to(real) for directory in own) else None
