"""The results of a session in shards, which are written from its rows when it ends."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct, field

from pytest_webeval.recordings.labels import quote_path
from pytest_webeval.safety.text import pluralize, sanitize
from pytest_webeval.sessions.output_paths import list_result_directories
from pytest_webeval.sessions.session_rows import SessionRows
from pytest_webeval.sessions.workspace import Workspace
from pytest_webeval.summary.result_manifest import join_label, list_manifests, name_manifest
from pytest_webeval.summary.result_shards import ResultShardWriter, ShardLayout, has_shards, remove_shards
from pytest_webeval.summary.row_file import RowFile


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
            self._remove(directory, is_whole=is_whole)
            return
        file, prefix, count = self.rows.find_file(directory), self._find_prefix(directory), 0
        if is_whole:
            file.forget_others()
        else:
            self._adopt_others(directory, file, prefix)
        with ResultShardWriter(directory, ShardLayout(storage_format, prefix, settings.shard), settings.sync) as writer:
            for label, content, is_own in file.list_results(prefix):
                writer.add(label, content)
                count += not is_own
        if count:
            self._note(directory, f"{pluralize(count, 'result')} of other runs kept")

    def _adopt_others(self, directory: Path, file: RowFile, prefix: str) -> None:
        """Keep the results in shards of a session whose rows are not there any more."""
        from pytest_webeval.summary.sharded_results import read_rows  # few sessions are over some of the runs

        problems: list[str] = []
        for name in self._list_replaced(directory):
            for row in read_rows(directory, name, problems):
                file.adopt(join_label(prefix, row.path), row.content)
        if problems:
            self._note(directory, f"not all results of other runs could be kept: {problems[0]}")

    def _list_replaced(self, directory: Path) -> list[str]:
        """The manifests of which this session takes the place. Other shards of a split session keep their own."""
        own, is_split = name_manifest(self.workspace.settings.shard), self.workspace.settings.shard is not None
        names = list_manifests(directory, (path.name for path in directory.glob("eval_results*")))
        return [name for name in names if (directory / name).is_file() and (name == own or not is_split)]

    def _remove(self, directory: Path, *, is_whole: bool) -> None:
        if not has_shards(directory):
            return
        if is_whole:
            remove_shards(directory, self.workspace.settings.shard)
        else:
            problem = "its results count before the files of this session; score all runs to change it"
            self._note(directory, problem)

    def _note(self, directory: Path, text: str) -> None:
        self.notes.append(sanitize(f"{directory / name_manifest(self.workspace.settings.shard)}: {text}"))

    def _find_prefix(self, directory: Path) -> str:
        """What the labels of a directory begin with that is not a part of paths below it."""
        prefixes = self.workspace.labels.prefixes
        is_shared = directory == self.workspace.settings.output and len(prefixes) > 1
        prefix = next(iter(prefixes.values())) if len(prefixes) == 1 else prefixes.get(directory, "")
        return "" if is_shared or prefix == "." else quote_path(prefix)
