"""The files of a run directory, without reading them: whether they may have changed since a result was written."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from pytest_webeval.safety.files import sha256

MOST_FILES = 10_000  # in a run directory whose result can be reused
# Seconds that a change must be older than a session: file systems round times, by up to two seconds.
SETTLED = 2.0
_OURS = re.compile(r"\.?eval_(?:result\.json|summary\.json|journal\.jsonl|shard-\d+-of-\d+\.json)(?:\.[0-9a-f]{16})?")


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


def survey_files(directory: Path) -> RunFiles:
    """The files in a directory, at any depth. Links are not followed, and a run with links has no identity."""
    rows: list[tuple[str, str]] = []
    latest, is_linked, start = 0, False, len(str(directory)) + 1
    try:
        for entry in _below(str(directory)):
            status = entry.stat(follow_symlinks=False)
            size = "" if stat.S_ISDIR(status.st_mode) else status.st_size
            times = "" if size == "" else f"\0{status.st_ino}\0{status.st_mtime_ns}\0{status.st_ctime_ns}"
            rows.append((f"{entry.path[start:]}\0{size}", times))
            latest = max(latest, status.st_ctime_ns if times else 0)
            is_linked |= stat.S_ISLNK(status.st_mode)
            if len(rows) > MOST_FILES:
                return RunFiles()
    except OSError:
        return RunFiles()
    rows.sort()
    identity = "" if is_linked else _digest(f"{name}{times}" for name, times in rows)
    return RunFiles(_digest(name for name, _ in rows), identity, latest / 1e9)


def _digest(lines: Iterator[str]) -> str:
    return sha256("\n".join(lines).encode("utf-8", "surrogateescape"))


def _below(directory: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(directory) as entries:
        for entry in entries:
            if not _OURS.fullmatch(entry.name):
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    yield from _below(entry.path)
