"""Rates by site, type and template: what costs most successes comes first, each with its interval."""

# ruff: noqa: E501, RUF001  (rows of data and texts of the page read best in one line)

from __future__ import annotations

import re

import pytest

from pytest_webeval.reports.html.index_rows import RateTally
from pytest_webeval.reports.html.writer import write_page
from pytest_webeval.summary.record import Record
from tests.browser import pages


def record(status="success", task_id=1, **fields):
    columns = {
        "run": f"runs/{task_id}", "task_id": task_id, "status": status, "score": 0.0, "sites": [], "template": -1, "task_type": None,
        "reason": None, "warnings": (), "wall_time": 0.0, "rules": "", "version": "", "evaluator_checksum": "", "data_checksum": "",
    }  # fmt: skip
    return Record(**columns | fields)


def records(name, success, failure, start=0):
    statuses = ["success"] * success + ["failure"] * failure
    return [(name, record(status, start + number)) for number, status in enumerate(statuses)]


def build_rates(named):
    tally = RateTally()
    for name, run in named:
        tally.add(name, run)
    return tally.build_rates()


def test_what_costs_most_successes_comes_first():
    named = [*records("half", 5, 5), *records("none", 0, 2), *records("many", 100, 6), *records("two", 3, 2)]
    assert [(rate["name"], rate["lost"]) for rate in build_rates(named)] == [
        ("many", 6),
        ("half", 5),
        ("two", 2),
        ("none", 2),
    ]


@pytest.mark.parametrize(
    ("success", "failure", "interval"),
    [
        (5, 5, [0.2366, 0.7634]),
        (0, 10, [0.0, 0.2775]),
        (10, 0, [0.7225, 1.0]),
        (1, 0, [0.2065, 1.0]),
    ],  # as published for Wilson 1927
)
def test_the_interval_is_that_of_wilson(success, failure, interval):
    assert build_rates(records("a", success, failure))[0]["interval"] == interval


def test_runs_of_one_task_are_as_sure_as_one_task():
    repeated = [("a", record(status, 7)) for status in ("success", "failure") * 20]
    independent = records("a", 1, 1)
    (rate,), (two,) = build_rates(repeated[:4]), build_rates(independent)
    assert rate["total"] == 4
    assert rate["interval"] == pytest.approx([0.0546, 0.9454], abs=1e-4)  # wider than that of two tasks
    assert rate["interval"][0] < two["interval"][0]


def test_errors_count_and_excluded_runs_do_not():
    named = [
        ("a", record()),
        ("a", record("error", 2)),
        ("b", record(skipped=True, excluded="x")),
    ]
    (rate,) = build_rates(named)
    assert (rate["name"], rate["total"], rate["success"], rate["lost"]) == ("a", 2, 1, 1)


def test_without_runs_there_are_no_rates():
    assert build_rates([]) == []


def test_the_page_marks_the_interval_in_each_bar_without_a_script(tmp_path):
    rates = [{"name": "<b>&\u202e", "total": 10, "success": 5, "lost": 5, "interval": [0.2366, 0.7634]}]
    write_page(pages.index(30, sites=rates), tmp_path)
    html = (tmp_path / "index.html").read_text("utf-8")
    section = re.search(r'<section aria-labelledby="by-site">.*?</section>', html, re.DOTALL)[0]
    assert 'd="M23.7 4H76.3M23.7 1V7M76.3 1V7"' in section
    assert "<bdi>&lt;b&gt;&amp;\\u202e</bdi>" in section
    text = " ".join(re.sub(r"<[^>]+>", " ", section).split())
    assert text.endswith("5 of 10 lost 50% 24–76%")


def test_of_very_many_templates_the_page_lists_the_first(tmp_path):
    rates = [
        {"name": str(number), "total": 2, "success": 1, "lost": 1, "interval": [0.1, 0.9]} for number in range(900)
    ]
    write_page(pages.index(30, templates=[rate | {"text": None} for rate in rates]), tmp_path)
    html = (tmp_path / "index.html").read_text("utf-8")
    assert html.count('href="#template=') == 500
    assert "have 400 more" in html
