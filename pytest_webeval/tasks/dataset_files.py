"""The rows of a task file: JSON (a list or one object), JSON lines, or tab-separated values with a line of names."""

from __future__ import annotations

import csv
import io
import json
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import Raw, Struct

from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.text import shorten_repr
from pytest_webeval.safety.warning_log import WarningLog
from pytest_webeval.tasks.benchmarks import (
    Benchmark,
    DatasetRow,
    StoredRow,
    find_benchmark,
    list_expected_fields,
    load_row,
    unknown_row_error,
)


class TaskFile(Struct, frozen=True):
    """The rows of one file with their ids, in order, and warnings about skipped or truncated rows."""

    source: str
    checksum: str
    rows: list[tuple[int | str, StoredRow]]
    warnings: tuple[str, ...]


def read_task_file(content: bytes, source: str) -> TaskFile:
    """What is in the bytes of a file. Raises `TaskDefinitionError`."""
    name = Path(source).name
    warnings, omitted = WarningLog(name), WarningLog(name)  # many warnings of one kind must not hide the other kind
    rows = []
    for row, text in _parse_rows(content, source, warnings):
        task_id = row.benchmark.task_id(row)
        if task_id is None:
            omitted.add(f"no {' or '.join(row.benchmark.ids)} @ {row.location}; the row is skipped")
        else:
            rows.append((task_id, StoredRow(text, row.location, source, row.benchmark)))
    return TaskFile(source, sha256(content), rows, warnings.texts + omitted.texts)


def _parse_rows(content: bytes, source: str, warnings: WarningLog) -> Iterator[tuple[DatasetRow, Raw]]:
    """Each row and its text, one after the other: what all of them say fills the memory."""
    plain = content.removeprefix(BOM_UTF8)
    if not plain.strip():
        raise TaskDefinitionError(f"{source} is empty; expected tasks with {list_expected_fields()}")
    if _is_table(plain, source):
        yield from _parse_table(plain, source, warnings)
        return
    for position, text in enumerate(_split_json(plain, source)):
        location = f"[{position}]"
        raw = load_row(text, location, source)
        if not isinstance(raw, dict) or (benchmark := find_benchmark(raw)) is None:
            raise unknown_row_error(raw, location, source)
        yield DatasetRow(raw, location, source, benchmark), text


def _split_json(content: bytes, source: str) -> list[Raw]:
    """The rows of a list or of JSON lines as texts, each of which is JSON."""
    with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return msgspec.json.decode(content.decode(), type=list[Raw])
    try:  # what msgspec does not read, such as NaN, and one object
        document = json.loads(content)
        rows = document if isinstance(document, list) else [document]
        return [Raw(json.dumps(row).encode()) for row in rows]
    except RecursionError as error:
        raise TaskDefinitionError(f"{source} is nested too deeply to be a list of tasks") from error
    except ValueError as error:
        if content.lstrip().startswith(b"["):
            raise TaskDefinitionError(f"cannot parse {source} as JSON: {error}; fix the file") from error
        return _split_json_lines(content, source)


def _split_json_lines(content: bytes, source: str) -> list[Raw]:
    rows = []
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.strip():
            try:
                json.loads(line)
            except (ValueError, RecursionError) as error:
                problem = f"{source} is neither JSON nor JSON lines: {error} @ line {number}"
                raise TaskDefinitionError(problem) from error
            rows.append(Raw(line))
    return rows


def _is_table(content: bytes, source: str) -> bool:
    if content.lstrip().startswith((b"[", b"{")):
        return False
    return source.lower().endswith(".tsv") or b"\t" in content.lstrip(b"\r\n").partition(b"\n")[0]


def _parse_table(content: bytes, source: str, warnings: WarningLog) -> Iterator[tuple[DatasetRow, Raw]]:
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        problem = f"{source} is not UTF-8: {error.reason} @ byte {error.start}"
        raise TaskDefinitionError(f"{problem}; save it as UTF-8") from error
    with _field_size_limit(len(text)):
        (header_line, names), *lines = _read_lines(text, source) or [(1, [])]
    names = [name.strip() for name in names]
    benchmark = _table_benchmark(names, f"line {header_line}", source)
    for number, cells in lines:
        _check_cell_count(cells, names, number, warnings)
        fields = dict(zip(names, cells, strict=False))
        yield DatasetRow(fields, f"line {number}", source, benchmark), Raw(msgspec.json.encode(fields))


def _check_cell_count(cells: list[str], names: list[str], number: int, warnings: WarningLog) -> None:
    """Cells without a column, or columns without a cell: a file that was cut short ends in the middle of a line."""
    missing = sum(map(bool, names[len(cells) :]))
    if missing:
        warnings.add(f"missing {missing} of {len(names)} cells; the row is read without them", number)
    if any(cell.strip() for cell in cells[len(names) :]):
        warnings.add(f"{len(cells)} cells in {len(names)} columns; the extra cells are ignored", number)


@contextmanager
def _field_size_limit(length: int) -> Iterator[None]:
    """Set the limit, which is global to the process, and restore it."""
    previous = csv.field_size_limit()
    csv.field_size_limit(max(previous, length))
    try:
        yield
    finally:
        csv.field_size_limit(previous)


def _read_lines(text: str, source: str) -> list[tuple[int, list[str]]]:
    """The cells of each line that is not blank, with the number of the line where it begins."""
    # A quote that nothing closes swallows the blank line that is added here.
    reader = csv.reader(chain(io.StringIO(text, newline=""), ["\n"]), "excel-tab")
    lines, begin = [], 1
    for cells in reader:
        lines.append((begin, cells))
        begin = reader.line_num + 1
    begin, cells = lines.pop()
    if cells:
        problem = f"{source} has an unclosed quote @ line {begin}"
        raise TaskDefinitionError(f"{problem}; close it, and double the quotes inside quotes")
    return [(number, cells) for number, cells in lines if any(cell.strip() for cell in cells)]


def _table_benchmark(names: list[str], location: str, source: str) -> Benchmark:
    benchmark = find_benchmark(names)
    if benchmark is None or not set(benchmark.ids) & set(names):
        raise unknown_row_error(names, location, source)
    repeated = [name for name, count in Counter(filter(None, names)).items() if count > 1]
    if repeated:
        raise TaskDefinitionError(
            f"duplicate column {shorten_repr(repeated[0])} in {source} @ {location}; keep one of them"
        )
    return benchmark
