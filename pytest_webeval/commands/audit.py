"""`python -m pytest_webeval audit [RUNS] --tasks FILE`: which tasks pass without work, and which broken runs pass."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_webeval.commands.output import print_text
from pytest_webeval.errors import SettingsError
from pytest_webeval.rules import RULE_SETS
from pytest_webeval.storage import write_json

if TYPE_CHECKING:
    from pytest_webeval.authoring.audit.suite_audit import SuiteAudit
    from pytest_webeval.tasks.dataset import TaskSet

HELP = "audit tasks: which pass without work, and which broken runs of them pass"
MOST_JOBS = 256


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments and options."""
    parser.add_argument("runs", nargs="*", metavar="RUNS", help="a directory with recorded runs of the tasks")
    parser.add_argument(
        "--tasks",
        action="append",
        default=[],
        metavar="FILE",
        help="the tasks, or webarena-verified (repeatable; default: tasks.json in RUNS)",
    )
    parser.add_argument("--rules", choices=RULE_SETS, default="default", help="the rules (default: default)")
    parser.add_argument("--config", metavar="FILE", help="read the site URLs from FILE")
    parser.add_argument("--jobs", metavar="N", default="1", help="audit in N processes, or auto (default: 1)")
    parser.add_argument("--notes", action="store_true", help="also print notes, which decide nothing")
    parser.add_argument("--json", metavar="FILE", help="also write the audit to FILE as JSON")
    parser.add_argument("--report", metavar="DIR", help="also write DIR/audit.html")
    parser.add_argument("--most", metavar="N", default="0", help="allow N findings (default: 0)")


def run(arguments: argparse.Namespace) -> int:
    """Audit, print, and write what the user names. Returns the exit code: 1 for too many findings.

    Raises `SettingsError`, `RecordingError` and `TaskDefinitionError`.
    """
    from pytest_webeval.reports.audit_text import audits_to_json  # other commands need nothing that scores
    from pytest_webeval.reports.audit_text import count_findings
    from pytest_webeval.reports.audit_text import format_audits

    most, audit = _parse_number(arguments.most, "--most"), _build_audit(arguments)
    audits = audit.audit()
    content = audits_to_json(audits, arguments.rules)
    print_text(format_audits(audits, has_notes=arguments.notes))
    if arguments.json:
        write_json(Path(arguments.json), content)
    if arguments.report:
        from pytest_webeval.reports.html.audit_page import write_audit_page  # only for this option

        write_audit_page(content, Path(arguments.report))
    return 1 if count_findings(audits) > most else 0


def _build_audit(arguments: argparse.Namespace) -> SuiteAudit:
    from pytest_webeval.api import find_runs
    from pytest_webeval.authoring.audit.suite_audit import SuiteAudit
    from pytest_webeval.authoring.audit.task_audit import AuditSettings
    from pytest_webeval.evaluators import default_evaluators
    from pytest_webeval.rules import find_rules
    from pytest_webeval.tasks.sites import Sites
    from pytest_webeval.tasks.sites import load_sites
    from pytest_webeval.values.base import present_day

    roots = [Path(name) for name in arguments.runs]
    settings = AuditSettings(
        rules=find_rules(arguments.rules),
        sites=load_sites(arguments.config) if arguments.config else Sites(),
        evaluators={evaluator.name: evaluator for evaluator in default_evaluators()},
        today=present_day(),
    )
    runs = [run for root in roots for run in find_runs(root, arguments.rules)]
    return SuiteAudit(_load_tasks(arguments.tasks, roots), settings, runs, _parse_jobs(arguments.jobs))


def _load_tasks(names: Sequence[str], roots: Sequence[Path]) -> TaskSet:
    from pytest_webeval.tasks.dataset import TASKS
    from pytest_webeval.tasks.dataset import load_tasks

    files = list(names) or [str(root / TASKS) for root in roots if (root / TASKS).is_file()]
    if not files:
        raise SettingsError(f"audit requires tasks; name a file with --tasks, or a directory of runs with {TASKS}")
    return load_tasks(*files)


def _parse_jobs(text: str) -> int:
    if text == "auto":
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(max(_parse_number(text, "--jobs"), 1), MOST_JOBS)


def _parse_number(text: str, option: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise SettingsError(f"invalid {option} {text!r:.80}; use a number")
    return int(text)
