"""A session of 10,000 tasks, of which every third fails, with a report: how fast that is to use, and how large."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.benchmarks.harness import corpora
from tests.benchmarks.harness.contestants import session
from tests.browser.test_page import MOST_ADDED, SET

pytestmark = [pytest.mark.browser, pytest.mark.whole]
TASKS = 10_000
MOST_INDEX, MOST_MEMORY = 8_000_000, 2**30  # bytes
VALUES = """() => [...document.querySelectorAll('.choice')].map((box) => {
    box.open = true; box.dispatchEvent(new Event('toggle'));
    return [box.id, [...box.querySelectorAll('input[type=checkbox]')].map((each) => each.value)]; })"""


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """What such a session cost, and its report. What it costs beside one without is for the benchmarks to show."""
    place = tmp_path_factory.mktemp("many")
    corpus = corpora.small(place, TASKS, corpora.FAILING)
    reported = session(Path(sys.executable), corpus, place / "reported", "--webeval-report=report")
    return reported.measured(), place / "reported" / "report"


@pytest.fixture(scope="module")
def path(scored):
    return scored[1] / "index.html"


def test_a_session_with_a_report_stays_below_a_gibibyte(scored):
    assert scored[0].peak < MOST_MEMORY


def test_the_first_page_is_small_and_each_task_has_one(path):
    assert path.stat().st_size < MOST_INDEX
    names = [one.stem for one in (path.parent / "data").iterdir()]
    assert len([name for name in names if not name.endswith("-events")]) == TASKS


def test_the_list_has_few_elements_and_says_nothing(opened, path):
    report = opened(path).go()
    assert report.page.locator("body *").count() < 2 * MOST_ADDED
    assert report.count == TASKS
    assert report.settled() == []


def test_every_filter_makes_few_elements(opened, path):
    report = opened(path).go()
    boxes = report.page.evaluate(VALUES)
    assert {one for one, _ in boxes} >= {"filter-group", "filter-evaluator", "filter-template"}
    steps = [[one, value] for one, values in boxes for value in (*values[:6], *values[:6])]  # each on and off again
    steps += [["search", "lamp 109"], ["search", ""], ["sort", "seconds"]]
    assert max(report.count_added(SET, step) for step in steps) < MOST_ADDED
    assert report.count == TASKS


@pytest.mark.parametrize(("status", "count"), [("failure", 3_333), ("success", 6_667)])
def test_a_status_makes_few_elements(opened, path, status, count):
    report = opened(path).go()
    added = report.count_added(f"() => document.querySelector('#statuses [data-value={status}]').click()")
    assert 0 < added < MOST_ADDED
    assert report.count == count


def test_a_task_far_down_opens_with_its_differences(opened, path):
    report = opened(path).go("#task=9999")
    assert report.page.locator("#task h2 .badge").inner_text().strip().endswith("failure")
    assert report.page.locator(".evaluator").count() > 0
    assert report.settled() == []
