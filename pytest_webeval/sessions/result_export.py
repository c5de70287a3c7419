"""The results of a session in shards, which are written from its rows when it ends."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field

from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.text import pluralize, sanitize
from pytest_webeval.sessions.runs.session_rows import SessionRows
from pytest_webeval.sessions.runs.stored_results import Seal
from pytest_webeval.sessions.workspace.output_paths import list_result_directories
from pytest_webeval.sessions.workspace.workspace import Workspace
from pytest_webeval.summary.results.result_shards import (
    ResultShardWriter,
    ShardLayout,
    expand_result,
    has_shards,
    remove_shards,
)
from pytest_webeval.summary.store.result_manifest import list_manifests, name_manifest
from pytest_webeval.summary.store.row_file import RowFile, StoredLine


class ResultExport(Struct, eq=False):
    """One per session, when its runs are scored. Where results are files, it removes shards of earlier sessions."""

    workspace: Workspace
    rows: SessionRows
    notes: list[str] = field(default_factory=list)

    def write(self, directory: Path, *, is_whole: bool) -> None:
        """Write the shards next to the summary in a directory, or remove those that are there.

        A session over some of the runs, `is_whole=False`, leaves what is there of the others. Raises `SettingsError`.
        """
        if directory not in list_result_directories(self.workspace):
            return
        storage_format, settings = self.workspace.result_places.storage_format, self.workspace.settings
        if storage_format is None:
            if is_whole and has_shards(directory):
                remove_shards(directory, settings.shard)
            elif has_shards(directory):
                self._note(directory, "its results count before the files of this session; score all runs to change it")
            return
        file, count = self.rows.find_file(directory), 0
        if is_whole:
            file.forget_others()
        else:
            self._adopt_others(directory, file)
        layout = ShardLayout(storage_format, file.prefix, settings.shard)
        with ResultShardWriter(directory, layout, settings.sync) as writer:
            for result in filter(_is_certain, file.list_results()):
                writer.add(result.label, result.line)
                count += not result.is_own
        if count:
            self._note(directory, f"{pluralize(count, 'result')} of other runs kept")

    def _adopt_others(self, directory: Path, file: RowFile) -> None:
        """Keep the published results, which come before those in rows of earlier sessions.

        Other shards of a split session keep their own.
        """
        from pytest_webeval.summary.results.result_files import read_rows  # few sessions are over some of the runs

        problems: list[str] = []
        own, is_split = name_manifest(self.workspace.settings.shard), self.workspace.settings.shard is not None
        names = list_manifests(directory, (path.name for path in directory.glob("eval_results*")))
        for name in (name for name in names if (directory / name).is_file() and (name == own or not is_split)):
            for row in read_rows(directory, name, problems):
                if row.line is not None:  # as it is in a shard
                    file.adopt(row.place, row.line)
        if problems:
            self._note(directory, f"not all results of other runs could be kept: {problems[0]}")

    def _note(self, directory: Path, text: str) -> None:
        self.notes.append(sanitize(f"{directory / name_manifest(self.workspace.settings.shard)}: {text}"))


def _is_certain(result: StoredLine) -> bool:
    """Whether a result is of this session, or was published, or is what a session of which no more is there wrote."""
    if result.is_own or result.seal is None:
        return True
    with suppress(ValueError):
        return sha256(expand_result(result.line)) == Seal.read(result.seal).result
    return False
