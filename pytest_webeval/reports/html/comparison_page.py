"""The comparison of sessions as one page of static HTML, which needs no script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.reports.comparison_text import (
    TABLES,
    describe_causes,
    find_reason,
    format_counts,
    format_group_difference,
    format_group_p,
    format_group_rate,
    group_by_kind,
    list_facts,
    spell,
)
from pytest_webeval.reports.html.side_by_side.entries import (
    DETAILED,
    DetailsReader,
    SessionFiles,
    build_entry,
    select_tasks,
)
from pytest_webeval.reports.html.side_by_side.run_files import RecordingReader
from pytest_webeval.reports.html.writer import COMPARISON, PICTURE_POLICY, STATIC_POLICY, write_static_page
from pytest_webeval.safety.text import pluralize, truncate

_PIECE = 100  # changes that the browser lays out together
_LONGEST = 300  # characters of a reason
# Of checks and requests, by the state of their cells.
_SIGNS = {"passes": "✓", "fails": "✕", "match": "✓", "nearest": "✕"}
_ROLES = {"match": "matches", "nearest": "nearest"}
_DEFAULT_REDACTION = RedactionPolicy()
_BADGES = {"regressed": "failure", "newly_erring": "error", "fixed": "success"}


def write_comparison_page(
    content: Mapping[str, Any],
    directory: Path,
    files: Sequence[SessionFiles] = (),
    policy: RedactionPolicy = _DEFAULT_REDACTION,
) -> Path:
    """Write comparison.html with its style into a directory, and return its path. Raises `SettingsError`.

    `files` are those of all sessions, the earliest first: of changed tasks the page shows what differs in them. Nothing
    else is read of them, and what is read is redacted by `policy`.
    """
    reader = DetailsReader(directory, Redacting(policy, is_leaving=True), RecordingReader(directory))
    tasks = select_tasks(content, files) if files else {}
    built: set[str] = set()

    def build(number: int, run: str) -> dict[str, Any] | None:
        """The details for a row of a comparison; of a task that has them already, only their place on the page."""
        task = tasks.get((number, run))
        if task is None:
            return None
        if task.anchor in built:
            return {"anchor": task.anchor, "columns": []}
        built.add(task.anchor)
        return build_entry(task, files, reader)

    view = {
        "comparisons": [
            _build_view(comparison, partial(build, number)) for number, comparison in enumerate(content["comparisons"])
        ],
        "gates": content["gates"],
        "policy": PICTURE_POLICY if files else STATIC_POLICY,
        "has_files": bool(files),
        "most_tasks": len({task.anchor for task in tasks.values()}),
        "signs": _SIGNS,
        "roles": _ROLES,
    }
    return write_static_page(directory / COMPARISON, "comparison.html.jinja", view)


FindEntry = Callable[[str], dict[str, Any] | None]


def _build_view(comparison: Mapping[str, Any], find_entry: FindEntry) -> dict[str, Any]:
    overall = comparison["overall"]
    return {
        "before": _build_session(comparison["before"]),
        "after": _build_session(comparison["after"]),
        "sentence": comparison["sentence"],
        "kinds": [
            (spell(name), count, _BADGES.get(name, "excluded"), name) for name, count in comparison["kinds"].items()
        ],
        "facts": list(list_facts(overall)),
        "tables": [
            (
                label,
                [
                    {
                        **group,
                        "sides": [format_counts(group[side]) for side in ("before", "after")],
                        "difference_text": format_group_difference(group),
                        "p_text": format_group_p(group),
                    }
                    for group in comparison[name]
                ],
            )
            for name, label in TABLES.items()
            if len(comparison[name]) > 1
        ],
        "changes": [
            _build_changes(kind, listed, find_entry) for kind, listed in group_by_kind(comparison["changes"]).items()
        ],
        "problems": comparison["problems"],
    }


def _build_session(session: Mapping[str, Any]) -> dict[str, Any]:
    rate = "no judged run" if session["success_rate"] is None else format_group_rate(session)
    return {**session, "rate_text": rate, "errors": pluralize(session["error_count"], "error")}


def _build_changes(kind: str, listed: Sequence[Mapping[str, Any]], find_entry: FindEntry) -> dict[str, Any]:
    entries = [find_entry(change["run"]) if kind in DETAILED else None for change in listed]
    rows = [
        {
            "task_id": change["task_id"],
            "site": change["site"],
            "verdicts": [each["status"] for each in (change["before"], change["after"]) if each is not None],
            "causes": describe_causes(change) if change["causes"] else "",
            "reason": truncate(find_reason(change), _LONGEST),
            "entry": entry,
        }
        for change, entry in zip(listed, entries, strict=True)
    ]
    return {
        "kind": kind,
        "name": spell(kind),
        "count": len(rows),
        "pieces": [rows[start : start + _PIECE] for start in range(0, len(rows), _PIECE)],
        "without_details": entries.count(None) if kind in DETAILED else 0,
    }
