"""Tables of rows as CSV, JSON lines and Parquet. The texts are those of an untrusted agent."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, structs

from pytest_webeval.exports.loading import LoadedResults
from pytest_webeval.exports.rows import BOOLEAN, INTEGER, NUMBER, TEXT, AssertionRow, TaskRow, list_columns
from pytest_webeval.exports.settings import ExportSettings, RowKind
from pytest_webeval.safety.text import sanitize
from pytest_webeval.summary.results.parquet_shards import write_table

# What spreadsheets take for a formula, in full width as well. A quote before it is doubled, so that one can be removed.
_FORMULA = re.compile(r"['\s]*[=+\-@＝＋－＠]")  # noqa: RUF001
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
_ARROW_TYPES = {TEXT: "string", NUMBER: "float64", INTEGER: "int64", BOOLEAN: "bool_"}
_ROW_TYPES: dict[RowKind, type[Struct]] = {"tasks": TaskRow, "assertions": AssertionRow}


def _select_rows(results: LoadedResults, kind: RowKind) -> Sequence[Struct]:
    """The rows of a kind. Raises `SettingsError` where there can be none."""
    return results.assertions if kind == "assertions" else results


def format_csv(results: LoadedResults, settings: ExportSettings) -> dict[str, bytes]:
    """The table with a header: one line for each row, in UTF-8. Raises `SettingsError`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(list_columns(_ROW_TYPES[settings.rows]))
    for row in _select_rows(results, settings.rows):
        writer.writerow([format_cell(value) for value in structs.astuple(row)])
    return {"": text.getvalue().encode()}


def format_cell(value: Any) -> str:
    """A cell: empty for None, and a text in one line with an apostrophe before what is no number but a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    line = sanitize(value.replace("\n", "\\n").replace("\t", "\\t"))
    return f"'{line}" if _FORMULA.match(line) and not _NUMBER.fullmatch(line) else line


def format_json_lines(results: LoadedResults, settings: ExportSettings) -> dict[str, bytes]:
    """The rows, with null for what is not known. Raises `SettingsError`."""
    return {"": join_lines(map(structs.asdict, _select_rows(results, settings.rows)))}


def join_lines(objects: Iterable[dict[str, Any]]) -> bytes:
    r"""One line for each object, in UTF-8.

    Control characters are escaped: what replaces them, such as `\u202e`, is the same character in JSON.
    """
    return "".join(f"{sanitize(json.dumps(row, ensure_ascii=False, allow_nan=False))}\n" for row in objects).encode()


def format_parquet(results: LoadedResults, settings: ExportSettings) -> dict[str, bytes]:
    """The table as pyarrow writes it. Raises `SettingsError` where pyarrow is not installed."""
    rows = _select_rows(results, settings.rows)
    columns = list_columns(_ROW_TYPES[settings.rows])
    return {
        "": write_table(
            {name: (_ARROW_TYPES[kind], [getattr(row, name) for row in rows]) for name, kind in columns.items()}
        )
    }
