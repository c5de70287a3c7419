"""Audits of tasks as items: `runs/108::audit` fails with what is wrong with the task of the run.

Options of scoring have no effect on such a session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import Struct, field

from pytest_webeval.errors import RecordingError, SettingsError, TaskDefinitionError, TaskFailed, WebEvalError
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.plugin.workspace import TASK_AUDITS, WORKSPACE, PytestWorkspace
from pytest_webeval.safety.text import pluralize, sanitize
from pytest_webeval.sessions.judge_options import JUDGE_OPTIONS
from pytest_webeval.sessions.options import OPTIONS
from pytest_webeval.tasks.dataset import TaskSet

if TYPE_CHECKING:
    from pytest_webeval.authoring.audit.findings import TaskAudit
    from pytest_webeval.authoring.audit.suite_audit import SuiteAudit

FINDINGS, NOTES, TRIALS = "webeval_findings", "webeval_notes", "webeval_trials"  # properties of a report


AUDIT = "webeval audit"
ALLOW = "use --webeval-audit-most"
SCORES = "leave it out: no run is scored"
# Options that have no effect on such a session, with what to do instead, by their names.
WITHOUT_EFFECT = {
    "output": f"use `{AUDIT} --json`",
    "report": f"use `{AUDIT} --report`",
    "report_embed": f"use `{AUDIT} --report`",
    "history": f"use `{AUDIT} --report`",
    "metrics": f"use `{AUDIT} --json`",
    "gitlab_metrics": f"use `{AUDIT} --json`",
    "baseline": ALLOW,
    "baseline_update": ALLOW,
    "known_failures": ALLOW,
    "gate": ALLOW,
    "evaluators": "leave it out: all evaluators are audited",
    **{option.name: "leave it out: no judge is asked" for option in JUDGE_OPTIONS},
    "write_subset": SCORES,
    "durations": "use --durations",
    "reuse": SCORES,
    "fsync": SCORES,
    "criterion": SCORES,
    "rubric_threshold": SCORES,
    "score_file": SCORES,
    "verdicts": SCORES,
    "labels": SCORES,
    "label_coding": SCORES,
    "over_budget": SCORES,
    "aborted": SCORES,
}


def check_options(config: pytest.Config) -> None:
    """Raise `SettingsError` for an option on the command line that would do nothing. Ini keys are for all sessions."""
    arguments = [str(argument) for argument in config.invocation_params.args]
    for option in OPTIONS:
        if option.name in WITHOUT_EFFECT and any(each.partition("=")[0] == option.flag for each in arguments):
            problem = f"{option.flag} has no effect with --webeval-audit-tasks"
            raise SettingsError(f"{problem}; {WITHOUT_EFFECT[option.name]}")


class TaskAudits(Struct, frozen=True, eq=False, dict=True):
    """The audits of a session, one for each file of tasks."""

    workspace: PytestWorkspace
    _audits: dict[int, SuiteAudit] = field(default_factory=dict)

    @property
    def test(self) -> Callable[[pytest.FixtureRequest], None]:
        """The test function of all items."""
        return audit

    @cached_property
    def _first_paths(self) -> frozenset[Path]:
        """Of each task the first run in the order of collection."""
        paths: dict[tuple[Path | None, str], Path] = {}
        for path in self.workspace.run_paths:
            with suppress(RecordingError):
                paths.setdefault((self._root(path), str(self.workspace.load(path).task_id)), path)
        return frozenset(paths.values())

    def is_first(self, path: Path) -> bool:
        """Whether a run is the first one of its task, whose item stands for the task."""
        return path in self._first_paths

    def _root(self, path: Path) -> Path | None:
        """The root whose tasks a run is about; None where an option names the tasks of all."""
        return None if self.workspace.settings.tasks else self.workspace.labels.root_of(path)

    def audit(self, path: Path, task_id: int | str, evaluators: Mapping[str, Evaluator]) -> TaskAudit:
        """The audit of the task of a run. Raises `TaskDefinitionError` if nobody defines it."""
        tasks = self.workspace.tasks.in_root(self.workspace.labels.root_of(path) or path)
        if tasks is None or task_id not in tasks:
            label = self.workspace.labels.of(path)
            raise TaskDefinitionError(f"no task definition for {label}; name one with --webeval-tasks")
        if id(tasks) not in self._audits:
            self._audits[id(tasks)] = self._build(tasks, self._root(path))
        return self._audits[id(tasks)].audit_one(task_id, evaluators)

    def _build(self, tasks: TaskSet, root: Path | None) -> SuiteAudit:
        from pytest_webeval.authoring.audit.suite_audit import SuiteAudit  # only for an option
        from pytest_webeval.authoring.audit.task_audit import AuditSettings

        settings, runs = self.workspace.settings, []
        for path in self.workspace.run_paths:
            if root is None or self.workspace.labels.root_of(path) == root:
                with suppress(RecordingError):
                    runs.append(self.workspace.load(path))
        evaluators = _by_name(default_evaluators())
        parts = settings.rules, self.workspace.sites, evaluators, settings.today, settings.timeout
        return SuiteAudit(tasks, AuditSettings(*parts), runs)


def _by_name(evaluators: list[Evaluator]) -> dict[str, Evaluator]:
    return {evaluator.name: evaluator for evaluator in evaluators}


def audit(request: pytest.FixtureRequest) -> None:
    """Audit the task of the run and fail with the findings."""
    from pytest_webeval.reports.audit_text import format_finding  # only for an option

    item: Any = request.node
    audits, workspace = request.config.stash[TASK_AUDITS], request.config.stash[WORKSPACE]
    try:
        task = audits.audit(item.path, item.task_id, _find_evaluators(request))
    except TaskDefinitionError as error:
        if workspace.load(item.path).is_trajectory:  # which needs none
            pytest.skip(sanitize(f"not audited: {error}"))
        raise
    counts = {TRIALS: task.trials, FINDINGS: len(task.findings), NOTES: len(task.notes)}
    item.user_properties.extend(counts.items())
    if task.unfinished and not task.findings:
        pytest.skip(sanitize(f"not audited: {task.unfinished[0].text}"))
    if not task.trials and not task.findings:
        pytest.skip(sanitize(f"not audited: no expectation of task {task.task_id} can be checked without a judge"))
    if task.findings:
        head = f"{pluralize(len(task.findings), 'finding')} of {pluralize(task.trials, 'trial')} by the rules "
        lines = [f"{head}{workspace.run(item.path).rules.name}", *map(format_finding, task.findings)]
        raise TaskFailed("\n".join(lines))


def _find_evaluators(request: pytest.FixtureRequest) -> dict[str, Evaluator]:
    """The evaluators of the fixture, or the usual ones for a run that cannot be read."""
    try:
        values = request.getfixturevalue("webeval_evaluators")
    except WebEvalError:
        return _by_name(default_evaluators())
    return _by_name([value if isinstance(value, Evaluator) else value.evaluator for value in values])
