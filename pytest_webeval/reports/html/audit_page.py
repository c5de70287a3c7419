"""The audit of tasks as one page of static HTML, which needs no script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_webeval.authoring.audit.findings import KINDS
from pytest_webeval.reports.html.writer import AUDIT, STATIC_POLICY, check_static_page, render_template, write_style
from pytest_webeval.safety.text import pluralize
from pytest_webeval.scoring.provenance import own_version
from pytest_webeval.storage import write_text

_ADVICE = "choose another directory"
ROWS_ON_PAGE = 5_000  # of each table; the JSON of the audit has all


def write_audit_page(content: Mapping[str, Any], directory: Path) -> Path:
    """Write audit.html with its style into a directory, and return its path. Raises `SettingsError`."""
    path = directory / AUDIT
    check_static_page(path)
    write_text(path, render_template("audit.html.jinja", _build_view(content)), advice=_ADVICE)
    write_style(directory)
    return path


def _build_view(content: Mapping[str, Any]) -> dict[str, Any]:
    tasks, noun = content["tasks"], "finding" if content["finding_count"] == 1 else "findings"
    with_findings = sum(bool(task["findings"]) for task in tasks)
    return {
        "rules": content["rules"],
        "tasks": pluralize(content["task_count"], "task"),
        "trials": pluralize(sum(task["trials"] for task in tasks), "trial"),
        "finding_count": content["finding_count"],
        "in_tasks": f"{noun} in {pluralize(with_findings, 'task')}",
        "tables": [_build_table("findings", "Findings", tasks), _build_table("notes", "Notes", tasks)],
        "version": own_version(),
        "policy": STATIC_POLICY,
    }


def _build_table(name: str, title: str, tasks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The rows of all tasks, and how many there are of each kind in the order of the table of kinds."""
    rows = [row for task in tasks for row in task[name]]
    counts = Counter(row["kind"] for row in rows)
    return {
        "id": name,
        "title": title,
        "kinds": [(kind, counts[kind]) for kind in KINDS if counts[kind]],
        "rows": rows[:ROWS_ON_PAGE],
        "more": len(rows[ROWS_ON_PAGE:]),
        "count": len(rows),
    }
