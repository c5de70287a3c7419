"""The directory of the run that is being scored: opened once, so that what takes its place later is not used.

What reads or writes in a run directory asks here for a handle. While the run is scored, it is that of the directory
which was opened when scoring began; at any other time there is none, and paths are used.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from msgspec import Struct

_FOLLOWED = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_BELOW = _FOLLOWED | os.O_NOFOLLOW
_MOST_LEVELS = 64  # of a directory below a run: each is opened from the run on


class _OpenedDirectory(Struct, eq=False):
    """A directory by its path. `problem` is why nothing in it can be read; without a handle, nothing can be written."""

    path: str
    inside: str  # what paths in it begin with
    is_root: bool  # of the user, who may have put it behind a link
    handle: int | None = None
    problem: OSError | None = None
    uses: int = 0

    @property
    def read_handle(self) -> int:
        """What its files are read by. Raises `OSError`."""
        if self.problem is not None:
            raise OSError(*self.problem.args)
        return self.write_handle

    @property
    def write_handle(self) -> int:
        """What its files are written by. Raises `OSError`."""
        if self.handle is None:
            raise OSError(*self.problem.args if self.problem else ())
        return self.handle


_opened: dict[str, _OpenedDirectory] = {}
_lock = Lock()


@contextmanager
def open_run_directory(path: Path, root: Path | None) -> Iterator[None]:
    """Open a run directory for as long as its run is scored, from its run root on without following links.

    The root itself may be a link, as may the directory where there is no root: the user named it. Raises nothing:
    whatever reads in a directory that cannot be opened raises the reason.
    """
    text = str(path)
    with _lock:
        opened = _opened.get(text)
        if opened is None:
            opened = _opened[text] = _open(path, root)
        opened.uses += 1
    try:
        yield
    finally:
        with _lock:
            opened.uses -= 1
            if not opened.uses:
                del _opened[text]
                if opened.handle is not None:
                    os.close(opened.handle)


def _open(path: Path, root: Path | None) -> _OpenedDirectory:
    start = path if root is None or not path.is_relative_to(root) else root
    names = path.relative_to(start).parts
    opened = _OpenedDirectory(str(path), os.path.join(path, ""), not names)  # noqa: PTH118  (a text)
    try:
        opened.handle = _open_below(start, names, _BELOW)
    except OSError as error:
        opened.problem = OSError(error.errno, _describe(path, len(names), error))
        if error.errno == errno.EACCES and hasattr(os, "O_PATH"):  # an error can be written where nothing can be read
            with suppress(OSError):
                opened.handle = _open_below(start, names, _BELOW | os.O_PATH)
    return opened


def _open_below(start: Path, names: tuple[str, ...], flags: int) -> int:
    """A handle of the directory that is reached from another one, which itself may be behind links."""
    handle = os.open(start, flags & ~os.O_NOFOLLOW)
    for name in names:
        handle = _step(handle, name, flags)
    return handle


def _step(handle: int, name: str, flags: int = _BELOW) -> int:
    """A handle of a directory in another one, in place of the handle of that."""
    try:
        return os.open(name, flags, dir_fd=handle)
    finally:
        os.close(handle)


def _describe(path: Path, depth: int, error: OSError) -> str:
    for place in reversed((path, *path.parents)[:depth]):
        if os.path.islink(place):  # noqa: PTH114  (pathlib raises where nobody may look)
            return f"{'it' if place == path else place} is a link"
    return error.strerror or str(error)


def _find(path: Path | str) -> tuple[_OpenedDirectory | None, str]:
    """The opened directory that a path is in, and the rest of the path; all of the path if there is none."""
    text = str(path)
    for opened in tuple(_opened.values()):
        if text == opened.path:
            return opened, "."
        if text.startswith(opened.inside):
            return opened, text[len(opened.inside) :]
    return None, text


def open_directory(path: Path) -> tuple[int, bool]:
    """The handle of a directory, and whether the caller must close it. Raises `OSError`.

    In a directory that is being scored, no link is followed.
    """
    opened, rest = _find(path)
    if opened is None:
        return os.open(path, _FOLLOWED), True
    return _open_inside(opened.read_handle, rest)


def _open_inside(handle: int, rest: str, *, is_created: bool = False) -> tuple[int, bool]:
    if rest == ".":
        return handle, False
    names = rest.split("/")
    if len(names) > _MOST_LEVELS:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    current = os.dup(handle)
    for name in names:
        if is_created:
            _create(current, name)
        current = _step(current, name)
    return current, True


def _create(parent: int, name: str) -> None:
    """Create a directory if it is missing. Closes the handle of the other one if it cannot."""
    try:
        os.mkdir(name, dir_fd=parent)
    except FileExistsError:
        return
    except OSError:
        os.close(parent)
        raise


@contextmanager
def directory_to_list(path: Path) -> Iterator[int | Path]:
    """What `os.listdir` and `os.scandir` list a directory by. Raises `OSError`."""
    if _find(path)[0] is None:
        yield path
        return
    handle, is_own = open_directory(path)
    try:
        yield handle
    finally:
        if is_own:
            os.close(handle)


def list_names(path: Path) -> list[str]:
    """The names in a directory, in any order. Raises `OSError`."""
    with directory_to_list(path) as place:
        return os.listdir(place)  # noqa: PTH208  (names are all that is wanted)


@contextmanager
def directory_to_write(path: Path, *, is_created: bool = False) -> Iterator[int | None]:
    """The handle of a directory at or below one that is being scored; None of any other. Raises `OSError`.

    With `is_created`, it is created if it is missing below the run.
    """
    opened, rest = _find(path)
    if opened is None:
        yield None
        return
    handle, is_own = _open_inside(opened.write_handle, rest, is_created=is_created)
    try:
        yield handle
    finally:
        if is_own:
            os.close(handle)


def stat_no_follow(path: Path | str) -> os.stat_result:
    """The status of what has that name, a link or a pipe included. Raises `OSError`."""
    opened, rest = _find(path)
    if opened is None:
        return os.lstat(rest)
    return os.stat(rest, dir_fd=opened.read_handle, follow_symlinks=False)


def is_link(path: Path | str) -> bool:
    return stat.S_ISLNK(_read_mode(path))


def is_directory(path: Path | str) -> bool:
    """Whether that name is a directory's, and no link's."""
    return stat.S_ISDIR(_read_mode(path))


def _read_mode(path: Path | str) -> int:
    try:
        return stat_no_follow(path).st_mode
    except (OSError, ValueError):  # of a name with a zero byte
        return 0


def is_writable(path: Path) -> bool:
    """Whether files can be written into a run directory: never into what was put in the place of one."""
    opened, _ = _find(path)
    if opened is None:
        return os.access(path, os.W_OK | os.X_OK)
    return opened.handle is not None and os.access(".", os.W_OK | os.X_OK, dir_fd=opened.handle)


def find_change(path: Path) -> str | None:
    """What happened to a run directory since it was opened: "removed" or "replaced"; None if it is in its place."""
    opened, _ = _find(path)
    try:
        if opened is None or opened.handle is None:
            return None if os.path.isdir(path) else "removed"  # noqa: PTH112  (pathlib raises where nobody may look)
        present = path.stat(follow_symlinks=opened.is_root)
    except OSError:
        return "removed"
    return None if os.path.samestat(present, os.fstat(opened.handle)) else "replaced"
