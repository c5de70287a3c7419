"""The rows of a session as they lie in its file."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple


class StoredRow(NamedTuple):
    """The record and the seal of a run, as plain JSON."""

    record: dict[str, Any]
    seal: dict[str, Any] | None


def read_rows(path: Path) -> dict[str, StoredRow]:
    """The rows by the labels of runs, in the order in which these were last kept; none without a file."""
    if not path.exists() or not path.stat().st_size:
        return {}
    with closing(sqlite3.connect(f"file:{path}?mode=rw", 30, uri=True)) as connection:
        rows = connection.execute("SELECT run, row, seal FROM results WHERE session > 0 ORDER BY rowid").fetchall()
    return {run: StoredRow(json.loads(row), seal and json.loads(seal)) for run, row, seal in rows}


def count_rows(path: Path) -> int:
    """How many rows are in a file that a session is writing; 0 as long as it cannot be read."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        ((count,),) = connection.execute("SELECT count(*) FROM results WHERE session > 0")
        return int(count)
    return 0
