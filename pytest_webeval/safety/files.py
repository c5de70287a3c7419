"""Reading untrusted files: regular files inside their directory only, without links, of bounded size."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from pytest_webeval.errors import RecordingError, StoreError
from pytest_webeval.safety.limits import INI, USUAL
from pytest_webeval.safety.run_directory import open_directory, stat_no_follow

_LARGE, _PIECE, _MOST_HOLES = 2**20, 4_096, 16 * 2**20  # bytes
_TEXTS = (".har", ".json", ".jsonl", ".log", ".network", ".trace", ".txt")
CACHE_TAG, CACHE_TREE = "CACHEDIR.TAG", ".files"  # of a cache, by which programs for backups know it, and of its files
UNFETCHED: dict[str, str] = {}  # why files of caches have no content, by their path, in a process that tried to get it


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def read_file_inside(directory: Path, name: str, limit: int = USUAL.file_size, limit_name: str = "file_size") -> bytes:
    """The bytes of a regular file below a directory. Raises `RecordingError`.

    `limit_name` names the limit for users. Links, pipes, devices and sockets are refused without blocking on them,
    wherever in `name` they stand.
    """
    handle = _open_file(directory, name)
    try:
        status = os.fstat(handle)
        _check_file(directory / name, status, limit, limit_name)
        _refuse_unfetched(directory / name, status)
        _refuse_holes(directory / name, handle, status)
        return _read_bytes(handle, status.st_size)
    finally:
        os.close(handle)


def _check_file(path: Path, status: os.stat_result, limit: int, limit_name: str = "") -> None:
    if not stat.S_ISREG(status.st_mode):
        raise RecordingError(f"{path} is not a regular file; replace it with a regular file")
    if status.st_size > limit:
        hint = f"the limit is {limit:,}; see {limit_name} in {INI}"
        raise RecordingError(f"{path} has {status.st_size:,} bytes; {hint}")


@contextmanager
def open_file_inside(directory: Path, name: str) -> Iterator[BinaryIO]:
    """A regular file below a directory, to be read a piece at a time. Raises `RecordingError`."""
    handle = _open_file(directory, name)
    try:
        status = os.fstat(handle)
        _check_file(directory / name, status, status.st_size)
        _refuse_unfetched(directory / name, status)
    except RecordingError:
        os.close(handle)
        raise
    with os.fdopen(handle, "rb") as file:
        yield file


def read_beginning_inside(directory: Path, name: str, most: int) -> bytes:
    """The first bytes of a regular file below a directory; none of what is no such file, or cannot be read.

    Raises `StoreError` for a file that a store did not give: nobody knows then what it is.
    """
    try:
        handle = _open_file(directory, name)
    except RecordingError:
        return b""
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return b""
        _refuse_unfetched(directory / name, status)
        return _read_bytes(handle, min(status.st_size, most))
    except OSError:
        return b""
    finally:
        os.close(handle)


def _refuse_unfetched(path: Path, status: os.stat_result) -> None:
    """Raise `StoreError` for a file in a cache that has a size and no content, which its time says: it would be zeros.

    It is the only thing that is known here of stores.
    """
    if status.st_mtime_ns or not status.st_size:
        return
    real = Path(os.path.realpath(path.parent), path.name)
    trees = (place for place in real.parents if place.name == CACHE_TREE)
    if any(os.path.lexists(place.with_name(CACHE_TAG)) for place in trees):
        unknown = f"{path} was not fetched from its store, or has changed there since; list the store again"
        raise StoreError(UNFETCHED.get(str(real), unknown))


def _refuse_holes(path: Path, handle: int, status: os.stat_result) -> None:
    """Raise `RecordingError` for a large file that takes little room on the disk, and would fill the memory."""
    if status.st_size <= _LARGE:
        return
    if path.suffix in _TEXTS and not os.pread(handle, _PIECE, status.st_size - _PIECE).strip(b"\0"):
        raise RecordingError(f"{path} ends in zeros: it was not written to its end; re-record the run")
    holes = _measure_holes(handle, status.st_size)
    if holes > _MOST_HOLES:
        problem = f"{path} has a hole of {holes:,} bytes or more, which were never written"
        raise RecordingError(f"{problem}; re-record the run, or copy the file with all its bytes")


def _measure_holes(handle: int, size: int) -> int:
    """How many bytes of a file have no room on the disk, as far as the file system says; no more than are too many."""
    total = position = 0
    with suppress(OSError, AttributeError):  # of a system that cannot say
        while position < size and total <= _MOST_HOLES:
            hole = os.lseek(handle, position, os.SEEK_HOLE)
            try:
                position = os.lseek(handle, hole, os.SEEK_DATA)
            except OSError as error:
                if error.errno != errno.ENXIO:  # which says that there are none until the end
                    raise
                position = size
            total += position - hole
    os.lseek(handle, 0, os.SEEK_SET)
    return total


def _read_bytes(handle: int, size: int) -> bytes:
    """So many bytes, or fewer where the file was cut since. Usually there is one piece, so nothing is copied."""
    content = os.read(handle, size)
    while content and len(content) < size and (more := os.read(handle, size - len(content))):
        content += more
    return content


def _open_file(directory: Path, name: str) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    parts = (name,) if "/" not in name and name not in {"", "."} else Path(name).parts
    if not parts or name.startswith("/") or ".." in parts or not name.isprintable():
        raise RecordingError(f"{name!r} does not name a file inside {directory}")
    try:
        parent, is_own = open_directory(directory)
    except OSError as error:
        problem = f"cannot open {directory}: {error.strerror}"
        raise RecordingError(f"{problem}; check that it is a readable directory") from error
    try:
        for part in parts[:-1]:
            child = os.open(part, flags | os.O_DIRECTORY, dir_fd=parent)
            if is_own:
                os.close(parent)
            parent, is_own = child, True
        return os.open(parts[-1], flags, dir_fd=parent)
    except FileNotFoundError as error:
        raise RecordingError(f"missing file: {directory / name}; add it, or remove the run") from error
    except OSError as error:
        problem = f"cannot read {directory / name}: {error.strerror or error}"
        raise RecordingError(f"{problem}; check that it is a readable regular file") from error
    finally:
        if is_own:
            os.close(parent)


def walk_directories(root: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Each directory below one with the sorted names of its directories and of its other entries, as `os.walk` does it.

    A caller may remove directories from the first list. Links are not followed, and no depth is too deep: `os.walk`
    calls itself. A directory that cannot be listed is left out.
    """
    waiting = [root]
    while waiting:
        directory = waiting.pop()
        directories: list[str] = []
        files: list[str] = []
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    (directories if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
        except OSError:
            continue
        directories.sort()
        yield directory, directories, sorted(files)
        waiting += [directory / name for name in reversed(directories)]


def exists_no_follow(path: Path) -> bool:
    """Whether anything has that name, a dangling link or a pipe included. Never opens it."""
    try:
        stat_no_follow(path)
    except (OSError, ValueError):  # of a name with a zero byte
        return False
    return True


# Where nobody may look these answer no, for which pathlib raises.
exists, is_dir, is_file = os.path.exists, os.path.isdir, os.path.isfile
