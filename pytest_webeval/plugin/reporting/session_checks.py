"""What a session must reach: gates and the comparison with a baseline, and the exit code that follows from them."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest
from msgspec import Struct
from msgspec import field

from pytest_webeval.errors import SettingsError
from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.plugin.collection.missing_tasks import MISSING_TASKS
from pytest_webeval.plugin.settings import Settings
from pytest_webeval.plugin.workspace import ITEMS
from pytest_webeval.plugin.workspace import Workspace
from pytest_webeval.results import Summary
from pytest_webeval.safety.text import pluralize
from pytest_webeval.storage import remove
from pytest_webeval.storage import write_json
from pytest_webeval.storage import write_long_json
from pytest_webeval.summary.baseline import Baseline
from pytest_webeval.summary.baseline import KnownFailures
from pytest_webeval.summary.baseline import add_comparison
from pytest_webeval.summary.baseline import build_baseline
from pytest_webeval.summary.baseline import restrict_comparison
from pytest_webeval.summary.gates import Gate
from pytest_webeval.summary.gates import GateCase
from pytest_webeval.summary.gates import build_gates
from pytest_webeval.summary.scored_session import session_of
from pytest_webeval.summary.session_comparison import SessionComparison
from pytest_webeval.tasks.dataset import id_order
from pytest_webeval.tasks.subset import Subset

BASELINE, ALWAYS = "--webeval-baseline", "failure"


class SessionChecks(Struct, eq=False):
    """Plugin of the controller."""

    workspace: Workspace
    baseline: Baseline | None
    gates: list[Gate]
    has_other_failure: bool = False  # a test failed that is not the verdict on a task
    comparison: SessionComparison | None = None
    notes: list[str] = field(default_factory=list)  # lines about written files

    @classmethod
    def of(cls, workspace: Workspace) -> SessionChecks:
        """Read the baseline and the gates. Raises `SettingsError`."""
        settings = workspace.settings
        gates = build_gates(settings.gate, settings.min_success, settings.fail_on)
        _check_settings(settings, gates)
        return cls(workspace, workspace.baseline, gates)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember a failure that no gate can excuse: of a Python test, or of the clean-up after a task."""
        if report.failed:
            label, _, name = report.nodeid.rpartition("::")
            is_verdict = name in ITEMS and self.workspace.labels.path_of(label) is not None
            self.has_other_failure |= report.when == "teardown" or not is_verdict

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember an error of collection."""
        self.has_other_failure |= report.failed

    def finish(
        self,
        summary: Summary,
        session: pytest.Session,
        attempt: Callable[[Callable[[], None]], bool],
        is_disturbed: bool,  # noqa: FBT001
    ) -> Summary:
        """The checked summary. Writes what follows from it, and sets the exit code.

        A session that was `is_disturbed`, stopped or without one of its files, is never green.
        """
        checked = self.apply(summary)
        session.exitstatus = self.decide(session.exitstatus, checked, is_disturbed=is_disturbed)
        for write in (self.write_baseline, self.write_subset):
            if not attempt(partial(write, checked)):
                session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        return checked

    def apply(self, summary: Summary) -> Summary:
        """The summary with the comparison and the gates."""
        if self.baseline is not None:
            self.comparison = SessionComparison(self.baseline.session, session_of(summary))
            summary = add_comparison(summary, self.comparison)
        if self.gates:
            case = GateCase(session_of(summary), self.comparison, self._list_missing(summary), self._is_first)
            lines = [gate.evaluate(case).to_json() for gate in self.gates]
            summary = summary.with_changes(webeval=summary.webeval | {"gates": lines})
        return summary

    def restrict(self, summary: Summary, part: Summary) -> Summary:
        """The summary of the runs of one root, with the part of the comparison that is about them."""
        return part if self.baseline is None else restrict_comparison(summary, part)

    @property
    def _is_first(self) -> bool:
        """Whether this session writes the first baseline."""
        return self.baseline is None and self.workspace.settings.baseline_update

    def _list_missing(self, summary: Summary) -> list[int | str]:
        """The expected tasks without a verdict: of the subset, or of the definitions."""
        try:
            expected: Iterable[int | str] = self.workspace.config.stash[MISSING_TASKS].expected()
        except TaskDefinitionError:
            expected = ()
        unrecorded = {row["run"] for row in summary.task_results if row["reason"] and "unrated" in row}
        judged = {str(row["task_id"]) for row in summary.task_results if row["status"] != "excluded"}
        missing = [task_id for task_id in expected if str(task_id) not in judged]
        return missing + [row["task_id"] for row in summary.task_results if row["run"] in unrecorded]

    def decide(self, status: int, summary: Summary, *, is_disturbed: bool) -> int:
        """The exit code."""
        settings = self.workspace.settings
        if not all(line["passed"] for line in summary.webeval.get("gates", ())):
            return status or pytest.ExitCode.TESTS_FAILED
        is_excused = (settings.gates_decide or settings.fail_on != ALWAYS) and not self.has_other_failure
        if status == pytest.ExitCode.TESTS_FAILED and is_excused and not is_disturbed:
            return pytest.ExitCode.OK
        return status

    def write_baseline(self, summary: Summary) -> None:
        """Replace the baseline by this session. Raises `SettingsError`."""
        path = self.workspace.settings.baseline
        if path is None or not self.workspace.settings.baseline_update:
            return
        if summary.webeval["partial"]:
            raise SettingsError(f"baseline not written: the session is partial; score all runs to update {path}")
        known = self.baseline.known_failures if self.baseline is not None else KnownFailures([])
        write_long_json(path, build_baseline(summary, known).to_json(), self.workspace.settings.sync)
        self.notes.append(f"baseline: {path}")

    def write_subset(self, summary: Summary) -> None:
        """Write the tasks without success. Raises `SettingsError`."""
        path = self.workspace.settings.write_subset
        if path is None:
            return
        subset = Subset(path.name, tuple(sorted(list_unsuccessful(summary), key=id_order)))
        if not subset.task_ids:
            remove(path)
            self.notes.append(f"no subset written, for all tasks succeeded: {path}")
            return
        write_json(path, {"task_ids": list(subset.task_ids), "checksum": subset.checksum}, self.workspace.settings.sync)
        self.notes.append(f"subset of {pluralize(len(subset.task_ids), 'task')} without success: {path}")


def list_unsuccessful(summary: Summary) -> list[int | str]:
    """The tasks of which a run did not succeed, each once."""
    rows: list[dict[str, Any]] = summary.task_results
    return list({str(row["task_id"]): row["task_id"] for row in rows if row["status"] != "success"}.values())


def _check_settings(settings: Settings, gates: Iterable[Gate]) -> None:
    """Raise `SettingsError` if options lack another one."""
    baseline = settings.baseline
    if baseline is None:
        needing = [f"the gate {gate.text!r}" for gate in gates if gate.needs_baseline]
        needing += [f"--webeval-{name}" for name in ("baseline-update", "known-failures") if _is_on(settings, name)]
        if needing:
            raise SettingsError(f"{needing[0]} requires a baseline; pass {BASELINE}=FILE")
    elif not settings.baseline_update and not baseline.is_file():
        raise SettingsError(f"{BASELINE}: file not found: {baseline}; check the path")
    if settings.gates_decide and not gates:
        raise SettingsError("--webeval-gates-decide requires gates; pass --webeval-gate, or --webeval-fail-on=none")


def _is_on(settings: Settings, name: str) -> bool:
    return bool(getattr(settings, name.replace("-", "_")))
