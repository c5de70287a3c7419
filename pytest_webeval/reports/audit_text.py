"""The audit of tasks as text: a paragraph for each task with findings, and a line that counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from pytest_webeval.authoring.audit.findings import NO_PASSING_RUN, Finding, TaskAudit
from pytest_webeval.results import SCHEMA_VERSION
from pytest_webeval.safety.text import list_first, pluralize, to_line

LONGEST = 400  # characters of a line about a finding
MOST_NAMED = 20  # tasks


def count_findings(audits: Iterable[TaskAudit]) -> int:
    """How many findings there are, without notes."""
    return sum(len(audit.findings) for audit in audits)


def list_unsolved(audits: Iterable[TaskAudit]) -> list[str]:
    """The ids of tasks that have runs of which none passes: the definition may be wrong, or every agent."""
    return [str(audit.task_id) for audit in audits if any(note.kind == NO_PASSING_RUN for note in audit.notes)]


def format_audits(audits: Sequence[TaskAudit], *, has_notes: bool = False) -> str:
    """All findings, what was not audited in time, on request all notes, tasks without a passing run, and counts."""
    lines = [line for audit in audits for line in format_audit(audit, has_notes=has_notes)]
    counts = Counter(each.kind for audit in audits for each in _list_shown(audit, has_notes=has_notes))
    if counts:
        width = len(f"{max(counts.values()):,}")
        lines += ["", *(f"{count:>{width},} {kind}" for kind, count in sorted(counts.items()))]
    if tasks := list_unsolved(audits):
        names = list_first(tasks, MOST_NAMED, lambda name: to_line(name, 80), " and {:,} more")
        problem = f"no run passes of {pluralize(len(tasks), 'task')}: {names}"
        lines.append(f"{problem}; add a run that solves it, or correct the definition")
    with_findings = sum(bool(audit.findings) for audit in audits)
    trials, notes = sum(audit.trials for audit in audits), sum(len(audit.notes) for audit in audits)
    audited = f"{pluralize(len(audits), 'task')} audited with {pluralize(trials, 'trial')}"
    findings = f"{pluralize(count_findings(audits), 'finding')} in {pluralize(with_findings, 'task')}"
    return "\n".join([*lines, f"{audited}: {findings}, {pluralize(notes, 'note')}"])


def format_audit(audit: TaskAudit, *, has_notes: bool = False) -> list[str]:
    """The lines about a task; none if there is nothing to say."""
    findings = _list_shown(audit, has_notes=has_notes)
    if not findings:
        return []
    runs = f", {pluralize(len(audit.runs), 'run')}" if audit.runs else ""
    head = f"task {to_line(str(audit.task_id), 80)} ({pluralize(audit.trials, 'trial')}{runs})"
    return [head, *map(format_finding, findings)]


def _list_shown(audit: TaskAudit, *, has_notes: bool) -> list[Finding]:
    return [*audit.findings, *(audit.notes if has_notes else audit.unfinished)]


def format_finding(finding: Finding) -> str:
    """One indented line: the kind, where the finding is, and a sentence."""
    place = " ".join(filter(None, [finding.evaluator, finding.field]))
    mark = "note " if finding.is_note else ""
    return f"  {mark}{finding.kind}{f' @ {to_line(place, 120)}' if place else ''}: {to_line(finding.text, LONGEST)}"


def audits_to_json(audits: Sequence[TaskAudit], rules: str) -> dict[str, Any]:
    """The audit as plain JSON."""
    return {
        "schema_version": SCHEMA_VERSION,
        "rules": rules,
        "task_count": len(audits),
        "finding_count": count_findings(audits),
        "note_count": sum(len(audit.notes) for audit in audits),
        "tasks": [audit.to_json() for audit in audits],
    }
