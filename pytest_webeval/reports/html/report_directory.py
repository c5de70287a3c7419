"""The directory of a report: ours to write into, or refused; its pages; and the report made of those of all shards."""

from __future__ import annotations

import os
import re
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from pytest_webeval.errors import RecordingError, SettingsError
from pytest_webeval.reports.html.index_page import index_view
from pytest_webeval.reports.html.index_parts import write_index
from pytest_webeval.reports.html.index_rows import IndexRow
from pytest_webeval.reports.html.screenshots import list_frames
from pytest_webeval.reports.html.writer import (
    COMPARISON,
    COPY,
    HISTORY,
    PAGES,
    check_static_page,
    data_name,
    events_name,
    write_copy,
)
from pytest_webeval.reports.rerun import build_commands
from pytest_webeval.results import SUMMARY, Summary
from pytest_webeval.safety.files import is_file, read_file_inside
from pytest_webeval.storage import write_bytes
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.shard_file import ReportPart, ShardFile, merge_records
from pytest_webeval.summary.summary_file import find_summary, write_session_summary

MARK = b'id="webeval-index"'
_OURS = re.compile(r"task-[0-9a-f]{16}(?:(?:-events)?\.js|-frame-[0-9]{1,4}\.(?:png|jpg))|rows-[0-9]{5,}\.js")
_PAGE = re.compile(r"task-([0-9a-f]{16})\.js")


def has_complete_report(directory: Path) -> bool:
    """Whether a directory has the report of a session over all runs."""
    return all(is_file(directory / name) for name in ("index.html", SUMMARY))


def claim_directory(directory: Path, *, has_own_summary: bool = False) -> list[Path]:
    """Make the directory and remove an earlier report from it. Returns the directories that were made.

    `has_own_summary`: results go there too. Raises `SettingsError` for files of others, and if nothing can be written.
    """
    pages = directory / PAGES
    try:
        earlier = list(filter(Path.is_file, (directory / "index.html", directory / COPY)))
        for page in earlier:
            if MARK not in page.read_bytes():
                raise SettingsError(f"{page} was not written by pytest-webeval; choose another directory or delete it")
        if not earlier and not has_own_summary and (summary := find_summary(directory)) is not None:
            problem = f"{summary} is the summary of another session"
            raise SettingsError(f"{problem}; choose a separate directory")
        static = [directory / name for name in (COMPARISON, HISTORY)]
        for page in static:
            check_static_page(page)
        for page in (*earlier, *static):
            page.unlink(missing_ok=True)
        created = [pages, *(path for path in pages.parents if not path.exists())]
        pages.mkdir(parents=True, exist_ok=True)
        for path in pages.iterdir():
            if _OURS.fullmatch(path.name):
                path.unlink()
    except OSError as error:
        problem = f"cannot write into {directory}: {error.strerror or error}"
        raise SettingsError(f"{problem}; choose another directory") from error
    return created


class WrittenPages:
    """Which runs have a page in the directory of a report, in eight bytes of memory each."""

    def __init__(self, directory: Path) -> None:
        """The pages that are there now."""
        numbers = array("Q")
        with suppress(OSError), os.scandir(directory / PAGES) as entries:
            for entry in entries:
                if page := _PAGE.fullmatch(entry.name):
                    numbers.append(int(page[1], 16))
        self._numbers = array("Q", sorted(numbers))

    def find(self, run: str) -> str | None:
        """The name of the page of a run without its suffix; None without a page."""
        if not self._numbers:
            return None
        name = data_name(run)
        number = int(name.removeprefix("task-"), 16)
        position = bisect_left(self._numbers, number)
        return name if self._numbers[position : position + 1] == array("Q", [number]) else None


class IndexRows(Struct, frozen=True):
    """A row of the list for each record, with its page if there is one. They can be iterated several times.

    `records` come in the order of the summary: by task, then by run. `texts` and `flips` are those of some runs. The
    failures of `known` runs are expected.
    """

    pages: WrittenPages
    records: Iterable[Record]
    texts: Mapping[str, Mapping[str, str | None]]
    flips: Mapping[str, str]
    known: Collection[str] = frozenset()

    def __iter__(self) -> Iterator[IndexRow]:
        """The rows in the order of the records."""
        for record in self.records:
            run = record.run
            texts, is_known = self.texts.get(run, {}), run in self.known
            yield IndexRow(record, self.pages.find(run), self.flips.get(run), is_known=is_known, **texts)


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
