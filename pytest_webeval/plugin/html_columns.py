"""Columns for pytest-html: site, type, score."""

from __future__ import annotations

from html import escape

import pytest

from pytest_webeval.plugin.carried import Carried
from pytest_webeval.summary import Record
from pytest_webeval.trajectory_rows import about_trajectory

COLUMNS = ("Site", "Type", "Score")


def pytest_html_results_table_header(cells: list[str]) -> None:
    """Put our columns after the name of the test."""
    cells[2:2] = [f'<th class="sortable" data-column-type="{name.lower()}">{name}</th>' for name in COLUMNS]


def pytest_html_results_table_row(report: pytest.TestReport, cells: list[str]) -> None:
    """Fill them in; empty for tests that are no runs."""
    carried = Carried.by(report)
    values = _values(carried.record) if carried else ("", "", "")
    cells[2:2] = [
        f'<td class="col-{name.lower()}">{escape(str(value))}</td>' for name, value in zip(COLUMNS, values, strict=True)
    ]


def _values(record: Record) -> tuple[object, ...]:
    """Site, type and score; of a trajectory its benchmark and class, and no score where it is in no mean."""
    about = about_trajectory(record)
    score = "" if record.skipped else record.score
    return about.get("benchmark", record.site_key), about.get("class", record.task_type or ""), score
