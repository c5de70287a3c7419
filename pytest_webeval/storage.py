"""Atomic writes of JSON, which never follow a link to another path."""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from pytest_webeval.errors import DiskFull, SettingsError
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.run_directory import directory_to_list, directory_to_write
from pytest_webeval.safety.text import escape_surrogates

INDENT = 2
_PRIVATE, _SHARED = 0o600, 0o644  # while a file is being written, and once it is complete: results are to be shared
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
CHOOSE_OUTPUT = "choose another directory with --webeval-output"
_ELEMENTS = 1_000  # of a long list that are text at one time
_PIECE = 2**16  # bytes that are written at once


Sync = Callable[[int], None]  # what makes sure that an open file or directory is on the disk: `os.fsync`


def write_json(path: Path, content: Any, sync: Sync | None = None, advice: str = CHOOSE_OUTPUT) -> str:
    """Write a temporary file next to the target, then rename it over the target. Returns the SHA-256 of the content.

    With `sync`, the file is on the disk before it has its name, and its name before the function returns. Raises
    `SettingsError` that says why nothing was written, with `advice`; what was there before is still there then.
    """
    text = encode_file(path, content)
    _write_atomically(path, [text], sync, advice)
    return sha256(text)


def encode_file(path: Path, content: Any) -> bytes:
    """What `write_json` writes. Raises `SettingsError`."""
    with _encoding(path):
        return to_json_bytes(content)


@contextmanager
def _encoding(path: Path) -> Iterator[None]:
    """Raise `SettingsError` for what a format, an evaluator or a hook of a user gives in place of JSON values."""
    try:
        yield
    except (TypeError, ValueError, RecursionError) as error:
        raise SettingsError(f"cannot write {path}: {error}; use JSON values only") from error


def write_long_json(path: Path, content: Any, sync: Sync | None = None) -> None:
    """Write the bytes that `write_json` writes, a piece at a time: for the summary of very many runs.

    Raises `SettingsError`.
    """
    with _encoding(path):
        _write_atomically(path, _join_pieces(_json_pieces(content)), sync, CHOOSE_OUTPUT)


class WrittenLines(NamedTuple):
    """What was written: the name of the file, how many lines it has, and the SHA-256 of its content."""

    name: str
    lines: int
    checksum: str


def write_json_lines(
    path: Path, entries: Iterable[Any], choose_name: Callable[[str], str], sync: Sync | None = None
) -> WrittenLines:
    """Write a JSON value a line to a file next to `path`, with a name that depends on the checksum of its content.

    Raises `SettingsError`.
    """
    digest, count = hashlib.sha256(), 0

    def encode() -> Iterator[bytes]:
        nonlocal count
        for entry in entries:
            line = _encode_json(entry) + b"\n"
            digest.update(line)
            count += 1
            yield line

    with _encoding(path):
        pieces = _join_pieces(encode(), b"")
        _write_atomically(path, pieces, sync, CHOOSE_OUTPUT, lambda: choose_name(digest.hexdigest()))
    return WrittenLines(choose_name(digest.hexdigest()), count, digest.hexdigest())


def write_text(path: Path, text: str, sync: Sync | None = None, advice: str = "choose another path") -> None:
    """The same for a text other than JSON; `advice` says what to do if it cannot be written."""
    _write_atomically(path, [text.encode("utf-8", "backslashreplace")], sync, advice)


def write_bytes(path: Path, content: bytes, advice: str = "choose another path", sync: Sync | None = None) -> None:
    """The same for what is not a text."""
    _write_atomically(path, [content], sync, advice)


def write_in_place(path: Path, text: str, advice: str) -> None:
    """Write a file in place, for one of thousands that are read only after the session.

    Never through a link. Raises `SettingsError`; then there is no such file, rather than a part of it.
    """
    write_bytes_in_place(path, text.encode("utf-8", "backslashreplace"), advice)


def write_bytes_in_place(path: Path, content: bytes, advice: str) -> None:
    """The same for what is not a text."""
    try:
        handle = _open_in_place(path)
        try:
            _write_all(handle, content)
        except BaseException:  # the end of the time for it as well
            with suppress(OSError):
                os.unlink(path)  # noqa: PTH108  (speed)
            raise
    except OSError as error:
        raise write_error(path, error, advice) from error


