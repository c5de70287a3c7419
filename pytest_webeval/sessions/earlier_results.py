"""What earlier sessions left: where journals have the line about each run, and shards its result. Neither is in memory.

Of each run, the hash of its label stands for it: who reads a line checks that it is about the run.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from pytest_webeval.errors import SettingsError
from pytest_webeval.sessions.journal import index_journal, read_line
from pytest_webeval.sessions.output_paths import journal_path
from pytest_webeval.sessions.workspace import Workspace

if TYPE_CHECKING:
    from pytest_webeval.summary.unchecked_shards import UncheckedShards


class EarlierResult(Struct, frozen=True):
    """The line of a journal about a run, and its result if a shard has one: on one line, and not checked."""

    line: bytes
    content: bytes | None = None


class EarlierResults(Struct, eq=False, dict=True):
    """One per process that looks for results: the files as they were when first read."""

    workspace: Workspace
    _journals: dict[Path, dict[int, int]] = field(default_factory=dict)
    _shards: dict[Path, UncheckedShards] = field(default_factory=dict)

    def find(self, path: Path, label: str) -> EarlierResult | None:
        """What there is of a run."""
        line = self.find_line(path, label)
        place = journal_path(self.workspace, path)
        if line is None or place is None:
            return None
        return EarlierResult(line, self._find_content(place.parent, label))

    def find_line(self, path: Path, label: str) -> bytes | None:
        """The line of a journal about a run."""
        place = journal_path(self.workspace, path)
        if place is None:
            return None
        if place not in self._journals:
            self._journals[place] = {}
            with suppress(SettingsError):  # which the controller reports, since it cannot write there either
                self._journals[place] = index_journal(place)
        start = self._journals[place].get(hash(label))
        return None if start is None else read_line(place, start)

    def _find_content(self, directory: Path, label: str) -> bytes | None:
        if directory not in self._shards:
            from pytest_webeval.summary.unchecked_shards import UncheckedShards  # for sessions that reuse results

            self._shards[directory] = UncheckedShards(directory)
        return self._shards[directory].find(label)
