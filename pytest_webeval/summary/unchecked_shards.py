"""Results in shards of a session that may not have finished, by their labels.

Nothing says that they are as they were written: who takes one checks it, as a resumed session does by its journal.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from pytest_webeval.errors import RecordingError
from pytest_webeval.safety.files import open_file_inside, read_file_inside, read_range_inside
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.summary.result_manifest import UNREADABLE, find_manifest
from pytest_webeval.summary.sharded_results import parse_line

_PLACE = 48  # bits of a place in a shard; its number stands before them


class UncheckedShards:
    """The shards in a directory. Of each label its hash and the place of its line are in memory.

    Lines that cannot be read are left out. A shard may be replaced by another while results are looked up; what is read
    then is none, or that of another run.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._names: list[str] = []
        self._table: tuple[int, dict[str, bytes]] = -1, {}  # the Parquet table that was read last

    def find(self, label: str) -> bytes | None:
        """The result of a run, on one line."""
        place = self._places.get(hash(label))
        if place is None:
            return None
        number, start = divmod(place, 1 << _PLACE)
        if self._names[number].endswith(".parquet"):
            return self._load_table(number).get(label)
        with suppress(*UNREADABLE):
            found, content = parse_line(self._read_line(self._names[number], start))
            return content if found == label else None
        return None

    @cached_property
    def _places(self) -> dict[int, int]:
        """The places by the hashes of labels."""
        places: dict[int, int] = {}
        names = sorted(path.name for path in self._directory.glob("eval_results*") if find_manifest(path.name))
        for name in names:
            if name.endswith(".json"):
                continue
            number = len(self._names)
            self._names.append(name)
            for label, start in self._list_table(number) if name.endswith(".parquet") else self._list_lines(name):
                places[hash(label)] = number << _PLACE | start
        return places

    def _list_lines(self, name: str) -> Iterator[tuple[str, int]]:
        start = 0
        with suppress(OSError, RecordingError), open_file_inside(self._directory, name) as content:
            while line := content.readline(USUAL.file_size):
                with suppress(*UNREADABLE):
                    yield parse_line(line)[0], start
                start += len(line)

    def _list_table(self, number: int) -> Iterator[tuple[str, int]]:
        return ((label, 0) for label in self._load_table(number))

    def _read_line(self, name: str, start: int) -> bytes:
        content, size = b"", 2**14
        while b"\n" not in content and len(content) < USUAL.file_size:
            piece = read_range_inside(self._directory, name, start + len(content), start + len(content) + size)
            if not piece:
                break
            content, size = content + piece, 2 * size
        return content.partition(b"\n")[0]

    def _load_table(self, number: int) -> dict[str, bytes]:
        if self._table[0] != number:
            from pytest_webeval.summary.parquet_shards import read_table  # only for this format

            rows: dict[str, bytes] = {}
            with suppress(*UNREADABLE):
                rows.update(read_table(read_file_inside(self._directory, self._names[number])))
            self._table = number, rows
        return self._table[1]
