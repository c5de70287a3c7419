"""`webeval history SUMMARY…`: success rates over time, and the tasks whose verdict changes often."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pytest_webeval.commands.output import print_text, warn
from pytest_webeval.errors import SettingsError
from pytest_webeval.reports.history_text import FLIPS_SHOWN, format_history, format_history_markdown
from pytest_webeval.storage import to_json_bytes, write_json
from pytest_webeval.summary.history import build_history, condense
from pytest_webeval.summary.redacted_results import redact_text
from pytest_webeval.summary.scored_session import ScoredSession
from pytest_webeval.summary.session_reading import read_session
from pytest_webeval.tasks.subset import load_subset

HELP = "show success rates over many sessions, by site, and the tasks that change often"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments and options."""
    parser.add_argument(
        "sessions", nargs="+", metavar="SUMMARY", help="eval_summary.json, or a directory of results, in any order"
    )
    parser.add_argument("--format", choices=_FORMATS, default="text", help="how to print the history")
    parser.add_argument("--json", metavar="FILE", help="also write the history to FILE as JSON")
    parser.add_argument("--report", metavar="DIR", help="also write DIR/history.html")
    parser.add_argument("--subset", metavar="FILE", help="show only the tasks of a subset")
    parser.add_argument(
        "--flips",
        metavar="N",
        default=str(FLIPS_SHOWN),
        help=f"print the N tasks that change most often (default: {FLIPS_SHOWN}; 0 prints all)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Show the history of the sessions that can be read, and name the others. Raises `SettingsError` without any."""
    if not (arguments.flips.isascii() and arguments.flips.isdigit()):
        raise SettingsError(f"invalid --flips {arguments.flips!r}; use a number of tasks, or 0 for all")
    subset = load_subset(arguments.subset).task_ids if arguments.subset else None
    sessions, skipped = _read_sessions(dict.fromkeys(arguments.sessions), subset)
    if not sessions:
        raise SettingsError("no session can be read; name summaries or directories of results")
    content = build_history(sessions) | {"skipped": skipped}
    print_text(_FORMATS[arguments.format](content, int(arguments.flips)))
    if arguments.json:
        write_json(Path(arguments.json), content)
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
            warn(skipped[-1])
            continue
        sessions.append(session if subset is None else session.select(subset))
    return sessions, skipped


_FORMATS: dict[str, Callable[[dict[str, Any], int], str]] = {
    "text": format_history,
    "markdown": format_history_markdown,
    "json": lambda content, _: to_json_bytes(content).decode().rstrip("\n"),
}
