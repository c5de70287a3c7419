"""The list of very many runs in parts, which the page loads as it shows them.

A part is a script with some thousand rows of one status, in the order of the summary. All parts of all statuses, the
worst first, are the list of all runs. Failure groups and sites have parts of their own with copies of their rows. A
last kind of parts has all labels in order, each with the place of its run: status and position in that list.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

from msgspec import Struct, field

from pytest_webeval.reports.html.index_rows import IndexRow, RowTables
from pytest_webeval.reports.html.writer import ADVICE, PAGES, quote_json, write_page
from pytest_webeval.results import WORST_FIRST
from pytest_webeval.safety.text import escape_surrogates
from pytest_webeval.storage import append_in_place, write_error

PART_ROWS, PART_LABELS = 2_000, 5_000
MOST_SITES = 200  # with parts of their own: those with the most runs
_MOST_BUFFERED = 2**25  # bytes of rows in memory, of all parts together
_MOST_LABELS = 100_000  # in memory
_STATUSES = [*(str(status) for status in WORST_FIRST), "excluded"]


def write_index(
    index: Mapping[str, Any],
    rows: Iterable[IndexRow],
    directory: Path,
    part_rows: int = PART_ROWS,
    part_labels: int = PART_LABELS,
) -> dict[str, Any]:
    """Write the first page and, if `index_view` says so, the list in parts. Returns the data of the page.

    `rows` come in the order of the summary and are iterated once more. Raises `SettingsError`.
    """
    if "row_parts" in index:
        lists = _write_parts(index, rows, directory / PAGES, part_rows, part_labels)
        about = {"statuses": _STATUSES, "part_rows": part_rows, "part_labels": part_labels, "lists": lists}
        index = {**index, "row_parts": index["row_parts"] | about}
    write_page(index, directory)
    return dict(index)


def _write_parts(
    index: Mapping[str, Any], rows: Iterable[IndexRow], directory: Path, part_rows: int, part_labels: int
) -> list[dict[str, Any]]:
    tables = RowTables.of(index)
    sites = {name for name, _ in index["row_parts"]["values"].get("site", ())[:MOST_SITES]}
    writer, labels = PartWriter(directory), LabelOrder(directory)
    for row in rows:
        status = row.status if row.status in _STATUSES else _STATUSES[-1]  # a shard may hold any text
        text = quote_json(tables.build_cells(row))
        position = writer.add(ListName("all", "", status), text, part_rows, row.record.task_id)
        labels.add(escape_surrogates(row.record.run), _STATUSES.index(status), position)
        if (group := tables.find_group(row)) >= 0:
            writer.add(ListName("group", str(group), status), text, part_rows)
        if row.site in sites:
            writer.add(ListName("site", row.site, status), text, part_rows)
    for label in labels:
        writer.add(ListName("label"), quote_json(label), part_labels, label[0])
    return writer.close()


class ListName(NamedTuple):
    """What the rows of a list have in common."""

    kind: str
    value: str = ""
    status: str = ""


class _RowList(Struct):
    """A list in parts. Of its last part, the end may not be written yet."""

    parts: list[int] = field(default_factory=list)
    first: list[int | str] = field(default_factory=list)  # what each part begins with, in lists to search in
    count: int = 0
    written: int = 0  # pieces of the last part that have been written
    pending: list[bytes] = field(default_factory=list)

    def take(self, directory: Path, end: bytes = b"") -> None:
        """Write what is pending."""
        content, self.pending = b"".join(self.pending) + end, []
        if content:
            path = directory / f"{_name_part(self.parts[-1])}.js"
            append_in_place(path, content, ADVICE, is_new=not self.written)
            self.written += 1


class PartWriter:
    """Writes lists into parts, with a bounded number of bytes in memory. Parts are numbered as they begin."""

    def __init__(self, directory: Path, most_buffered: int = _MOST_BUFFERED) -> None:
        """Parts in a directory, which is made where it is missing."""
        self._directory = directory
        self._most = most_buffered
        self._lists: dict[ListName, _RowList] = {}
        self._parts = self._buffered = 0

    def add(self, name: ListName, text: str, part_rows: int, first: int | str | None = None) -> int:
        """Add an entry to a list and return its position there. `first` is kept if a part begins with it."""
        rows = self._lists.setdefault(name, _RowList())
        position, rows.count = rows.count, rows.count + 1
        if position % part_rows:
            text = f",{text}"
        else:
            self._parts += 1
            rows.parts.append(self._parts)
            rows.first += [] if first is None else [first]
            text = f'webeval.rows("{_name_part(self._parts)}", \'[{text}'
        rows.pending.append(text.encode("utf-8", "backslashreplace"))
        self._buffered += len(rows.pending[-1])
        if rows.count % part_rows == 0:
            self._buffered -= sum(map(len, rows.pending))
            rows.take(self._directory, b"]');\n")
            rows.written = 0
        elif self._buffered > self._most:
            for pending in self._lists.values():
                pending.take(self._directory)
            self._buffered = 0
        return position

    def close(self) -> list[dict[str, Any]]:
        """Finish the last parts. Returns all lists, sorted, with the numbers of their parts."""
        for rows in self._lists.values():
            if rows.pending or rows.written:
                rows.take(self._directory, b"]');\n")
        return [
            {
                **name._asdict(),
                "count": rows.count,
                "parts": rows.parts,
                **({"first": rows.first} if rows.first else {}),
            }
            for name, rows in sorted(self._lists.items(), key=itemgetter(0))
        ]


def _name_part(number: int) -> str:
    return f"rows-{number:05d}"


Place = tuple[str, int, int]  # label, status, and position in the list of that status


class LabelOrder:
    """Takes labels in any order. They can be iterated once, sorted by code points.

    Labels beyond those in memory are in files without a name. Raises `SettingsError`.
    """

    def __init__(self, directory: Path, most_in_memory: int = _MOST_LABELS) -> None:
        """An empty order, whose files are in a directory."""
        self._directory = directory
        self._most = most_in_memory
        self._pending: list[Place] = []
        self._files = ExitStack()
        self._sorted: list[IO[str]] = []

    def add(self, label: str, status: int, position: int) -> None:
        """Add the label of a run and its place."""
        self._pending.append((label, status, position))
        if len(self._pending) >= self._most:
            self._write_sorted()

    def _write_sorted(self) -> None:
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            file = self._files.enter_context(self._open())
            file.writelines(f"{json.dumps(place)}\n" for place in sorted(self._pending))
            file.flush()
        except OSError as error:
            raise write_error(self._directory, error, ADVICE) from error
        self._sorted.append(file)
        self._pending = []

    def _open(self) -> IO[str]:
        return TemporaryFile("w+", encoding="ascii", dir=self._directory)

    def __iter__(self) -> Iterator[Place]:
        """All labels in order."""
        with self._files:
            for file in self._sorted:
                file.seek(0)
            places = (map(tuple, map(json.loads, file)) for file in self._sorted)
            yield from heapq.merge(*places, sorted(self._pending))
