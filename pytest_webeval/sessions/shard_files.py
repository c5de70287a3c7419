"""Writes the file of a shard, from which `merge` makes the summary and the report of all shards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pytest_webeval.errors import WebEvalError
from pytest_webeval.results import SCHEMA_VERSION
from pytest_webeval.safety.files import sha256
from pytest_webeval.scoring.provenance import deciding_checksum
from pytest_webeval.sessions.runs.session_rows import Rows
from pytest_webeval.sessions.session import Session
from pytest_webeval.sessions.summaries import describe_session_details, list_expected
from pytest_webeval.sessions.workspace.output_paths import list_result_directories
from pytest_webeval.sessions.workspace.workspace import Workspace
from pytest_webeval.storage import remove
from pytest_webeval.summary.shard_file import ReportPart, ShardFile, write_shard_file
from pytest_webeval.summary.shards import Shard
from pytest_webeval.summary.summary_file import remove_side_files


def write_shard(
    directory: Path, timestamp: str, session: Session, records: Rows, report: ReportPart | None = None
) -> Path:
    """Write the file of a shard with some records, and return its path. Raises `SettingsError`."""
    workspace, collected, counts = session.workspace, session.collected, session.collected.counts
    shard, place = workspace.settings.shard or Shard(1, 1), _find_place(directory, workspace)
    content = ShardFile(
        schema_version=SCHEMA_VERSION,
        index=shard.index,
        count=shard.count,
        run_count=counts.split,
        split_checksum=counts.split_checksum,
        timestamp=timestamp,
        session=_describe_session(session),
        chosen=counts.chosen,
        outside=counts.outside,
        details=describe_session_details(session, records) | {"partial": collected.is_chosen},
        records=list(records),
        report=report,
    )
    write_shard_file(place, content, workspace.settings.sync)
    return place


def write_shard_report(directory: Path, timestamp: str, session: Session) -> None:
    """Write the file of a shard into the directory of its report. Raises `SettingsError`."""
    options, pinned = session.repeated
    title, embed = ", ".join(session.workspace.labels.prefixes.values()), session.workspace.settings.report_embed
    texts = {run: dict(text) for run, text in session.texts.items()}
    part = ReportPart(title, list(options), list(pinned), texts, embed)
    write_shard(directory, timestamp, session, session.records, part)


def _describe_session(session: Session) -> dict[str, object]:
    """What decides the verdicts of all runs, and how their summary is made."""
    workspace, settings = session.workspace, session.workspace.settings
    environments = sorted((name, repr(urls)) for name, urls in workspace.sites.environments.items())
    return {
        "rules": settings.rules.name,
        "options": settings.affecting_results() | {"judging": settings.judging},
        "evaluators": deciding_checksum(()),
        "fixtures": session.collected.counts.user_code,
        "tasks": ",".join(_list_definitions(workspace)),
        "sites": sha256(json.dumps(environments).encode("utf-8", "backslashreplace")) if environments else None,
        "selection": session.collected.selection,
        "attempts": settings.attempts,
        "external_verdicts": None if workspace.external is None else str(workspace.external),
        "expected": list_expected(workspace),
    }


def _list_definitions(workspace: Workspace) -> Iterator[str]:
    """Checksums of the task files of all run roots; empty where there is none, or none that can be read."""
    for root in workspace.settings.roots:
        try:
            tasks = workspace.tasks.in_root(root)
        except WebEvalError:
            tasks = None
        yield tasks.checksum if tasks is not None else ""


def remove_shard(workspace: Workspace) -> None:
    """Remove the file of this shard wherever this session will write it. Raises `SettingsError`."""
    report = workspace.settings.report
    for directory in [*list_result_directories(workspace), *([report] if report is not None else [])]:
        place = _find_place(directory, workspace)
        remove(place)
        remove_side_files(place)


def _find_place(directory: Path, workspace: Workspace) -> Path:
    return directory / (workspace.settings.shard or Shard(1, 1)).file_name
