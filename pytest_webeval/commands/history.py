"""`webeval history SUMMARY…`: success rates over time, and the tasks whose verdict changes often."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pytest_webeval.commands.command import argument, print_text, read_number, to_text, warn, write_content
from pytest_webeval.errors import SettingsError
from pytest_webeval.reports.history_text import FLIPS_SHOWN, format_history, format_history_markdown
from pytest_webeval.summary.comparison.history import build_history, condense
from pytest_webeval.summary.comparison.session_reading import read_session
from pytest_webeval.summary.results.redacted_results import redact_text
from pytest_webeval.summary.scored_session import ScoredSession
from pytest_webeval.tasks.subset import load_subset

HELP = "show success rates over many sessions, by site, and the tasks that change often"


_FORMATS: dict[str, Callable[[dict[str, Any], int], str]] = {
    "text": format_history,
    "markdown": format_history_markdown,
    "json": lambda content, _: to_text(content),
}
ARGUMENTS = (
    argument("sessions", "SUMMARY", "eval_summary.json, or a directory of results, in any order", nargs="+"),
    argument("--format", None, "how to print the history", choices=_FORMATS, default="text"),
    argument("--json", "FILE", "also write the history to FILE as JSON"),
    argument("--report", "DIR", "also write DIR/history.html"),
    argument("--subset", "FILE", "show only the tasks of a subset"),
    argument(
        "--flips",
        "N",
        f"print the N tasks that change most often (default: {FLIPS_SHOWN}; 0 prints all)",
        default=str(FLIPS_SHOWN),
    ),
)


def run(arguments: argparse.Namespace) -> int:
    """Show the history of the sessions that can be read, and name the others. Raises `SettingsError` without any."""
    flips = read_number(arguments.flips, "--flips", "a number of tasks, or 0 for all", range(10**18))
    subset = load_subset(arguments.subset).task_ids if arguments.subset else None
    sessions, skipped = _read_sessions(dict.fromkeys(arguments.sessions), subset)
    if not sessions:
        raise SettingsError("no session can be read; name summaries or directories of results")
    content = build_history(sessions) | {"skipped": skipped}
    print_text(_FORMATS[arguments.format](content, flips))
    write_content(arguments.json, content)
    if arguments.report:
        from pytest_webeval.reports.html.static_pages import write_history_page  # only for this option

        write_history_page(content, Path(arguments.report))
    return 0


def _read_sessions(names: Iterable[str], subset: Iterable[int | str] | None) -> tuple[list[ScoredSession], list[str]]:
    """The sessions that can be read, and a line for each that cannot, which is also shown at once."""
    sessions, skipped = [], []
    for name in names:
        try:
            session = condense(read_session(Path(name)))
        except SettingsError as error:
            skipped.append(redact_text(" ".join(str(error).split())))
            warn(skipped[-1:])
            continue
        sessions.append(session if subset is None else session.select(subset))
    return sessions, skipped
