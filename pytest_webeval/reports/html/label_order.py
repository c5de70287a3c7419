"""The labels of very many runs in order, with a bounded number of them in memory."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from pytest_webeval.storage import write_error

_MOST_IN_MEMORY = 100_000
_ADVICE = "choose another directory with --webeval-report"
Place = tuple[str, int, int]  # label, status, and position in the list of that status


class LabelOrder:
    """Takes labels in any order. They can be iterated once, sorted by code points.

    Labels beyond those in memory are in files without a name. Raises `SettingsError`.
    """

    def __init__(self, directory: Path, most_in_memory: int = _MOST_IN_MEMORY) -> None:
        """An empty order, whose files are in a directory."""
        self._directory = directory
        self._most = most_in_memory
        self._pending: list[Place] = []
        self._files = ExitStack()
        self._sorted: list[IO[str]] = []

    def add(self, label: str, status: int, position: int) -> None:
        """Add the label of a run and its place."""
        self._pending.append((label, status, position))
        if len(self._pending) >= self._most:
            self._write_pending()

    def _write_pending(self) -> None:
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            file = self._files.enter_context(self._open())
            file.writelines(f"{json.dumps(place)}\n" for place in sorted(self._pending))
            file.flush()
        except OSError as error:
            raise write_error(self._directory, error, _ADVICE) from error
        self._sorted.append(file)
        self._pending = []

    def _open(self) -> IO[str]:
        return TemporaryFile("w+", encoding="ascii", dir=self._directory)

    def __iter__(self) -> Iterator[Place]:
        """All labels in order."""
        with self._files:
            yield from heapq.merge(*map(_read_places, self._sorted), sorted(self._pending))


def _read_places(file: IO[str]) -> Iterator[Place]:
    file.seek(0)
    for line in file:
        label, status, position = json.loads(line)
        yield label, status, position
