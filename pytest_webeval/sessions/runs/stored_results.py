"""Results of earlier sessions, for sessions with --webeval-reuse.

A result is reused only if there is a row of it and if nothing that decided it has changed. A result file alone proves
nothing: an agent may have written it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

from msgspec import Struct, convert, structs

from pytest_webeval.errors import RecordingError, SettingsError
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.case import Case
from pytest_webeval.recordings.run import Run
from pytest_webeval.redaction.policy import REDACTED
from pytest_webeval.results import RESULT, Status, TaskResult
from pytest_webeval.safety.files import read_file_inside, sha256
from pytest_webeval.scoring.definition import Definition
from pytest_webeval.scoring.provenance import deciding_checksum
from pytest_webeval.sessions.runs.fingerprints import UNKNOWN, Fingerprints, describe_evaluators
from pytest_webeval.sessions.runs.run_files import RunFiles, survey_files
from pytest_webeval.sessions.workspace.result_places import ResultPlaces
from pytest_webeval.sessions.workspace.workspace import Workspace
from pytest_webeval.storage import encode_file, write_bytes, write_json
from pytest_webeval.summary.record import Record, label_warnings
from pytest_webeval.summary.store.row_database import EarlierRow

VERDICTS = (Status.SUCCESS, Status.FAILURE)


class Seal(Struct, frozen=True):
    """All that decided a result, the result file, and the files of the run.

    A row with a seal records that webeval wrote a result, with which content: that a file lies in a run directory
    proves nothing, for an agent may have put it there.

    All but the result are empty for what is no verdict of the evaluators alone. `evaluators` is the state of those that
    users wrote, `text` the redacted failure as a test shows it.
    """

    result: str  # SHA-256 of the result file
    decided_by: str = ""  # SHA-256 of all that decided the verdict but for the files: see `Fingerprints`
    evaluators: str = ""
    is_foreign: bool = False  # users wrote code that decides, which may read any file of the run
    origin: str = ""  # name of the file with the task definition
    files: str = ""  # see `RunFiles.listed`
    identity: str = ""  # see `RunFiles.sealed_identity`
    text: str | None = None

    def to_text(self) -> str:
        """The seal as JSON; halves of surrogate pairs are escaped."""
        return json.dumps(structs.asdict(self), separators=(",", ":"))

    @classmethod
    def read(cls, text: str) -> Seal:
        """The seal in a text. Raises `ValueError`."""
        return convert(json.loads(text), cls)


def store_content(path: Path, content: Any, places: ResultPlaces) -> tuple[str, str | None]:
    """The SHA-256 of a result file that was written, or of that which a shard has in a line; and this line.

    Raises `SettingsError`.
    """
    if not places.is_in_shard(path.parent):
        return write_json(path, content, places.sync, places.advice), None
    encoded = encode_file(path, content)
    try:
        return sha256(encoded), _compact(encoded)
    except ValueError as error:
        raise SettingsError(f"cannot put {path} into a shard: {error}; use --webeval-results=files") from error


class StoredResult(Struct, frozen=True, dict=True):
    """A result of an earlier session, with the record that was made of it.

    `line` is the result where it goes to a shard. `seal` has the identity that the files have now. `data_checksum` is
    that of the definitions if they are others now, but for the task of the run.
    """

    content: bytes
    record: Record
    seal: Seal
    line: str | None = None
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

    def keep(self, path: Path, places: ResultPlaces) -> tuple[Seal, str | None]:
        """The seal and the line to note, with the result written anew if a field of it is another.

        Raises `SettingsError`.
        """
        if self.data_checksum is None:
            return self.seal, self.line
        raw = json.loads(self.content)
        checksum, line = store_content(path, raw | self._changes(raw["webeval"]), places)
        return structs.replace(self.seal, result=checksum), line


def describe_state(evaluators: Iterable[Evaluator], case: Case, workspace: Workspace) -> str:
    """The state of evaluators of users, and of the sites if a fixture of a user gave others."""
    is_usual = case.configured_sites == workspace.sites
    return describe_evaluators(evaluators, None if is_usual else case.configured_sites)


def build_seal(  # noqa: PLR0913  (all that decides)
    result: TaskResult,
    evaluators: Iterable[Evaluator],
    case: Case,
    definition: Definition,
    *,
    fingerprints: Fingerprints,
    modules: str | None,
) -> Seal | None:
    """What decided a result, if another session can reuse it: none that depends on what an evaluator raised.

    `modules` is as in `Fingerprints.of`.
    """
    if modules is None or case.calls.expected or case.calls.raised or result.status not in VERDICTS:
        return None
    state = describe_state(evaluators, case, fingerprints.workspace)
    return Seal("", fingerprints.of(modules, case.run, definition), state, bool(modules), definition.origin)


class PreviousSession(Struct, frozen=True, eq=False):
    """One per process. It checks whether the result of a row would be the same now."""

    workspace: Workspace
    fingerprints: Fingerprints

    def check(
        self, earlier: EarlierRow | None, modules: str | None, run: Run, definition: Definition
    ) -> StoredResult | None:
        """The result of a run in a row, if it is certain that the run would get it again.

        None is reused for a run of which a store did not give all files.
        """
        if self.workspace.settings.is_unread(run.path):
            return None
        entry = None if earlier is None else self.read_entry(earlier, modules, run, definition)
        if earlier is None or entry is None:
            return None
        record, seal = entry
        path = self.workspace.result_path(run.path)
        single = _read_sealed(path, seal)
        content = single or _expand_sealed(earlier.result, seal)
        if content is None or self._needs_secrets(content):
            return None
        files = survey_files(run.path)
        if not _has_same_files(run, files, content, seal):
            return None
        try:
            line = self._put_in_place(path, content, is_there=single is not None)
        except (SettingsError, ValueError):
            return None
        seal = structs.replace(seal, identity=files.sealed_identity(self.workspace.started))
        return _restate(StoredResult(content, record, seal, line), definition)

    def _put_in_place(self, path: Path, content: bytes, *, is_there: bool) -> str | None:
        """The line of a result for a shard. One that goes to a file is there when this returns."""
        places = self.workspace.result_places
        if places.is_in_shard(path.parent):
            return _compact(content)
        if not is_there:
            write_bytes(path, content, places.advice, places.sync)
        return None

    def _needs_secrets(self, content: bytes) -> bool:
        """Whether a page has to show a recording whose secrets only whoever scores it knows."""
        return self.workspace.settings.report is not None and REDACTED in json.loads(content)["webeval"]

    def read_entry(
        self, earlier: EarlierRow, modules: str | None, run: Run, definition: Definition
    ) -> tuple[Record, Seal] | None:
        """What a row says, if it is about a verdict that was decided by what decides now."""
        try:
            seal = Seal.read(earlier.seal)
            record = convert(json.loads(earlier.record) | {"tags": ()}, Record)  # those of now
        except (ValueError, TypeError, RecursionError):
            return None
        is_of_run = record.run == run.label and record.status in VERDICTS and isfinite(record.score)
        if not seal.decided_by or not is_of_run:
            return None
        return (record, seal) if seal.decided_by == self.fingerprints.of(modules, run, definition) else None


def _restate(stored: StoredResult, definition: Definition) -> StoredResult:
    """The same about definitions that are others now, but for the task of the run."""
    if (stored.record.data_checksum, stored.seal.origin) == (definition.checksum, definition.origin):
        return stored
    record = structs.replace(stored.record, data_checksum=definition.checksum)
    seal = structs.replace(stored.seal, origin=definition.origin)
    return structs.replace(stored, record=record, seal=seal, data_checksum=definition.checksum)


def _read_sealed(path: Path, seal: Seal) -> bytes | None:
    """The content of a result file, if its checksum is that of the row."""
    with suppress(RecordingError):
        content = read_file_inside(path.parent, RESULT)
        return content if sha256(content) == seal.result else None
    return None


def _compact(content: bytes) -> str:
    from pytest_webeval.summary.results.result_shards import compact_result  # for sessions with shards

    return compact_result(content).decode()


def _expand_sealed(line: bytes | None, seal: Seal) -> bytes | None:
    """The same of a line in a shard."""
    if line is None:
        return None
    from pytest_webeval.summary.results.result_shards import expand_result  # for sessions with shards

    with suppress(ValueError):
        content = expand_result(line)
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
