"""The search box of a report says what its address asks for, also while it has the focus."""

from __future__ import annotations

import pytest

from tests.browser import pages

pytestmark = pytest.mark.browser


def searched(report):
    return report.page.input_value("#search")


def test_the_search_box_follows_the_address_while_it_has_the_focus(opened, small):
    report = opened(small).go()
    report.page.fill("#search", "commits to")
    report.until("location.hash === '#q=commits+to'")
    report.page.evaluate("location.hash = '#q=lamp'")
    report.until("document.getElementById('search').value === 'lamp'")
    assert report.page.evaluate("document.activeElement.id") == "search"
    report.page.go_back()
    report.until("document.getElementById('search').value === 'commits to'")
    report.page.go_forward()
    report.until("document.getElementById('search').value === 'lamp'")


def test_a_link_with_a_search_fills_the_box(opened, small):
    report = opened(small).go("#q=commits+to&status=failure")
    assert searched(report) == "commits to"
    report.page.focus("#search")
    report.page.evaluate("location.hash = '#status=failure'")
    report.until("document.getElementById('search').value === ''")


def test_what_somebody_types_stays_as_it_is_typed(opened, small):
    report = opened(small).go()
    box = report.page.locator("#search")
    box.press_sequentially("comits", delay=20)
    for _ in range(3):
        box.press("ArrowLeft")
    box.press_sequentially("m", delay=20)
    box.press_sequentially("-x", delay=20)
    assert searched(report) == "comm-xits"


@pytest.mark.parametrize(("seconds", "shown"), [(-3.25, ""), (0, "0.00"), (1.5, "1.50"), (None, "")])
def test_a_negative_time_is_not_shown(opened, tmp_path, seconds, shown):
    path = pages.write(tmp_path, 3, tasks=0)
    event = [*pages.event(0)[:5], seconds, ""]
    network = {"total": 1, "assets": 0, "left_out": 0, "events": [event]}
    pages.write_task("runs/00001", pages.task(1, network=network), path.parent)
    page = opened(path).go("#task=1").page
    assert page.locator(".network tbody td").first.inner_text() == shown


def test_the_page_of_a_task_that_does_not_exist_leads_back_to_the_overview(opened, small):
    report = opened(small).go("#task=none")
    report.page.click("text=All tasks")
    assert report.page.locator("#overview").is_visible()
    assert not report.page.locator("#task").is_visible()
    assert report.fragment == ""
