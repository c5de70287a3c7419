"""Columns for pytest-html: site, type, score, evaluators that did not succeed."""

from __future__ import annotations

from html import escape

import pytest

from pytest_webeval.plugin.carried import Carried
from pytest_webeval.summary import Record
from pytest_webeval.trajectory_rows import about_trajectory

COLUMNS = ("Site", "Type", "Score", "Evaluator")


def pytest_html_results_table_header(cells: list[str]) -> None:
    """Put our columns after the name of the test."""
    cells[2:2] = [f'<th class="sortable" data-column-type="{name.lower()}">{name}</th>' for name in COLUMNS]


def pytest_html_results_table_row(report: pytest.TestReport, cells: list[str]) -> None:
    """Fill them in; empty for tests that are no runs."""
    carried = Carried.by(report)
    values = _values(carried.record) if carried else ("",) * len(COLUMNS)
    cells[2:2] = [
        f'<td class="col-{name.lower()}">{escape(str(value))}</td>' for name, value in zip(COLUMNS, values, strict=True)
    ]


def _values(record: Record) -> tuple[object, ...]:
    """Those of a run; of a trajectory benchmark and class, and neither score nor evaluator where it is in no mean."""
    about = about_trajectory(record)
    score = "" if record.skipped else record.score
    names = ", ".join(name.removesuffix("Evaluator") for name in record.evaluators if not record.skipped)
    return about.get("benchmark", record.site_key), about.get("class", record.task_type or ""), score, names
