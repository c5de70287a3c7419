"""Our own report of hostile directories in a browser: it shows everything and runs nothing of it."""

from __future__ import annotations

import json

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.whole]
PATIENCE = 60_000  # milliseconds
OPENED = 100  # tasks, all over the list
# What the page itself makes of a task.
ELEMENTS = {
    *("a", "bdi", "button", "code", "dd", "details", "div", "dl", "dt", "figure", "h2", "h3", "h4", "img", "input"),
    *("label", "li", "mark", "ol", "p", "pre", "section", "span", "strong", "summary", "table", "tbody", "td", "th"),
    *("thead", "tr", "ul", "em", "nav", "header", "article", "b", "select", "option", "i", "h5"),
}
SEEN = "[...new Set([...document.querySelectorAll('#task *')].map(one => one.localName))]"
HANDLERS = "[...document.querySelectorAll('#task *')].some(one => [...one.attributes].some(a => /^on/i.test(a.name)))"


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    yield page
    page.close()


@pytest.fixture
def noticed(page, corpus):
    """What the page did that a report must not do, once it is open."""
    found = []
    inside = corpus.directory.as_uri()
    page.on("dialog", lambda dialog: (found.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("pageerror", lambda error: found.append(f"page error: {error}"))
    page.on("popup", lambda popup: found.append(f"window: {popup.url}"))
    page.on("request", lambda one: None if one.url.startswith((inside, "data:")) else found.append(one.url[:200]))
    page.goto(corpus.serial.report.as_uri(), wait_until="load")
    return found


def rows(page):
    index = json.loads(page.locator("#webeval-index").text_content())
    return [dict(zip(index["columns"], row, strict=True)) for row in index["rows"]]


def test_our_report_lists_each_directory_and_runs_nothing(page, corpus, noticed):
    assert len(rows(page)) == len(corpus.manifest)
    assert page.evaluate("window.__pwned") is None
    assert noticed == []


def test_tasks_open_with_their_reasons_and_no_element_comes_from_a_recording(page, corpus, noticed):
    listed = rows(page)
    for row in listed[:: max(1, len(listed) // OPENED)]:
        page.evaluate("label => { location.hash = '#task=' + encodeURIComponent(label) }", row["run"])
        page.locator("#task [aria-busy]").wait_for(state="detached")
        page.locator("#task-title").wait_for()
        assert set(page.evaluate(SEEN)) <= ELEMENTS, row["run"]
        assert page.evaluate(HANDLERS) is False, row["run"]
    assert page.evaluate("window.__pwned") is None
    assert noticed == []


def test_each_run_that_was_scored_has_its_page(page, corpus, noticed):
    without = [row["run"] for row in rows(page) if row["data"] is None]
    assert without == []
