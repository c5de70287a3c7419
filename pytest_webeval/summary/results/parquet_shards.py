"""Results as Parquet tables, by pyarrow: a few columns for queries, and the JSON of each result."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from pytest_webeval.errors import SettingsError
from pytest_webeval.safety.json import get_member
from pytest_webeval.safety.limits import USUAL

_PACKAGE = "'pytest-webeval[parquet]'"
_ROWS_AT_ONCE = 64
_TYPES = {
    "run": "string",
    "task_id": "string",
    "status": "string",
    "score": "float64",
    "excluded": "bool_",
    "wall_time": "float64",
    "result": "string",
}


def require_pyarrow() -> Any:
    """The module. Raises `SettingsError` where pyarrow is not installed."""
    import_library("pyarrow.parquet", _PACKAGE)
    return import_library("pyarrow", _PACKAGE)


def format_table(results: Sequence[tuple[str, bytes]]) -> bytes:
    """The table of some labels and results, each on one line. Raises `SettingsError` without pyarrow."""
    rows = [_build_cells(label, line.decode()) for label, line in results]
    columns = {name: (kind, [row[name] for row in rows]) for name, kind in _TYPES.items()}
    return write_table(columns, use_dictionary=["status"], compression="zstd")


def write_table(columns: Mapping[str, tuple[str, Sequence[Any]]], **options: Any) -> bytes:
    """A file with columns of a type and values. Raises `SettingsError` without pyarrow."""
    arrow = require_pyarrow()
    table = {name: arrow.array(values, type=getattr(arrow, kind)()) for name, (kind, values) in columns.items()}
    content = io.BytesIO()
    arrow.parquet.write_table(arrow.table(table), content, **options)
    return content.getvalue()


def _build_cells(label: str, text: str) -> dict[str, Any]:
    result = json.loads(text)
    webeval = get_member(result, "webeval")
    return {
        "run": label,
        "task_id": str(result["task_id"]),
        "status": result["status"],
        "score": _to_number(result["score"]),
        "excluded": get_member(webeval, "excluded") is not None,
        "wall_time": _to_number(get_member(webeval, "wall_time")),
        "result": text,
    }


def _to_number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def read_table(content: bytes, count: int | None = None) -> Iterator[tuple[str, bytes]]:
    """The labels and results of a table that somebody else may have written.

    Raises `ValueError` for a number of rows other than `count` and for what is not such a table, `SettingsError`
    without pyarrow.
    """
    arrow = require_pyarrow()
    texts = ["run", "result"]
    try:
        table = arrow.parquet.ParquetFile(io.BytesIO(content), read_dictionary=texts)  # a text that repeats stays one
        if count is not None and table.metadata.num_rows != count:
            raise ValueError(f"it has {table.metadata.num_rows:,} rows")
        for batch in table.iter_batches(_ROWS_AT_ONCE, columns=texts):
            for label, line in zip(batch.column("run"), batch.column("result"), strict=True):
                yield _to_text(label.as_py()), _to_text(line.as_py()).encode()
    except (arrow.ArrowException, OSError, KeyError) as error:  # OSError of Arrow, for a damaged file
        raise ValueError(f"invalid Parquet: {' '.join(str(error).split()):.120}") from error


def _to_text(cell: object) -> str:
    if not isinstance(cell, str) or len(cell) > USUAL.file_size:
        raise ValueError("a label or a result is not a text")
    return cell


def import_library(name: str, package: str) -> Any:
    """The module. Raises `SettingsError` with the line that installs it."""
    try:
        return import_module(name)
    except ImportError as error:
        missing = name.partition(".")[0]
        raise SettingsError(f"{missing} is not installed; run: pip install {package}") from error
