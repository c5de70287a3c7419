"""The rows of a task file: JSON (a list or one object), JSON lines, or tab-separated values with a line of names."""

from __future__ import annotations

import csv
import io
import json
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.text import shown
from pytest_webeval.safety.warning_log import WarningLog
from pytest_webeval.tasks.benchmarks import Benchmark
from pytest_webeval.tasks.benchmarks import DatasetRow
from pytest_webeval.tasks.benchmarks import benchmark_of
from pytest_webeval.tasks.benchmarks import unknown_row
from pytest_webeval.tasks.benchmarks import wanted_fields


@dataclass(frozen=True, slots=True)
class TaskFile:
    """The rows of one file with their ids, in order, and warnings about those that are left out or cut short."""

    source: str
    checksum: str
    rows: list[tuple[int | str, DatasetRow]]
    warnings: tuple[str, ...]


def read_task_file(content: bytes, source: str) -> TaskFile:
    """What is in the bytes of a file. Raises `TaskDefinitionError`."""
    odd, lost = (
        WarningLog(Path(source).name),
        WarningLog(Path(source).name),
    )  # apart: many of one must not hide the other
    rows = list(_identified(_rows(content, source, odd), lost))
    return TaskFile(source, sha256(content), rows, odd.texts + lost.texts)


def _identified(rows: Iterable[DatasetRow], lost: WarningLog) -> Iterator[tuple[int | str, DatasetRow]]:
    for row in rows:
        task_id = row.known.task_id(row)
        if task_id is None:
            lost.add(f"no {' or '.join(row.known.ids)} @ {row.place}; the row is left out")
        else:
            yield task_id, row


def _rows(content: bytes, source: str, odd: WarningLog) -> list[DatasetRow]:
    plain = content.removeprefix(BOM_UTF8)
    if not plain.strip():
        raise TaskDefinitionError(f"{source} is empty; wanted tasks with {wanted_fields()}")
    if _is_table(plain, source):
        return _table(plain, source, odd)
    return [_row(found, f"[{position}]", source) for position, found in enumerate(_json(plain, source))]


def _row(found: object, place: str, source: str) -> DatasetRow:
    if not isinstance(found, dict) or (known := benchmark_of(found)) is None:
        raise unknown_row(found, place, source)
    return DatasetRow(found, place, source, known)


def _json(content: bytes, source: str) -> list[Any]:
    try:
        found = json.loads(content)
    except RecursionError as error:
        raise TaskDefinitionError(f"{source} is nested too deeply to be a list of tasks") from error
    except ValueError as error:
        if content.lstrip().startswith(b"["):
            raise TaskDefinitionError(f"{source} is no JSON: {error}; mend the file") from error
        return _json_lines(content, source)
    return found if isinstance(found, list) else [found]


def _json_lines(content: bytes, source: str) -> list[Any]:
    rows = []
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise TaskDefinitionError(
                    f"{source} is neither JSON nor JSON lines: {error} @ line {number}"
                ) from error
    return rows


def _is_table(content: bytes, source: str) -> bool:
    if content.lstrip().startswith((b"[", b"{")):
        return False
    return source.lower().endswith(".tsv") or b"\t" in content.lstrip(b"\r\n").partition(b"\n")[0]


def _table(content: bytes, source: str, odd: WarningLog) -> list[DatasetRow]:
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        told = f"{source} is not UTF-8: {error.reason} @ byte {error.start}"
        raise TaskDefinitionError(f"{told}; save it as UTF-8") from error
    with _fields_of_at_most(len(text)):
        (first, names), *lines = _lines(text, source) or [(1, [])]
    names = [name.strip() for name in names]
    known = _known(names, f"line {first}", source)
    for number, cells in lines:
        _count(cells, names, number, odd)
    return [
        DatasetRow(dict(zip(names, cells, strict=False)), f"line {number}", source, known) for number, cells in lines
    ]


def _count(cells: list[str], names: list[str], number: int, odd: WarningLog) -> None:
    """Cells without a column, or columns without a cell: a file that was cut short ends in the middle of a line."""
    missing = sum(map(bool, names[len(cells) :]))
    if missing:
        odd.add(f"{missing} of {len(names)} cells missing; the row is read without", number)
    if any(cell.strip() for cell in cells[len(names) :]):
        odd.add(f"{len(cells)} cells in {len(names)} columns; the last are left out", number)


@contextmanager
def _fields_of_at_most(length: int) -> Iterator[None]:
    """The limit is one for the whole process, so it is put back."""
    before = csv.field_size_limit()
    csv.field_size_limit(max(before, length))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _lines(text: str, source: str) -> list[tuple[int, list[str]]]:
    """The cells of each line that is not blank, with the number of the line where it begins."""
    # A quote that nothing closes swallows the blank line that is added here.
    reader = csv.reader(chain(io.StringIO(text, newline=""), ["\n"]), "excel-tab")
    found, begin = [], 1
    for cells in reader:
        found.append((begin, cells))
        begin = reader.line_num + 1
    begin, cells = found.pop()
    if cells:
        told = f"{source} has a quote that nothing closes @ line {begin}"
        raise TaskDefinitionError(f"{told}; close it, and double the quotes inside of quotes")
    return [(number, cells) for number, cells in found if any(cell.strip() for cell in cells)]


def _known(names: list[str], place: str, source: str) -> Benchmark:
    known = benchmark_of(names)
    if known is None or not set(known.ids) & set(names):
        raise unknown_row(names, place, source)
    repeated = [name for name, count in Counter(filter(None, names)).items() if count > 1]
    if repeated:
        raise TaskDefinitionError(f"{source} has the column {shown(repeated[0])} twice @ {place}; name each once")
    return known
