"""The directory of a report: ours to write into, or refused; and the rows of a list whose runs have pages there."""

from __future__ import annotations

import os
import re
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from pytest_webeval.errors import SettingsError
from pytest_webeval.reports.html.index_row import IndexRow
from pytest_webeval.reports.html.writer import COMPARISON, COPY, HISTORY, PAGES, check_static_page, data_name
from pytest_webeval.results import SUMMARY
from pytest_webeval.safety.files import is_file
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.summary_file import find_summary

MARK = b'id="webeval-index"'
_OURS = re.compile(r"task-[0-9a-f]{16}(?:(?:-events)?\.js|-frame-[0-9]{1,4}\.(?:png|jpg))|rows-[0-9]{5,}\.js")
_PAGE = re.compile(r"task-([0-9a-f]{16})\.js")


def has_complete_report(directory: Path) -> bool:
    """Whether a directory has the report of a session over all runs."""
    return all(is_file(directory / name) for name in ("index.html", SUMMARY))


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
        if not earlier and not has_own_summary and (summary := find_summary(directory)) is not None:
            problem = f"{summary} is the summary of another session"
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


class WrittenPages:
    """Which runs have a page in the directory of a report, in eight bytes of memory each."""

    def __init__(self, directory: Path) -> None:
        """The pages that are there now."""
        numbers = array("Q")
        with suppress(OSError), os.scandir(directory / PAGES) as entries:
            for entry in entries:
                if page := _PAGE.fullmatch(entry.name):
                    numbers.append(int(page[1], 16))
        self._numbers = array("Q", sorted(numbers))

    def find(self, run: str) -> str | None:
        """The name of the page of a run without its suffix; None without a page."""
        if not self._numbers:
            return None
        name = data_name(run)
        number = int(name.removeprefix("task-"), 16)
        position = bisect_left(self._numbers, number)
        return name if self._numbers[position : position + 1] == array("Q", [number]) else None


class IndexRows(Struct, frozen=True):
    """A row of the list for each record, with its page if there is one. They can be iterated several times.

    `records` come in the order of the summary: by task, then by run. `texts` and `flips` are those of some runs. The
    failures of `known` runs are expected.
    """

    pages: WrittenPages
    records: Iterable[Record]
    texts: Mapping[str, Mapping[str, str | None]]
    flips: Mapping[str, str]
    known: Collection[str] = frozenset()

    def __iter__(self) -> Iterator[IndexRow]:
        """The rows in the order of the records."""
        for record in self.records:
            run = record.run
            texts, is_known = self.texts.get(run, {}), run in self.known
            yield IndexRow(record, self.pages.find(run), self.flips.get(run), is_known=is_known, **texts)
