"""`webeval score RUNS`: score very many runs without pytest, in processes or on a cluster."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from pytest_webeval.commands.output import print_text
from pytest_webeval.errors import SettingsError
from pytest_webeval.executors.placement import JobExecutor
from pytest_webeval.executors.progress import Progress, show_progress
from pytest_webeval.sessions.batch_scoring import choose_session_executor
from pytest_webeval.sessions.command_source import (
    CommandSource,
    add_refusals,
    add_removed,
    add_session_options,
    list_rerun_options,
)
from pytest_webeval.sessions.interruption import stop_on_sigterm
from pytest_webeval.sessions.judge_options import JUDGE_OPTIONS
from pytest_webeval.sessions.options import OPTIONS, REMOVED
from pytest_webeval.sessions.output_paths import check_copy, check_output, check_output_paths, check_report
from pytest_webeval.sessions.own_evaluators import load_evaluators, locate_module
from pytest_webeval.sessions.report_index import ReportIndex
from pytest_webeval.sessions.score_files import SessionFiles
from pytest_webeval.sessions.score_session import ScoreSession
from pytest_webeval.sessions.session_header import describe_session
from pytest_webeval.sessions.settings import read_settings
from pytest_webeval.sessions.unread_conftest import refuse_conftest
from pytest_webeval.sessions.workspace import Workspace

HELP = "score very many runs without pytest, in processes or on a cluster"
USAGE = "%(prog)s RUNS [RUNS ...] [--output DIR] [--report DIR] [--executor WHERE] [OPTION ...]   (see --help)"
BATCH, MOST_IN_BATCH = 200, 10_000
LONGEST_NUMBER = 5  # digits
ASK = "ask judges with pytest, e.g. pytest --webeval-runs=RUNS --webeval-judge=MODEL"
AUDIT = "audit with pytest, e.g. pytest --webeval-runs=RUNS --webeval-audit-tasks"
RECORD = "record live tests with pytest"
SHARD = "use --executor, which spreads the runs, or score shards with pytest"
CHOOSE = "use --subset, or select runs with pytest"
# Options that belong to tests of pytest, or to judges, which one session of pytest asks; what to do instead.
REFUSALS = {
    **{option.flag: ASK for option in JUDGE_OPTIONS},
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
LEFT_OUT = frozenset(option.name for option in OPTIONS if option.flag in REFUSALS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments and options."""
    parser.usage = USAGE
    parser.add_argument(
        "webeval_runs",
        nargs="+",
        metavar="RUNS",
        help="a directory of recorded runs, or a store such as s3://bucket/runs",
    )
    parser.add_argument(
        "--executor",
        default="process",
        metavar="WHERE",
        help="score in process:N (default: one per processor), local:N (Dask), or dask://HOST:PORT",
    )
    parser.add_argument("--batch", default=str(BATCH), metavar="N", help=f"runs sent at once (default: {BATCH})")
    parser.add_argument("--evaluators-from", metavar="MODULE", help="take evaluators from MODULE, or a .py file")
    parser.add_argument("--no-progress", action="store_true", help="show no progress")
    add_session_options(parser, LEFT_OUT)
    add_refusals(parser, REFUSALS)
    add_removed(parser, REMOVED)


def run(arguments: argparse.Namespace) -> int:
    """Score all runs and write the files of a session. Returns the exit code of pytest.

    Raises `WebEvalError`.
    """
    source = CommandSource(arguments)
    here = Path.cwd()
    workspace = Workspace(read_settings(source), here, here)
    size = _parse_batch(arguments.batch)
    module = locate_module(arguments.evaluators_from)
    session = ScoreSession(workspace, module, (*_list_options(source, workspace),))
    _check(session)
    executor = choose_session_executor(arguments.executor)
    report = _claim_report(workspace)
    try:
        print_text("\n".join(describe_session(workspace)))
        sys.stdout.flush()
        with _reaching(executor, session), stop_on_sigterm(), _show_progress(arguments, session) as progress:
            session.score(executor, size, progress)
        files = SessionFiles(session, report)
        code = files.write()
        print_text("\n".join(files.describe()))
    finally:
        session.records.close()
        if report is not None:
            report.remove_empty()
    return code


@contextmanager
def _reaching(executor: JobExecutor, session: ScoreSession) -> Iterator[None]:
    """Let workers on other machines check that they see what they are to write to. Raises `SettingsError`."""
    session.is_local = executor.is_local
    if executor.is_local:
        yield
        return
    from pytest_webeval.sessions.other_machines import probe_directories  # few sessions have them

    with probe_directories(session.workspace.settings) as probes:
        session.probes = probes
        yield


def _parse_batch(text: str) -> int:
    is_number = text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER
    if not (is_number and 0 < int(text) <= MOST_IN_BATCH):
        raise SettingsError(f"invalid --batch {text!r:.80}; use a number from 1 to {MOST_IN_BATCH:,}")
    return int(text)


def _show_progress(arguments: argparse.Namespace, session: ScoreSession) -> AbstractContextManager[Progress]:
    return nullcontext(Progress()) if arguments.no_progress else show_progress(len(session.runs.paths))


def _list_options(source: CommandSource, workspace: Workspace) -> list[str]:
    roots = [f"--webeval-runs={root}" for root in source.arguments.webeval_runs]
    return [*roots, *list_rerun_options(source)] if workspace.settings.runs else []


def _check(session: ScoreSession) -> None:
    """Raise `WebEvalError` for what would make all the work futile."""
    workspace = session.workspace
    refuse_conftest(workspace.settings.roots, workspace.here, has_evaluators=session.evaluators_from is not None)
    _ = workspace.sites, workspace.external
    workspace.tasks.check_files()
    session.missing.check()
    session.checks.check_baseline(_list_ids(session))
    check_output_paths(workspace.settings)
    check_output(workspace)
    check_report(workspace)
    if workspace.settings.report_embed is not None and workspace.tasks.subset is None:  # which may leave few runs
        check_copy(workspace.settings, len(session.runs.paths) + session.runs.missing)
    evaluators, session.modules = load_evaluators(session.evaluators_from)
    if workspace.settings.evaluators:
        from pytest_webeval.evaluators.base import find_unknown  # few sessions choose evaluators

        known = {evaluator.name for evaluator in evaluators}
        if problem := find_unknown(workspace.settings.evaluators, known):
            raise SettingsError(f"--webeval-evaluators: {problem}")


def _list_ids(session: ScoreSession) -> Iterator[str]:
    """The ids of the tasks that the session scores, read one after the other."""
    subset, recorded = session.workspace.tasks.subset, session.missing.list_recorded()
    inside = None if subset is None else set(map(str, subset.task_ids))
    return (task_id for task_id in recorded if inside is None or task_id in inside)


def _claim_report(workspace: Workspace) -> ReportIndex | None:
    """The report to write, with its directory made. Raises `SettingsError`."""
    settings = workspace.settings
    if settings.report is None:
        return None
    history = None
    if settings.history:
        from pytest_webeval.sessions.session_history import SessionHistory  # only for this option

        history = SessionHistory.read(settings.history)
    report = ReportIndex(workspace, settings.report, history)
    report.claim()
    return report
