"""Columns for pytest-html: site, type, score."""

from __future__ import annotations

from html import escape
from typing import Any

import pytest

from pytest_webeval.plugin.session_keys import RECORD

COLUMNS = ("Site", "Type", "Score")


def pytest_html_results_table_header(cells: list[str]) -> None:
    """Put our columns after the name of the test."""
    cells[2:2] = [f'<th class="sortable" data-column-type="{name.lower()}">{name}</th>' for name in COLUMNS]


def pytest_html_results_table_row(report: pytest.TestReport, cells: list[str]) -> None:
    """Fill them in; empty for tests that are no runs."""
    carried: dict[str, Any] | None = getattr(report, RECORD, None)
    record = carried["record"] if carried else {}
    values = ("-".join(sorted(record.get("sites", ()))), record.get("task_type") or "", record.get("score", ""))
    cells[2:2] = [
        f'<td class="col-{name.lower()}">{escape(str(value))}</td>' for name, value in zip(COLUMNS, values, strict=True)
    ]
