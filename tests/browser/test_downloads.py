"""The rows of the list as CSV and JSON, saved from a report that is opened from a disk."""

from __future__ import annotations

import csv
import io
import json

import pytest

from pytest_webeval.reports.html.writer import write_page, write_single
from tests.browser import pages
from tests.browser.conftest import PHONE

pytestmark = pytest.mark.browser
ROWS = [dict(zip(pages.COLUMNS, row, strict=True)) for row in pages.index(400)["rows"]]


def save(report, kind):
    """The name and the content of the file that a button saves."""
    with report.page.expect_download() as started:
        report.page.click(f"#save-{kind}")
    with open(started.value.path(), encoding="utf-8", newline="") as file:  # noqa: PTH123
        return started.value.suggested_filename, file.read()


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_the_listed_rows_are_saved_as_csv_and_as_json_in_their_order(opened, small):
    report = opened(small).go("#status=failure&status=error&site=gitlab&sort=recorded")
    expected = [row for row in ROWS if row["status"] in ("failure", "error") and row["site"] == "gitlab"]
    (csv_name, csv_text), (json_name, json_text) = save(report, "csv"), save(report, "json")
    assert (csv_name, json_name) == ("webeval-tasks.csv", "webeval-tasks.json")
    assert [row["run"] for row in read_csv(csv_text)] == [row["run"] for row in expected]
    rows = json.loads(json_text)
    for name in ("run", "task_id", "status", "score", "site", "type", "template", "reason", "intent", "seconds"):
        assert [row[name] for row in rows] == [row[name] for row in expected]
    assert rows[0]["evaluators"] == [pages.EVALUATORS[number] for number in expected[0]["evaluators"]]
    assert rows[0]["group"] == pages.GROUPS[expected[0]["group"]][3]
    assert report.settled() == []
    assert report.page.locator("#count").inner_text() == f"{len(expected)} of 400 tasks"


def test_spreadsheets_calculate_no_text_of_a_stranger(opened, tmp_path):
    index = pages.index(5)
    texts = ["=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "\t=1"]
    for row, text in zip(index["rows"], texts, strict=True):
        row[pages.COLUMNS.index("intent")] = row[pages.COLUMNS.index("site")] = text
        row[pages.COLUMNS.index("reason")] = f'a,"{text}\n{text}'
    write_page(index, tmp_path)
    report = opened(tmp_path / "index.html").go("#sort=recorded")
    rows = read_csv(save(report, "csv")[1])
    assert [row["intent"] for row in rows] == [row["site"] for row in rows] == [f"'{text}" for text in texts]
    assert [row["reason"] for row in rows] == [f'a,"{text}\n{text}' for text in texts]
    assert [row["intent"] for row in json.loads(save(report, "json")[1])] == texts


def test_a_report_in_one_file_saves_its_rows_too(opened, tmp_path):
    write_single(pages.index(3), [], tmp_path / "one.html")
    report = opened(tmp_path / "one.html", viewport=PHONE).go()
    assert len(json.loads(save(report, "json")[1])) == 3
    assert report.settled() == []


def test_no_row_is_a_file_without_rows(opened, small):
    report = opened(small).go("#q=nothing-fits")
    assert read_csv(save(report, "csv")[1]) == []
    assert json.loads(save(report, "json")[1]) == []
