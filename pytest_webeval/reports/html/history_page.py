"""The history of sessions as one page of static HTML, which needs no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_webeval.reports.history_text import (
    count_lost,
    describe_legend,
    describe_sessions,
    describe_tasks,
    find_ends,
    format_interval,
    format_rate,
    format_time,
    label_sessions,
    list_series,
)
from pytest_webeval.reports.html.charts import HEIGHT, STRIP_HEIGHT, WIDTH, draw_outcomes, draw_rates
from pytest_webeval.reports.html.writer import HISTORY, STATIC_POLICY, check_static_page, render_template, write_style
from pytest_webeval.scoring.provenance import own_version
from pytest_webeval.storage import write_text

FLIPS_ON_PAGE, GROUPS_ON_PAGE, PROBLEMS_ON_PAGE = 200, 24, 20
SESSIONS_OPEN = 12  # rows of a table or list that is open at first
_ADVICE = "choose another directory"
_GROUPS = {"sites": "site", "folders": "run folder", "types": "task type", "templates": "intent template"}
_BADGES = {"success": "success", "failure": "failure", "error": "error"}


def write_history_page(content: Mapping[str, Any], directory: Path) -> Path:
    """Write history.html with its style into a directory, and return its path. Raises `SettingsError`."""
    path = directory / HISTORY
    check_static_page(path)
    write_text(path, render_template("history.html.jinja", _build_view(content)), advice=_ADVICE)
    write_style(directory)
    return path


def _build_view(content: Mapping[str, Any]) -> dict[str, Any]:
    sessions = _build_sessions(content["sessions"])
    problems = [*content.get("skipped", ()), *content["problems"]]
    return {
        "title": describe_sessions(content),
        "tasks": describe_tasks(content["tasks"]),
        "sessions": sessions,
        "latest": sessions[-1],
        "noted": [session for session in sessions if session["notes"]],
        "open_rows": SESSIONS_OPEN,
        "chart": draw_rates(content["sessions"]),
        "size": (WIDTH, HEIGHT, STRIP_HEIGHT),
        "groups": [group for name, label in _GROUPS.items() if (group := _build_group(content, name, label))],
        "flips": [_build_flip(flip) for flip in content["flips"][:FLIPS_ON_PAGE]],
        "more_flips": len(content["flips"][FLIPS_ON_PAGE:]),
        "legend": describe_legend(content["legend"]),
        "problems": problems[:PROBLEMS_ON_PAGE],
        "more_problems": len(problems[PROBLEMS_ON_PAGE:]),
        "version": own_version(),
        "policy": STATIC_POLICY,
    }


def _build_sessions(sessions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    column = WIDTH / len(sessions)
    return [
        {
            **session,
            "number": index + 1,
            "label": label,
            "time": format_time(session["timestamp"]),
            "rate": format_rate(session),
            "interval": format_interval(session),
            "start": f"{index * column:.1f}",
            "width": f"{column:.1f}",
        }
        for index, (session, label) in enumerate(zip(sessions, label_sessions(sessions), strict=True))
    ]


def _build_group(content: Mapping[str, Any], name: str, label: str) -> dict[str, Any] | None:
    """The small charts of all sites, or of all names of another kind; None where they say nothing."""
    series = list_series(content, name)
    if not series:
        return None
    charts = [_build_series(name, counts) for name, counts in series[:GROUPS_ON_PAGE]]
    return {"id": name, "label": label, "plural": f"{label}s", "charts": charts, "count": len(series)}


def _build_series(name: str, counts: Sequence[Mapping[str, Any] | None]) -> dict[str, Any]:
    """A small chart, and a cell for each session."""
    cells = [_format_cell(each) for each in counts]
    first, last = map(format_rate, find_ends(counts))
    lost = count_lost(counts[-1])
    return {"name": name, "chart": draw_rates(counts), "cells": cells, "first": first, "last": last, "lost": lost}


def _format_cell(counts: Mapping[str, Any] | None) -> str:
    if counts is None or not counts["judged_count"]:
        return ""
    return f"{format_rate(counts)} ({counts['success_count']:,} of {counts['judged_count']:,})"


def _build_flip(flip: Mapping[str, Any]) -> dict[str, Any]:
    causes = ", ".join(f"{cause} {count:,}" for cause, count in flip["causes"].items())
    return {
        **flip,
        "causes": causes,
        "badge": _BADGES.get(flip["last_outcome"], "partial_match"),
        "paths": draw_outcomes(flip["outcomes"]),
    }
