"""The rows of the runs of a session, in a file next to each summary, with which another session can reuse results."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from heapq import merge
from pathlib import Path

from msgspec import Struct, field

from pytest_webeval.errors import DiskFull, SettingsError
from pytest_webeval.recordings.labels import quote_path
from pytest_webeval.results import OWN_ROWS
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.text import pluralize
from pytest_webeval.sessions.runs.record_payload import RecordPayload
from pytest_webeval.sessions.workspace.output_paths import list_result_directories
from pytest_webeval.sessions.workspace.workspace import Workspace
from pytest_webeval.storage import remove
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.store.row_database import EarlierRow, EarlierRows, UnusableFileError, name_rows
from pytest_webeval.summary.store.row_file import Ordered, RowFile


class OtherRows:
    """Rows in some files, which are read as they are. A file that cannot be read has none."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._files: list[EarlierRows] = []
        for path in paths:
            with suppress(OSError, sqlite3.Error, UnusableFileError):
                self._files.append(EarlierRows(path))

    def find(self, label: str) -> EarlierRow | None:
        """The row of a run in the first file that has one."""
        for file in self._files:
            with suppress(UnusableFileError):
                if (row := file.find(label)) is not None:
                    return row
        return None

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            file.close()


class CopiedRows(Struct, frozen=True, eq=False):
    """The rows of earlier sessions in a process of xdist: in copies in a directory, which nobody changes.

    On another machine there are none.
    """

    workspace: Workspace
    place: Path | None
    _rows: dict[Path, OtherRows] = field(default_factory=dict)  # by the directory of the summary

    def find_earlier(self, path: Path, label: str) -> EarlierRow | None:
        """What an earlier session left of a run."""
        directory = find_directory(self.workspace, path)
        if directory not in self._rows:
            copies = [] if self.place is None else [self.place / _name_copy(directory)]
            self._rows[directory] = OtherRows([*copies, *_list_others(self.workspace, directory)])
        return self._rows[directory].find(label)

    def close(self) -> None:
        """Close the copies."""
        for rows in self._rows.values():
            rows.close()


