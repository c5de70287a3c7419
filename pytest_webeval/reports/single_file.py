"""A copy of a report in one file that can be sent to somebody, no larger than one asks for."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_webeval.errors import SettingsError
from pytest_webeval.reports.page_writing import single_page
from pytest_webeval.reports.page_writing import write_single
from pytest_webeval.results import WORST_FIRST

COPY = "report.html"


def write_copy(index: Mapping[str, Any], directory: Path, budget: int) -> Path:
    """Write the copy of a report that has been written, and say where it is.

    Of the pages of runs those that did not succeed come first; what there is no room for, the list tells to be left
    out. Raises `SettingsError`.
    """
    columns: Sequence[str] = index["columns"]
    status, data = columns.index("status"), columns.index("data")
    least = len(single_page({**index, "embedded": True}, "\n").encode())
    if least > budget:
        told = f"--webeval-report-embed: the list alone needs {least:,} bytes, and {budget:,} may be written"
        raise SettingsError(f"{told}; no {COPY} is written, allow more")
    left = budget - least
    scripts, rows = [], list(index["rows"])
    for place in sorted(range(len(rows)), key=lambda at: (_rank(rows[at][status]), at)):
        script = directory / "data" / f"{rows[place][data]}.js"
        size = _size(script)
        if size and size <= left:
            left -= size
            scripts.append(script.read_text("utf-8"))
        else:
            rows[place] = [None if at == data else value for at, value in enumerate(rows[place])]
    path = directory / COPY
    write_single({**index, "rows": rows, "embedded": True}, scripts, path)
    return path


def _rank(status: str) -> int:
    return next((rank for rank, one in enumerate(WORST_FIRST) if one == status), len(WORST_FIRST))


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
