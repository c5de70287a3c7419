"""The results of a session on their way from the processes that scored runs to the shards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from pathlib import Path

from msgspec import Struct, field

from pytest_webeval.errors import SettingsError
from pytest_webeval.recordings.labels import quote_path
from pytest_webeval.safety.text import pluralize, sanitize
from pytest_webeval.sessions.earlier_results import EarlierResults
from pytest_webeval.sessions.output_paths import list_result_directories
from pytest_webeval.sessions.stored_results import read_sealed_line
from pytest_webeval.sessions.workspace import Workspace
from pytest_webeval.summary.result_manifest import (
    Order,
    find_order,
    find_path,
    join_label,
    list_manifests,
    name_manifest,
)
from pytest_webeval.summary.result_shards import ResultShardWriter, ShardLayout, has_shards, remove_shards
from pytest_webeval.summary.spooled_list import ScratchFile

_KEPT = 16 * 2**20  # bytes of results in memory before the file is used


class _WaitingLines:
    """Results by their labels, the latest of each run, until all are there. Many are in a temporary file."""

    def __init__(self) -> None:
        self._recent: dict[str, bytes] = {}
        self._size = 0
        self._stored: dict[str, tuple[int, int]] = {}
        self._scratch: ScratchFile | None = None

    def __contains__(self, label: str) -> bool:
        return label in self._recent or label in self._stored

    def set(self, label: str, line: bytes | None) -> None:
        """Keep the result of a run in place of an earlier one. Raises `SettingsError` if there is no room for it."""
        self._stored.pop(label, None)
        self._size -= len(self._recent.pop(label, b""))
        if line is None:
            return
        self._recent[label] = line
        self._size += len(line)
        if self._size > _KEPT:
            self._move()

    def _move(self) -> None:
        scratch = self._scratch = self._scratch or ScratchFile()
        for label, line in self._recent.items():
            end = scratch.append(line)
            self._stored[label] = end - len(line), end
        self._recent.clear()
        self._size = 0

    def get(self, label: str) -> bytes | None:
        """The result of a run."""
        if self._scratch is not None and label in self._stored:
            return self._scratch.read(*self._stored[label])
        return self._recent.get(label)

    def sort(self, prefix: str) -> Iterator[tuple[str, bytes]]:
        """All of them, in the order of a shard."""
        labels = sorted([*self._recent, *self._stored], key=lambda label: find_order(find_path(label, prefix)))
        return ((label, self.get(label) or b"") for label in labels)


class ResultLines(Struct, eq=False, dict=True):
    """One per session, in the process that sums up. Without shards it only removes those of earlier sessions.

    With `is_ordered`, results come in the order of their paths, each once, and a shard is written as soon as it is
    full. Otherwise they wait for the end of the session.
    """

    workspace: Workspace
    is_ordered: bool = False
    notes: list[str] = field(default_factory=list)
    _without: set[str] = field(default_factory=set)  # labels of runs that have no result in this session
    _waiting: dict[Path, _WaitingLines] = field(default_factory=dict)
    _writers: dict[Path, ResultShardWriter] = field(default_factory=dict)
    _given_up: set[Path] = field(default_factory=set)  # directories into which nothing can be written

    @cached_property
    def earlier(self) -> EarlierResults:
        """What earlier sessions left. Look there before a shard is written: it takes the place of one of theirs."""
        return EarlierResults(self.workspace)

    @property
    def is_in_shards(self) -> bool:
        """Whether there are any shards."""
        return self.workspace.result_places.storage_format is not None

    def find_ordered(self, paths: Iterable[Path]) -> bool:
        """Whether shards can be written while results come, if these are the paths of the runs in their order."""
        latest: dict[Path, Order] = {}
        for path in paths:
            directory = self._find_directory(path)
            order = find_order(self.workspace.place(path).relative_to(directory).as_posix())
            if latest.get(directory, order) > order:
                return False
            latest[directory] = order
        return True

    def keep(self, label: str, line: str | None) -> None:
        """Take over the result of a run; None if it has none, so that an earlier one no longer counts.

        Raises `SettingsError` for the first result of a directory that cannot be written.
        """
        path = self.workspace.labels.path_of(label) if self.is_in_shards else None
        directory = None if path is None else self._find_directory(path)
        if directory is None or directory in self._given_up:
            return
        content = None if line is None else line.encode()
        (self._without.add if content is None else self._without.discard)(label)
        try:
            if not self.is_ordered:
                self._waiting.setdefault(directory, _WaitingLines()).set(label, content)
            elif content is not None:
                self._find_writer(directory).add(label, content)
        except SettingsError:
            self._given_up.add(directory)
            raise

    def read(self, label: str) -> bytes | None:
        """The JSON of a result that waits."""
        path = self.workspace.labels.path_of(label)
        waiting = None if path is None else self._waiting.get(self._find_directory(path))
        return None if waiting is None else waiting.get(label)

    def keep_unscored(self, labels: Iterable[str]) -> None:
        """Keep what a journal lists of runs that a resumed session did not reach. Raises `SettingsError`."""
        if not (self.is_in_shards and self.workspace.settings.reads_journals):
            return
        for label in labels:
            path = self.workspace.labels.path_of(label)
            earlier = None if path is None else self.earlier.find(path, label)
            content = None if earlier is None else read_sealed_line(earlier, label)
            if path is not None and content is not None:
                self._waiting.setdefault(self._find_directory(path), _WaitingLines()).set(label, content)

    def close(self, directory: Path, *, is_whole: bool) -> None:
        """Write what is left into the directory of a summary, or remove its shards if results are files.

        A session over some of the runs, `is_whole=False`, leaves what is there of the others. Raises `SettingsError`.
        """
        if directory not in list_result_directories(self.workspace):
            return
        if not self.is_in_shards:
            self._remove(directory, is_whole=is_whole)
        elif directory not in self._given_up:
            writer, waiting = self._find_writer(directory), self._waiting.setdefault(directory, _WaitingLines())
            if not is_whole:
                self._keep_others(directory, waiting, writer.last)
            for label, content in waiting.sort(self._find_prefix(directory)):
                writer.add(label, content)
            del self._waiting[directory]
            writer.close()

    def _keep_others(self, directory: Path, waiting: _WaitingLines, last: Order | None) -> None:
        """Keep the results of runs that are not of this session, which has written all up to `last`."""
        from pytest_webeval.summary.sharded_results import read_rows  # few sessions are over some of the runs

        prefix, count, problems = self._find_prefix(directory), 0, list[str]()
        rows = (read_rows(directory, name, problems) for name in self._list_replaced(directory))
        for row in chain.from_iterable(rows):
            label = join_label(prefix, row.path)
            if label not in waiting and label not in self._without and (last is None or row.order > last):
                waiting.set(label, row.content)
                count += 1
        if count:
            self._note(directory, f"{pluralize(count, 'result')} of other runs kept")
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

    def _find_directory(self, path: Path) -> Path:
        """The directory of the shards with a run."""
        return self.workspace.settings.output or self.workspace.labels.root_of(path) or path

    def _find_prefix(self, directory: Path) -> str:
        """What the labels of a directory begin with that is not a part of paths below it."""
        prefixes = self.workspace.labels.prefixes
        is_shared = directory == self.workspace.settings.output and len(prefixes) > 1
        prefix = next(iter(prefixes.values())) if len(prefixes) == 1 else prefixes.get(directory, "")
        return "" if is_shared or prefix == "." else quote_path(prefix)

    def _find_writer(self, directory: Path) -> ResultShardWriter:
        if directory not in self._writers:
            settings = self.workspace.settings
            storage_format = self.workspace.result_places.storage_format or "jsonl"
            layout = ShardLayout(storage_format, self._find_prefix(directory), settings.shard)
            self._writers[directory] = ResultShardWriter(directory, layout, settings.sync)
        return self._writers[directory]
