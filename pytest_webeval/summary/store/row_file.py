"""The rows of one session: a record for each run, kept in a file as soon as the run is scored."""

from __future__ import annotations

import json
import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from heapq import merge
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from pytest_webeval.errors import DiskFull, SettingsError
from pytest_webeval.storage import is_full
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.store.result_manifest import Order, find_order, find_path, join_label
from pytest_webeval.summary.store.row_database import RESULTS, EarlierRow, checksum_row, make_tables, transaction
from pytest_webeval.summary.store.row_takeover import InUseError, copy_rows, take_over
from pytest_webeval.summary.store.spooled_list import FULL


class Ordered(ABC):
    """Records in the order of a summary, to be read again and again."""

    @abstractmethod
    def __iter__(self) -> Iterator[Record]: ...

    @abstractmethod
    def __len__(self) -> int: ...


def sort_records(records: Iterable[Record]) -> Ordered | list[Record]:
    """The records in the order of a summary."""
    return records if isinstance(records, Ordered) else sorted(records, key=order_of)


def order_of(record: Record) -> tuple[str, int | str, str]:
    """By what records are sorted in a summary: two types of ids cannot be compared."""
    return str(type(record.task_id)), record.task_id, record.run


def encode_position(record: Record) -> bytes:
    """What sorts as `order_of` does."""
    task_id = record.task_id
    first = b"i" + _encode_number(task_id) if isinstance(task_id, int) else b"s" + _encode_text(task_id)
    return first + _encode_text(record.run)


def encode_path_order(label: str) -> bytes:
    """What sorts as `find_order` of the path of a run, by its label without a prefix."""
    order: Order = find_order(find_path(label))
    return b"".join(bytes([kind]) + _encode_number(number) + _encode_text(name) for kind, number, name in order)


def _encode_number(number: int) -> bytes:
    """The sign, the length and the bytes: what is longer is larger, or smaller below zero."""
    size = (abs(number).bit_length() + 7) // 8
    if number < 0:
        return b"\0" + (2**32 - 1 - size).to_bytes(4) + ((1 << 8 * size) + number).to_bytes(size)
    return b"\1" + size.to_bytes(4) + number.to_bytes(size)


def _encode_text(text: str) -> bytes:
    """UTF-8, whose bytes sort as the characters do, with an end that sorts before any character."""
    return text.encode("utf-8", "surrogatepass").replace(b"\0", b"\0\xff") + b"\0\1"


_MOST_WAITING = 250  # rows that another session has written already, before they are written together
_IN_MEMORY = "spare.results"
_OF_SESSION, _OF_PUBLISHED = 0, 1  # kinds of results, in the order in which one comes before another
_COLUMNS = "run, session, position, path, reused, row, seal, checksum, result"
_OLD = "SELECT {0} FROM kept WHERE run = :run AND :reused AND :result IS NULL"
_KEEP = f"""
VALUES (:run, :session, :position, COALESCE(({_OLD.format("path")}), :path), :reused, :row, :seal, :checksum,
COALESCE(:result, ({_OLD.format("result")})))
"""
_LIST_KEPT = """
SELECT path_order(path), CASE session WHEN :own THEN 0 ELSE 2 END, path, run FROM kept
WHERE result IS NOT NULL AND path IS NOT NULL AND (session = :own OR seal IS NOT NULL)
ORDER BY path_order(path), session != :own, session DESC
"""
_LIST_PUBLISHED = """
SELECT path_order(path), 1, path, run FROM published.lines WHERE run NOT IN (SELECT run FROM kept WHERE session = :own)
ORDER BY path_order(path)
"""
_PUBLISHED = "SELECT CAST(line AS BLOB), NULL FROM published.lines WHERE path = ?"
_EARLIER = """
SELECT run, session, row, seal, checksum, path, CAST(result AS BLOB) FROM main.results
WHERE run = ? AND session != ? AND seal IS NOT NULL
"""
_BESIDE = (
    "ATTACH ':memory:' AS spare",
    RESULTS.replace("TABLE results", "TABLE spare.results"),
    "CREATE INDEX spare.results_in_order ON results (session, position)",
    """CREATE TEMP VIEW kept AS SELECT * FROM main.results WHERE run NOT IN (SELECT run FROM spare.results)
    UNION ALL SELECT * FROM spare.results""",
    "ATTACH '' AS published",  # a file of SQLite's own
    "CREATE TABLE published.lines (path TEXT PRIMARY KEY, run TEXT NOT NULL, line BLOB NOT NULL)",
)
_RESULT = "SELECT CAST(result AS BLOB), seal FROM kept WHERE run = ?"
_DROP_RESULTS = "UPDATE main.results SET result = NULL WHERE result IS NOT NULL AND session = ?"
_FORGET_SESSIONS = "DELETE FROM main.sessions WHERE started != ? AND started NOT IN (SELECT session FROM main.results)"


