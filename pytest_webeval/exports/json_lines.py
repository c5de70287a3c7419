"""Rows as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from pytest_webeval.exports.loading import LoadedResults
from pytest_webeval.exports.rows import row_values
from pytest_webeval.exports.settings import ExportSettings
from pytest_webeval.exports.tables import select_rows
from pytest_webeval.safety.text import sanitize


def format_json_lines(results: LoadedResults, settings: ExportSettings) -> dict[str, bytes]:
    """The rows, with null for what is not known. Raises `SettingsError`."""
    return {"": join_lines(map(row_values, select_rows(results, settings.rows)))}


def join_lines(objects: Iterable[dict[str, Any]]) -> bytes:
    r"""One line for each object, in UTF-8.

    Control characters are escaped: what replaces them, such as `\u202e`, is the same character in JSON.
    """
    return "".join(f"{sanitize(json.dumps(row, ensure_ascii=False, allow_nan=False))}\n" for row in objects).encode()
