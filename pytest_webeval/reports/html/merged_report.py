"""The report of all shards, made of the reports of each."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pytest_webeval.errors import RecordingError, SettingsError
from pytest_webeval.reports.html.frames import list_frames
from pytest_webeval.reports.html.index_page import index_view
from pytest_webeval.reports.html.index_parts import write_index
from pytest_webeval.reports.html.report_directory import IndexRows, WrittenPages, claim_directory
from pytest_webeval.reports.html.writer import PAGES, data_name, events_name, write_copy
from pytest_webeval.reports.rerun import build_commands
from pytest_webeval.results import Summary
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.storage import write_bytes
from pytest_webeval.summary.shard_file import ReportPart, ShardFile, merge_records
from pytest_webeval.summary.summary_file import write_session_summary


def write_merged_report(
    directory: Path, summary: Summary, files: Sequence[tuple[Path, ShardFile]], *, has_own_summary: bool = False
) -> Path:
    """Write the report that one session over all runs writes, and return the path of its first page.

    `has_own_summary`: the summary of all shards is in the same directory. Raises `SettingsError` if a shard has no
    report, or if nothing can be written.
    """
    parts = {shard.index: (path.parent, shard, shard.report) for path, shard in files if shard.report is not None}
    _check_parts(directory, [part_directory for part_directory, _, _ in parts.values()], files)
    claim_directory(directory, has_own_summary=has_own_summary)
    for part_directory, shard, _ in parts.values():
        _copy_pages(part_directory, shard, directory)
    shards = [shard for _, (_, shard, _) in sorted(parts.items())]
    first: ReportPart = parts[shards[0].index][2]
    records = merge_records(shards)
    texts = {run: text for _, _, report in parts.values() for run, text in report.texts.items()}
    reruns = build_commands(records, first.options, first.pinned)
    rows = IndexRows(WrittenPages(directory), records, texts, {})
    index = index_view(rows, summary, first.title, lambda labels: reruns.command(labels).command)
    index = write_index(index, rows, directory)
    write_session_summary(directory, summary)
    if first.embed is not None:
        write_copy(index, directory, first.embed)
    return directory / "index.html"


def _check_parts(directory: Path, parts: Sequence[Path], files: Sequence[tuple[Path, ShardFile]]) -> None:
    """Raise `SettingsError` if a shard has no report, or if the report is to replace that of a shard."""
    count = files[0][1].count
    if len(parts) < count:
        problem = f"--report: {len(parts)} of {count} shards have a report"
        raise SettingsError(f"{problem}; score with --webeval-report=DIR and name these directories too")
    if directory.resolve() in {part.resolve() for part in parts}:
        raise SettingsError(f"--report: {directory} is the report of a shard; choose another directory")


def _copy_pages(source: Path, shard: ShardFile, directory: Path) -> None:
    """Copy the pages of the runs of a shard, the details of their events, and frames of their screencasts.

    A page that cannot be read is missing, as one that was not written.
    """
    frames = list_frames(source / PAGES)
    for record in shard.records:
        names = (f"{data_name(record.run)}.js", f"{events_name(record.run)}.js")
        for name in (*names, *frames.get(data_name(record.run), ())):
            with suppress(RecordingError):
                write_bytes(directory / PAGES / name, read_file_inside(source / PAGES, name))
