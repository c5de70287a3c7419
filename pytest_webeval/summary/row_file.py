"""The file with a row for each scored run, in SQLite, which one process writes next to the summary.

`sqlite3 eval_session.sqlite "select run, status, reason from runs"` shows what is in it.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

from pytest_webeval.errors import DiskFull, SettingsError
from pytest_webeval.results import ROWS
from pytest_webeval.safety.files import sha256
from pytest_webeval.storage import is_full
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.row_order import Ordered, encode_path_order, encode_position
from pytest_webeval.summary.shards import Shard

VERSION = 1
_APPLICATION = 0x77656265  # marks the file as one of ours
_SECONDS_LOCKED = 30  # for which another session may hold the file
_MOST_WAITING = 250  # rows that another session has written already, before they are written together
_SCHEMA = (
    "CREATE TABLE sessions (started REAL PRIMARY KEY, ended INTEGER NOT NULL)",
    """CREATE TABLE results (run TEXT PRIMARY KEY, session REAL NOT NULL, position BLOB NOT NULL,
    reused INTEGER NOT NULL, row TEXT NOT NULL, seal TEXT, checksum TEXT NOT NULL, result BLOB)""",
    "CREATE INDEX results_in_order ON results (session, position)",
    """CREATE VIEW runs AS SELECT run, json_extract(row, '$.task_id') AS task_id,
    json_extract(row, '$.status') AS status, json_extract(row, '$.score') AS score,
    json_extract(row, '$.reason') AS reason, json_extract(row, '$.wall_time') AS wall_time, reused, session
    FROM results WHERE session > 0 AND json_valid(row)""",
)
_HEADER = (f"PRAGMA application_id={_APPLICATION}", f"PRAGMA user_version={VERSION}")
_MARKS = ("application_id", "user_version")
_OF_SESSION = "SELECT * FROM results WHERE session = ?"
_EARLIER = """
SELECT row, seal, checksum, CAST(result AS BLOB) FROM results WHERE run = ? AND session NOT IN (0, ?)
"""
_FORGET_SESSIONS = "DELETE FROM sessions WHERE started != ? AND started NOT IN (SELECT session FROM results)"
_KEEP = """
INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run) DO UPDATE SET
session = excluded.session, position = excluded.position, reused = excluded.reused, row = excluded.row,
seal = excluded.seal, checksum = excluded.checksum,
result = CASE WHEN excluded.reused AND excluded.result IS NULL THEN results.result ELSE excluded.result END
"""
_ADOPT = """
INSERT INTO results VALUES (?, 0, x'', 0, '', NULL, '', ?) ON CONFLICT (run) DO UPDATE SET result = excluded.result
WHERE result IS NULL AND session != ?
"""


def name_rows(session_shard: Shard | None = None) -> str:
    """The name of the file: each shard of a session has its own, as they may write to the same directory."""
    return ROWS if session_shard is None else f"eval_session-{session_shard.index}-of-{session_shard.count}.sqlite"


class EarlierRow(Struct, frozen=True):
    """What an earlier session left of a run: record and seal as JSON, and the result on a line if it is no file."""

    record: str
    seal: str
    result: bytes | None = None


class RowFile(Ordered):
    """The rows of one session in the order of a summary, each run once, and those of earlier sessions.

    One process keeps rows, with which the file is made; others may find those of earlier sessions meanwhile. Without a
    path, rows are in a file of SQLite's own. Where the file cannot be written any more, they are in memory.
    """

    def __init__(
        self, path: Path | None = None, session: float = 1.0, *, is_owner: bool = True, is_synced: bool = False
    ) -> None:
        self.path, self.session, self.is_owner = path, session, is_owner
        self.notes: list[str] = []  # about a file that was set aside
        self._is_synced = is_synced
        self._file: sqlite3.Connection | None = None  # that of the path
        self._rows: sqlite3.Connection | None = None  # to which rows are written: most often the same
        self._waiting: dict[str, tuple[Any, ...]] = {}

    def keep(
        self, record: Record, seal: str | None = None, result: bytes | None = None, *, is_reused: bool = False
    ) -> None:
        """Keep the row of a run in place of an earlier one. A killed session leaves it, unless it was reused.

        Raises `DiskFull` or `SettingsError` when the file cannot be written any more. The row is kept even then.
        """
        self._wait(record, seal, result, is_reused=is_reused)
        if not is_reused:
            self._flush()

    def extend(self, records: Iterable[Record]) -> None:
        """Keep the rows of many runs. Raises as `keep` does."""
        for record in records:
            self._wait(record)

    def _wait(
        self, record: Record, seal: str | None = None, result: bytes | None = None, *, is_reused: bool = False
    ) -> None:
        row = json.dumps(record.to_json(), separators=(",", ":"))
        values = encode_position(record), is_reused, row, seal, _checksum(row, seal), result
        self._waiting[record.run] = record.run, self.session, *values
        if len(self._waiting) >= _MOST_WAITING:
            self._flush()

    def adopt(self, run: str, result: bytes) -> None:
        """Keep the result of a run that is not of this session, unless there is one. Raises `SettingsError`."""
        self._flush()
        with self._errors("write", "free some space, or score all runs"):
            self._begin().execute(_ADOPT, (run, result, self.session))

    def _flush(self) -> None:
        """Write what waits. Raises as `keep` does, and goes on in memory."""
        rows, self._waiting = [*self._waiting.values()], {}
        try:
            with self._errors("write", "its results cannot be reused"):
                self._write(rows)
        except SettingsError:
            earlier = [] if self._rows is None else self._rows.execute(_OF_SESSION, (self.session,)).fetchall()
            self._rows = self._begin_in(sqlite3.connect(":memory:", isolation_level=None))
            self._write([*earlier, *rows])
            raise

    def _write(self, rows: Sequence[tuple[Any, ...]]) -> None:
        if rows:
            with _transaction(self._begin()) as connection:
                connection.executemany(_KEEP, rows)

    def _begin(self) -> sqlite3.Connection:
        """The connection to rows, in a file that is made if there is none."""
        if self._rows is None:
            self._rows = self._begin_in(self._open() or self._make())
        return self._rows

    def _begin_in(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        connection.create_function("path_order", 2, encode_path_order, deterministic=True)
        connection.execute(f"PRAGMA synchronous={'FULL' if self._is_synced else 'OFF'}")
        connection.execute("PRAGMA journal_mode=PERSIST")  # which needs fewer calls than to delete it each time
        with _transaction(connection):
            for statement in () if _list_schema(connection) else (*_SCHEMA, *_HEADER):
                connection.execute(statement)
            connection.execute("INSERT OR REPLACE INTO sessions VALUES (?, 0)", (self.session,))
        return connection

    def _make(self) -> sqlite3.Connection:
        if self.path is None:
            return sqlite3.connect("", isolation_level=None)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644))
        self._file = _connect(self.path)
        return self._file

    def _open(self) -> sqlite3.Connection | None:
        """The connection to the file; None if there is none, or it was set aside."""
        if self._file is None and self.path is not None and os.path.lexists(self.path):
            connection = _connect(self.path)
            if (problem := _find_problem(connection)) is None:
                self._file = connection
            else:
                connection.close()
                if self.is_owner:
                    self._set_aside(self.path, problem)
        return self._file

    def _set_aside(self, path: Path, problem: str) -> None:
        """Rename a file that is not one of ours and of this version, so that it is neither used nor lost."""
        names = (path.with_name(f"{path.stem}.old-{number}{path.suffix}") for number in range(1, 10_000))
        old = next(name for name in names if not os.path.lexists(name))
        path.rename(old)
        Path(f"{path}-journal").unlink(missing_ok=True)  # of the file that is gone
        self.notes.append(f"{path} {problem}; it is now {old.name}, and no result in it is reused")

    @contextmanager
    def _errors(self, verb: str, advice: str) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            path, reason = self.path or Path(), getattr(error, "strerror", None) or str(error)
            message = f"cannot {verb} {path}: {reason}; {advice}"
            raise DiskFull(message, path, reason) if _is_full(error) else SettingsError(message) from error

    def find_earlier(self, run: str) -> EarlierRow | None:
        """What the latest of the earlier sessions left of a run. Raises `SettingsError` for an unreadable file."""
        with self._errors("read", "remove it to score all runs again"):
            connection = self._open()
            if connection is None:
                return None
            rows = connection.execute(_EARLIER, (run, self.session)).fetchall()
        whole = (EarlierRow(row, seal, result) for row, seal, check, result in rows if check == _checksum(row, seal))
        return next((row for row in whole if row.seal is not None), None)

    def _select(self, what: str, condition: str = "", *values: Any) -> Iterator[tuple[Any, ...]]:
        """What there is of the runs of this session. Raises `SettingsError`."""
        self._flush()
        with self._errors("read", "score again"):
            if self._rows is not None:
                yield from self._rows.execute(
                    f"SELECT {what} FROM results WHERE session = ? {condition}",  # noqa: S608  (both are ours)
                    (self.session, *values),
                )

    def get(self, run: str) -> Record | None:
        """The record of a run."""
        if run in self._waiting:
            return _read(self._waiting[run][4])
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

    def __iter__(self) -> Iterator[Record]:
        return (record for _, record in self.list_with_positions())

    def list_with_positions(self) -> Iterator[tuple[bytes, Record]]:
        """The records in the order of a summary, with what they are sorted by."""
        rows = self._select("position, row", "ORDER BY position")
        return ((position, _read(row)) for position, row in rows)

    def list_results(self, prefix: str) -> Iterator[tuple[str, bytes, bool]]:
        """The results that are no files, in the order of their paths, and whether each is of this session.

        `prefix` is what labels begin with that is not a part of paths. Raises `SettingsError`.
        """
        self._flush()
        with self._errors("read", "score again"):
            columns = "run, CAST(result AS BLOB), session = ?"  # a blob, whoever has changed it
            select = f"SELECT {columns} FROM results WHERE result IS NOT NULL ORDER BY path_order(run, ?)"  # noqa: S608
            yield from self._begin().execute(select, (self.session, prefix))

    def forget_others(self) -> None:
        """Remove what is not of this session: runs that are gone. Raises `SettingsError`."""
        self._flush()
        if self._rows is not None:
            with self._errors("write", "remove it by hand"), _transaction(self._rows) as connection:
                connection.execute("DELETE FROM results WHERE session != ?", (self.session,))

    def end(self) -> None:
        """Note that this session has come to its end. Raises `SettingsError`."""
        self._flush()
        if self._rows is None:
            return
        with self._errors("write", "its results cannot be reused"):
            with _transaction(self._rows) as connection:
                connection.execute("UPDATE sessions SET ended = 1 WHERE started = ?", (self.session,))
                connection.execute(_FORGET_SESSIONS, (self.session,))
            self._rows.execute("PRAGMA journal_mode=DELETE")


def is_unfinished(path: Path) -> bool:
    """Whether the latest session that kept rows in a file did not come to its end. False for a file of others."""
    try:
        connection = _connect(path)
        if _find_problem(connection) is not None:
            return False
        row = connection.execute("SELECT ended FROM sessions ORDER BY started DESC LIMIT 1").fetchone()
    except (OSError, SettingsError, sqlite3.Error):
        return False
    return row is not None and not row[0]


def _connect(path: Path) -> sqlite3.Connection:
    """A connection to a file. Raises `SettingsError` for what is no regular file, OSError and what SQLite raises."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise SettingsError(f"cannot use {path}: it is not a regular file; remove it")
        options = "" if _has_locks(handle) else "&nolock=1"
    finally:
        os.close(handle)
    mode = "rw" if os.access(path, os.W_OK) else "ro"
    address = f"file:{quote(os.fsencode(path))}?mode={mode}{options}"
    connection = sqlite3.connect(address, _SECONDS_LOCKED, isolation_level=None, uri=True)
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


