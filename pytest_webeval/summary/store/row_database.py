"""The SQLite file with the rows of sessions: its tables, and how rows are read whoever has written them.

`sqlite3 eval_session.sqlite "select run, status, reason from runs"` shows what is in it.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from pytest_webeval.results import ROWS
from pytest_webeval.safety.files import sha256
from pytest_webeval.summary.shards import Shard

VERSION = 1
_APPLICATION = 0x77656265  # marks the file as one of ours
RESULTS = """CREATE TABLE results (run TEXT PRIMARY KEY, session REAL NOT NULL, position BLOB NOT NULL, path TEXT,
    reused INTEGER NOT NULL, row TEXT NOT NULL, seal TEXT, checksum TEXT NOT NULL, result BLOB)"""
_SCHEMA = {
    "sessions": "CREATE TABLE sessions (started REAL PRIMARY KEY, ended INTEGER NOT NULL)",
    "results": RESULTS,
    "results_in_order": "CREATE INDEX results_in_order ON results (session, position)",
    "runs": """CREATE VIEW runs AS SELECT run, json_extract(row, '$.task_id') AS task_id,
    json_extract(row, '$.status') AS status, json_extract(row, '$.score') AS score,
    json_extract(row, '$.reason') AS reason, json_extract(row, '$.wall_time') AS wall_time, reused, session
    FROM results WHERE json_valid(row)""",
}
_MARKS = (f"PRAGMA application_id={_APPLICATION}", f"PRAGMA user_version={VERSION}")
_STATISTICS = {(b"table", b"sqlite_stat1"), (b"table", b"sqlite_stat4")}  # of somebody who has run ANALYZE
_LIST_SCHEMA = "SELECT CAST(type AS BLOB), CAST(name AS BLOB), CAST(sql AS BLOB) FROM sqlite_master"
_BLOBS = "CAST(row AS BLOB), CAST(seal AS BLOB), CAST(checksum AS BLOB), CAST(path AS BLOB), CAST(result AS BLOB)"
_LIST = f"SELECT CAST(run AS BLOB), session, {_BLOBS} FROM results NOT INDEXED WHERE seal IS NOT NULL"  # noqa: S608
_FIND = f"SELECT CAST(run AS BLOB), session, {_BLOBS} FROM results WHERE run = ? AND seal IS NOT NULL"  # noqa: S608
_STEPS, _BYTES_OF_STEPS = 1_000_000, 2**20  # of SQLite; a row takes some dozens of them, and 200 bytes or more
_LOG_FORMAT = b"\2"  # in the header of a file with a write-ahead log; ours have none


class UnusableFileError(Exception):
    """Why a file is none of ours, or is damaged. The message goes on after the path: "is damaged"."""


class EarlierRow(Struct, frozen=True):
    """What an earlier session left of a run: record and seal as JSON, and the result on a line if it is no file."""

    run: str
    session: float
    record: str
    seal: str
    checksum: str
    path: str | None
    result: bytes | None


def name_rows(session_shard: Shard | None = None) -> str:
    """The name of the file: each shard of a session has its own, as they may write to the same directory."""
    return ROWS if session_shard is None else f"eval_session-{session_shard.index}-of-{session_shard.count}.sqlite"


def checksum_row(row: str, seal: str | None) -> str:
    """With which a row that somebody changed, or the disk, is not reused."""
    return sha256(f"{seal}\n{row}".encode())


def make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables in a new file."""
    with transaction(connection):
        for statement in (*_SCHEMA.values(), *_MARKS):
            connection.execute(statement)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing of what is written inside."""
    connection.execute("BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with suppress(sqlite3.Error):  # the first error says more
                connection.execute("ROLLBACK")
        raise


@contextmanager
def open_plain(path: Path) -> Iterator[int]:
    """A handle to a regular file. Raises OSError for anything else."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("not a regular file")
        yield handle
    finally:
        os.close(handle)


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """A connection to a file, which waits for nobody."""
    address = f"file:{quote(os.fsencode(path))}?mode={mode}"
    connection = sqlite3.connect(address, 0, isolation_level=None, uri=True)
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


