"""How a session begins its file of rows: a new one, with a copy of the rows that are in the one before.

Nothing of this session depends on the pages of a file that somebody else may have written.
"""

from __future__ import annotations

import fcntl
import os
import re
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from secrets import token_hex

from pytest_webeval.summary.store.result_manifest import find_path
from pytest_webeval.summary.store.row_database import (
    EarlierRows,
    UnusableFileError,
    connect,
    make_tables,
    open_plain,
    transaction,
)

_COPY = "INSERT OR REPLACE INTO results VALUES (?, ?, '', ?, 0, ?, ?, ?, ?)"
_NAMED_FILE = bytes.fromhex("d9d505f920a163d7")  # ends a journal that names a file, which SQLite then removes


class InUseError(Exception):
    """Another session has the file."""


def take_over(path: Path, notes: list[str]) -> tuple[sqlite3.Connection, int]:
    """A connection to a new file in the place of one, which it has for itself, and the handle that locks the file.

    What is no file of ours is set aside, which is one of the notes. Raises `InUseError`, OSError, also for what is no
    regular file, and what SQLite raises.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        earlier = _lock_earlier(path)
        try:
            _remove_leftovers(path)
            return _make(path, earlier, notes)
        except FileExistsError:  # another session has just made one
            continue
        finally:
            if earlier is not None:
                os.close(earlier)


def _make(path: Path, earlier: int | None, notes: list[str]) -> tuple[sqlite3.Connection, int]:
    """Raises FileExistsError if another session has put its file there meanwhile."""
    made = path.with_name(f".{path.name}.{token_hex(8)}")
    handle = os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o644)
    try:
        has_locks = _lock(handle)
        with closing(connect(made, "rw&nolock=1")) as new:
            new.execute("PRAGMA journal_mode=OFF")
            make_tables(new)
            copy_rows(path, new, notes)
        _discard_companions(path)
        _put_in_place(made, path, earlier)
        connection = connect(path, "rw" if has_locks else "rw&nolock=1")
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")  # nobody who asks with `sqlite3` meanwhile disturbs
    except BaseException:
        os.close(handle)
        made.unlink(missing_ok=True)
        raise
    return connection, handle


def _put_in_place(made: Path, path: Path, earlier: int | None) -> None:
    """Give a file its name, in place of the file that this session has locked, and of no other."""
    if earlier is None or not _is_at(path, earlier):
        try:
            os.link(made, path)
            made.unlink()
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            made.rename(path)
    else:
        made.rename(path)


def _is_at(path: Path, handle: int) -> bool:
    """Whether a path is still that of an open file."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _remove_leftovers(path: Path) -> None:
    """Remove what killed sessions left of their files while they made them, and what nobody has locked."""
    for left in path.parent.glob(".eval_session*.sqlite.*"):
        if re.fullmatch(r"[0-9a-f]{16}", left.suffix[1:]):
            with suppress(OSError, InUseError):
                handle = _lock_earlier(left)
                left.unlink()
                if handle is not None:
                    os.close(handle)


def copy_rows(path: Path, new: sqlite3.Connection, notes: list[str]) -> None:
    """Copy the rows of earlier sessions that can be read to a new file. Raises OSError, and what SQLite raises."""
    problems: list[str] = []
    with transaction(new):
        new.executemany(_COPY, _list_rows(path, new, problems))
    if problems:
        old = _set_aside(path)
        place = "removed" if old is None else f"now {old.name}"
        notes.append(f"{path} {problems[0]}; it is {place}, and not all results in it are reused")


def _list_rows(path: Path, new: sqlite3.Connection, problems: list[str]) -> Iterator[tuple[object, ...]]:
    try:
        is_torn = _find_journal(path)
        if not os.path.lexists(path):
            return
        with closing(EarlierRows(path, is_torn=is_torn)) as rows:
            for started in rows.list_unfinished():
                new.execute("INSERT OR REPLACE INTO sessions VALUES (?, 0)", (started,))
            for row in rows.list_all():
                path_of_run = row.path if _is_label(row.path) else None
                yield row.run, row.session, path_of_run, row.record, row.seal, row.checksum, row.result
    except UnusableFileError as error:
        problems.append(str(error))


def _is_label(text: str | None) -> bool:
    with suppress(ValueError):
        return text is not None and bool(find_path(text))
    return False


def _find_journal(path: Path) -> bool:
    """Whether there is a journal, with which the half of a write is undone.

    Raises `UnusableFileError` for files next to this one that SQLite would follow to other files.
    """
    companions = _list_companions(path)
    for companion in companions:
        ending = _NAMED_FILE
        with suppress(OSError), open_plain(companion) as handle:
            ending = os.pread(handle, 8, max(0, os.fstat(handle).st_size - 8))
        if not companion.name.endswith("-journal") or ending == _NAMED_FILE:
            raise UnusableFileError(f"has a file {companion.name} that no session has written")
    return bool(companions) and os.path.lexists(path) and path.lstat().st_nlink == 1  # another name may be a backup


def _list_companions(path: Path) -> list[Path]:
    companions = [Path(f"{path}{suffix}") for suffix in ("-journal", "-wal", "-shm")]
    return [companion for companion in companions if os.path.lexists(companion)]


def _discard_companions(path: Path) -> None:
    """Remove what SQLite would take for a part of the file; a directory gets another name."""
    for companion in _list_companions(path):
        try:
            companion.unlink()
        except OSError:
            companion.rename(companion.with_name(f"{companion.name}.{token_hex(8)}"))


def _set_aside(path: Path) -> Path | None:
    """Rename a file that cannot be used, so that it is not lost. None if there is only something beside it."""
    _discard_companions(path)
    if not os.path.lexists(path):
        return None
    names = (path.with_name(f"{path.stem}.old-{number}{path.suffix}") for number in range(1, 10_000))
    return path.rename(next(name for name in names if not os.path.lexists(name)))


def _lock_earlier(path: Path) -> int | None:
    """A handle that keeps other sessions from the file that is there, if there is one."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("not a regular file")
        _lock(handle)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _lock(handle: int) -> bool:
    """Whether the file system has locks; some network disks have none. Raises `InUseError`.

    Unlike the locks that SQLite takes, this one stays when the process closes another handle to the file.
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InUseError from error
    except OSError:
        return False
    return True
