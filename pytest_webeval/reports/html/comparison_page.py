"""The comparison of sessions as one page of static HTML, which needs no script."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_webeval.reports.comparison_text import TABLES
from pytest_webeval.reports.comparison_text import describe_causes
from pytest_webeval.reports.comparison_text import find_reason
from pytest_webeval.reports.comparison_text import format_counts
from pytest_webeval.reports.comparison_text import format_group_difference
from pytest_webeval.reports.comparison_text import format_group_p
from pytest_webeval.reports.comparison_text import format_rate
from pytest_webeval.reports.comparison_text import group_by_kind
from pytest_webeval.reports.comparison_text import list_facts
from pytest_webeval.reports.comparison_text import spell
from pytest_webeval.reports.html.writer import COMPARISON
from pytest_webeval.reports.html.writer import STATIC_POLICY
from pytest_webeval.reports.html.writer import check_static_page
from pytest_webeval.reports.html.writer import render_template
from pytest_webeval.reports.html.writer import write_style
from pytest_webeval.safety.text import pluralize
from pytest_webeval.safety.text import truncate
from pytest_webeval.scoring.provenance import own_version
from pytest_webeval.storage import write_text

_ADVICE = "choose another directory"
_PIECE = 100  # changes that the browser lays out together
_LONGEST = 300  # characters of a reason
_BADGES = {"regressed": "failure", "newly_erring": "error", "fixed": "success"}


def write_comparison_page(content: Mapping[str, Any], directory: Path) -> Path:
    """Write comparison.html with its style into a directory, and return its path. Raises `SettingsError`."""
    path = directory / COMPARISON
    check_static_page(path)
    view = {
        "comparisons": [_build_view(comparison) for comparison in content["comparisons"]],
        "gates": content["gates"],
        "version": own_version(),
        "policy": STATIC_POLICY,
    }
    write_text(path, render_template("comparison.html.jinja", view), advice=_ADVICE)
    write_style(directory)
    return path


def _build_view(comparison: Mapping[str, Any]) -> dict[str, Any]:
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
            (label, [_build_row(group) for group in comparison[name]])
            for name, label in TABLES.items()
            if len(comparison[name]) > 1
        ],
        "changes": [_build_changes(kind, listed) for kind, listed in group_by_kind(comparison["changes"]).items()],
        "problems": comparison["problems"],
    }


def _build_session(session: Mapping[str, Any]) -> dict[str, Any]:
    rate = "no judged run" if session["success_rate"] is None else format_rate(session)
    return {**session, "rate_text": rate, "errors": pluralize(session["error_count"], "error")}


def _build_row(group: Mapping[str, Any]) -> dict[str, Any]:
    sides = [format_counts(group[side]) for side in ("before", "after")]
    return {**group, "sides": sides, "difference_text": format_group_difference(group), "p_text": format_group_p(group)}


def _build_changes(kind: str, listed: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    rows = [_build_change(change) for change in listed]
    pieces = [rows[start : start + _PIECE] for start in range(0, len(rows), _PIECE)]
    return {
        "kind": kind,
        "name": spell(kind),
        "count": len(rows),
        "pieces": pieces,
    }


def _build_change(change: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "task_id": change["task_id"],
        "site": change["site"],
        "verdicts": [each["status"] for each in (change["before"], change["after"]) if each is not None],
        "causes": describe_causes(change) if change["causes"] else "",
        "reason": truncate(find_reason(change), _LONGEST),
    }