def append_in_place(path: Path, content: bytes, advice: str, *, is_new: bool) -> None:
    """Add to a file that is written in pieces, or with `is_new` begin it. Never through a link.

    Raises `SettingsError`; then the file may have a part of its content.
    """
    try:
        _write_all(_open_in_place(path, os.O_TRUNC if is_new else os.O_APPEND), content)
    except OSError as error:
        raise write_error(path, error, advice) from error


def _open_in_place(path: Path, mode: int = os.O_TRUNC) -> int:
    flags = os.O_WRONLY | os.O_CREAT | mode | os.O_NOFOLLOW | os.O_CLOEXEC
    with directory_to_write(path.parent, is_created=True) as parent:
        if parent is not None:
            return _open_own(path.name, flags, parent)
    try:
        return os.open(path, flags, _SHARED)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, _SHARED)


def _open_own(name: str, flags: int, parent: int) -> int:
    """A file in the directory of a run, unless the agent has put a pipe or another file in its place."""
    # A pipe without a reader is an error. What has another name as well must not be emptied.
    handle = os.open(name, flags & ~os.O_TRUNC | os.O_NONBLOCK, _SHARED, dir_fd=parent)
    status = os.fstat(handle)
    if stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
        if flags & os.O_TRUNC:
            os.ftruncate(handle, 0)
        return handle
    os.close(handle)
    raise OSError(errno.EPERM, "it is a pipe, or has another name as well")


def _write_all(handle: int, content: bytes) -> None:
    try:
        while content:
            content = content[os.write(handle, content) :]
    finally:
        os.close(handle)


def write_error(path: Path, error: OSError, advice: str) -> SettingsError:
    """The error that says why a file cannot be written: `DiskFull` where there is no room for it."""
    reason = error.strerror or str(error)
    message = f"cannot write {path}: {reason}; {advice}"
    return DiskFull(message, path, reason) if is_full(error) else SettingsError(message)


def is_full(error: OSError) -> bool:
    """Whether a file could be written if there were more room: on the disk, in a quota or below a limit."""
    return error.errno in _FULL


def _write_atomically(
    path: Path, pieces: Iterable[bytes], sync: Sync | None, advice: str, choose_name: Callable[[], str] | None = None
) -> None:
    """Write a temporary file, and give it the name of the path, or another once its content is known."""
    try:
        if not path.name:  # of the root, and of the current directory as a dot
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with directory_to_write(path.parent, is_created=True) as parent:
            place = Path() if parent is not None else path.parent  # names are enough where there is a handle
            temporary = place / f".{path.name}.{os.urandom(8).hex()}"
            handle = _open_temporary(temporary, parent, sync)
            try:
                _write(handle, pieces, sync)
                target = place / (path.name if choose_name is None else choose_name())
                os.replace(temporary, target, src_dir_fd=parent, dst_dir_fd=parent)
            finally:
                with suppress(OSError):  # gone after a rename; left by a full disk or a Ctrl-C otherwise
                    os.unlink(temporary, dir_fd=parent)
            if parent is None:
                sync_directory(path.parent, sync)
            elif sync is not None:
                sync(parent)
    except OSError as error:
        raise write_error(path, error, advice) from error


