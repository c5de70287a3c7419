"""Records of very many runs in the order of a summary, of which only some are in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from typing import Any, Protocol

from msgspec.structs import astuple

from pytest_webeval.summary.record import Record
from pytest_webeval.summary.spooled_list import ScratchFile, SpooledList

LIMIT = 20_000  # records in memory
_MERGED = 32  # sorted pieces of a size that become one of the next size
_FRAME = 32  # records of a piece that are in memory while pieces are merged

Order = tuple[str, Any, str]  # what decides where the record of a run stands: two types of ids cannot be compared


def order_of(record: Record) -> Order:
    """By what records are sorted in a summary."""
    return str(type(record.task_id)), record.task_id, record.run


class Records(Protocol):
    """Records that can be iterated again and again."""

    def __iter__(self) -> Iterator[Record]: ...

    def __len__(self) -> int: ...


class RecordSpool:
    """Records, each run once, that can be read again and again in the order of a summary.

    The record that was added last for a run counts. Where there are many records, sorted pieces of them lie in a
    temporary file, and are merged while they are read. What is added while somebody reads is left out there.
    """

    def __init__(self, records: Iterable[Record] = (), limit: int = LIMIT) -> None:
        self._limit = limit
        self._recent: dict[str, Record] = {}
        self._generation = 0  # how many pieces were written; a record in a later one replaces the earlier
        self._pieces: list[list[SpooledList]] = []  # by size
        self._stored: set[int] = set()  # hashes of runs in pieces
        self._latest: dict[str, int] = {}  # the generation that counts, of runs that may be there more than once
        self.scratch: ScratchFile | None = None  # the file, if it is used
        self.extend(records)

    def add(self, record: Record) -> None:
        """Add a record. Raises `SettingsError` if there is no room for it."""
        self._recent[record.run] = record
        if len(self._recent) >= self._limit:
            self._write_recent()

    def extend(self, records: Iterable[Record]) -> None:
        """Add some records."""
        for record in records:
            self.add(record)

    def __len__(self) -> int:
        return len(self._stored) + sum(hash(run) not in self._stored for run in self._recent)

    def __iter__(self) -> Iterator[Record]:
        recent = sorted(self._recent.values(), key=order_of)
        if self.scratch is None:
            return iter(recent)
        again = {run: self._generation for run in self._recent if hash(run) in self._stored}
        pieces = [piece for pieces in self._pieces for piece in pieces]
        rows = _merge_pieces([*map(_read_piece, pieces), ((self._generation, record) for record in recent)])
        latest = self._latest | again
        return (record for generation, record in rows if latest.get(record.run, generation) == generation)

    def _write_recent(self) -> None:
        self.scratch = self.scratch or ScratchFile()
        self._latest |= {run: self._generation for run in self._recent if hash(run) in self._stored}
        self._stored.update(map(hash, self._recent))
        recent = sorted(self._recent.values(), key=order_of)
        self._add_piece(0, ((self._generation, record) for record in recent))
        self._recent.clear()
        self._generation += 1

    def _add_piece(self, size: int, rows: Iterable[tuple[int, Record]]) -> None:
        """Write a piece. Many of one size become one of the next, so that few are merged at any time."""
        if size == len(self._pieces):
            self._pieces.append([])
        piece = SpooledList(self.scratch or ScratchFile(), _FRAME, _FRAME)
        for generation, record in rows:
            if self._latest.get(record.run, generation) == generation:
                piece.append((generation, *astuple(record)))
        self._pieces[size].append(piece)
        if len(self._pieces[size]) == _MERGED:
            merged, self._pieces[size] = self._pieces[size], []
            self._add_piece(size + 1, _merge_pieces(map(_read_piece, merged)))


def _read_piece(piece: SpooledList) -> Iterator[tuple[int, Record]]:
    for generation, *fields in piece:
        yield generation, Record(*fields)


def _merge_pieces(pieces: Iterable[Iterator[tuple[int, Record]]]) -> Iterator[tuple[int, Record]]:
    return merge(*pieces, key=lambda row: order_of(row[1]))


def sort_records(records: Iterable[Record]) -> RecordSpool | list[Record]:
    """The records in the order of a summary, to be read again and again."""
    return records if isinstance(records, RecordSpool) else sorted(records, key=order_of)
