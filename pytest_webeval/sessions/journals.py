"""The journals of a session, with which another one can reuse its results. Only the controller writes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec import Struct, field

from pytest_webeval.errors import DiskFull, SettingsError
from pytest_webeval.results import JOURNAL, PARTIAL_SUMMARY, RESULT, SUMMARY
from pytest_webeval.safety.text import pluralize
from pytest_webeval.sessions.journal import Entry, Journal
from pytest_webeval.sessions.output_paths import journal_path, list_result_directories
from pytest_webeval.sessions.path_list import RunSet
from pytest_webeval.sessions.record_payload import RecordPayload
from pytest_webeval.sessions.workspace import Workspace
from pytest_webeval.storage import remove_leftovers


class Journals(Struct, eq=False, dict=True):
    """One per session; a journal stands next to each summary."""

    workspace: Workspace
    resumed: RunSet = field(default_factory=RunSet)
    disturbed: RunSet = field(
        default_factory=RunSet
    )  # runs whose result is lost for another reason than the run itself
    problems: list[str] = field(default_factory=list)
    _journals: dict[Path, Journal] = field(default_factory=dict)
    _found: set[Path] = field(default_factory=set)
    _is_tidy: bool = False

    def __post_init__(self) -> None:
        """Remember the existing journals."""
        self._found = {place for place in self._places if os.path.lexists(place)}

    @property
    def _places(self) -> set[Path]:
        return {directory / JOURNAL for directory in list_result_directories(self.workspace)}

    def keep(self, carried: RecordPayload) -> None:
        """Add a line about a new result. The first write error is reported; the session continues.

        Raises `DiskFull` if the line does not fit.
        """
        label = carried.record.run
        is_disturbed = carried.is_disturbed or carried.is_unread
        for runs, is_one in ((self.resumed, carried.is_resumed), (self.disturbed, is_disturbed)):
            (runs.add if is_one else runs.discard)(label)
        path = self.workspace.labels.path_of(label) if carried.seal else None
        place = journal_path(self.workspace, path) if path else None
        if carried.seal is None or path is None or place is None:
            return
        if self.workspace.settings.reuse and not carried.is_resumed:
            self._remove_leftovers(self.workspace.place(path))
        journal = self._journals.setdefault(place, Journal(place, self.workspace.settings.sync))
        try:
            journal.append(Entry(carried.seal, carried.record.to_json()))
        except DiskFull:
            raise
        except ValueError:  # a number that no JSON has: the run is scored again
            return
        except SettingsError as error:
            self.problems = self.problems or [str(error)]

    def tidy(self, labels: Iterable[str]) -> None:
        """Remove unfinished files of a killed session, once.

        A session that reuses most results has no time to look for them in each run: see `keep`.
        """
        if not self.workspace.settings.reads_journals or self._is_tidy:
            return
        self._is_tidy = True
        paths = filter(None, map(self.workspace.labels.path_of, labels if self.workspace.settings.resume else ()))
        for path in paths:
            self._remove_leftovers(self.workspace.place(path))
        for place in self._places:
            self._remove_leftovers(place.parent)

    def remove_unfinished(self, path: Path) -> None:
        """Remove what a worker of this session left of the result of a run: it was killed while it wrote."""
        self._remove_leftovers(self.workspace.place(path), self.workspace.started)

    def _remove_leftovers(self, directory: Path, since: float = 0) -> None:
        if directory in self.workspace.settings.roots or not directory.is_symlink():
            with self.workspace.open_run(directory):
                remove_leftovers(directory, RESULT, SUMMARY, PARTIAL_SUMMARY, since=since)

    def end(self, *, is_complete: bool, is_whole: bool) -> None:
        """Remove the journals of a session that scored all its runs, unless others are to reuse or to write them.

        They stay as well until all results for a store are there: otherwise the next session would score all runs
        again to upload the rest. A session over some of the runs leaves the earlier journals, which list more runs.
        """
        for journal in self._journals.values():
            journal.close()
        if self.workspace.settings.shard is not None:
            return  # another shard may be writing the same ones
        if self.workspace.settings.reuse:
            for journal in self._journals.values():
                self._attempt(journal.compact)
        elif is_complete and not self.disturbed and self._is_uploaded():
            for place in self._places if is_whole else self._places - self._found:
                self._attempt(Journal(place).remove)

    def _is_uploaded(self) -> bool:
        staging = self.workspace.settings.staging
        return staging is None or staging.upload_rest() is None

    def _attempt(self, change: Callable[[], None]) -> None:
        try:
            change()
        except SettingsError as error:
            self.problems = self.problems or [str(error)]

    def lines(self, count: int) -> Sequence[str]:
        """The lines for the terminal; `count` is the number of results."""
        settings = self.workspace.settings
        if not settings.reads_journals:
            return self.problems
        verb = "reused" if settings.reuse else "resumed"
        message = f"{verb}: {len(self.resumed)} of {pluralize(count, 'result')} taken from an earlier session"
        if settings.report is not None and settings.output is not None:
            message += "; a report of results in another directory needs all runs to be scored"
        elif not self._found:
            message += f"; it left no {JOURNAL}"
        return [message, *self.problems]
