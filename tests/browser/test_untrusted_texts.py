"""Texts of strangers in every field of a report show as texts: nothing runs, loads or becomes an element."""

# ruff: noqa: E501  (rows of data and scripts of the page read best in one line)

from __future__ import annotations

from typing import Any

import pytest

from pytest_webeval.reports.html.writer import task_script, write_page, write_single, write_task
from tests.browser import pages

pytestmark = pytest.mark.browser
TEXTS = {
    "script": "<script>window.pwned=1;alert(1)</script>",
    "end of a script": "</script></title></textarea></style>--><script>window.pwned=1</script>",
    "event handler": "\"'><img src=x onerror=window.pwned=1><svg onload=window.pwned=1>",
    "address": "javascript:window.pwned=1//",
    "other host": "//example.invalid/x.png",
    "controls": "\x00\x07\x1b]0;owned\x07\x1b[31m\x7f\x9b",
    "directions": "\u202egnp.exe\u2066\u200f\ufeff",
    "half of a pair": "\ud83d \udc00",
    "template": "{{ 7 * 7 }}{% raw %}${window.pwned=1}`\\'\u2028",
    "long": "<b>" + "A" * 1_000_000,
}
OURS = {"commands", "links", "status", "paths"}  # which name what the page does or how it looks
PATHS = {"before", "after"}


def poisoned(tree: Any, text: str) -> Any:
    """The same with a text in the place of every text, and beside every object a key that objects have anyway."""
    if isinstance(tree, dict):
        return {key: one if key in OURS else poisoned(one, text) for key, one in tree.items()} | {
            "__proto__": {"x": text}
        }
    if isinstance(tree, list):
        return [poisoned(one, text) for one in tree]
    return text if isinstance(tree, str) else tree


def poisoned_index(text: str) -> dict[str, Any]:
    index = pages.index(3)
    told = poisoned({key: one for key, one in index.items() if key not in ("columns", "rows")}, text)
    rows = [[text if at in (4, 5, 10, 11) else one for at, one in enumerate(row)] for row in index["rows"]]
    rows[0][0], rows[1][1] = f"{text}{text}", text
    return told | {"columns": index["columns"], "rows": rows}


def poisoned_task(text: str) -> dict[str, Any]:
    links = [
        {"label": text, "href": text},
        {"label": text, "href": f" {text}"},
        {"label": "up", "href": "java\tscript:alert(1)"},
    ]
    commands = [{"label": text, "command": text}]
    network = {"total": 2, "assets": 0, "left_out": 0, "events": [pages.event(17)]}
    return poisoned(pages.task(3, error="x", network=network, steps=[pages.step(1)]), text) | {
        "links": links,
        "commands": commands,
        "status": text,
    }


@pytest.fixture(
    params=[*list(TEXTS)[:-1], pytest.param("long", marks=pytest.mark.whole)], ids=lambda name: name.replace(" ", "_")
)
def text(request):
    return TEXTS[request.param]


@pytest.fixture(params=["folder", pytest.param("file", marks=pytest.mark.whole)])
def path(request, tmp_path, text):
    index, task = poisoned_index(text), poisoned_task(text)
    if request.param == "file":
        write_single(index, [task_script("runs/00003", task)], tmp_path / "index.html")
    else:
        write_page(index, tmp_path)
        write_task("runs/00003", task, tmp_path)
    return tmp_path / "index.html"


def test_nothing_of_a_stranger_runs_or_becomes_an_element(opened, path, text):
    report = opened(path).go("#task=runs/00003")
    page = report.page
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    page.evaluate("document.querySelectorAll('.filmstrip, .events').forEach((one) => one.scrollIntoView())")
    allowed = ("net::ERR_FILE_NOT_FOUND", "net::ERR_INVALID_URL")
    assert [one for one in report.settled() if not one.endswith(allowed)] == []
    assert page.evaluate("[window.pwned, ({}).x]") == [None, None]
    assert not set(page.evaluate("[...document.querySelectorAll('main *, .tasks *')].map((one) => one.localName)")) & {
        "script", "iframe", "object", "style", "form", "animate", "base", "meta", "link", "title",
    }  # fmt: skip
    assert page.locator("#task a").count() == page.locator("#task a:not([href^='javascript'])").count()
    assert not any("example.invalid" in one or one.startswith("http") for one in report.requests)


def test_texts_of_strangers_can_be_read(opened, path, text):
    page = opened(path).go("#task=runs/00003").page
    shown = page.locator(".intent").evaluate("(one) => one.textContent")
    start = "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text[:12])
    assert shown.startswith(start.replace("\\ud83d", "\\ud83d"))
    assert len(shown) < 25_000


def test_a_long_text_shows_its_beginning_and_all_of_it_when_asked(opened, tmp_path):
    write_page(pages.index(9), tmp_path)
    write_task("runs/00003", poisoned_task(TEXTS["long"]), tmp_path)
    page = opened(tmp_path / "index.html").go("#task=3").page
    page.click(".intent >> text=show all 1,000,003 characters")
    assert page.locator(".intent").evaluate("(one) => one.textContent.length") >= 1_000_003


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)", "//example.invalid/a", "\\\\example.invalid\\a",
     "/etc/passwd", "http://example.invalid/", "data:text/html,<script>alert(1)</script>", "file:///etc/passwd", "x:y"],
)  # fmt: skip
def test_only_addresses_beside_the_page_are_followed(opened, tmp_path, address):
    write_page(pages.index(9), tmp_path)
    steps = [pages.step(1) | {"before": address}]
    write_task("runs/00003", pages.task(3, links=[{"label": "a file", "href": address}], steps=steps), tmp_path)
    report = opened(tmp_path / "index.html").go("#task=3")
    assert report.page.locator("#task a").count() == report.page.locator("#task img").count() == 0
    assert "a file" in report.page.locator(".links").inner_text()
    assert report.settled() == []


def test_a_picture_inside_the_data_shows(opened, tmp_path):
    write_page(pages.index(9), tmp_path)
    dot = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    write_task("runs/00003", pages.task(3, steps=[pages.step(1) | {"before": dot}]), tmp_path)
    report = opened(tmp_path / "index.html").go("#task=3")
    report.until("document.querySelector('.shot img').naturalWidth === 1")
    assert report.settled() == []
