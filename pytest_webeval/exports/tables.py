"""The rows that a table shows."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from pytest_webeval.exports.loading import LoadedResults
from pytest_webeval.exports.rows import AssertionRow, TaskRow
from pytest_webeval.exports.settings import RowKind

ROW_TYPES: dict[RowKind, type[Struct]] = {"tasks": TaskRow, "assertions": AssertionRow}


def select_rows(results: LoadedResults, kind: RowKind) -> Sequence[Struct]:
    """The rows of a kind. Raises `SettingsError` where there can be none."""
    return results.assertions if kind == "assertions" else results
