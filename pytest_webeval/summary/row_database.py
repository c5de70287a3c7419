"""The SQLite file with the rows of sessions: its tables, and how it is opened whoever has written it.

`sqlite3 eval_session.sqlite "select run, status, reason from runs"` shows what is in it.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from pytest_webeval.results import ROWS
from pytest_webeval.safety.files import sha256
from pytest_webeval.summary.shards import Shard

VERSION = 1
_APPLICATION = 0x77656265  # marks the file as one of ours
_RESULTS = """CREATE TABLE results (run TEXT PRIMARY KEY, session REAL NOT NULL, position BLOB NOT NULL, path TEXT,
    reused INTEGER NOT NULL, row TEXT NOT NULL, seal TEXT, checksum TEXT NOT NULL, result BLOB)"""
_INDEX = "CREATE INDEX results_in_order ON results (session, position)"
_SCHEMA = (
    "CREATE TABLE sessions (started REAL PRIMARY KEY, ended INTEGER NOT NULL)",
    _RESULTS,
    _INDEX,
    """CREATE VIEW runs AS SELECT run, json_extract(row, '$.task_id') AS task_id,
    json_extract(row, '$.status') AS status, json_extract(row, '$.score') AS score,
    json_extract(row, '$.reason') AS reason, json_extract(row, '$.wall_time') AS wall_time, reused, session
    FROM results WHERE session > 0 AND json_valid(row)""",
)
_SPARE = (
    "ATTACH ':memory:' AS spare",
    _RESULTS.replace("TABLE results", "TABLE spare.results"),
    _INDEX.replace("INDEX results", "INDEX spare.results"),
    """CREATE TEMP VIEW kept AS SELECT * FROM main.results WHERE run NOT IN (SELECT run FROM spare.results)
    UNION ALL SELECT * FROM spare.results""",
)
_MARKS = (f"PRAGMA application_id={_APPLICATION}", f"PRAGMA user_version={VERSION}")
_STATISTICS = "('sqlite_stat1', 'sqlite_stat4')"  # of somebody who has run ANALYZE
_EARLIER = """
SELECT row, seal, checksum, CAST(result AS BLOB) FROM main.results WHERE run = ? AND seal IS NOT NULL AND session != ?
"""
_JOURNAL_WITH_NAME = bytes.fromhex("d9d505f920a163d7")  # ends a journal that names a file, which SQLite then removes
_LOG_FORMAT = b"\2"  # in the header of a file with a write-ahead log; ours have none


class UnusableFileError(Exception):
    """Why a file is none of ours, or is damaged. The message goes on after the path: "is damaged"."""


class EarlierRow(Struct, frozen=True):
    """What an earlier session left of a run: record and seal as JSON, and the result on a line if it is no file."""

    record: str
    seal: str
    result: bytes | None = None


def name_rows(session_shard: Shard | None = None) -> str:
    """The name of the file: each shard of a session has its own, as they may write to the same directory."""
    return ROWS if session_shard is None else f"eval_session-{session_shard.index}-of-{session_shard.count}.sqlite"


def checksum_row(row: str, seal: str | None) -> str:
    """With which a row that somebody changed, or the disk, is not reused."""
    return sha256(f"{seal}\n{row}".encode())


def open_alone(path: Path) -> sqlite3.Connection:
    """A connection to a file that no other process can open until it is closed; it is made if there is none.

    On a file system without locks, one session at a time may have it. Raises `UnusableFileError`, OSError for what is
    no regular file, and what SQLite raises: `SQLITE_BUSY` if another process has it.
    """
    _check_companions(path)
    with suppress(FileExistsError):
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    connection = _connect(path, "rw" if _check_file(path) else "rw&nolock=1")
    try:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        with transaction(connection, "EXCLUSIVE"):
            _check_content(connection)
            ((found,),) = connection.execute("PRAGMA quick_check(1)")
        if found != "ok":
            raise UnusableFileError(f"is damaged ({found})")
    except sqlite3.OperationalError:  # it is in use, or cannot be read now
        connection.close()
        raise
    except (sqlite3.DatabaseError, UnusableFileError) as error:
        connection.close()
        raise error if isinstance(error, UnusableFileError) else UnusableFileError(f"is damaged ({error})") from error
    return connection


def open_nowhere() -> sqlite3.Connection:
    """A connection to a file of SQLite's own, which nobody else can open."""
    return sqlite3.connect("", isolation_level=None)


