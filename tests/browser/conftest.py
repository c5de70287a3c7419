"""A browser that looks at reports, and what it noticed of what a report must not do."""

# ruff: noqa: E501  (rows of data and scripts of the page read best in one line)

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pytest_webeval.reports.html.scripts import START, parse_module, read_modules
from tests.browser import pages

PATIENCE = 60_000  # milliseconds
ORIGIN = "http://report.test/"
EXPORTS = {name: sorted(parse_module(name, source).exports) for name, source in read_modules().items() if name != START}
IMPORT = """async (names) => {
    const modules = await Promise.all(names.map((name) => import(`/${name}`)));
    window.exported = Object.fromEntries(names.map((name, position) => [name, Object.keys(modules[position]).sort()]));
    window.functions = Object.assign({}, ...modules);
}"""
EVALUATE = """async (expression) => {
    const names = Object.keys(window.functions);
    return await new Function(...names, `return (${expression});`)(...names.map((name) => window.functions[name]));
}"""
COUNT_ADDED = """async (value) => {
    let count = 0;
    const all = (node) => 1 + (node.querySelectorAll?.('*').length ?? 0);
    const add = (changes) => changes.forEach((one) => one.addedNodes.forEach((node) => { count += all(node); }));
    const watch = new MutationObserver(add);
    watch.observe(document, {childList: true, subtree: true});
    await (ACTION)(value);
    for (let frame = 0; frame < 2; frame += 1) await new Promise((go) => requestAnimationFrame(go));
    add(watch.takeRecords());
    watch.disconnect();
    return count; }"""
DESK, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


@dataclass
class Report:
    """A report that is open in a browser."""

    page: Any
    address: str
    noticed: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def go(self, fragment=""):
        """Open the page afresh."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.address}{fragment}", wait_until="load")
        self.page.wait_for_selector("#count:not(:empty)", state="attached")
        if "task=" in fragment:
            self.page.wait_for_selector("#task .body[aria-busy=true]", state="detached")
        return self

    @property
    def task(self):
        return self.page.locator("#task-title bdi").inner_text()

    @property
    def count(self):
        """How many tasks the list says that it shows."""
        return int(self.page.locator("#count").inner_text().split()[0].replace(",", ""))

    def choose(self, key, *values):
        """Check or uncheck boxes of a filter as somebody with a mouse does. Without values, it stays open."""
        box = self.page.locator(f"#filter-{key}")
        if box.get_attribute("open") is None:
            box.locator("summary").click()
            box.locator("label").first.wait_for()  # boxes are drawn once it is open
        for value in values:
            box.locator(f"input[type=checkbox][value='{value}']").click()
        return self.pressed("Escape") if values else self

    def chosen(self, key):
        """What the box of a filter says of itself."""
        return self.page.locator(f"#filter-{key} summary").inner_text()

    @property
    def fragment(self):
        return self.page.evaluate("location.hash")

    def until(self, expression):
        """Wait for something to be true (Playwright's own way would have the page evaluate a text, which it forbids)."""
        end = time.monotonic() + PATIENCE / 1000
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, f"never true: {expression}"
            self.page.wait_for_timeout(20)
        return self

    def pressed(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        return self

    def count_added(self, code, value=None):
        """How many elements and texts the page gets while a function of JavaScript runs: times vary, this does not."""
        return self.page.evaluate(COUNT_ADDED.replace("ACTION", code), value)

    def settled(self):
        """What was noticed by now."""
        self.page.wait_for_timeout(250)
        return self.noticed


@pytest.fixture(scope="session")
def small(tmp_path_factory) -> Path:
    """A report of 400 tasks."""
    return pages.write(tmp_path_factory.mktemp("small"), 400)


@pytest.fixture(scope="session")
def large(tmp_path_factory) -> Path:
    """A report of 10,000 tasks, of which every third is no success."""
    return pages.write(tmp_path_factory.mktemp("large"), 10_000)


@pytest.fixture
def opened(browser):
    """Opens a report as a person with such a browser has it."""
    contexts = []

    def opening(path, before=None, **settings):
        context = browser.new_context(**{"viewport": DESK, **settings})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        report = Report(page, path if isinstance(path, str) else path.as_uri())
        if before:
            page.add_init_script(before)
        _listen(page, report)
        return report

    yield opening
    for one in contexts:
        one.close()


def _listen(page, report):
    page.on("dialog", lambda dialog: (report.noticed.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("pageerror", lambda error: report.noticed.append(f"page error: {error}"))
    page.on("popup", lambda popup: report.noticed.append(f"window: {popup.url}"))
    page.on("console", lambda told: _told(told, report))
    page.on("request", lambda request: report.requests.append(request.url))


def _told(message, report):
    if message.type in ("error", "warning"):
        report.noticed.append(f"console: {message.text[:500]}")


@pytest.fixture(scope="module")
def script_page(browser):
    """An empty page at the modules' origin, with all that they export."""
    page = browser.new_page()
    page.route(f"{ORIGIN}**", _fulfill)
    page.goto(ORIGIN)
    page.evaluate(IMPORT, list(EXPORTS))
    yield page
    page.close()


def _fulfill(route):
    name = route.request.url.removeprefix(ORIGIN)
    sources = {"": "<!doctype html><title></title><p id=announcement>", **read_modules()}
    kind = "text/javascript" if name else "text/html"
    route.fulfill(body=sources[name], content_type=f"{kind}; charset=utf-8")


@pytest.fixture
def evaluate(script_page):
    return lambda expression: script_page.evaluate(EVALUATE, expression)
