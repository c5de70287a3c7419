"""The history of sessions and the audit of tasks, each as one page of static HTML, which needs no script.

Charts are SVG paths: they stretch to any width, and their colours are classes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from pytest_webeval.authoring.audit.findings import KINDS
from pytest_webeval.reports.history_text import (
    count_lost,
    describe_legend,
    describe_sessions,
    describe_tasks,
    find_ends,
    format_rate,
    format_time,
    label_sessions,
    list_series,
)
from pytest_webeval.reports.html.writer import AUDIT, HISTORY, STATIC_POLICY, write_static_page
from pytest_webeval.reports.rates_text import format_interval
from pytest_webeval.safety.text import pluralize
from pytest_webeval.summary.comparison.history import Outcome

FLIPS_ON_PAGE, GROUPS_ON_PAGE, PROBLEMS_ON_PAGE = 200, 24, 20
SESSIONS_OPEN = 12  # rows of a table or list that is open at first
WIDTH, HEIGHT = 1000, 100  # of a chart of rates; a session is a column of it
STRIP_HEIGHT = 10
_WIDEST_MARK = 12  # of the interval of a session without neighbours
# The class of the colour and the height of each outcome: colour is not the only difference.
_BLOCKS: Mapping[str, tuple[str, int]] = {
    Outcome.SUCCESS.value: ("success", 10),
    Outcome.MIXED.value: ("partial_match", 7),
    Outcome.FAILURE.value: ("failure", 4),
    Outcome.ERROR.value: ("error", 4),
    Outcome.EXCLUDED.value: ("excluded", 2),
}
ROWS_ON_PAGE = 5_000  # of each table of an audit, whose JSON has all
_GROUPS = {"sites": "site", "folders": "run folder", "types": "task type", "templates": "intent template"}
_BADGES = {"success": "success", "failure": "failure", "error": "error"}


def write_history_page(content: Mapping[str, Any], directory: Path) -> Path:
    """Write history.html with its style into a directory, and return its path. Raises `SettingsError`."""
    sessions = _build_sessions(content["sessions"])
    problems = [*content.get("skipped", ()), *content["problems"]]
    view = {
        "title": describe_sessions(content),
        "tasks": describe_tasks(content["tasks"]),
        "sessions": sessions,
        "latest": sessions[-1],
        "noted": [session for session in sessions if session["notes"]],
        "open_rows": SESSIONS_OPEN,
        "chart": draw_rates(content["sessions"]),
        "size": (WIDTH, HEIGHT, STRIP_HEIGHT),
        "groups": [group for name, label in _GROUPS.items() if (group := _build_group(content, name, label))],
        "flips": [
            {
                **flip,
                "causes": ", ".join(f"{cause} {count:,}" for cause, count in flip["causes"].items()),
                "badge": _BADGES.get(flip["last_outcome"], "partial_match"),
                "paths": draw_outcomes(flip["outcomes"]),
            }
            for flip in content["flips"][:FLIPS_ON_PAGE]
        ],
        "more_flips": len(content["flips"][FLIPS_ON_PAGE:]),
        "legend": describe_legend(content["legend"]),
        "problems": problems[:PROBLEMS_ON_PAGE],
        "more_problems": len(problems[PROBLEMS_ON_PAGE:]),
        "policy": STATIC_POLICY,
    }
    return write_static_page(directory / HISTORY, "history.html.jinja", view)


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
    charts = []
    for name_of_one, counts in series[:GROUPS_ON_PAGE]:
        first, last = map(format_rate, find_ends(counts))
        charts.append(
            {
                "name": name_of_one,
                "chart": draw_rates(counts),
                "cells": [
                    f"{format_rate(each)} ({each['success_count']:,} of {each['judged_count']:,})"
                    if each is not None and each["judged_count"]
                    else ""
                    for each in counts
                ],
                "first": first,
                "last": last,
                "lost": count_lost(counts[-1]),
            }
        )
    return {"id": name, "label": label, "plural": f"{label}s", "charts": charts, "count": len(series)}


_Point = tuple[float, float, float, float]  # x, and y of a rate and of the ends of its interval


def draw_rates(counts: Sequence[Mapping[str, Any] | None]) -> dict[str, str]:
    """Paths of the intervals, of the line through the rates, and of the dots. Sessions without a rate are gaps."""
    column = WIDTH / max(1, len(counts))
    points = [_place(each, (index + 0.5) * column) for index, each in enumerate(counts)]
    pieces = [
        [point for point in piece if point is not None]
        for has_rate, piece in groupby(points, lambda point: point is not None)
        if has_rate
    ]
    return {
        "band": "".join(_draw_band(piece, min(0.4 * column, _WIDEST_MARK)) for piece in pieces),
        "line": "".join(_join((x, rate) for x, rate, _, _ in piece) for piece in pieces),
        "dots": "".join(f"M{x:.1f} {rate:.1f}h0" for piece in pieces for x, rate, _, _ in piece),
    }


def _place(counts: Mapping[str, Any] | None, x: float) -> _Point | None:
    if counts is None or not counts["judged_count"]:
        return None
    low, high = counts["success_rate_interval_95"]
    y_rate, y_low, y_high = (HEIGHT * (1 - share) for share in (counts["success_rate"], low, high))
    return x, y_rate, y_low, y_high


def _draw_band(points: Sequence[_Point], half: float) -> str:
    """The area between the ends of the intervals."""
    if len(points) == 1:
        ((x, _, low, high),) = points
        return f"M{x - half:.1f} {high:.1f}h{2 * half:.1f}V{low:.1f}h{-2 * half:.1f}z"
    upper = [(x, high) for x, _, _, high in points]
    lower = [(x, low) for x, _, low, _ in reversed(points)]
    return f"{_join([*upper, *lower])}z"


def _join(places: Iterator[tuple[float, float]] | Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)


def draw_outcomes(outcomes: str) -> list[tuple[str, str]]:
    """The class and the path of each kind of outcome in a strip, in which a session is one unit wide."""
    paths: dict[str, list[str]] = {}
    start = 0
    for outcome, run in groupby(outcomes):
        length = sum(1 for _ in run)
        if outcome in _BLOCKS:
            name, height = _BLOCKS[outcome]
            paths.setdefault(name, []).append(f"M{start} {STRIP_HEIGHT - height}h{length}v{height}h-{length}z")
        start += length
    return [(name, "".join(pieces)) for name, pieces in paths.items()]


def write_audit_page(content: Mapping[str, Any], directory: Path) -> Path:
    """Write audit.html with its style into a directory, and return its path. Raises `SettingsError`."""
    tasks, noun = content["tasks"], "finding" if content["finding_count"] == 1 else "findings"
    with_findings = sum(bool(task["findings"]) for task in tasks)
    view = {
        "rules": content["rules"],
        "tasks": pluralize(content["task_count"], "task"),
        "trials": pluralize(sum(task["trials"] for task in tasks), "trial"),
        "finding_count": content["finding_count"],
        "in_tasks": f"{noun} in {pluralize(with_findings, 'task')}",
        "tables": [_build_table("findings", "Findings", tasks), _build_table("notes", "Notes", tasks)],
        "policy": STATIC_POLICY,
    }
    return write_static_page(directory / AUDIT, "audit.html.jinja", view)


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
