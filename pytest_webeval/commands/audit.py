"""`webeval audit [RUNS] --tasks FILE`: which tasks pass without work, and which broken runs pass."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_webeval.commands.command import argument, print_text, read_number, read_sites, switch, write_content
from pytest_webeval.errors import SettingsError
from pytest_webeval.rules import AUTO, RULE_CHOICES
from pytest_webeval.safety.files import exists_no_follow

if TYPE_CHECKING:
    from pytest_webeval.authoring.audit.suite_audit import SuiteAudit
    from pytest_webeval.authoring.audit.task_audit import AuditSettings
    from pytest_webeval.tasks.dataset import TaskSet

HELP = "audit tasks: which pass without work, and which broken runs of them pass"
MOST_JOBS = 256
LONGEST = 10**8  # seconds
ARGUMENTS = (
    argument("runs", "RUNS", "a directory with recorded runs of the tasks", nargs="*"),
    argument(
        "--tasks",
        "FILE",
        "the tasks, or webarena-verified (repeatable; default: tasks.json in each of RUNS)",
        action="append",
        default=[],
    ),
    argument("--rules", None, "the rules (default: by each task's origin)", choices=RULE_CHOICES, default=AUTO),
    argument("--config", "FILE", "read the site URLs from FILE"),
    argument("--jobs", "N", "audit in N processes, or auto (default: 1)", default="1"),
    switch("--notes", "also print notes, which decide nothing"),
    argument("--json", "FILE", "also write the audit to FILE as JSON"),
    argument("--report", "DIR", "also write DIR/audit.html"),
    argument("--most", "N", "allow N findings (default: 0)", default="0"),
    argument("--timeout", "SECONDS", "limit the time of each task (default: 60; 0 for no limit)", default="60"),
)


def run(arguments: argparse.Namespace) -> int:
    """Audit, print, and write what the user names.

    Returns the exit code: 1 for too many findings, and where none of the runs of a task passes.

    Raises `SettingsError`, `RecordingError` and `TaskDefinitionError`.
    """
    from pytest_webeval.reports.audit_text import (
        audits_to_json,  # other commands need nothing that scores
        count_findings,
        format_audits,
        list_unsolved,
    )

    most, suites = read_number(arguments.most, "--most"), list(_list_suites(arguments))
    audits = [audit for suite in suites for audit in suite.audit()]
    content = audits_to_json(audits, arguments.rules)
    print_text(format_audits(audits, has_notes=arguments.notes))
    write_content(arguments.json, content)
    if arguments.report:
        from pytest_webeval.reports.html.static_pages import write_audit_page  # only for this option

        write_audit_page(content, Path(arguments.report))
    return 1 if list_unsolved(audits) or count_findings(audits) > most else 0


def _list_suites(arguments: argparse.Namespace) -> Iterator[SuiteAudit]:
    """An audit of the tasks that the user names, or of each file of tasks in the directories of runs."""
    from pytest_webeval.api import find_runs
    from pytest_webeval.authoring.audit.suite_audit import SuiteAudit
    from pytest_webeval.executors.choice import count_processors

    jobs, expected = count_processors(), f"a number from 1 to {MOST_JOBS}, or auto"
    if arguments.jobs != "auto":
        jobs = read_number(arguments.jobs, "--jobs", expected, range(1, MOST_JOBS + 1))
    settings = _read_settings(arguments)
    runs = {root: list(find_runs(root, arguments.rules)) for root in dict.fromkeys(map(Path, arguments.runs))}
    for tasks, roots in _list_tasks(arguments.tasks, list(runs)):
        yield SuiteAudit(tasks, settings, [run for root in roots for run in runs[root]], jobs)


def _read_settings(arguments: argparse.Namespace) -> AuditSettings:
    from pytest_webeval.authoring.audit.task_audit import AuditSettings
    from pytest_webeval.evaluators import default_evaluators
    from pytest_webeval.rules import find_rules
    from pytest_webeval.tasks.sites import Sites
    from pytest_webeval.values.base import present_day

    return AuditSettings(
        rules=find_rules(arguments.rules),
        sites=read_sites(arguments.config) or Sites(),
        evaluators={evaluator.name: evaluator for evaluator in default_evaluators()},
        today=present_day(),
        timeout=read_number(arguments.timeout, "--timeout", "a number of seconds, or 0", range(LONGEST + 1)),
    )


def _list_tasks(names: Sequence[str], roots: Sequence[Path]) -> list[tuple[TaskSet, list[Path]]]:
    """The sets of tasks with the directories of their runs. Directories with equal files have attempts at one set."""
    from pytest_webeval.tasks.dataset import TASKS, load_tasks, load_untrusted_tasks

    if names:
        return [(load_tasks(*names), list(roots))]
    groups: dict[str, tuple[TaskSet, list[Path]]] = {}
    for root in roots:
        if not exists_no_follow(root / TASKS):
            raise SettingsError(f"no {TASKS} in {root}; name the tasks with --tasks")
        tasks = load_untrusted_tasks(root, TASKS, str(root / TASKS))
        groups.setdefault(tasks.checksum, (tasks, []))[1].append(root)
    if not groups:
        raise SettingsError(f"audit requires tasks; name a file with --tasks, or a directory of runs with {TASKS}")
    return list(groups.values())
