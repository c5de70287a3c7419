"""Results of earlier sessions, for sessions with --webeval-resume or --webeval-reuse.

A result is reused only if the journal lists it and if nothing that decided it has changed. A result file alone proves
nothing: an agent may have written it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec import field
from msgspec import structs

from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import SettingsError
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.case import Case
from pytest_webeval.recordings.run import Run
from pytest_webeval.redaction.policy import REDACTED
from pytest_webeval.results import RESULT
from pytest_webeval.results import Status
from pytest_webeval.results import TaskResult
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.files import sha256
from pytest_webeval.scoring.definition import Definition
from pytest_webeval.scoring.provenance import deciding_checksum
from pytest_webeval.sessions.fingerprints import UNKNOWN
from pytest_webeval.sessions.fingerprints import Fingerprints
from pytest_webeval.sessions.fingerprints import describe_evaluators
from pytest_webeval.sessions.journal import JOURNAL
from pytest_webeval.sessions.journal import Entry
from pytest_webeval.sessions.journal import Seal
from pytest_webeval.sessions.journal import entry_in
from pytest_webeval.sessions.journal import read_entries
from pytest_webeval.sessions.run_files import RunFiles
from pytest_webeval.sessions.run_files import survey_files
from pytest_webeval.sessions.workspace import Workspace
from pytest_webeval.storage import Sync
from pytest_webeval.storage import write_json
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.record import label_warnings

VERDICTS = (Status.SUCCESS, Status.FAILURE)


def journal_path(workspace: Workspace, path: Path) -> Path | None:
    """The path of the journal for a run; None if it would be in the run's own directory.

    Files in there are untrusted.
    """
    if workspace.settings.output is not None:
        return workspace.settings.output / JOURNAL
    root = workspace.labels.root_of(path)
    return None if root is None or root == path else root / JOURNAL


class StoredResult(Struct, frozen=True, dict=True):
    """A result of an earlier session, with the record that was made of it.

    `seal` is that of the journal, with the identity that the files have now; `is_sealed_anew` if it is another one than
    before. `data_checksum` is that of the definitions if they are others now, but for the task of the run.
    """

    content: bytes
    record: Record
    seal: Seal
    is_sealed_anew: bool = False
    data_checksum: str | None = None

    @cached_property
    def result(self) -> TaskResult:
        """The result as it is now."""
        labelled = label_warnings(
            TaskResult.read(json.loads(self.content)), [list(row) for row in self.record.warnings]
        )
        return labelled.with_changes(**self._changes(labelled.webeval))

    def _changes(self, webeval: dict[str, Any]) -> dict[str, Any]:
        """The fields of the file that are others now, without a part in the verdict."""
        if self.data_checksum is None:
            return {}
        changed = webeval | {"tasks_from": self.seal.origin}
        return {"webarena_verified_data_checksum": self.data_checksum, "webeval": changed}

    def is_by(self, evaluators: Iterable[Evaluator], case: Case, workspace: Workspace) -> bool:
        """Whether these evaluators would decide the same: whether their code and their state are the same."""
        listed = list(evaluators)
        state = describe_state(listed, case, workspace)
        is_same_code = self.record.evaluator_checksum == deciding_checksum(listed)
        return is_same_code and state == self.seal.evaluators != UNKNOWN

    def keep(self, path: Path, sync: Sync | None) -> Seal | None:
        """The seal to note, with the file written anew if a field of it is another; None if all is as it was.

        Raises `SettingsError`.
        """
        if self.data_checksum is None:
            return self.seal if self.is_sealed_anew else None
        raw = json.loads(self.content)
        return structs.replace(self.seal, result=write_json(path, raw | self._changes(raw["webeval"]), sync))


def describe_state(evaluators: Iterable[Evaluator], case: Case, workspace: Workspace) -> str:
    """The state of evaluators of users, and of the sites if a fixture of a user gave others."""
    is_usual = case.configured_sites == workspace.sites
    return describe_evaluators(evaluators, None if is_usual else case.configured_sites)


class PreviousSession(Struct, eq=False, dict=True):
    """One per process: the journals as they were when first read."""

    workspace: Workspace
    fingerprints: Fingerprints
    journals: dict[Path, dict[str, bytes]] = field(default_factory=dict)

    def stored(self, modules: str | None, run: Run, definition: Definition) -> StoredResult | None:
        """The result of a run, if it is certain that the run would get it again."""
        entry = self._find_entry(modules, run, definition)
        if entry is None:
            return None
        content = _read_sealed(self.workspace.result_path(run.path), entry.seal)
        if content is None or self._needs_secrets(content):
            return None
        files = survey_files(run.path)
        if not _has_same_files(run, files, content, entry.seal):
            return None
        identity = files.sealed_identity(self.workspace.started)
        seal = structs.replace(entry.seal, identity=identity)
        return _restate(StoredResult(content, _read_record(entry), seal, identity != entry.seal.identity), definition)

    def has_entry(self, modules: str | None, run: Run, definition: Definition) -> bool:
        """Whether the journal lists a result that was decided as it would be now."""
        return self._find_entry(modules, run, definition) is not None

    def _needs_secrets(self, content: bytes) -> bool:
        """Whether a page has to show a recording whose secrets only whoever scores it knows."""
        return self.workspace.settings.report is not None and REDACTED in json.loads(content)["webeval"]

    def _find_entry(self, modules: str | None, run: Run, definition: Definition) -> Entry | None:
        """The line about a verdict that was decided by what decides now."""
        line = self._find_line(run)
        entry = None if line is None else entry_in(line)
        if entry is None or not entry.seal.decided_by or entry.record.get("status") not in VERDICTS:
            return None
        decided_by = self.fingerprints.of(modules, run, definition)
        return entry if entry.seal.decided_by == decided_by else None

    def _find_line(self, run: Run) -> bytes | None:
        place = journal_path(self.workspace, run.path)
        if place is None:
            return None
        if place not in self.journals:
            self.journals[place] = {}
            with suppress(SettingsError):  # which the controller reports, since it cannot write there either
                self.journals[place] = read_entries(place)
        return self.journals[place].get(run.label)


def _read_record(entry: Entry) -> Record:
    return Record(**entry.record | {"tags": ()})  # which are those of this session


def _restate(stored: StoredResult, definition: Definition) -> StoredResult:
    """The same about definitions that are others now, but for the task of the run."""
    if (stored.record.data_checksum, stored.seal.origin) == (definition.checksum, definition.origin):
        return stored
    record = structs.replace(stored.record, data_checksum=definition.checksum)
    seal = structs.replace(stored.seal, origin=definition.origin)
    return structs.replace(stored, record=record, seal=seal, data_checksum=definition.checksum)


def _read_sealed(path: Path, seal: Seal) -> bytes | None:
    """The content of a result file, if its checksum is that of the journal."""
    with suppress(RecordingError):
        content = read_file_inside(path.parent, RESULT)
        return content if sha256(content) == seal.result else None
    return None


def _has_same_files(run: Run, files: RunFiles, content: bytes, seal: Seal) -> bool:
    """Whether no file of the run has changed: by its identity, or else by the content of all that were read.

    Evaluators of users may read any file.
    """
    if not seal.files:
        return False
    if files.identity and files.identity == seal.identity:
        return True
    if seal.is_foreign:
        return survey_files(run.path, with_content=True).listed == seal.files
    if files.listed != seal.files:
        return False
    inputs: dict[str, str] = json.loads(content)["webeval"].get("inputs") or {}
    with suppress(RecordingError):
        return bool(inputs) and all(_read_again(run, name) == checksum for name, checksum in inputs.items())
    return False


def _read_again(run: Run, name: str) -> str:
    run.inputs.read(name)
    return run.inputs.checksums[name]