def _has_locks(handle: int) -> bool:
    """Whether the file system has locks; some network disks have none, and one session at a time may write there."""
    try:
        fcntl.lockf(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return True


def _find_problem(connection: sqlite3.Connection) -> str | None:
    """Why a file cannot be used; None for one that is empty, or of this version."""
    try:
        schema = _list_schema(connection)
        (application,), (version,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in _MARKS)
    except sqlite3.OperationalError:  # it is locked, or cannot be read now
        raise
    except sqlite3.DatabaseError as error:
        return f"is damaged ({error})"
    if not schema and not application:
        return None
    if application != _APPLICATION:
        return "is not a file of webeval"
    if version != VERSION:
        return f"is of version {version}, and this is version {VERSION}"
    return None if schema == _SCHEMA else "is damaged (it has other tables)"


def _list_schema(connection: sqlite3.Connection) -> tuple[str, ...]:
    rows = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
    return tuple(sql for (sql,) in rows)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _is_full(error: OSError | sqlite3.Error) -> bool:
    if isinstance(error, OSError):
        return is_full(error)
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL


def _checksum(row: str, seal: str | None) -> str:
    """With which a row that somebody changed, or the disk, is not reused."""
    return sha256(f"{seal}\n{row}".encode())


def _read(row: str) -> Record:
    try:
        return Record(**msgspec.json.decode(row))
    except ValueError:  # of NaN, or of half a surrogate pair in the text of an agent
        return Record(**json.loads(row))
