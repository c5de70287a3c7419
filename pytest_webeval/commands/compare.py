"""`webeval compare A B`: what changed between sessions, why, and whether that can be noise."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pytest_webeval.commands.command import REDACT, argument, list_removed, print_text, to_text, write_content
from pytest_webeval.errors import SettingsError
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.reports.comparison_text import (
    format_comparison,
    format_comparison_markdown,
    format_gates,
    gate_table,
)
from pytest_webeval.results import SCHEMA_VERSION
from pytest_webeval.summary.comparison.baseline import OPTION, refuse_partial
from pytest_webeval.summary.comparison.gate_checks import GateCase
from pytest_webeval.summary.comparison.gates import CERTIFICATE, SYNTAX, Gate, find_baseline_problem, join_gates
from pytest_webeval.summary.comparison.session_comparison import SessionComparison
from pytest_webeval.summary.comparison.session_reading import read_session
from pytest_webeval.summary.scored_session import ScoredSession
from pytest_webeval.tasks.subset import load_subset

HELP = "compare sessions: which tasks changed and why, and whether that can be noise"


def _format_text(content: dict[str, Any]) -> str:
    parts = map(format_comparison, content["comparisons"])
    return "\n\n".join(filter(None, [*parts, "\n".join(format_gates(content["gates"]))]))


def _format_markdown(content: dict[str, Any]) -> str:
    parts = map(format_comparison_markdown, content["comparisons"])
    return "\n\n".join(filter(None, [*parts, gate_table(content["gates"])]))


_FORMATS: dict[str, Callable[[dict[str, Any]], str]] = {
    "text": _format_text,
    "markdown": _format_markdown,
    "json": to_text,
}
ARGUMENTS = (
    argument("sessions", "SESSION", "eval_summary.json, or a directory of results", nargs="+"),
    argument("--format", None, "how to print the comparison", choices=_FORMATS, default="text"),
    argument("--json", "FILE", "also write the comparison to FILE as JSON"),
    argument("--report", "DIR", "also write DIR/comparison.html"),
    REDACT,
    argument("--subset", "FILE", "compare only the tasks of a subset"),
    argument("--attempts", "GLOB", "match directories of attempts, e.g. 'try-*'"),
    argument("--gate", "GATE", f"require one of: {'; '.join(SYNTAX)}".replace("%", "%%"), action="append", default=[]),
    *list_removed(("fail_on", "min_success")),
)


def run(arguments: argparse.Namespace) -> int:
    """Compare the first session with each of the others. Returns the exit code: 1 if a gate fails.

    Gates are about the last session, compared with the first, or about one alone. Raises `SettingsError`.
    """
    gates = join_gates([], arguments.gate)
    if len(arguments.sessions) < 2 and not gates:
        raise SettingsError("compare requires two sessions, or one and a gate; name two summaries or directories")
    subset = load_subset(arguments.subset).task_ids if arguments.subset else None
    sessions = [read_session(Path(name), RedactionPolicy(arguments.redact)) for name in arguments.sessions]
    if subset is not None:
        sessions = [session.select(subset) for session in sessions]
    _check_gates(gates, sessions, arguments.attempts)
    comparisons = [SessionComparison(sessions[0], later) for later in sessions[1:]]
    recorded = {str(run.task_id) for run in sessions[-1].runs}
    expected = dict.fromkeys([run.task_id for run in sessions[0].runs] if subset is None else subset)
    missing = [task_id for task_id in expected if str(task_id) not in recorded]
    case = GateCase(sessions[-1], comparisons[-1] if comparisons else None, missing, attempts=arguments.attempts)
    lines = [gate.evaluate(case).to_json() for gate in gates]
    content = {
        "schema_version": SCHEMA_VERSION,
        "comparisons": [comparison.to_json() for comparison in comparisons],
        "gates": lines,
    }
    print_text(_FORMATS[arguments.format](content))
    write_content(arguments.json, content)
    if arguments.report:
        _write_page(content, arguments, sessions)
    return 0 if all(line["passed"] for line in lines) else 1


def _write_page(content: dict[str, Any], arguments: argparse.Namespace, sessions: Sequence[ScoredSession]) -> None:
    """Write the page, with details of the changed tasks from what lies next to each summary."""
    from pytest_webeval.reports.html.comparison_page import write_comparison_page  # only for this option
    from pytest_webeval.reports.html.side_by_side.entries import SessionFiles

    files = [
        SessionFiles(session, Path(name) if Path(name).is_dir() else Path(name).parent, Path.cwd())
        for session, name in zip(sessions, arguments.sessions, strict=True)
    ]
    write_comparison_page(content, Path(arguments.report), files, RedactionPolicy(arguments.redact))


def _check_gates(gates: Sequence[Gate], sessions: Sequence[ScoredSession], attempts: str | None) -> None:
    """Raise `SettingsError` for a gate that cannot be checked with these sessions."""
    if any(gate.text == CERTIFICATE for gate in gates):
        raise SettingsError(f"gate {CERTIFICATE!r} is about the judge of a session that scores; pass it to pytest")
    if gates:
        refuse_partial(sessions[-1])
    needing = [gate for gate in gates if gate.needs_baseline]
    if not needing:
        return
    if len(sessions) < 2:
        raise SettingsError(f"gate {needing[0].text!r} requires a baseline; name it before the session")
    refuse_partial(sessions[0])
    problem = find_baseline_problem(gates, sessions[0], attempts, (str(run.task_id) for run in sessions[-1].runs))
    if problem is not None:
        raise SettingsError(problem.removeprefix(f"{OPTION}: "))
