"""The directory of a report: ours to write into, or refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pytest_webeval.errors import SettingsError
from pytest_webeval.reports.html.index_page import IndexRow
from pytest_webeval.reports.html.writer import COMPARISON
from pytest_webeval.reports.html.writer import COPY
from pytest_webeval.reports.html.writer import HISTORY
from pytest_webeval.reports.html.writer import PAGES
from pytest_webeval.reports.html.writer import check_static_page
from pytest_webeval.reports.html.writer import data_name
from pytest_webeval.results import SUMMARY
from pytest_webeval.summary.record import Record

MARK = b'id="webeval-index"'
_OURS = re.compile(r"task-[0-9a-f]{16}(?:(?:-events)?\.js|-frame-[0-9]{1,4}\.(?:png|jpg))")


def claim_directory(directory: Path, *, has_own_summary: bool = False) -> list[Path]:
    """Make the directory and remove an earlier report from it. Returns the directories that were made.

    `has_own_summary`: results go there too. Raises `SettingsError` for files of others, and if nothing can be written.
    """
    pages = directory / PAGES
    try:
        earlier = list(filter(Path.is_file, (directory / "index.html", directory / COPY)))
        for page in earlier:
            if MARK not in page.read_bytes():
                raise SettingsError(f"{page} was not written by pytest-webeval; choose another directory or delete it")
        if not earlier and not has_own_summary and (directory / SUMMARY).exists():
            problem = f"{directory / SUMMARY} is the summary of another session"
            raise SettingsError(f"{problem}; choose a separate directory")
        static = [directory / name for name in (COMPARISON, HISTORY)]
        for page in static:
            check_static_page(page)
        for page in (*earlier, *static):
            page.unlink(missing_ok=True)
        created = [pages, *(path for path in pages.parents if not path.exists())]
        pages.mkdir(parents=True, exist_ok=True)
        for path in pages.iterdir():
            if _OURS.fullmatch(path.name):
                path.unlink()
    except OSError as error:
        problem = f"cannot write into {directory}: {error.strerror or error}"
        raise SettingsError(f"{problem}; choose another directory") from error
    return created


def list_index_rows(
    directory: Path,
    records: Mapping[str, Record],
    texts: Mapping[str, Mapping[str, str | None]],
    flips: Mapping[str, str],
) -> Iterator[IndexRow]:
    """A row of the list for each run, with its page if there is one."""
    written: set[str] = set()
    with suppress(OSError):
        written = {path.name for path in (directory / PAGES).iterdir()}
    for label, record in records.items():
        name = data_name(label)
        data = name if f"{name}.js" in written else None
        yield IndexRow(record, data, flips.get(label), **texts.get(label, {}))
