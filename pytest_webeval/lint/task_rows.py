"""The rows of a task file one by one, so that one that cannot be read hides no other, and where each is in the text."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.lint.findings import Steps
from pytest_webeval.tasks.dataset_files import read_task_file

_BLANKS = " \t\r\n"
_DECODER = json.JSONDecoder()


# The object with the keys, which keeps its identity while it is referred to here.
Repeated = dict[int, tuple[dict[str, Any], list[str]]]


class RawRow(Struct, frozen=True):
    """One row. `offset` is where its text begins in `document`, None where that is unknown.

    `repeated` are the keys that an object has twice, by the identity of the object. `problem` says why there is no row.
    """

    raw: Any
    location: str
    document: str = ""
    offset: int | None = None
    repeated: Repeated = {}
    problem: str | None = None

    def find_line(self, steps: Steps) -> int | None:
        """The line of the place that the steps lead to, or of the last step that is there."""
        if self.offset is None:
            return None
        return self.document.count("\n", 0, _find_offset(self.document, self.offset, steps)) + 1


def read_rows(content: bytes, source: str) -> list[RawRow]:
    """The rows of a file. Raises `TaskDefinitionError` for a file that is neither JSON nor JSON lines nor a table."""
    plain = content.removeprefix(BOM_UTF8)
    if not plain.lstrip().startswith((b"[", b"{")):  # of a table the reader keeps all that it can read
        file = read_task_file(content, source)
        rows = [RawRow(row.load().fields, row.location) for _, row in file.rows]
        return [*rows, *(RawRow(None, "", problem=text) for text in file.warnings)]
    try:
        document = plain.decode(json.detect_encoding(plain))
        if document.lstrip().startswith("["):
            return list(_read_list(document))
        return list(_read_objects(document))
    except (ValueError, RecursionError) as error:
        raise TaskDefinitionError(f"cannot parse {source} as JSON: {error}; fix the file") from error


class _Decoder(json.JSONDecoder):
    """Decodes JSON and keeps the keys that an object has twice, of which the last wins."""

    def __init__(self) -> None:
        super().__init__(object_pairs_hook=self._build_object)
        self.repeated: Repeated = {}

    def _build_object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            self.repeated[id(members)] = members, [name for name, count in counts.items() if count > 1]
        return members


def _read_list(document: str) -> Iterator[RawRow]:
    decoder, offset, position = _Decoder(), _skip_blanks(document, _skip_blanks(document, 0) + 1), 0
    while not document.startswith("]", offset) or position:
        raw, end = decoder.raw_decode(document, offset)
        yield RawRow(raw, f"[{position}]", document, offset, decoder.repeated)
        end = _skip_blanks(document, end)
        if not document.startswith(",", end):
            _require_end(document, end, "]")
            return
        offset, position = _skip_blanks(document, end + 1), position + 1
    _require_end(document, offset, "]")


def _require_end(document: str, offset: int, bracket: str) -> None:
    if not document.startswith(bracket, offset):
        raise json.JSONDecodeError("expected ',' or ']'", document, offset)
    if (end := _skip_blanks(document, offset + 1)) < len(document):
        raise json.JSONDecodeError("extra data", document, end)


def _read_objects(document: str) -> Iterator[RawRow]:
    """One object, or one a line. A line that is not JSON is a row with a problem, where others are."""
    decoder, offset = _Decoder(), _skip_blanks(document, 0)
    try:
        raw, end = decoder.raw_decode(document, offset)
    except ValueError:
        raw, end = None, offset
    if _skip_blanks(document, end) == len(document):
        yield RawRow(raw, "[0]", document, offset, decoder.repeated)
        return
    lines = [line for line in _list_lines(document) if line[1].strip()]
    if len(lines) == 1 or not lines[1][1].lstrip().startswith("{"):
        decoder.decode(document)  # which raises
    for position, (start, line) in enumerate(lines):
        try:
            raw, problem = decoder.decode(line), None
        except (ValueError, RecursionError) as error:
            raw, problem = None, f"not valid JSON: {error}; fix the line"
        yield RawRow(raw, f"[{position}]", document, _skip_blanks(document, start), decoder.repeated, problem)


def _list_lines(document: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in document.split("\n"):
        yield start, line
        start += len(line) + 1


def _skip_blanks(document: str, offset: int) -> int:
    while offset < len(document) and document[offset] in _BLANKS:
        offset += 1
    return offset


def _find_offset(document: str, offset: int, steps: Steps) -> int:
    """Where the value begins that the steps lead to. What is in the way is decoded only to skip it."""
    for step in steps:
        members = _list_members(document, offset) if isinstance(step, str) else _list_items(document, offset)
        starts = [start for name, start in members if name == step]
        if not starts:
            break
        offset = starts[-1]  # of a key that is there twice the last counts
    return offset


def _list_members(document: str, offset: int) -> Iterator[tuple[str | int, int]]:
    end = offset
    while document[end] in "{," and (start := _skip_blanks(document, end + 1)) < len(document):
        if document[start] != '"':
            return
        name, end = _DECODER.raw_decode(document, start)
        start = _skip_blanks(document, _skip_blanks(document, end) + 1)
        yield name, start
        end = _skip_blanks(document, _DECODER.raw_decode(document, start)[1])


def _list_items(document: str, offset: int) -> Iterator[tuple[str | int, int]]:
    end, position = offset, 0
    while document[end] in "[,":
        start = _skip_blanks(document, end + 1)
        if document[start] == "]":
            return
        yield position, start
        end, position = _skip_blanks(document, _DECODER.raw_decode(document, start)[1]), position + 1
