"""Directories and placeholders on the disk: sparse files of the size of their objects, with 0 as time of change."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Container
from contextlib import suppress
from pathlib import Path

from pytest_webeval.errors import SettingsError
from pytest_webeval.stores.cache_index import CacheIndex
from pytest_webeval.stores.listing import Plan, Problems
from pytest_webeval.stores.store import StoredObject

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_REFUSED = frozenset({errno.EFBIG, errno.EILSEQ, errno.EINVAL, errno.ENAMETOOLONG, errno.ENOENT, errno.ENOTDIR})


class Tree:
    """The tree of a mirror. New versions of files are made in `parts`, on the same disk, and renamed."""

    def __init__(self, root: Path, parts: Path) -> None:
        self.root, self.parts = root, parts

    def lay_out(self, plan: Plan, index: CacheIndex, complete: Container[str]) -> None:
        """Make the directories and files of a plan; what is current stays. Raises `SettingsError`.

        The plan has all that lies below the `complete` directories. What else is there is removed.
        """
        children = plan.list_children()
        try:
            for directory in sorted(plan.directories):
                files = plan.files.get(directory, {})
                kept = {*files, *children.get(directory, ())} if _is_below(directory, complete) else None
                self._lay_out_directory(directory, files, kept, index, plan.problems)
        except OSError as error:
            raise SettingsError(f"cannot use the cache {self.root}: {error.strerror}; choose another cache") from error

    def _lay_out_directory(
        self, name: str, files: dict[str, StoredObject], kept: set[str] | None, index: CacheIndex, problems: Problems
    ) -> None:
        path = os.path.join(self.root, name) if name else str(self.root)  # noqa: PTH118  (speed)
        try:
            present = _make_directory(path)
        except OSError as error:
            if error.errno not in _REFUSED:
                raise
            problems.add(f"{name}/", f"the disk refuses its name ({error.strerror})")
            files.clear()
            return
        for other in () if kept is None else present.keys() - kept:
            _remove(present[other].path)
        for file in list(files):
            entry = files[file]
            if not _is_current(present.get(file), entry, index):
                try:
                    self._place(f"{path}/{file}", entry, is_new=file not in present)
                except OSError as error:
                    if error.errno not in _REFUSED:
                        raise
                    del files[file]
                    problems.add(entry.key, f"the disk refuses it ({error.strerror})")

    def _place(self, path: str, entry: StoredObject, *, is_new: bool) -> None:
        if is_new:
            with suppress(FileExistsError):  # of another process, with the same listing
                _create_placeholder(path, entry)
            return
        part = self.name_part()
        _create_placeholder(part, entry)
        try:
            os.replace(part, path)  # noqa: PTH105  (speed)
        except IsADirectoryError:
            shutil.rmtree(path)
            os.replace(part, path)  # noqa: PTH105  (same)

    def name_part(self) -> str:
        """A new name for a file that is being made."""
        return f"{self.parts}/{os.urandom(12).hex()}"

    def replace_by_placeholder(self, path: Path, entry: StoredObject) -> None:
        """Give back the room of a fetched file. Raises `OSError`."""
        self._place(str(path), entry, is_new=False)

    def write_file(self, path: Path, content: bytes, entry: StoredObject) -> os.stat_result:
        """Put the content of an object in its place, with the time of its last change. Raises `OSError`."""
        part = self.name_part()
        handle = os.open(part, _CREATE, 0o600)
        try:
            try:
                view = memoryview(content)
                while view:
                    view = view[os.write(handle, view) :]
                _set_time(handle, entry)
                status = os.fstat(handle)
            finally:
                os.close(handle)
            os.replace(part, path)  # noqa: PTH105  (speed)
        except BaseException:  # the end of the time for it as well
            with suppress(OSError):
                os.unlink(part)  # noqa: PTH108  (same)
            raise
        return status


def _is_below(directory: str, tops: Container[str]) -> bool:
    while directory and directory not in tops:
        directory = directory.rpartition("/")[0]
    return directory in tops


def _make_directory(path: str) -> dict[str, os.DirEntry[str]]:
    """Create a directory, or list it."""
    try:
        os.mkdir(path, 0o700)  # noqa: PTH102  (speed)
    except FileExistsError:
        if stat.S_ISDIR(os.lstat(path).st_mode):
            with os.scandir(path) as entries:
                return {entry.name: entry for entry in entries}
        _remove(path)
        os.mkdir(path, 0o700)  # noqa: PTH102  (same)
    return {}


def _remove(path: str) -> None:
    if stat.S_ISDIR(os.lstat(path).st_mode):
        shutil.rmtree(path)
    else:
        os.unlink(path)  # noqa: PTH108  (speed)


def _is_current(present: os.DirEntry[str] | None, entry: StoredObject, index: CacheIndex) -> bool:
    if present is None:
        return False
    status = present.stat(follow_symlinks=False)
    if not stat.S_ISREG(status.st_mode) or status.st_size != entry.size:
        return False
    is_known = entry.is_identified and index.is_current(entry.key, entry.identity, status)
    return not entry.size or is_placeholder(status) or is_known


def is_placeholder(status: os.stat_result) -> bool:
    """Whether a file was not fetched yet."""
    return status.st_mtime_ns == 0


def _create_placeholder(path: str, entry: StoredObject) -> None:
    """An object without content needs none."""
    handle = os.open(path, _CREATE, 0o600)
    try:
        if entry.size:
            os.ftruncate(handle, entry.size)
            os.utime(handle, ns=(0, 0))
        else:
            _set_time(handle, entry)
    except OSError:
        os.unlink(path)  # noqa: PTH108  (speed)
        raise
    finally:
        os.close(handle)


def _set_time(handle: int, entry: StoredObject) -> None:
    seconds = min(max(entry.modified or 1.0, 1.0), 2**33)  # never 0, the mark of a placeholder
    os.utime(handle, (seconds, seconds))