def begin(connection: sqlite3.Connection, session: float, *, is_synced: bool) -> None:
    """Make the tables that are missing, and note a session. Rows of `kept` are those of the file and the spare ones."""
    connection.execute(f"PRAGMA synchronous={'FULL' if is_synced else 'OFF'}")
    with transaction(connection):
        for statement in () if _list_schema(connection) else (*_SCHEMA, *_MARKS):
            connection.execute(statement)
        connection.execute("INSERT OR REPLACE INTO sessions VALUES (?, 0)", (session,))
    for statement in _SPARE:
        connection.execute(statement)


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "DEFERRED") -> Iterator[None]:
    """All or nothing of what is written inside."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with suppress(sqlite3.Error):  # the first error says more
                connection.execute("ROLLBACK")
        raise


def find_earlier(connection: sqlite3.Connection, run: str, session: float = 0) -> EarlierRow | None:
    """The row of a run that is of another session, and whole. Raises what SQLite raises."""
    if not _list_schema(connection):
        return None
    rows = connection.execute(_EARLIER, (run, session)).fetchall()
    return next(
        (EarlierRow(row, seal, result) for row, seal, check, result in rows if check == checksum_row(row, seal)), None
    )


class EarlierRows:
    """The rows in a file that another process may be writing: nothing is written there, and nothing waits.

    What such a process is writing just now may look like damage. No row is found then.
    """

    def __init__(self, path: Path) -> None:
        self._connection: sqlite3.Connection | None = None
        with suppress(OSError, sqlite3.Error, UnusableFileError):
            _check_file(path)
            connection = _connect(path, "ro&immutable=1")
            try:
                _check_content(connection)
            except (sqlite3.Error, UnusableFileError):
                connection.close()
                raise
            self._connection = connection

    def find_earlier(self, run: str) -> EarlierRow | None:
        """What the latest session left of a run."""
        with suppress(sqlite3.Error):
            return None if self._connection is None else find_earlier(self._connection, run)
        return None

    def is_unfinished(self) -> bool:
        """Whether a session did not come to its end."""
        with suppress(sqlite3.Error):
            if self._connection is not None and _list_schema(self._connection):
                return bool(self._connection.execute("SELECT 1 FROM sessions WHERE NOT ended").fetchone())
        return False

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()


def is_unfinished(path: Path) -> bool:
    """Whether a session that kept rows in a file did not come to its end. False for a file of others."""
    with closing(EarlierRows(path)) as rows:
        return rows.is_unfinished()


def set_aside(path: Path) -> Path:
    """Rename a file that cannot be used, so that it is not lost, and remove what SQLite would take for a part of it.

    Raises OSError.
    """
    names = (path.with_name(f"{path.stem}.old-{number}{path.suffix}") for number in range(1, 10_000))
    old = next(name for name in names if not os.path.lexists(name))
    for companion in _list_companions(path):
        companion.unlink()
    if os.path.lexists(path):
        path.rename(old)
    return old


def _list_companions(path: Path) -> list[Path]:
    companions = [Path(f"{path}{suffix}") for suffix in ("-journal", "-wal", "-shm")]
    return [companion for companion in companions if os.path.lexists(companion)]


def _check_companions(path: Path) -> None:
    """Raise `UnusableFileError` for files next to this one that SQLite would follow to other files."""
    for companion in _list_companions(path):
        try:
            with _open_plain(companion) as handle:
                ending = os.pread(handle, 8, max(0, os.fstat(handle).st_size - 8))
        except OSError:
            ending = _JOURNAL_WITH_NAME
        if not companion.name.endswith("-journal") or ending == _JOURNAL_WITH_NAME:
            raise UnusableFileError(f"has a file {companion.name} that no session has written")


def _check_file(path: Path) -> bool:
    """Whether a file is on a file system with locks; some network disks have none.

    Raises `UnusableFileError` for one with a log, OSError for what is no regular file.
    """
    with _open_plain(path) as handle:
        if _LOG_FORMAT in os.pread(handle, 2, 18):
            raise UnusableFileError("is not a file of webeval")
        try:
            fcntl.lockf(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True


@contextmanager
def _open_plain(path: Path) -> Iterator[int]:
    """A handle to a regular file with one name. Raises OSError for anything else."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("not a regular file")
        if status.st_nlink > 1:
            raise OSError("a file with several names")
        yield handle
    finally:
        os.close(handle)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    address = f"file:{quote(os.fsencode(path))}?mode={mode}"
    connection = sqlite3.connect(address, 0, isolation_level=None, uri=True)
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


def _check_content(connection: sqlite3.Connection) -> None:
    """Raise `UnusableFileError` for a file that is neither empty nor one of ours and of this version."""
    schema = _list_schema(connection)
    ((application,),) = connection.execute("PRAGMA application_id")
    ((version,),) = connection.execute("PRAGMA user_version")
    if not schema and not application:
        return
    if application != _APPLICATION:
        raise UnusableFileError("is not a file of webeval")
    if version != VERSION:
        raise UnusableFileError(f"is of version {version}, and this is version {VERSION}")
    if schema != _SCHEMA:
        raise UnusableFileError("is damaged (it has other tables)")


def _list_schema(connection: sqlite3.Connection) -> tuple[str, ...]:
    rows = connection.execute(
        f"SELECT sql FROM main.sqlite_master WHERE sql IS NOT NULL AND name NOT IN {_STATISTICS} ORDER BY rowid"  # noqa: S608  (all of it is ours)
    )
    return tuple(sql for (sql,) in rows)