class StoredLine(Struct, frozen=True):
    """A result that is no file, on a line. `is_own` is whether it is of this session.

    `seal` is that of the session that scored the run. A result that was adopted has none.
    """

    label: str
    line: bytes
    seal: str | None
    is_own: bool


class RowFile(Ordered):
    """The rows of one session in the order of a summary, each run once, and those of earlier sessions.

    One process at a time has the file, from the first question on. Where another session has it, and without a path,
    rows are in a file of SQLite's own. Where the file cannot be written any more, those that follow are in memory.
    `prefix` is what the labels of runs begin with that is not a part of paths.
    """

    def __init__(
        self, path: Path | None = None, session: float = 1.0, prefix: str = "", *, is_synced: bool = False
    ) -> None:
        self.path, self.session, self.prefix = path, session, prefix
        self.notes: list[str] = []  # about a file that was set aside, or that another session has
        self._is_synced = is_synced
        self._rows: sqlite3.Connection | None = None
        self._lock: int | None = None  # a handle to the file, which keeps other sessions from it
        self._is_in_use = False  # whether another session has the file
        self._table = "main.results"
        self._waiting: dict[str, dict[str, Any]] = {}
        self._failure: SettingsError | None = None  # the first, until somebody is told

    def keep(
        self, record: Record, seal: str | None = None, result: bytes | None = None, *, is_reused: bool = False
    ) -> None:
        """Keep the row of a run in place of an earlier one. A killed session leaves it, unless it was reused.

        Raises `DiskFull` or `SettingsError`, once, when the file cannot be written any more. The row is kept even then.
        """
        self._wait(record, seal, result, is_reused=is_reused)
        if not is_reused:
            self._flush()
        self._tell()

    def extend(self, records: Iterable[Record]) -> None:
        """Keep the rows of many runs. Raises as `keep` does."""
        for record in records:
            self._wait(record)
        self._tell()

    def _wait(
        self, record: Record, seal: str | None = None, result: bytes | None = None, *, is_reused: bool = False
    ) -> None:
        row = json.dumps(record.to_json(), separators=(",", ":"))
        self._waiting[record.run] = {
            "run": record.run,
            "session": self.session,
            "position": encode_position(record),
            "path": None if result is None else join_label("", find_path(record.run, self.prefix)),
            "reused": is_reused,
            "row": row,
            "seal": seal,
            "checksum": checksum_row(row, seal),
            "result": result,
        }
        if len(self._waiting) >= _MOST_WAITING:
            self._flush()

    def adopt(self, path: str, result: bytes) -> None:
        """Keep a published result until the export. Raises `SettingsError`."""
        row = join_label("", path), join_label(self.prefix, path), result
        with self._errors("copy results to", "free some space"):
            self._begin().execute("INSERT OR REPLACE INTO published.lines VALUES (?, ?, ?)", row)

    def _flush(self) -> None:
        """Write what waits."""
        if self._waiting:
            self._write(_KEEP, [*self._waiting.values()])
            self._waiting = {}

    def _write(self, values: str, rows: Sequence[dict[str, Any]]) -> None:
        """Write rows; those that the file does not take, and all that follow, stay in memory."""
        connection = self._begin()
        try:
            with self._errors("write", "its results cannot be reused"):
                self._insert(connection, values, rows)
        except SettingsError as error:
            if self._table == _IN_MEMORY:
                raise
            self._failure, self._table = self._failure or error, _IN_MEMORY
            self._insert(connection, values, rows)

    def _insert(self, connection: sqlite3.Connection, values: str, rows: Sequence[dict[str, Any]]) -> None:
        with transaction(connection):
            connection.executemany(f"INSERT OR REPLACE INTO {self._table} ({_COLUMNS}) {values}", rows)

    def _tell(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _begin(self) -> sqlite3.Connection:
        """The connection to which rows are written, in which those of earlier sessions are."""
        if self._rows is None:
            self._rows = self._take_over(self.path) if self.path is not None else None
            if self._rows is None:
                self._rows = self._open_nowhere()
        return self._rows

    def _take_over(self, path: Path) -> sqlite3.Connection | None:
        """The connection to the file, if it can be written and no other session has it."""
        try:
            with self._errors("write", "its results cannot be reused"):
                connection, self._lock = take_over(path, self.notes)
                return self._note_session(connection)
        except InUseError:
            self._is_in_use = True
            advice = "none of its results is reused, and those of this session cannot be"
            self.notes.append(f"{path} is in use by another session; {advice}")
        except SettingsError as error:
            self._failure = error
        return None

    def _open_nowhere(self) -> sqlite3.Connection:
        """A connection to a file of SQLite's own, with the rows of earlier sessions if they can be read."""
        connection = sqlite3.connect("", isolation_level=None)
        make_tables(connection)
        if self.path is not None and not self._is_in_use:
            with suppress(OSError, sqlite3.Error):
                copy_rows(self.path, connection, self.notes)
        return self._note_session(connection)

    def _note_session(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        connection.execute(f"PRAGMA synchronous={'FULL' if self._is_synced else 'OFF'}")
        connection.execute("INSERT OR REPLACE INTO sessions VALUES (?, 0)", (self.session,))
        for statement in _BESIDE:
            connection.execute(statement)
        connection.create_function("path_order", 1, encode_path_order, deterministic=True)
        return connection

    @contextmanager
    def _errors(self, verb: str, advice: str) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            path, reason = self.path or Path(), getattr(error, "strerror", None) or str(error)
            message = f"cannot {verb} {path}: {reason}; {advice}"
            raise DiskFull(message, path, reason) if _is_full(error) else SettingsError(message) from error

    def find_earlier(self, run: str) -> EarlierRow | None:
        """What the latest of the earlier sessions left of a run. Raises as `keep` does."""
        if self._rows is None and (self.path is None or not os.path.lexists(self.path)):
            return None
        connection = self._begin()
        self._tell()
        with self._errors("read", "score all runs"):
            rows = connection.execute(_EARLIER, (run, self.session)).fetchall()
        return next((EarlierRow(*row) for row in rows), None)

    def copy_earlier(self, path: Path) -> None:
        """Copy the rows to a new file, for processes that may not open this one. Raises `SettingsError`."""
        if self.path is not None and os.path.lexists(self.path):
            with self._errors("copy", "score without workers to reuse results"), closing(sqlite3.connect(path)) as copy:
                self._begin().backup(copy)

    def _select(self, what: str, condition: str = "", *values: Any) -> Iterator[tuple[Any, ...]]:
        """What there is of the runs of this session. Raises `SettingsError`."""
        self._flush()
        with self._errors("read", "score again"):
            if self._rows is not None:
                yield from self._rows.execute(
                    f"SELECT {what} FROM kept WHERE session = ? {condition}",  # noqa: S608  (both are ours)
                    (self.session, *values),
                )

    def get(self, run: str) -> Record | None:
        """The record of a run."""
        if run in self._waiting:
            return _read(self._waiting[run]["row"])
        return next((_read(row) for (row,) in self._select("row", "AND run = ?", run)), None)

    def get_result(self, run: str) -> bytes | None:
        """The result of a run on a line, if it is no file."""
        return next((result for (result,) in self._select("CAST(result AS BLOB)", "AND run = ?", run)), None)

    def __contains__(self, run: str) -> bool:
        return run in self._waiting or any(True for _ in self._select("1", "AND run = ?", run))

    def __len__(self) -> int:
        return sum(count for (count,) in self._select("count(*)"))

    def count_reused(self) -> int:
        """How many of the results are those of an earlier session."""
        return sum(count for (count,) in self._select("count(*)", "AND reused"))

    def list_labels(self) -> Iterator[str]:
        """The runs of this session."""
        return (run for (run,) in self._select("run"))

    def __iter__(self) -> Iterator[Record]:
        return (record for _, record in self.list_with_positions())

    def list_with_positions(self) -> Iterator[tuple[bytes, Record]]:
        """The records in the order of a summary, with what they are sorted by."""
        rows = self._select("position, row", "ORDER BY position")
        return ((position, _read(row)) for position, row in rows)

    def list_results(self) -> Iterator[StoredLine]:
        """The results that are no files, in the order of their paths, one for each path. Raises `SettingsError`.

        A result of this session comes before one that was adopted, and both before those of earlier sessions.
        """
        self._flush()
        last, connection = None, self._begin()
        with self._errors("read", "score again"):
            lists = (connection.execute(each, {"own": self.session}) for each in (_LIST_KEPT, _LIST_PUBLISHED))
            for _, kind, path, run in merge(*lists, key=lambda row: row[:2]):  # which sorts no results
                if path != last:
                    query, key = (_PUBLISHED, path) if kind == _OF_PUBLISHED else (_RESULT, run)
                    ((line, seal),) = connection.execute(query, (key,))
                    yield StoredLine(join_label(self.prefix, find_path(path)), line, seal, kind == _OF_SESSION)
                last = path

    def forget_others(self) -> None:
        """Remove what is not of this session: runs that are gone. Raises `SettingsError`."""
        self._flush()
        if self._rows is not None:
            with self._errors("write", "remove it by hand"), transaction(self._rows):
                self._rows.execute("DELETE FROM main.results WHERE session != ?", (self.session,))

    def end(self, *, has_results: bool = True) -> None:
        """Note that this session has come to its end. Raises `SettingsError`.

        Without results, those that are no files are elsewhere by now; they go, and their room is given back.
        """
        self._flush()
        if self._rows is not None and self._table != _IN_MEMORY:
            with self._errors("write", "its results cannot be reused"):
                with transaction(self._rows):
                    self._rows.execute("UPDATE main.sessions SET ended = 1 WHERE started = ?", (self.session,))
                    self._rows.execute(_FORGET_SESSIONS, (self.session,))
                if not has_results and self._rows.execute(_DROP_RESULTS, (self.session,)).rowcount:
                    self._rows.execute("VACUUM main")
        self._tell()

    def close(self) -> None:
        """Let another session have the file."""
        if self._rows is not None:
            self._rows.close()
        if self._lock is not None:
            os.close(self._lock)
        self._rows = self._lock = None

    def __del__(self) -> None:
        self.close()


def _is_full(error: OSError | sqlite3.Error) -> bool:
    return is_full(error) if isinstance(error, OSError) else getattr(error, "sqlite_errorcode", None) in FULL


def _read(row: str) -> Record:
    try:
        return Record(**msgspec.json.decode(row))
    except ValueError:  # of NaN, or of half a surrogate pair in the text of an agent
        return Record(**json.loads(row))
