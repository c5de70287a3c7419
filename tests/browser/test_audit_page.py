"""The audit of tasks in Chromium: names stay in one piece, and the page fits."""

from __future__ import annotations

import pytest

from pytest_webeval.reports.html.static_pages import write_audit_page
from tests.browser.conftest import DESK, PHONE

pytestmark = pytest.mark.browser
NAMES = ("webarena_verified.shopping_admin.0042", "commonest_answer_passes", "NetworkEventEvaluator")
TEXT = "the answer that several tasks expect passes (the commonest answer of all, done); require a request"
LINES = """() => [...document.querySelectorAll('tbody tr:first-child :is(th, td:not(.cause)) > *')].map((name) => {
    const range = document.createRange();
    range.selectNodeContents(name);
    return new Set([...range.getClientRects()].map((box) => box.top)).size;
})"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A page with a task of a usual name, and one of a name that no column has room for."""
    rows = [
        {
            "task_id": task_id,
            "kind": NAMES[1],
            "evaluator": NAMES[2],
            "field": "eval[1].post_data.shipping_address",
            "text": f"{TEXT} {'x' * 300}",
        }
        for task_id in (NAMES[0], "y" * 300)
    ]
    tasks = [{"task_id": row["task_id"], "trials": 9, "findings": [row], "notes": []} for row in rows]
    content = {"rules": "default", "task_count": 2, "finding_count": 2, "note_count": 0, "tasks": tasks}
    return write_audit_page(content, tmp_path_factory.mktemp("page"))


def go(opened, path, viewport):
    report = opened(path, viewport=viewport)
    report.page.goto(report.address, wait_until="load")
    return report.page


@pytest.mark.parametrize("width", [1300, 1440])
def test_names_stay_in_one_line(opened, path, width):
    page = go(opened, path, {"width": width, "height": 900})
    assert page.evaluate(LINES) == [1, 1, 1, 1]
    assert page.evaluate("(([box]) => box.scrollWidth <= box.clientWidth)(document.getElementsByClassName('scrolled'))")


def test_the_table_has_the_width_of_the_page(opened, path):
    page = go(opened, path, {"width": 2000, "height": 900})
    assert page.evaluate("document.querySelector('table').getBoundingClientRect().width > 1850")


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_the_page_fits_however_long_a_name_is(opened, path, viewport):
    page = go(opened, path, viewport)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
