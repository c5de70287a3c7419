"""What an earlier session found out about a run, for sessions with --webeval-resume.

Only what our own journal vouches for is taken, and only where nothing that decides a verdict is another than then.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import field
from dataclasses import fields
from functools import cached_property
from pathlib import Path

import pytest

from pytest_webeval.checksums import sha256
from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import SettingsError
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.files import read_inside
from pytest_webeval.journal import JOURNAL
from pytest_webeval.journal import Entry
from pytest_webeval.journal import entry_in
from pytest_webeval.journal import files_in
from pytest_webeval.journal import read_entries
from pytest_webeval.plugin.redacting import REDACTING
from pytest_webeval.plugin.settings import Settings
from pytest_webeval.plugin.workspace import RESULT
from pytest_webeval.plugin.workspace import Workspace
from pytest_webeval.redaction.policy import REDACTED
from pytest_webeval.reports.failure_text import reason
from pytest_webeval.results import Status
from pytest_webeval.results import TaskResult
from pytest_webeval.runs import Run
from pytest_webeval.summary import Record
from pytest_webeval.task_results import deciding_checksum
from pytest_webeval.task_results import libraries

# What says which runs are scored, or what is told of them, but not what becomes of one. The definition of a task and
# the content of the configuration file are looked at themselves; whatever else there is may change a result.
_NO_MATTER = (
    "baseline",
    "config",
    "durations",
    "embed",
    "expect",
    "fsync",
    "gitlab_metrics",
    "metrics",
    "report",
    "resume",
    "roots",
    "subset",
    "tasks",
    "timeout",
)


def asked_of(settings: Settings) -> str:
    """SHA-256 of all that a session was asked for, and with which libraries, as far as a result may depend on it."""
    asked = {one.name: repr(getattr(settings, one.name)) for one in fields(settings) if one.name not in _NO_MATTER}
    sites = sha256(settings.config.read_bytes()) if settings.config else None
    return sha256(json.dumps([asked, sites, libraries()], sort_keys=True).encode("utf-8", "surrogatepass"))


def journal_path(workspace: Workspace, path: Path) -> Path | None:
    """Where the journal lies that tells of a run; None where it would be in the run's own directory.

    What lies there was written by a stranger.
    """
    if workspace.settings.output is not None:
        return workspace.settings.output / JOURNAL
    root = workspace.labels.root_of(path)
    return None if root is None or root == path else root / JOURNAL


@dataclass(frozen=True, slots=True)
class Stored:
    """A result of an earlier session, with the record that it made of it."""

    result: TaskResult
    record: Record

    def is_by(self, evaluators: Iterable[Evaluator]) -> bool:
        """Whether these evaluators would find the same: whether the code is the same."""
        return self.result.webarena_verified_evaluator_checksum == deciding_checksum(evaluators)


@dataclass(eq=False)
class EarlierSession:
    """One a process: what the journals said when it first looked."""

    workspace: Workspace
    journals: dict[Path, dict[str, bytes]] = field(default_factory=dict)

    @cached_property
    def _asked(self) -> str:
        return asked_of(self.workspace.settings)

    def stored(self, run: Run) -> Stored | None:
        """The result of a run, if it is certain that the run would get it again. Raises `TaskDefinitionError`."""
        entry = self._entry(run)
        if entry is None or entry.asked != self._asked:
            return None
        result = _sealed(self.workspace.result_path(run.path), entry)
        if result is None or not self._is_defined_alike(run, result):
            return None
        if self.workspace.settings.report is not None and REDACTED in result.webeval:
            return None  # a page shows the recording as well, and whoever scores that knows the secrets in it
        if not _has_same_files(run, result, entry):
            return None
        record = self._record(run, result)
        return Stored(result, record) if record.to_json() == entry.record and _is_verdict(record) else None

    def _is_defined_alike(self, run: Run, result: TaskResult) -> bool:
        found = self.workspace.definition(run)
        was = result.webarena_verified_data_checksum, result.webeval.get("tasks_from")
        return was == (found.checksum, found.origin)

    def _record(self, run: Run, result: TaskResult) -> Record:
        kind = self.workspace.definition(run).task.task_type
        told = self.workspace.config.stash[REDACTING].told(result, run)
        return Record.of(told, kind.lower() if kind else None, reason(told))

    def _entry(self, run: Run) -> Entry | None:
        place = journal_path(self.workspace, run.path)
        if place is None:
            return None
        if place not in self.journals:
            self.journals[place] = {}
            with suppress(SettingsError):  # which the controller tells, for it cannot write there either
                self.journals[place] = read_entries(place)
        line = self.journals[place].get(run.label)
        return None if line is None else entry_in(line)


def _sealed(path: Path, entry: Entry) -> TaskResult | None:
    """The result in a file, if its content is that which the journal tells of."""
    try:
        content = read_inside(path.parent, RESULT)
        return TaskResult.read(json.loads(content)) if sha256(content) == entry.seal.result else None
    except (RecordingError, ValueError, RecursionError):
        return None


def _is_verdict(record: Record) -> bool:
    """Whether the run was judged. What could not be may be by now."""
    return record.status in (Status.SUCCESS, Status.FAILURE) and not record.skipped and record.excluded is None


def _has_same_files(run: Run, result: TaskResult, entry: Entry) -> bool:
    """Whether nothing came to the run or went, and what was read of it still says the same."""
    inputs: dict[str, str] = result.webeval.get("inputs") or {}
    if not inputs or not entry.seal.files or entry.seal.files != files_in(run.path):
        return False
    with suppress(RecordingError):
        return all(_read_again(run, name) == checksum for name, checksum in inputs.items())
    return False


def _read_again(run: Run, name: str) -> str:
    run.inputs.read(name)
    return run.inputs.checksums[name]


EARLIER = pytest.StashKey[EarlierSession]()
STORED = pytest.StashKey[Stored]()


def offer_stored(item: pytest.Item, run: Run, workspace: Workspace) -> bool:
    """Whether an earlier session judged the run, so that it need not be read. What it found is put on the item."""
    earlier = workspace.config.stash.get(EARLIER, None)
    found = earlier.stored(run) if earlier is not None else None
    if found is not None:
        item.stash[STORED] = found
    return found is not None
