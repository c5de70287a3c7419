"""The files of a run directory, without reading them: whether they may have changed since a result was written."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from pytest_webeval.errors import RecordingError
from pytest_webeval.safety.files import read_file_inside, sha256
from pytest_webeval.safety.run_directory import directory_to_list

MOST_FILES, MOST_BYTES = 10_000, 2**30  # in a run directory whose result can be reused; bytes that are hashed
# Seconds that a change must be older than a session: file systems round times, by up to two seconds.
SETTLED = 2.0
_OURS = re.compile(
    r"\.?eval_(?:result\.json"
    r"|(?:summary|shard-\d+-of-\d+)(?:\.json|-[a-z_]+-[0-9a-f]+\.jsonl)"
    r"|results(?:-\d+-of-\d+)?(?:\.json|-\d+\.(?:jsonl|parquet)))(?:\.[0-9a-f]{16})?",
    re.ASCII,
)


class RunFiles(Struct, frozen=True):
    """The files of a run, without those that webeval writes.

    `listed` is the SHA-256 of their names and sizes, `identity` that of their inodes and times as well: with the same
    identity, no file was written, replaced or moved, as only its owner cannot set the time of its last change. Both are
    empty where a change could go unseen. `latest_change` is a time in seconds.
    """

    listed: str = ""
    identity: str = ""
    latest_change: float = 0.0

    def sealed_identity(self, started: float) -> str:
        """The identity if all that a session read since it started stands for it; empty otherwise."""
        return self.identity if self.latest_change < started - SETTLED else ""


def survey_files(directory: Path, *, with_content: bool = False) -> RunFiles:
    """The files in a directory, at any depth. Links are not followed, and a run with links has no identity.

    `with_content` makes the content of all files a part of `listed`, for evaluators that may read any of them.
    """
    rows: list[tuple[str, str]] = []
    latest, is_linked, left = 0, False, MOST_BYTES if with_content else sys.maxsize
    try:
        for name, status in _list_entries(directory):
            is_directory = stat.S_ISDIR(status.st_mode)
            left -= 0 if is_directory else status.st_size
            if left < 0 or len(rows) >= MOST_FILES:
                return RunFiles()
            size = "" if is_directory else f"{status.st_size}{_hash(directory, name) if with_content else ''}"
            times = "" if is_directory else f"\0{status.st_ino}\0{status.st_mtime_ns}\0{status.st_ctime_ns}"
            rows.append((f"{name}\0{size}", times))
            latest = max(latest, 0 if is_directory else status.st_ctime_ns)
            is_linked |= stat.S_ISLNK(status.st_mode)
    except OSError:
        return RunFiles()
    rows.sort()
    identity = "" if is_linked else _digest(f"{name}{times}" for name, times in rows)
    return RunFiles(_digest(name for name, _ in rows), identity, latest / 1e9)


def _hash(directory: Path, name: str) -> str:
    """The SHA-256 of a file; that of a link or a pipe is the error that says so."""
    try:
        return sha256(read_file_inside(directory, name))
    except RecordingError as error:
        return str(error)


def _digest(lines: Iterable[str]) -> str:
    return sha256("\n".join(lines).encode("utf-8", "surrogateescape"))


def _list_entries(directory: Path) -> Iterator[tuple[str, os.stat_result]]:
    """The path in a directory and the status of each entry below it, but for the files that webeval writes into it."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        with directory_to_list(directory / folder) as place, os.scandir(place) as entries:
            for entry in entries:
                name, status = f"{folder}{entry.name}", entry.stat(follow_symlinks=False)
                is_directory = stat.S_ISDIR(status.st_mode)
                if folder or is_directory or not _OURS.fullmatch(name):
                    yield name, status
                if is_directory:
                    waiting.append(f"{name}{os.sep}")
