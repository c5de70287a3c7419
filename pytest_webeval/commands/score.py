"""`python -m pytest_webeval score RUNS`: score very many runs without pytest, in processes or on a cluster."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_webeval.commands.output import print_text
from pytest_webeval.errors import SettingsError
from pytest_webeval.errors import WebEvalError
from pytest_webeval.executors.choice import Machine
from pytest_webeval.executors.choice import choose_engine
from pytest_webeval.executors.engine import Engine
from pytest_webeval.executors.progress import show_progress
from pytest_webeval.scoring.provenance import record_code_checksum
from pytest_webeval.scoring.worker_pool import count_processors
from pytest_webeval.sessions.command_source import CommandSource
from pytest_webeval.sessions.command_source import add_session_options
from pytest_webeval.sessions.command_source import list_rerun_options
from pytest_webeval.sessions.output_paths import check_output_paths
from pytest_webeval.sessions.report_index import ReportIndex
from pytest_webeval.sessions.score_files import SessionFiles
from pytest_webeval.sessions.score_session import ScoreSession
from pytest_webeval.sessions.session_header import describe_session
from pytest_webeval.sessions.settings import Settings
from pytest_webeval.sessions.settings import read_settings
from pytest_webeval.sessions.workspace import Workspace

HELP = "score very many runs without pytest, in processes or on a cluster"
BATCH, MOST_IN_BATCH = 200, 10_000
# Options that belong to tests of pytest, or to judges, which one session of pytest asks.
LEFT_OUT = frozenset(
    {
        "audit_most",
        "audit_secrets",
        "audit_tasks",
        "durations",
        "judge",
        "judge_again",
        "judge_certificate",
        "judge_concurrency",
        "judge_max_usd",
        "judge_method",
        "judge_mode",
        "judge_prices",
        "judge_replies",
        "judge_requests",
        "judge_text_model",
        "judge_url",
        "judge_votes",
        "record",
        "record_timeout",
        "require_certificate",
        "shard",
        "shard_times",
        "workers",
    }
)
PRELOADED = (
    "pytest_webeval.diagnostics.tree_diff",
    "pytest_webeval.evaluators.network.body_matcher",
    "pytest_webeval.evaluators.network.event_matcher",
    "pytest_webeval.sessions.batch_scoring",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments and options."""
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


def run(arguments: argparse.Namespace) -> int:
    """Score all runs and write the files of a session. Returns the exit code of pytest.

    Raises `WebEvalError`.
    """
    source = CommandSource(arguments, LEFT_OUT)
    here = Path.cwd()
    workspace = Workspace(read_settings(source), here, here)
    size = _parse_batch(arguments.batch)
    session = ScoreSession(workspace, arguments.evaluators_from, (*_list_options(source, workspace),))
    _check(session)
    machine = Machine(count_processors(), record_code_checksum, PRELOADED)
    engine = choose_engine(arguments.executor, machine)
    report = _claim_report(workspace)
    try:
        print_text("\n".join(describe_session(workspace)))
        sys.stdout.flush()
        with _reaching(engine, session), show_progress(_count(arguments, session)) as progress:
            session.score(engine, size, progress)
        files = SessionFiles(session, report)
        code = files.write()
        print_text("\n".join(files.describe()))
    finally:
        _close_stores(workspace.settings)
        if report is not None:
            report.remove_empty()
    return code


def _count(arguments: argparse.Namespace, session: ScoreSession) -> int | None:
    return None if arguments.no_progress else len(session.runs.paths)


@contextmanager
def _reaching(engine: Engine, session: ScoreSession) -> Iterator[None]:
    """Let workers on other machines check that they see what they are to write to. Raises `SettingsError`."""
    session.is_local = engine.is_local
    if engine.is_local:
        yield
        return
    from pytest_webeval.sessions.other_machines import probe_directories  # few sessions have them

    with probe_directories(session.workspace.settings) as probes:
        session.probes = probes
        yield


def _close_stores(settings: Settings) -> None:
    if settings.mirrors:
        from pytest_webeval.sessions.remote_roots import close_mirrors  # few sessions have stores

        close_mirrors(settings.mirrors)


def _parse_batch(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= MOST_IN_BATCH):
        raise SettingsError(f"invalid --batch {text!r:.80}; use a number from 1 to {MOST_IN_BATCH:,}")
    return int(text)


def _list_options(source: CommandSource, workspace: Workspace) -> list[str]:
    roots = [f"--webeval-runs={root}" for root in source.arguments.webeval_runs]
    return [*roots, *list_rerun_options(source)] if workspace.settings.runs else []


def _check(session: ScoreSession) -> None:
    """Raise `WebEvalError` for what would make all the work futile."""
    workspace = session.workspace
    _ = workspace.sites, workspace.tasks.configured, workspace.tasks.subset, workspace.external
    session.missing.check()
    _ = session.checks
    check_output_paths(workspace.settings)
    _check_report(workspace.settings)


def _check_report(settings: Settings) -> None:
    if settings.report is None and (settings.report_embed is not None or settings.history):
        option = "--history" if settings.history else "--report-embed"
        raise SettingsError(f"{option} requires a report; pass --report=DIR")
    if settings.report in settings.roots:
        raise SettingsError(f"--report: {settings.report} is a run root; choose a separate directory")


def _claim_report(workspace: Workspace) -> ReportIndex | None:
    """The report to write, with its directory made. Raises `SettingsError`."""
    settings = workspace.settings
    if settings.report is None:
        return None
    history = None
    if settings.history:
        from pytest_webeval.sessions.session_history import SessionHistory  # only for this option

        try:
            history = SessionHistory.read(settings.history)
        except WebEvalError as error:
            raise SettingsError(f"--history: {error}") from error
    report = ReportIndex(workspace, settings.report, history)
    report.claim()
    return report
