"""The directory in which fetched files are kept: private, of one location, with an index of what its files hold."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import stat
import threading
import time
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import DecodeError, Struct, json

from pytest_webeval.errors import SettingsError, StoreError
from pytest_webeval.safety.files import CACHE_TAG, CACHE_TREE
from pytest_webeval.safety.text import to_line
from pytest_webeval.storage import write_bytes
from pytest_webeval.stores.listing import PREFIX, Plan, Problems
from pytest_webeval.stores.store import StoredObject

PARTS = "parts"  # files that are being fetched
INDEX = "index.jsonl"
_SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_SECONDS = 7 * 86_400.0  # after which a part, or a listing, is of a process that is gone
_BLOCK = 512  # bytes, as `stat` counts them
_ADVICE = "choose another cache"


def default_cache(location: str, caches: Path | None = None) -> Path:
    """The directory for a location among some caches, by default those of the user. Raises `SettingsError`."""
    name = hashlib.sha256(location.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    if caches is not None:
        return caches / name
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "pytest-webeval" / name
    except RuntimeError as error:  # of a user without an entry, as in some containers
        raise SettingsError("this user has no home directory for a cache; set XDG_CACHE_HOME") from error


def open_cache(path: Path, location: str) -> Path:
    """Create the directory, or check that it is a cache of this location. Raises `SettingsError`."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check(path)
        _mark(path, location)
        for name in (CACHE_TREE, PARTS):
            (path / name).mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"cannot use the cache {path}: {error.strerror}; {_ADVICE}") from error
    return Path(os.path.realpath(path))


def _check(path: Path) -> None:
    status = path.lstat()
    problem = None
    if not stat.S_ISDIR(status.st_mode):
        problem = "it is a link, not a directory"
    elif status.st_uid != os.geteuid():
        problem = "it belongs to another user"
    elif status.st_mode & _OTHERS_WRITE:
        problem = "other users can write to it"
    elif not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        problem = "it is not readable and writable"
    if problem:
        raise SettingsError(f"cannot use the cache {path}: {problem}; {_ADVICE}")
    if status.st_mode & _OTHERS:
        path.chmod(0o700)


def _mark(path: Path, location: str) -> None:
    """Write the tag into an empty directory, or compare it: what is not in a listing is removed from a cache."""
    expected = f"{_SIGNATURE}\n# {to_line(location, 2_000)}\n".encode()
    tag = path / CACHE_TAG
    if not tag.exists():
        others = [name for name in os.listdir(path) if not name.startswith(f".{CACHE_TAG}.")]  # noqa: PTH208  (names)
        if others and not tag.exists():  # unless another process has begun the cache with the tag meanwhile
            raise SettingsError(f"cannot use the cache {path}: it has other files; choose an empty directory")
        if not others:
            write_bytes(tag, expected, _ADVICE)
    if tag.read_bytes() != expected:
        raise SettingsError(f"cannot use the cache {path}: it is the cache of another location; {_ADVICE}")


