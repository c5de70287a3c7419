"""The lines of a journal as a session finds them."""

from __future__ import annotations

import json
from pathlib import Path

from pytest_webeval.sessions.journal import index_journal, read_line


def read_entries(path: Path) -> dict[str, bytes]:
    """The line about each run, by its label."""
    lines = [read_line(path, start) for start in index_journal(path).values()]
    return {json.loads(line.decode(errors="replace"))["record"]["run"]: line for line in lines}
