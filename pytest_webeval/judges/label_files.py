"""Files of labels to calibrate a judge with: JSON, JSON lines or CSV, with columns and a coding that the user names."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import RecordingError, SettingsError
from pytest_webeval.recordings.verdict_files import CODINGS, FAILURE, IMPOSSIBLE, SUCCESS, parse_strictly
from pytest_webeval.safety.files import read_file_inside, sha256
from pytest_webeval.safety.text import preview, to_line

EXCLUDED = "excluded"
WORDS = (SUCCESS, FAILURE, EXCLUDED)
ADJUDICATED = "adjudicated"
MAX_LABEL_BYTES, MAX_ROWS = 64 * 2**20, 200_000
_SUFFIXES = (".csv", ".json", ".jsonl")
_LONGEST_NAME = 60

Row = tuple[str, Mapping[str, Any]]  # where it stands, and its columns


class LabelColumns(Struct, frozen=True):
    """The names of the columns. Without a column of annotators, all labels of a file are by one, called as the file."""

    id: str = "task_id"
    label: str = "label"
    annotator: str | None = None

    @property
    def annotator_name(self) -> str:
        """The column of annotators, which may be absent unless the user named it."""
        return self.annotator or "annotator"


class Coding(Struct, frozen=True):
    """What the labels of a file mean: `success`, `failure` or `excluded`, by what stands there."""

    name: str
    meanings: Mapping[str, str]

    def read(self, raw: object, where: str) -> str | None:
        """The meaning of a label, None of an empty one. Raises `SettingsError`."""
        text = str(raw).lower() if isinstance(raw, bool) else str(raw).strip()
        if raw is None or not text:
            return None
        if text not in self.meanings:
            known = ", ".join(f"{code}={meaning}" for code, meaning in self.meanings.items() if code != meaning)
            advice = (
                f"the coding is {known}" if known else f"use {', '.join(WORDS)}, or name their meaning with --coding"
            )
            raise SettingsError(f"invalid label {preview(raw, _LONGEST_NAME)} in {where}; {advice}")
        return self.meanings[text]


IN_WORDS = Coding("words", {word: word for word in WORDS})


class Label(Struct, frozen=True):
    """What an annotator says of a run: `key` is its task id or label. An adjudication outweighs all other labels."""

    key: str
    annotator: str
    meaning: str
    is_adjudication: bool = False


class LabelFile(Struct, frozen=True):
    name: str
    checksum: str
    coding: str
    labels: tuple[Label, ...]


def parse_coding(text: str | None) -> Coding:
    """The coding `osu`, `abp`, or one such as `1=success,0=failure`. Raises `SettingsError`."""
    if text is None:
        return IN_WORDS
    if text in CODINGS:
        meanings = {code: EXCLUDED if word == IMPOSSIBLE else word for code, word in CODINGS[text].items()}
        return Coding(text, meanings)
    meanings = {}
    for part in text.split(","):
        code, _, word = (piece.strip() for piece in part.partition("="))
        if not code or word not in WORDS or code in meanings:
            example = "1=success,0=failure,2=excluded"
            raise SettingsError(f"invalid --coding {preview(text, 80)}; use {', '.join(CODINGS)} or e.g. {example}")
        meanings[code] = word
    return Coding(text, meanings)


def load_label_file(path: Path, columns: LabelColumns, coding: Coding) -> LabelFile:
    """The labels in a file. Raises `SettingsError` if it has none, or anything that cannot be read."""
    content, rows = _read_rows(path)
    labels = [label for row in rows for label in _read_row(path.name, row, columns, coding)]
    if not labels and not any(ADJUDICATED in columns_of_row for _, columns_of_row in rows):
        raise SettingsError(f"no labels in {path}; expected columns {columns.id!r} and {columns.label!r}")
    return LabelFile(path.name, sha256(content), coding.name, tuple(labels))


def _read_rows(path: Path) -> tuple[bytes, list[Row]]:
    """The bytes of a file and its rows. Raises `SettingsError`."""
    if path.suffix.lower() not in _SUFFIXES:
        raise SettingsError(f"invalid label file {path}; use a file that ends in {', '.join(_SUFFIXES)}")
    try:
        resolved = path.resolve()
        content = read_file_inside(resolved.parent, resolved.name, MAX_LABEL_BYTES)
    except (OSError, RuntimeError, RecordingError) as error:
        raise SettingsError(f"cannot read labels: {error}") from error
    rows: list[Row] = []
    for row in _READERS[path.suffix.lower()](content, path):
        rows.append(row)
        if len(rows) > MAX_ROWS:
            raise SettingsError(f"{path} has more than {MAX_ROWS:,} rows; split it into several files")
    return content, rows


def _read_csv(content: bytes, path: Path) -> Iterator[Row]:
    try:
        reader = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        names = next(reader, [])
        if len(set(names)) < len(names):
            raise SettingsError(f"{path} has two columns of the same name; rename one of them")
        for values in reader:
            if not values:  # an empty line
                continue
            if len(values) != len(names):
                advice = f"expected {len(names)} as in the first line"
                raise SettingsError(f"{path}, line {reader.line_num} has {len(values)} columns; {advice}")
            yield f"{path}, line {reader.line_num}", dict(zip(names, values, strict=True))
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not UTF-8: {error.reason} at byte {error.start}; save it as UTF-8") from error
    except csv.Error as error:
        raise SettingsError(f"{path} is not valid CSV: {to_line(str(error), 200)}; repair the file") from error


def _read_lines(content: bytes, path: Path) -> Iterator[Row]:
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.strip():
            where = f"{path}, line {number}"
            yield where, _check_row(parse_strictly(line, where), where)


def _read_json(content: bytes, path: Path) -> Iterator[Row]:
    """The rows of a list of objects, or of an object: `{task: label}` or `{task: {annotator: label}}`."""
    document = parse_strictly(content, str(path))
    if isinstance(document, list):
        for number, row in enumerate(document, 1):
            yield f"{path}, row {number}", _check_row(row, f"{path}, row {number}")
    elif isinstance(document, dict):
        for key, value in document.items():
            annotators = value.items() if isinstance(value, dict) else [(None, value)]
            for annotator, label in annotators:
                by = {} if annotator is None else {_ANNOTATOR: annotator}
                yield f"{path}, {preview(key, _LONGEST_NAME)}", {_KEY: key, _LABEL: label} | by
    else:
        raise SettingsError(f"{path} holds {preview(document, _LONGEST_NAME)}; expected a list or an object")


_READERS = {".csv": _read_csv, ".json": _read_json, ".jsonl": _read_lines}
_KEY, _LABEL, _ANNOTATOR = "\0key", "\0label", "\0annotator"  # columns that no other file has


def _check_row(row: object, where: str) -> Mapping[str, Any]:
    if not isinstance(row, dict):
        raise SettingsError(f"{where} holds {preview(row, _LONGEST_NAME)}; expected an object with columns")
    return row


def _read_row(source: str, row: Row, columns: LabelColumns, coding: Coding) -> Iterable[Label]:
    """The label of a row; none of an empty one. Raises `SettingsError`."""
    where, cells = row
    if ADJUDICATED in cells:
        meaning = IN_WORDS.read(cells[ADJUDICATED], where)
        return [Label(_read_name(cells, "run", where), ADJUDICATED, meaning, is_adjudication=True)] if meaning else []
    if _KEY in cells:
        columns = LabelColumns(_KEY, _LABEL, _ANNOTATOR if _ANNOTATOR in cells else None)
    if columns.label not in cells:
        raise _build_column_error(columns.label, "--label-column", cells, where)
    meaning = coding.read(cells[columns.label], where)
    if meaning is None:
        return []
    key = _read_name(cells, columns.id, where, "--id-column")
    if columns.annotator is None and columns.annotator_name not in cells:
        return [Label(key, source, meaning)]
    return [Label(key, _read_name(cells, columns.annotator_name, where, "--annotator-column"), meaning)]


def _read_name(cells: Mapping[str, Any], column: str, where: str, option: str = "") -> str:
    """The text or integer in a column. Raises `SettingsError`."""
    if column not in cells:
        raise _build_column_error(column, option, cells, where)
    value = cells[column]
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        named = preview(value, _LONGEST_NAME)
        raise SettingsError(f"invalid {column.lstrip(chr(0))} {named} in {where}; expected a text or an integer")
    return str(value).strip()


def _build_column_error(column: str, option: str, cells: Mapping[str, Any], where: str) -> SettingsError:
    names = ", ".join(to_line(str(name), _LONGEST_NAME) for name in list(cells)[:10]) or "none"
    advice = f"; name the column with {option}" if option else ""
    return SettingsError(f"no column {column!r} in {where} (columns: {names}){advice}")
