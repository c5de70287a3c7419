"""The rows of exported tables. Their fields are the columns, in this order and with these types."""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType
from typing import Any, get_args, get_type_hints

from msgspec import Struct

from pytest_webeval.summary.results.parquet_shards import import_library

TEXT, NUMBER, INTEGER, BOOLEAN = "text", "number", "integer", "boolean"
_DTYPES = {TEXT: "string", NUMBER: "float64", INTEGER: "int64", BOOLEAN: "bool"}
_COLUMN_TYPES = {str: TEXT, float: NUMBER, int: INTEGER, bool: BOOLEAN}


class TaskRow(Struct, frozen=True, kw_only=True):
    """A run of a task and its verdict. None, or -1 for a template, where nothing is known.

    `excluded` runs count in no rate, errors count in each. Checksums are shortened, as in a summary.
    `partial_score` is None where no evaluator gives a partial score, `evaluator_choice` where all evaluators scored.
    """

    run: str
    task_id: str
    status: str
    score: float | None
    sites: str
    template: int
    type: str | None
    reason: str | None
    answer: str | None
    attempt: str
    excluded: bool
    tags: str
    rules: str | None
    today: str | None
    wall_time: float | None
    format: str | None
    benchmark: str | None
    version: str | None
    webarena_verified_version: str | None
    evaluators_checksum: str | None
    data_checksum: str | None
    task_checksum: str | None
    recording_checksum: str | None
    judge_checksum: str | None
    timestamp: str | None
    partial_score: float | None
    evaluator_choice: str | None

    @property
    def is_success(self) -> bool:
        """Whether the task is solved."""
        return self.status == "success"

    @property
    def is_judged(self) -> bool:
        """Whether the run counts in rates."""
        return not self.excluded


class AssertionRow(Struct, frozen=True, kw_only=True):
    """One thing that an evaluator checked. An evaluator without assertions has one row, with its error."""

    run: str
    task_id: str
    evaluator: str
    evaluator_index: int
    assertion: str | None
    path: str | None
    kind: str | None
    status: str
    messages: str | None
    error: str | None


def list_columns(row_type: type[Struct]) -> dict[str, str]:
    """The types of the columns by name: `TEXT`, `NUMBER`, `INTEGER` or `BOOLEAN`."""
    hints = get_type_hints(row_type)
    columns = {}
    for name in row_type.__struct_fields__:
        plain = next((each for each in get_args(hints[name]) if each is not NoneType), hints[name])
        columns[name] = _COLUMN_TYPES[plain]
    return columns


def build_frame(rows: Sequence[Struct], row_type: type[Struct]) -> Any:
    """The rows in pandas, with these types of columns also where there are no rows. Raises `SettingsError`."""
    pandas = import_library("pandas", "pandas")
    columns = {
        name: pandas.Series([getattr(row, name) for row in rows], dtype=_DTYPES[kind])
        for name, kind in list_columns(row_type).items()
    }
    return pandas.DataFrame(columns)