def _open_temporary(path: Path, parent: int | None, sync: Sync | None) -> int:
    """A new exclusive file, whose directory is created if it is missing."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags, _PRIVATE, dir_fd=parent)
    except (FileNotFoundError, NotADirectoryError):
        if parent is not None:
            raise
        missing = [directory for directory in (path.parent, *path.parent.parents) if not directory.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        for directory in missing:
            sync_directory(directory.parent, sync)
        return os.open(path, flags, _PRIVATE)


def _write(handle: int, pieces: Iterable[bytes], sync: Sync | None) -> None:
    try:
        for piece in pieces:
            rest = piece
            while rest:
                rest = rest[os.write(handle, rest) :]
        os.fchmod(handle, _SHARED)
        if sync is not None:
            sync(handle)
    finally:
        os.close(handle)


def sync_directory(path: Path, sync: Sync | None) -> None:
    """Make sure that the names in a directory are on the disk."""
    if sync is None:
        return
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync(handle)
    finally:
        os.close(handle)


def remove_leftovers(directory: Path, *names: str, since: float = 0) -> None:
    """Remove what a process that was killed left of files that it was writing there: plain files, never links.

    `since` spares what was there before that time, in seconds since 1970: no file can be given another time of change.
    """
    leftover = re.compile(rf"\.(?:{'|'.join(map(re.escape, names))})\.[0-9a-f]{{16}}")
    with suppress(OSError), directory_to_list(directory) as place, os.scandir(place) as entries:
        handle = place if isinstance(place, int) else None
        for entry in entries:
            is_ours = leftover.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
            if is_ours and entry.stat(follow_symlinks=False).st_ctime >= since:
                os.unlink(entry.path, dir_fd=handle)


def remove(path: Path) -> None:
    """Remove a file of this package. Raises `SettingsError` with advice."""
    try:
        with directory_to_write(path.parent) as parent, suppress(FileNotFoundError):
            os.unlink(path if parent is None else path.name, dir_fd=parent)
    except OSError as error:
        raise SettingsError(f"cannot remove {path}: {error.strerror}; {CHOOSE_OUTPUT}") from error


def to_json_bytes(content: Any) -> bytes:
    """The bytes of some JSON: indented, UTF-8 whatever an agent put into its texts, with a final newline.

    JSON knows neither NaN nor infinity: they become the texts "NaN", "Infinity" and "-Infinity". Half of a surrogate
    pair becomes the six characters that escape it.
    """
    encoded = _encode_json(content)
    try:  # Python indents many times slower than it encodes, and gives the same bytes
        formatted = msgspec.json.format(encoded, indent=INDENT)
    except (msgspec.DecodeError, RecursionError):  # too deep for msgspec
        formatted = json.dumps(json.loads(encoded), indent=INDENT, ensure_ascii=False).encode()
    del encoded  # the summary of many runs is long, and this function has several copies of it
    return formatted + b"\n"


def _encode_json(content: Any) -> bytes:
    """The same bytes in one line."""
    try:
        plain = json.dumps(content, ensure_ascii=False, allow_nan=False)
    except ValueError:
        content = _name_nonfinite(content)
        plain = json.dumps(content, ensure_ascii=False, allow_nan=False)
    try:
        return plain.encode()
    except UnicodeEncodeError:
        return _encode_json(escape_surrogates(content))


def _json_pieces(tree: Any, newline: bytes = b"\n") -> Iterator[bytes]:
    """The bytes of some JSON; each long list in it is split. `newline` is followed by what the tree is indented by."""
    if not _has_long_list(tree):
        yield to_json_bytes(tree).rstrip().replace(b"\n", newline)  # a text has no line break of its own
        return
    inner, separator = newline + b" " * INDENT, b""
    yield b"{" if isinstance(tree, dict) else b"["
    if isinstance(tree, dict):
        for name, value in tree.items():
            yield separator + inner + to_json_bytes(name).rstrip() + b": "
            yield from _json_pieces(value, inner)
            separator = b","
    else:
        for start in range(0, len(tree), _ELEMENTS):
            yield separator + to_json_bytes(tree[start : start + _ELEMENTS]).rstrip()[1:-2].replace(b"\n", newline)
            separator = b","
    yield newline + (b"}" if isinstance(tree, dict) else b"]")


def _has_long_list(tree: Any) -> bool:
    """Whether the tree, or an object in it, is a list that is long. Names that are not texts are left to `json`."""
    if isinstance(tree, dict):
        return all(isinstance(name, str) for name in tree) and any(map(_has_long_list, tree.values()))
    return isinstance(tree, list) and len(tree) > _ELEMENTS


def _join_pieces(pieces: Iterable[bytes], ending: bytes = b"\n") -> Iterator[bytes]:
    """The same bytes with a final newline, in pieces that are worth a write."""
    waiting = bytearray()
    for piece in pieces:
        waiting += piece
        if len(waiting) >= _PIECE:
            yield bytes(waiting)
            waiting.clear()
    yield bytes(waiting) + ending


def _name_nonfinite(tree: Any) -> Any:
    """The same JSON with the name of each number that JSON does not know in its place."""
    if isinstance(tree, dict):
        return {_name_nonfinite(key): _name_nonfinite(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_name_nonfinite(value) for value in tree]
    return json.dumps(tree) if isinstance(tree, float) and not math.isfinite(tree) else tree
