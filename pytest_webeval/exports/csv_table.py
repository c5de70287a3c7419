"""Rows as CSV that is safe to open in a spreadsheet. The texts are those of an untrusted agent."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from pytest_webeval.exports.loading import LoadedResults
from pytest_webeval.exports.rows import list_columns, row_values
from pytest_webeval.exports.settings import ExportSettings
from pytest_webeval.exports.tables import ROW_TYPES, select_rows
from pytest_webeval.safety.text import sanitize

# What spreadsheets take for a formula, in full width as well. A quote before it is doubled, so that one can be removed.
_FORMULA = re.compile(r"['\s]*[=+\-@＝＋－＠]")  # noqa: RUF001
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)


def format_csv(results: LoadedResults, settings: ExportSettings) -> dict[str, bytes]:
    """The table with a header: one line for each row, in UTF-8. Raises `SettingsError`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(list_columns(ROW_TYPES[settings.rows]))
    for row in select_rows(results, settings.rows):
        writer.writerow([format_cell(value) for value in row_values(row).values()])
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
