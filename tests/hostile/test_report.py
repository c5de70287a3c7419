"""The HTML report of hostile directories in a browser: it shows everything and runs nothing of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.whole]
ROWS = "tbody.results-table-row"
PATIENCE = 60_000  # milliseconds
LEADS = re.compile(r"[\w./%~-]*/eval_result\.json|serial-report/index\.html#task=[\w./%~-]+")


@dataclass
class Opened:
    """A page that was opened, and what it did that a report must not do."""

    page: Any
    address: str
    noticed: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def opened(browser, corpus):
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    found = Opened(page, corpus.serial.html.as_uri())
    _listen(page, found)
    page.goto(found.address, wait_until="load", timeout=PATIENCE)
    page.wait_for_selector(ROWS)
    yield found
    page.close()


def _listen(page, found):
    page.on("dialog", lambda dialog: (found.noticed.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("pageerror", lambda error: found.noticed.append(f"page error: {error}"))
    page.on("request", lambda request: _requested(request.url, found))
    page.on("popup", lambda popup: found.noticed.append(f"window: {popup.url}"))
    page.on("console", lambda told: _told(told, found))


def _requested(address, found):
    if address.partition("#")[0].partition("?")[0] != found.address and not address.startswith("data:"):
        found.noticed.append(f"request: {address[:200]}")


def _told(message, found):
    if message.type in ("error", "warning"):
        found.noticed.append(f"console: {message.text[:500]}")


def shown(opened):
    return opened.page.locator(f"{ROWS}:visible").count()


def noticed(opened):
    """What happened by now, with the mark that any script of ours would have left."""
    opened.page.wait_for_timeout(300)
    assert opened.page.evaluate("window.__pwned") is None
    return opened.noticed


def test_the_report_has_a_row_for_each_directory_and_runs_nothing(opened, corpus):
    assert opened.page.locator(ROWS).count() == len(corpus.manifest)
    assert noticed(opened) == []


@pytest.mark.parametrize("result", ["error", "failed", "passed", "skipped"])
def test_details_open_and_close_when_a_row_is_clicked_and_run_nothing(opened, result):
    details = opened.page.locator(f"tbody.{result} tr.extras-row").first
    before = "hidden" in details.get_attribute("class")
    opened.page.locator(f"tbody.{result} .col-testId").first.click()
    after = "hidden" in opened.page.locator(f"tbody.{result} tr.extras-row").first.get_attribute("class")
    assert before is not after
    assert noticed(opened) == []


def test_all_details_can_be_shown_and_run_nothing(opened):
    opened.page.click("#show_all_details")
    assert opened.page.locator(f"{ROWS} tr.extras-row.hidden").count() == 0
    assert noticed(opened) == []


def test_a_filter_hides_its_rows_and_shows_them_again(opened):
    everything = shown(opened)
    box = opened.page.locator("input.filter[data-test-result=failed]")
    box.click()
    fewer = shown(opened)
    box.click()
    assert fewer < everything == shown(opened)
    assert noticed(opened) == []


@pytest.mark.parametrize("column", ["result", "testId", "score"])
def test_a_column_sorts_the_rows_and_loses_none(opened, column):
    everything = shown(opened)
    opened.page.click(f"th.sortable[data-column-type={column}]")
    assert shown(opened) == everything
    assert noticed(opened) == []


def test_no_element_of_the_report_comes_from_a_recording(opened):
    """Markup in recorded texts shows as text: nothing in the table that pytest-html does not put there."""
    found = opened.page.evaluate(
        "[...new Set([...document.querySelectorAll('#results-table *')].map(e => e.localName))]"
    )
    assert not set(found) & {"script", "iframe", "svg", "animate", "style", "link", "meta", "base", "form", "b"}
    assert opened.page.locator("#results-table img:not([src='']):not([src^='data:image/png;base64,'])").count() == 0


def test_every_link_of_the_report_leads_to_a_result_or_to_our_report(opened):
    links = opened.page.evaluate("[...document.querySelectorAll('#results-table a')].map(e => e.getAttribute('href'))")
    assert links
    assert [link for link in links if not LEADS.fullmatch(link)] == []
