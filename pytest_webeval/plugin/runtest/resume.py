"""Results of an earlier session, for sessions with --webeval-resume.

A result is reused only if the journal lists it and if no input of its verdict has changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

import pytest
from msgspec import Struct
from msgspec import field

from pytest_webeval.errors import DiskFull
from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import SettingsError
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.plugin.runtest.journal import JOURNAL
from pytest_webeval.plugin.runtest.journal import Entry
from pytest_webeval.plugin.runtest.journal import Journal
from pytest_webeval.plugin.runtest.journal import entry_in
from pytest_webeval.plugin.runtest.journal import files_in
from pytest_webeval.plugin.runtest.journal import read_entries
from pytest_webeval.plugin.runtest.run_outcome import RecordPayload
from pytest_webeval.plugin.settings import REDACTING
from pytest_webeval.plugin.settings import Settings
from pytest_webeval.plugin.workspace import Workspace
from pytest_webeval.recordings.run import Run
from pytest_webeval.redaction.policy import REDACTED
from pytest_webeval.reports.failure_text import reason
from pytest_webeval.results import RESULT
from pytest_webeval.results import SUMMARY
from pytest_webeval.results import Status
from pytest_webeval.results import TaskResult
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.text import pluralize
from pytest_webeval.scoring.definition import Definition
from pytest_webeval.scoring.provenance import deciding_checksum
from pytest_webeval.scoring.provenance import libraries
from pytest_webeval.storage import remove_leftovers
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.record import label_warnings
from pytest_webeval.tasks.task import Task


def settings_fingerprint(settings: Settings) -> str:
    """SHA-256 of the settings and library versions on which results depend."""
    sites = sha256(settings.config.read_bytes()) if settings.config else None
    facts = [settings.affecting_results(), sites, libraries()]
    return sha256(json.dumps(facts, sort_keys=True).encode("utf-8", "surrogatepass"))


def journal_path(workspace: Workspace, path: Path) -> Path | None:
    """The path of the journal for a run; None if it would be in the run's own directory.

    Files in there are untrusted.
    """
    if workspace.settings.output is not None:
        return workspace.settings.output / JOURNAL
    root = workspace.labels.root_of(path)
    return None if root is None or root == path else root / JOURNAL


class StoredResult(Struct, frozen=True):
    """A result of an earlier session, with the record that it made of it."""

    result: TaskResult
    record: Record

    def is_by(self, evaluators: Iterable[Evaluator]) -> bool:
        """Whether these evaluators would find the same: whether the code is the same."""
        return self.result.webarena_verified_evaluator_checksum == deciding_checksum(evaluators)


class PreviousSession(Struct, eq=False, dict=True):
    """One per process: the journals as they were when first read."""

    workspace: Workspace
    journals: dict[Path, dict[str, bytes]] = field(default_factory=dict)

    @cached_property
    def _asked(self) -> str:
        return settings_fingerprint(self.workspace.settings)

    def stored(self, run: Run, definition: Definition) -> StoredResult | None:
        """The result of a run, if it is certain that the run would get it again."""
        entry = self._entry(run)
        if entry is None or entry.asked != self._asked:
            return None
        result = _sealed(self.workspace.result_path(run.path), entry)
        if result is None or not _is_defined_alike(definition, result):
            return None
        if self.workspace.settings.report is not None and REDACTED in result.webeval:
            return None  # a page shows the recording as well, and whoever scores that knows the secrets in it
        if not _has_same_files(run, result, entry):
            return None
        result = label_warnings(result, entry.record.get("warnings"))
        record = self._record(run, definition.task, result)
        is_same = record.to_json() == entry.record | {"tags": record.tags}  # which are those of this session
        return StoredResult(result, record) if is_same and _is_verdict(record) else None

    def has_entry(self, run: Run) -> bool:
        """Whether the journal lists the run."""
        return self._entry(run) is not None

    def _record(self, run: Run, task: Task, result: TaskResult) -> Record:
        kind = task.task_type
        told = self.workspace.config.stash[REDACTING].redact_for_report(result, run)
        return Record.of(told, kind.lower() if kind else None, reason(told))

    def _entry(self, run: Run) -> Entry | None:
        place = journal_path(self.workspace, run.path)
        if place is None:
            return None
        if place not in self.journals:
            self.journals[place] = {}
            with suppress(SettingsError):  # which the controller reports, since it cannot write there either
                self.journals[place] = read_entries(place)
        line = self.journals[place].get(run.label)
        return None if line is None else entry_in(line)


def _is_defined_alike(definition: Definition, result: TaskResult) -> bool:
    was = result.webarena_verified_data_checksum, result.webeval.get("tasks_from")
    return was == (definition.checksum, definition.origin)


def _sealed(path: Path, entry: Entry) -> TaskResult | None:
    """The result in a file, if its checksum is that of the journal."""
    try:
        content = read_file_inside(path.parent, RESULT)
        return TaskResult.read(json.loads(content)) if sha256(content) == entry.seal.result else None
    except (RecordingError, ValueError, RecursionError):
        return None


def _is_verdict(record: Record) -> bool:
    """Whether the run was judged. What could not be may be by now."""
    return record.status in (Status.SUCCESS, Status.FAILURE) and not record.skipped and record.excluded is None


def _has_same_files(run: Run, result: TaskResult, entry: Entry) -> bool:
    """Whether the run has the same files, and those that were read have the same content."""
    inputs: dict[str, str] = result.webeval.get("inputs") or {}
    if not inputs or not entry.seal.files or entry.seal.files != files_in(run.path):
        return False
    with suppress(RecordingError):
        return all(_read_again(run, name) == checksum for name, checksum in inputs.items())
    return False


def _read_again(run: Run, name: str) -> str:
    run.inputs.read(name)
    return run.inputs.checksums[name]


PREVIOUS = pytest.StashKey[PreviousSession]()
STORED = pytest.StashKey[StoredResult]()


def reuse_stored_result(item: pytest.Item, run: Run, definition: Definition, workspace: Workspace) -> bool:
    """Whether an earlier session judged the run, so that it need not be read. What it found is put on the item."""
    earlier = workspace.config.stash.get(PREVIOUS, None)
    found = earlier.stored(run, definition) if earlier is not None else None
    if found is not None:
        item.stash[STORED] = found
    return found is not None


class Journals(Struct, eq=False, dict=True):
    """The journals of one session, one next to each summary. Only the controller writes them."""

    workspace: Workspace
    resumed: set[str] = field(default_factory=set)
    disturbed: set[str] = field(default_factory=set)  # runs whose result is lost for another reason than the run itself
    problems: list[str] = field(default_factory=list)
    _journals: dict[Path, Journal] = field(default_factory=dict)
    _found: set[Path] = field(default_factory=set)
    _is_tidy: bool = False

    def __post_init__(self) -> None:
        """Remember the existing journals."""
        self._found = {place for place in self._places if os.path.lexists(place)}

    @property
    def _places(self) -> set[Path]:
        settings = self.workspace.settings
        roots = [root for root in settings.roots if self.workspace.format_of(root) is None]  # see `journal_path`
        return {place / JOURNAL for place in ([settings.output] if settings.output else roots)}

    @cached_property
    def _asked(self) -> str:
        return settings_fingerprint(self.workspace.settings)

    def keep(self, carried: RecordPayload) -> None:
        """Add a line about a new result. The first write error is reported; the session continues.

        Raises `DiskFull` if the line does not fit.
        """
        label = carried.record.run
        for runs, is_one in ((self.resumed, carried.is_resumed), (self.disturbed, carried.is_disturbed)):
            (runs.add if is_one else runs.discard)(label)
        path = self.workspace.labels.path_of(label) if carried.seal else None
        place = journal_path(self.workspace, path) if path else None
        if carried.seal is None or place is None:
            return
        journal = self._journals.setdefault(place, Journal(place, self.workspace.settings.sync))
        try:
            journal.append(Entry(self._asked, carried.seal, carried.record.to_json()))
        except DiskFull:
            raise
        except SettingsError as error:
            self.problems = self.problems or [str(error)]

    def tidy(self, labels: Iterable[str]) -> None:
        """Remove unfinished files of a killed session, once."""
        if not self.workspace.settings.resume or self._is_tidy:
            return
        self._is_tidy = True
        paths = filter(None, map(self.workspace.labels.path_of, labels))
        written = {self.workspace.place(path) for path in paths}
        for directory in written | {place.parent for place in self._places}:
            if directory in self.workspace.settings.roots or not directory.is_symlink():
                remove_leftovers(directory, RESULT, SUMMARY)

    def end(self, *, is_complete: bool, is_whole: bool) -> None:
        """Remove the journals of a session that scored all its runs.

        A session over some of the runs leaves the earlier journals, which list more runs.
        """
        for journal in self._journals.values():
            journal.close()
        if is_complete and not self.disturbed:
            for place in self._places if is_whole else self._places - self._found:
                self._remove(place)

    def _remove(self, place: Path) -> None:
        try:
            Journal(place).remove()
        except SettingsError as error:
            self.problems = self.problems or [str(error)]

    def lines(self, count: int) -> Sequence[str]:
        """The lines for the terminal; `count` is the number of results."""
        if not self.workspace.settings.resume:
            return self.problems
        message = f"resumed: {len(self.resumed)} of {pluralize(count, 'result')} taken from an earlier session"
        return [message if self._found else f"{message}; it left no {JOURNAL}", *self.problems]
