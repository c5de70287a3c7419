"""`webeval score RUNS`: score very many runs without pytest, in processes or on a cluster."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from pytest_webeval.commands.command import (
    argument,
    list_removed,
    list_rerun_options,
    list_session_arguments,
    print_text,
    read_number,
    refusal,
    switch,
)
from pytest_webeval.errors import SettingsError
from pytest_webeval.executors.placement import JobExecutor
from pytest_webeval.executors.progress import Progress, show_progress
from pytest_webeval.sessions.interruption import stop_on_sigterm
from pytest_webeval.sessions.placement.batch_scoring import PINNED, choose_session_executor
from pytest_webeval.sessions.placement.session_scoring import SessionScoring
from pytest_webeval.sessions.runs.own_evaluators import load_evaluators, locate_module
from pytest_webeval.sessions.runs.session_rows import SessionRows
from pytest_webeval.sessions.session import Session
from pytest_webeval.sessions.session_end import SessionEnd
from pytest_webeval.sessions.session_header import describe_session
from pytest_webeval.sessions.settings.conflicts import check_conflicts
from pytest_webeval.sessions.settings.option_values import CommandSource
from pytest_webeval.sessions.settings.options import OPTIONS, REMOVED
from pytest_webeval.sessions.settings.settings import read_settings
from pytest_webeval.sessions.workspace.missing_tasks import MissingTasks
from pytest_webeval.sessions.workspace.output_paths import check_copy, check_output, check_output_paths, check_report
from pytest_webeval.sessions.workspace.unread_conftest import refuse_conftest
from pytest_webeval.sessions.workspace.workspace import Workspace

HELP = "score very many runs without pytest, in processes or on a cluster"
USAGE = "%(prog)s RUNS [RUNS ...] [--output DIR] [--report DIR] [--executor WHERE] [OPTION ...]   (see --help)"
BATCH, MOST_IN_BATCH = 200, 10_000
ASK = "ask judges with pytest, e.g. pytest --webeval-runs=RUNS --webeval-judge=MODEL"
AUDIT = "audit with pytest, e.g. pytest --webeval-runs=RUNS --webeval-audit-tasks"
RECORD = "record live tests with pytest"
SHARD = "use --executor, which spreads the runs, or score shards with pytest"
CHOOSE = "use --subset, or select runs with pytest"
# Options that belong to tests of pytest, or to judges, which one session of pytest asks; what to do instead.
REFUSALS = {
    **{row.flag: ASK for row in OPTIONS if row.is_about_judges},
    "--webeval-audit-most": AUDIT,
    "--webeval-audit-secrets": "list secrets with pytest --webeval-audit-secrets",
    "--webeval-audit-tasks": AUDIT,
    "--webeval-durations": "read wall_time in eval_summary.json, or use pytest",
    "--webeval-record": RECORD,
    "--webeval-record-timeout": RECORD,
    "--webeval-runs": "pass the directory alone, without the name of an option",
    "--webeval-shard": SHARD,
    "--webeval-shard-times": SHARD,
    "-k": CHOOSE,
    "-m": CHOOSE,
    "--lf": CHOOSE,
    "-n": "use --executor process:N",
    "-x": "stop with Ctrl-C: what was scored is summed up",
}
ARGUMENTS = (
    argument("webeval_runs", "RUNS", "a directory of recorded runs, or a store such as s3://bucket/runs", nargs="+"),
    argument(
        "--executor",
        "WHERE",
        "score in process:N (default: one per processor), local:N (Dask), or dask://HOST:PORT",
        default="process",
    ),
    argument("--batch", "N", f"runs sent at once (default: {BATCH})", default=str(BATCH)),
    argument("--evaluators-from", "MODULE", "take evaluators from MODULE, or a .py file"),
    switch("--no-progress", "show no progress"),
    *list_session_arguments({row.name for row in OPTIONS if row.flag in REFUSALS}),
    *(refusal(flag, f"is not an option of this command; {advice}") for flag, advice in REFUSALS.items()),
    *list_removed(REMOVED),
)


def run(arguments: argparse.Namespace) -> int:
    """Score all runs and write the files of a session. Returns the exit code of pytest.

    Raises `WebEvalError`.
    """
    source = CommandSource(arguments)
    here = Path.cwd()
    workspace = Workspace(read_settings(source), here, here)
    check_conflicts(workspace.settings)
    size = read_number(arguments.batch, "--batch", f"a number from 1 to {MOST_IN_BATCH:,}", range(1, MOST_IN_BATCH + 1))
    roots = [f"--webeval-runs={root}" for root in arguments.webeval_runs]
    options = (*roots, *list_rerun_options(source)) if workspace.settings.runs else ()
    session = Session(workspace, MissingTasks(workspace), SessionRows(workspace), (options, PINNED))
    scoring = SessionScoring(session, locate_module(arguments.evaluators_from))
    _check(scoring)
    executor = choose_session_executor(arguments.executor)
    report = session.report
    try:
        print_text("\n".join(describe_session(workspace)))
        sys.stdout.flush()
        with _reaching(executor, scoring), stop_on_sigterm():
            shown = nullcontext(Progress()) if arguments.no_progress else show_progress(len(scoring.runs.paths))
            with shown as progress:
                scoring.score(executor, size, progress)
        end = SessionEnd(session)
        code = end.close(end.sum_up(scoring.finish()))
        print_text("\n".join(end.describe()))
    finally:
        session.records.close()
        if report is not None:
            report.remove_empty()
    return code


@contextmanager
def _reaching(executor: JobExecutor, scoring: SessionScoring) -> Iterator[None]:
    """Let workers on other machines check that they see what they are to write to. Raises `SettingsError`."""
    scoring.is_local = executor.is_local
    if executor.is_local:
        yield
        return
    from pytest_webeval.sessions.placement.other_machines import probe_directories  # few sessions have them

    with probe_directories(scoring.workspace.settings) as probes:
        scoring.probes = probes
        yield


def _check(scoring: SessionScoring) -> None:
    """Raise `WebEvalError` for what would make all the work futile."""
    session, workspace, settings = scoring.session, scoring.workspace, scoring.workspace.settings
    refuse_conftest(settings.roots, workspace.here, has_evaluators=scoring.evaluators_from is not None)
    _ = workspace.sites, workspace.external
    workspace.tasks.check_files()
    session.missing.check()
    if session.checks is not None:
        session.checks.check_baseline(_list_ids(session))
    check_output_paths(settings)
    check_output(workspace)
    check_report(workspace)
    if settings.report_embed is not None and workspace.tasks.subset is None:  # which may leave few runs
        check_copy(settings, scoring.run_count)
    evaluators, scoring.modules = load_evaluators(scoring.evaluators_from)
    if settings.evaluators:
        from pytest_webeval.evaluators.base import find_unknown  # few sessions choose evaluators

        known = {evaluator.name for evaluator in evaluators}
        if problem := find_unknown(settings.evaluators, known):
            raise SettingsError(f"--webeval-evaluators: {problem}")


def _list_ids(session: Session) -> Iterator[str]:
    """The ids of the tasks that the session scores, read one after the other."""
    subset, recorded = session.workspace.tasks.subset, session.missing.list_recorded()
    inside = None if subset is None else set(map(str, subset.task_ids))
    return (task_id for task_id in recorded if inside is None or task_id in inside)