class SessionRows(Ordered):
    """One per session in the process that sums up: the records of this session, in the order of a summary."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.problems: list[str] = []
        self._files: dict[Path, RowFile] = {}  # by the directory of the summary
        self._others: dict[Path, OtherRows] = {}  # of other shards
        self._is_tidy = self._is_ended = False

    @property
    def is_kept(self) -> bool:
        """Whether another session is to go on with what this one leaves."""
        return self.workspace.settings.reuse or not self._is_ended

    def find_file(self, directory: Path) -> RowFile:
        """The rows next to the summary in a directory. Those of a root that is itself a run have no file there."""
        if directory not in self._files:
            settings, workspace = self.workspace.settings, self.workspace
            is_run = directory != settings.output and workspace.format_of(directory) is not None
            path = None if is_run else directory / name_rows(settings.shard)
            prefix, is_synced = self._find_prefix(directory), settings.sync is not None
            self._files[directory] = RowFile(path, workspace.started, prefix, is_synced=is_synced)
        return self._files[directory]

    def _find_prefix(self, directory: Path) -> str:
        """What the labels of a directory begin with that is not a part of paths below it."""
        prefixes = self.workspace.labels.prefixes
        is_shared = directory == self.workspace.settings.output and len(prefixes) > 1
        prefix = next(iter(prefixes.values())) if len(prefixes) == 1 else prefixes.get(directory, "")
        return "" if is_shared or prefix == "." else quote_path(prefix)

    def _find_file_of(self, label: str) -> RowFile:
        path = self.workspace.labels.path_of(label)
        return self.find_file(find_directory(self.workspace, path or Path(label)))

    def keep_payload(self, payload: RecordPayload) -> None:
        """Keep what a process tells of a run that it scored. Raises `DiskFull`; another error is a problem."""
        path = self.workspace.labels.path_of(payload.record.run)
        if path is not None and self.workspace.settings.reuse and not payload.is_reused:
            self.workspace.remove_leftovers(self.workspace.place(path))
        seal = None if payload.seal is None else payload.seal.to_text()
        self.keep(payload.record, payload.line, seal, is_reused=payload.is_reused)

    def keep(
        self, record: Record, line: str | None = None, seal: str | None = None, *, is_reused: bool = False
    ) -> None:
        """Keep the record of a run, and the line of a result that goes to a shard. Raises as `keep_payload` does."""
        content = None if line is None else line.encode()
        try:
            self._find_file_of(record.run).keep(record, seal, content, is_reused=is_reused)
        except DiskFull:
            raise
        except SettingsError as error:
            self.problems = self.problems or [str(error)]

    def find_earlier(self, path: Path, label: str) -> EarlierRow | None:
        """What an earlier session left of a run. What cannot be read is a problem of the session, and no result."""
        directory = find_directory(self.workspace, path)
        with self._noting_problems():
            if (row := self.find_file(directory).find_earlier(label)) is not None:
                return row
        if directory not in self._others:
            self._others[directory] = OtherRows(_list_others(self.workspace, directory))
        return self._others[directory].find(label)

    def copy_earlier(self, place: Path) -> None:
        """Copy the rows of earlier sessions to a directory, for `CopiedRows`."""
        for directory in list_result_directories(self.workspace):
            with self._noting_problems():
                self.find_file(directory).copy_earlier(place / _name_copy(directory))

    @contextmanager
    def _noting_problems(self) -> Iterator[None]:
        """What cannot be read or written is a problem of the session; the first is said."""
        try:
            yield
        except SettingsError as error:
            self.problems = self.problems or [str(error)]

    def get(self, label: str) -> Record | None:
        """The record of a run."""
        return self._find_file_of(label).get(label)

    def get_result(self, label: str) -> bytes | None:
        """The result of a run on a line, if it goes to a shard."""
        return self._find_file_of(label).get_result(label)

    def __contains__(self, label: str) -> bool:
        return label in self._find_file_of(label)

    def list_missing(self, labels: Iterable[str]) -> list[str]:
        """Those of some runs that have no record, in the order of their labels."""
        kept = {label for file in self._files.values() for label in file.list_labels()}
        return sorted(label for label in labels if label not in kept)

    def __len__(self) -> int:
        return sum(map(len, self._files.values()))

    def __iter__(self) -> Iterator[Record]:
        rows = (file.list_with_positions() for file in self._files.values())
        return (record for _, record in merge(*rows, key=lambda row: row[0]))

    def list_first(self) -> list[tuple[Path, Record]]:
        """The directories of summaries in the order of their first records, with these."""
        first = [(directory, next(file.list_with_positions(), None)) for directory, file in self._files.items()]
        rows = sorted((row[0], directory, row[1]) for directory, row in first if row is not None)
        return [(directory, record) for _, directory, record in rows]

    def count_reused(self) -> int:
        """How many of the results are those of an earlier session."""
        return sum(file.count_reused() for file in self._files.values())

    def tidy(self) -> None:
        """Remove unfinished summaries of a killed session, once. Those of results are removed in `keep`."""
        if self.workspace.settings.reuse and not self._is_tidy:
            self._is_tidy = True
            for directory in list_result_directories(self.workspace):
                self.workspace.remove_leftovers(directory)

    def end(self, *, is_complete: bool, is_whole: bool) -> None:
        """Note that the session has come to its end if it scored all its runs, and forget those that are gone.

        A session over some of the runs leaves the rows of the others.
        """
        self._is_ended = is_complete
        for directory, file in self._files.items():
            with self._noting_problems():
                if is_whole:
                    file.forget_others()
                    self._remove_others(directory)
                if is_complete:
                    file.end(has_results=self.workspace.settings.reuse or not is_whole)

    def _remove_others(self, directory: Path) -> None:
        """Remove the files of shards after a session over all runs."""
        if self.workspace.settings.shard is None:
            for path in _list_others(self.workspace, directory):
                remove(path)

    def close(self) -> None:
        """Let another session have the files."""
        for file in self._files.values():
            file.close()
        for rows in self._others.values():
            rows.close()

    def lines(self, count: int) -> list[str]:
        """The lines for the terminal; `count` is the number of results."""
        settings, notes = self.workspace.settings, [note for file in self._files.values() for note in file.notes]
        if not settings.reuse:
            return [*notes, *self.problems]
        message = f"reused: {self.count_reused()} of {pluralize(count, 'result')} taken from an earlier session"
        if settings.report is not None and settings.output is not None:
            message += "; a report of results in another directory needs all runs to be scored"
        return [message, *notes, *self.problems]


def find_directory(workspace: Workspace, path: Path) -> Path:
    """The directory of the summary, the rows and the shards with a run."""
    return workspace.settings.output or workspace.labels.root_of(path) or path


def _list_others(workspace: Workspace, directory: Path) -> list[Path]:
    """The files with rows of other shards of a session, and of one over all runs."""
    paths = directory.glob("eval_session*") if directory in list_result_directories(workspace) else ()
    named = [path for path in sorted(paths) if OWN_ROWS.fullmatch(path.name)]
    return [path for path in named if path.name != name_rows(workspace.settings.shard)]


def _name_copy(directory: Path) -> str:
    return f"{sha256(os.fsencode(directory))}.sqlite"


Rows = SessionRows | RowFile
