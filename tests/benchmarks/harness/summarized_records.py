"""Summarize so many made-up records in the current directory, each of a task of its own."""

from __future__ import annotations

import sys
from pathlib import Path

from pytest_webeval.summary.store.row_file import RowFile
from pytest_webeval.summary.summarize import summarize_records
from pytest_webeval.summary.summary_file import write_summary

sys.path.append(str(Path(__file__).parents[3]))

from tests.support.made_records import make_records

rows = RowFile()
rows.extend(make_records(int(sys.argv[1]), has_own_ids=True))
write_summary(Path("eval_summary.json"), summarize_records(rows))