@contextmanager
def lock_cache(path: Path) -> Iterator[None]:
    """Let one process at a time lay out the tree. A process that is killed releases it. Raises `SettingsError`."""
    try:
        handle = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise SettingsError(f"cannot use the cache {path}: {error.strerror}; {_ADVICE}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def lock_directory(path: Path, *, is_alone: bool = False) -> Iterator[bool]:
    """Keep others from having a directory alone, or have it so; False if others keep it."""
    kind = fcntl.LOCK_EX | fcntl.LOCK_NB if is_alone else fcntl.LOCK_SH
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # it is gone, which whoever reads or writes in it says
        yield True
        return
    try:
        is_free = True
        try:
            fcntl.flock(handle, kind)
        except BlockingIOError:
            is_free = False
        except OSError:  # of a disk without such locks
            pass
        yield is_free
    finally:
        os.close(handle)


def remove_remains(path: Path, *listings: str) -> None:
    """Remove what processes that are gone have left: parts of files, and other listings than these."""
    for directory, prefix in ((path / PARTS, ""), (path, PREFIX)):
        with suppress(OSError), os.scandir(directory) as entries:
            for entry in entries:
                is_ours = entry.name.startswith(prefix) and entry.name not in listings
                with suppress(OSError):
                    if is_ours and time.time() - entry.stat(follow_symlinks=False).st_ctime > _SECONDS:
                        os.unlink(entry.path)  # noqa: PTH108  (the same path, as text)


class _Line(Struct, array_like=True, frozen=True):
    """A file that was fetched; without an identity, one that was removed."""

    key: str
    identity: str
    size: int = 0
    time: int = 0  # of the last change, in nanoseconds
    inode: int = 0


_DECODER = json.Decoder(_Line)
_MOST_STALE = 1_000  # lines of files that are no longer there, before the index is written anew


class CacheIndex:
    """Which content of which object each file has, in a file that many processes append to.

    The latest line of each file counts, and only for the very file that it describes. A line begins with a line break,
    so that one that was cut by a crash spoils no other. Lines that cannot be read are ignored: their files are fetched
    again.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / INDEX
        self._lines: dict[str, _Line] = {}
        self._earlier: dict[str, _Line] = {}  # of processes that fetched a file at the same time
        self._used = self._count = self._position = self._inode = 0
        self._lock = threading.Lock()

    def is_current(self, key: str, identity: str, status: os.stat_result) -> bool:
        """Whether a file has the content of an object."""
        expected = _Line(key, identity, status.st_size, status.st_mtime_ns, status.st_ino)
        return expected in (self._lines.get(key), self._earlier.get(key))

    def add(self, key: str, identity: str, status: os.stat_result) -> None:
        """Note that a file was fetched. Raises `StoreError`."""
        self._append(_Line(key, identity, status.st_size, status.st_mtime_ns, status.st_ino))

    def drop(self, key: str) -> None:
        """Note that the content of a file was removed. Raises `StoreError`."""
        self._append(_Line(key, ""))

    @property
    def used_bytes(self) -> int:
        """The size of all fetched files, of other processes as well. Raises `StoreError`."""
        self.refresh()
        return self._used

    def refresh(self) -> None:
        """Read the lines that are new. Raises `StoreError`."""
        with self._lock:
            try:
                with self._path.open("rb") as file:
                    status = os.fstat(file.fileno())
                    if status.st_ino != self._inode or status.st_size < self._position:
                        self._forget(status.st_ino)
                    file.seek(self._position)
                    content = file.read()
            except FileNotFoundError:
                self._forget(0)
                return
            except OSError as error:
                raise StoreError(f"cannot read {self._path}: {error.strerror}; {_ADVICE}") from error
            self._position += len(content)
            for text in filter(None, content.split(b"\n")):
                with suppress(DecodeError, UnicodeDecodeError):
                    self._note(_DECODER.decode(text))

    def _forget(self, inode: int) -> None:
        self._lines, self._earlier = {}, {}
        self._used, self._count, self._position, self._inode = 0, 0, 0, inode

    def _note(self, line: _Line) -> None:
        self._count += 1
        previous = self._lines.pop(line.key, None)
        self._used += line.size - (previous.size if previous else 0)
        self._earlier.pop(line.key, None)
        if line.identity:
            self._lines[line.key] = line
            if previous is not None:
                self._earlier[line.key] = previous

    def _append(self, line: _Line) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            handle = os.open(self._path, flags, 0o600)
            try:
                os.write(handle, b"\n" + json.encode(line))
            finally:
                os.close(handle)
        except OSError as error:
            raise StoreError(f"cannot write {self._path}: {error.strerror}; {_ADVICE}") from error

    def keep(self, keys: Container[str]) -> None:
        """Write the index anew without lines that are of no use. What others append meanwhile is fetched again.

        Raises `SettingsError`, and `StoreError`.
        """
        kept = [line for line in self._lines.values() if line.key in keys]
        if len(kept) < len(self._lines) or self._count > 2 * len(kept) + _MOST_STALE:
            write_bytes(self._path, b"".join(b"\n" + json.encode(line) for line in kept), _ADVICE)
            self.refresh()


_indexes: dict[Path, CacheIndex] = {}  # of caches that a process uses for one batch of runs after the other


def find_index(directory: Path) -> CacheIndex:
    """The index of a cache, of which this process reads only what is new. Raises `StoreError`."""
    index = _indexes.setdefault(directory, CacheIndex(directory))
    index.refresh()
    return index


_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_REFUSED = frozenset({errno.EFBIG, errno.EILSEQ, errno.EINVAL, errno.ENAMETOOLONG, errno.ENOENT, errno.ENOTDIR})


class Tree:
    """The files of a mirror. Each object has one of its name and size from the start: a hole until it is fetched.

    New versions of files are made in a directory next to it, on the same disk, and renamed.
    """

    def __init__(self, root: Path, parts: Path) -> None:
        self.root, self.parts = root, parts

    def lay_out(self, plan: Plan, index: CacheIndex, complete: Container[str]) -> set[str]:
        """Make the directories and files of a plan, and return the keys of those that are current.

        Where the content of a file is that of another object, it is removed at once, so that nobody takes it for this
        one if that cannot be fetched. The plan has all that lies below the `complete` directories; what else is there
        is removed. Raises `SettingsError`.
        """
        children, current = plan.list_children(), set[str]()
        try:
            for directory in sorted(plan.directories):
                files = plan.files.get(directory, {})
                present = self._open_directory(directory, plan.problems)
                if present is None:
                    files.clear()
                    continue
                if _is_below(directory, complete):
                    for name in present.keys() - files.keys() - children.get(directory, set()):
                        _remove(present[name].path)
                for name, entry in list(files.items()):
                    status = present[name].stat(follow_symlinks=False) if name in present else None
                    is_hole = status is not None and _fits(status, entry) and not status.st_mtime_ns
                    if status and entry.is_identified and is_current(present[name].path, status, entry, index):
                        current.add(entry.key)
                    elif not is_hole and not self._try_to_place(entry, plan.problems, is_new=status is None):
                        del files[name]
        except OSError as error:
            raise SettingsError(f"cannot use the cache {self.root}: {error.strerror}; choose another cache") from error
        return current

    def _open_directory(self, name: str, problems: Problems) -> dict[str, os.DirEntry[str]] | None:
        """Create a directory, or list it; None if the disk refuses its name."""
        path = os.path.join(self.root, name) if name else str(self.root)  # noqa: PTH118  (speed)
        try:
            os.mkdir(path, 0o700)  # noqa: PTH102  (same)
        except FileExistsError:
            if stat.S_ISDIR(os.lstat(path).st_mode):
                with os.scandir(path) as entries:
                    return {entry.name: entry for entry in entries}
            os.unlink(path)  # noqa: PTH108  (same)
            os.mkdir(path, 0o700)  # noqa: PTH102  (same)
        except OSError as error:
            if error.errno not in _REFUSED:
                raise
            problems.add(f"{name}/", f"the disk refuses its name ({error.strerror})")
            return None
        return {}

    def _try_to_place(self, entry: StoredObject, problems: Problems, *, is_new: bool) -> bool:
        try:
            with suppress(FileExistsError):  # of another process, with the same listing
                self.write(entry, None, is_new=is_new)
        except OSError as error:
            if error.errno not in _REFUSED:
                raise
            problems.add(entry.key, f"the disk refuses it ({error.strerror})")
            return False
        return True

    def write(self, entry: StoredObject, content: bytes | None, *, is_new: bool = False) -> os.stat_result:
        """Put the content of an object in its place, with the time of its last change, or a hole. Raises `OSError`."""
        path = f"{self.root}/{entry.key}"
        part = path if is_new else f"{self.parts}/{os.urandom(12).hex()}"
        handle = os.open(part, _CREATE, 0o600)
        try:
            try:
                view = memoryview(content or b"")
                while view:
                    view = view[os.write(handle, view) :]
                os.ftruncate(handle, entry.size)
                # A hole has a time of its own: it may get the number of the file that it replaces.
                seconds = 0.0 if content is None else min(max(entry.modified or 1.0, 1.0), 2**33)
                os.utime(handle, (seconds, seconds))
                status = os.fstat(handle)
            finally:
                os.close(handle)
            if not is_new:
                _replace(part, path)
        except BaseException:  # Ctrl-C as well
            with suppress(OSError):
                os.unlink(part)  # noqa: PTH108  (same)
            raise
        return status


def _replace(part: str, path: str) -> None:
    try:
        os.replace(part, path)  # noqa: PTH105  (speed)
    except IsADirectoryError:
        shutil.rmtree(path)
        os.replace(part, path)  # noqa: PTH105  (same)


def is_current(path: str, status: os.stat_result, entry: StoredObject, index: CacheIndex) -> bool:
    """Whether a file has the whole content of an object."""
    is_known = not entry.size or index.is_current(entry.key, entry.identity, status)
    return is_known and _fits(status, entry) and _is_written(path, status)


def _fits(status: os.stat_result, entry: StoredObject) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_size == entry.size


def _is_written(path: str, status: os.stat_result) -> bool:
    """Whether a file has no part that was never written: after a crash it may have its size, and zeros."""
    if status.st_blocks * _BLOCK >= status.st_size:
        return True
    with suppress(OSError, AttributeError):  # of a system that cannot say
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            return os.lseek(handle, 0, os.SEEK_HOLE) >= status.st_size
        finally:
            os.close(handle)
    return True


def _is_below(directory: str, tops: Container[str]) -> bool:
    while directory and directory not in tops:
        directory = directory.rpartition("/")[0]
    return directory in tops


def _remove(path: str) -> None:
    if stat.S_ISDIR(os.lstat(path).st_mode):
        shutil.rmtree(path)
    else:
        os.unlink(path)  # noqa: PTH108  (speed)
