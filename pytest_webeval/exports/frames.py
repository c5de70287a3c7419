"""Rows as a DataFrame of pandas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from pytest_webeval.exports.rows import BOOLEAN, INTEGER, NUMBER, TEXT, list_columns
from pytest_webeval.summary.libraries import import_library

_DTYPES = {TEXT: "string", NUMBER: "float64", INTEGER: "int64", BOOLEAN: "bool"}


def build_frame(rows: Sequence[Struct], row_type: type[Struct]) -> Any:
    """The frame, with these types of columns also where there are no rows. Raises `SettingsError`."""
    pandas = import_library("pandas", "pandas")
    columns = {
        name: pandas.Series([getattr(row, name) for row in rows], dtype=_DTYPES[kind])
        for name, kind in list_columns(row_type).items()
    }
    return pandas.DataFrame(columns)
