"""Rows as Parquet, by pyarrow."""

from __future__ import annotations

import io
from typing import Any

from pytest_webeval.exports.loading import LoadedResults
from pytest_webeval.exports.rows import BOOLEAN, INTEGER, NUMBER, TEXT, list_columns
from pytest_webeval.exports.settings import ExportSettings
from pytest_webeval.exports.tables import ROW_TYPES, select_rows
from pytest_webeval.summary.libraries import import_library

_ARROW_TYPES = {TEXT: "string", NUMBER: "float64", INTEGER: "int64", BOOLEAN: "bool_"}


def format_parquet(results: LoadedResults, settings: ExportSettings) -> dict[str, bytes]:
    """The table. Raises `SettingsError` where pyarrow is not installed."""
    arrow = import_library("pyarrow", "'pytest-webeval[parquet]'")
    parquet = import_library("pyarrow.parquet", "'pytest-webeval[parquet]'")
    rows = select_rows(results, settings.rows)
    columns: dict[str, Any] = {
        name: arrow.array([getattr(row, name) for row in rows], type=getattr(arrow, _ARROW_TYPES[kind])())
        for name, kind in list_columns(ROW_TYPES[settings.rows]).items()
    }
    content = io.BytesIO()
    parquet.write_table(arrow.table(columns), content)
    return {"": content.getvalue()}
