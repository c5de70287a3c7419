"""The directory in which fetched files are kept: private, of one location, and of nothing else."""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_webeval.errors import SettingsError
from pytest_webeval.safety.files import CACHE_TAG as TAG
from pytest_webeval.safety.files import CACHE_TREE
from pytest_webeval.safety.text import to_line
from pytest_webeval.storage import write_bytes
from pytest_webeval.stores.listing_file import PREFIX

FILES, PARTS = CACHE_TREE, "parts"  # the tree, which pytest passes over in a project, and files that are being fetched
_SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_SECONDS = 7 * 86_400.0  # after which a part, or a listing, is of a process that is gone
_ADVICE = "choose another cache"


def default_cache(location: str, caches: Path | None = None) -> Path:
    """The directory for a location among some caches, by default those of the user. Raises `SettingsError`."""
    name = hashlib.sha256(location.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return (_find_caches() if caches is None else caches) / name


def _find_caches() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        caches = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    except RuntimeError as error:  # of a user without an entry, as in some containers
        raise SettingsError("this user has no home directory for a cache; set XDG_CACHE_HOME") from error
    return caches / "pytest-webeval"


def open_cache(path: Path, location: str) -> Path:
    """Create the directory, or check that it is a cache of this location. Raises `SettingsError`."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check(path)
        _mark(path, location)
        for name in (FILES, PARTS):
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
    tag = path / TAG
    if not tag.exists():
        others = [name for name in os.listdir(path) if not name.startswith(f".{TAG}.")]  # noqa: PTH208  (names)
        if (
            others and not tag.exists()
        ):  # unless another process has made the cache meanwhile, which begins with the tag
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


def remove_remains(path: Path, *listings: str) -> None:
    """Remove what processes that are gone have left: parts of files, and other listings than these."""
    for directory, prefix in ((path / PARTS, ""), (path, PREFIX)):
        with suppress(OSError), os.scandir(directory) as entries:
            for entry in entries:
                if entry.name.startswith(prefix) and entry.name not in listings:
                    _remove_old(entry)


def _remove_old(entry: os.DirEntry[str]) -> None:
    with suppress(OSError):
        if time.time() - entry.stat(follow_symlinks=False).st_ctime > _SECONDS:
            os.unlink(entry.path)  # noqa: PTH108  (the same path, as text)