class EarlierRows:
    """The rows in a file, from which nothing but plain values is read, and where nothing is written.

    `is_torn`: a killed process left half of a write, which is undone first. Raises OSError for what is no regular file,
    `UnusableFileError`, and what SQLite raises.
    """

    def __init__(self, path: Path, *, is_torn: bool = False) -> None:
        with open_plain(path) as handle:
            size = os.fstat(handle).st_size
            self.is_empty = not size
            if _LOG_FORMAT in os.pread(handle, 2, 18):
                raise UnusableFileError("is not a file of webeval")
        self._connection = connect(path, "rw&nolock=1" if is_torn else "ro&immutable=1")
        self._steps, self._most_steps = 0, 10 + size // _BYTES_OF_STEPS
        self._connection.set_progress_handler(self._is_too_long, _STEPS)
        try:
            with damage_named():
                self._check()
        except BaseException:
            self.close()
            raise

    def _is_too_long(self) -> bool:
        """Whether a query reads more than there can be: pages that name each other again and again."""
        self._steps += 1
        return self._steps > self._most_steps

    def _check(self) -> None:
        """Raise `UnusableFileError` for a file that is neither empty nor one of ours and of this version."""
        schema = {(kind, name): sql for kind, name, sql in self._connection.execute(_LIST_SCHEMA) if sql is not None}
        ((application,),) = self._connection.execute("PRAGMA application_id")
        ((version,),) = self._connection.execute("PRAGMA user_version")
        if self.is_empty:
            return
        if application != _APPLICATION:
            raise UnusableFileError("is not a file of webeval")
        if version != VERSION:
            raise UnusableFileError(f"is of version {version}, and this is version {VERSION}")
        ours = {(sql.split()[1].lower().encode(), name.encode()): sql.encode() for name, sql in _SCHEMA.items()}
        if {key: sql for key, sql in schema.items() if key not in _STATISTICS} != ours:
            raise UnusableFileError("is damaged (it has other tables)")

    def find(self, run: str) -> EarlierRow | None:
        """What the latest session left of a run. Raises `UnusableFileError`."""
        return next((row for row in self._select(_FIND, run) if row.run == run), None)

    def list_all(self) -> Iterator[EarlierRow]:
        """The rows of all runs. Raises `UnusableFileError`, perhaps after some of them."""
        return self._select(_LIST)

    def _select(self, query: str, *values: str) -> Iterator[EarlierRow]:
        if self.is_empty:
            return
        self._steps = 0
        with damage_named():
            for values_of_row in self._connection.execute(query, values):
                if (row := _read_row(*values_of_row)) is not None:
                    yield row

    def list_unfinished(self) -> list[float]:
        """The sessions that did not come to their end."""
        if self.is_empty:
            return []
        with damage_named():
            rows = self._connection.execute("SELECT started FROM sessions WHERE NOT ended").fetchall()
        return [started for (started,) in rows if isinstance(started, float)]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def _read_row(run: bytes, session: Any, *texts: bytes | None) -> EarlierRow | None:
    """A row; None for one that is not whole."""
    result, texts = texts[-1], texts[:-1]
    try:
        row, seal, checksum, path = (None if text is None else text.decode() for text in texts)
        label = run.decode()
    except UnicodeDecodeError:
        return None
    if row is None or seal is None or checksum != checksum_row(row, seal) or not isinstance(session, float):
        return None
    return EarlierRow(label, session, row, seal, checksum, path, result)


@contextmanager
def damage_named() -> Iterator[None]:
    """Raise `UnusableFileError` for what SQLite cannot read."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise UnusableFileError(f"is damaged ({error})") from error


def is_unfinished(path: Path) -> bool:
    """Whether a session that kept rows in a file did not come to its end. False for a file of others."""
    with suppress(OSError, sqlite3.Error, UnusableFileError), closing(EarlierRows(path)) as rows:
        return bool(rows.list_unfinished())
    return False
