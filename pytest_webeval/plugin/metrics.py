"""metrics.json of each run of trajectories, for tools that were written for webeval's own."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from pytest_webeval.analysis.budgets import by_screenshots
from pytest_webeval.analysis.budgets import by_steps
from pytest_webeval.analysis.metrics_file import metrics
from pytest_webeval.analysis.record_rows import row_of
from pytest_webeval.rules import Rules
from pytest_webeval.summary import Record
from pytest_webeval.writing import Sync
from pytest_webeval.writing import write_json

METRICS = "metrics.json"


def write_metrics(records: Iterable[Record], directory: Path, rules: Rules, sync: Sync | None = None) -> None:
    """Write a file for each run, in the same tree as the runs. Raises `SettingsError`."""
    length = by_steps if rules.budgets_in_steps else by_screenshots
    rows = sorted(map(row_of, records), key=lambda row: (row.run, row.label))
    for run, found in groupby(rows, key=lambda row: row.run):
        write_json(directory / run / METRICS, metrics(list(found), length), sync)
