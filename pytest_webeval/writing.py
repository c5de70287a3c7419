"""Writing JSON so that nobody ever sees half a file, and no link leads the bytes elsewhere."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec

from pytest_webeval.errors import SettingsError

INDENT = 2
_PRIVATE, _SHARED = 0o600, 0o644  # while a file is being written, and once it is whole: results are to be shared


def write_json(path: Path, content: Any) -> None:
    """Write beside the target, then rename over it. Raises `SettingsError` that says how to write elsewhere."""
    text = encoded(content)
    try:
        handle, temporary = _opened_beside(path)
        try:
            _write(handle, text)
            os.replace(temporary, path)  # noqa: PTH105  (the path may be anything by now; rename, never follow)
        except OSError:
            os.unlink(temporary)  # noqa: PTH108  (same)
            raise
    except OSError as error:
        raise SettingsError(f"cannot write {path}: {error.strerror}; choose a place with --webeval-output") from error


def _opened_beside(path: Path) -> tuple[int, Path]:
    """A new file that nobody else has opened, in the directory of the target, which is made where it is missing."""
    temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(temporary, flags, _PRIVATE), temporary
    except (FileNotFoundError, NotADirectoryError):
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(temporary, flags, _PRIVATE), temporary


def _write(handle: int, text: bytes) -> None:
    try:
        while text:
            text = text[os.write(handle, text) :]
        os.fchmod(handle, _SHARED)
    finally:
        os.close(handle)


def remove(path: Path) -> None:
    """Remove a file of ours. Raises `SettingsError` that says how to write elsewhere."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise SettingsError(f"cannot remove {path}: {error.strerror}; choose a place with --webeval-output") from error


def encoded(content: Any) -> bytes:
    """The bytes of some JSON: indented, UTF-8 whatever an agent put into its texts, with a final newline."""
    plain = json.dumps(content, ensure_ascii=False)
    try:  # Python indents many times slower than it encodes, and gives the same bytes
        return msgspec.json.format(plain.encode(), indent=INDENT) + b"\n"
    except (UnicodeEncodeError, msgspec.DecodeError, RecursionError):  # NaN and the like, which are no JSON
        text = json.dumps(content, indent=INDENT, ensure_ascii=False)
        return text.encode("utf-8", "backslashreplace") + b"\n"
