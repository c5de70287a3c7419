"""The theme of a report: the system's, or the one that the reader chose, also in its pages without a script."""

from __future__ import annotations

import pytest

from pytest_webeval.reports.html.writer import write_page
from tests.browser import pages, test_history_page
from tests.browser.conftest import PHONE

pytestmark = pytest.mark.browser
LIGHT, DARK = "rgb(246, 247, 249)", "rgb(14, 17, 22)"
GROUND = "getComputedStyle(document.documentElement).backgroundColor"
FORBIDDEN = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError'); }})"


@pytest.mark.parametrize(("system", "ground"), [("light", LIGHT), ("dark", DARK)])
def test_at_first_the_page_has_the_theme_of_the_system(opened, small, system, ground):
    report = opened(small, color_scheme=system).go()
    assert report.page.input_value("#theme") == ""
    assert report.page.evaluate(GROUND) == ground


@pytest.mark.parametrize(("system", "theme", "ground"), [("light", "dark", DARK), ("dark", "light", LIGHT)])
def test_a_chosen_theme_is_used_and_remembered(opened, small, system, theme, ground):
    report = opened(small, color_scheme=system).go()
    report.page.select_option("#theme", theme)
    assert report.page.evaluate(GROUND) == ground
    assert report.fragment == ""
    assert report.go("#task=3").page.evaluate(GROUND) == ground
    assert report.page.input_value("#theme") == theme
    report.page.select_option("#theme", "")
    assert report.page.evaluate(GROUND) == {"light": LIGHT, "dark": DARK}[system]
    assert report.go().page.input_value("#theme") == ""


def test_where_nothing_may_be_remembered_the_theme_lasts_as_long_as_the_page(opened, small):
    report = opened(small, before=FORBIDDEN).go()
    report.page.select_option("#theme", "dark")
    assert report.page.evaluate(GROUND) == DARK
    report.page.select_option("#theme", "")
    assert report.settled() == []


def test_what_others_stored_is_no_theme(opened, small):
    report = opened(small, before="localStorage.setItem('pytest-webeval-theme', '\"><b>')").go()
    assert report.page.evaluate("[document.documentElement.dataset.theme, document.getElementById('theme').value]") == [
        None,
        "",
    ]


def test_paper_is_light(opened, small):
    report = opened(small).go()
    report.page.select_option("#theme", "dark")
    report.page.emulate_media(media="print")
    assert report.page.evaluate("getComputedStyle(document.body).color") == "rgb(26, 31, 39)"


def test_pages_without_a_script_have_the_chosen_theme(opened, tmp_path):
    write_page(pages.index(3, history="history.html"), tmp_path)
    test_history_page.write(tmp_path, 3, 9)
    report = opened(tmp_path / "index.html").go()
    report.page.click("text=history")
    assert report.page.evaluate(GROUND) == LIGHT
    report.go().page.select_option("#theme", "dark")
    report.page.click("text=history")
    assert report.page.evaluate("location.pathname").endswith("/history.html")
    assert report.page.evaluate(GROUND) == DARK
    report.page.emulate_media(color_scheme="dark")
    report.go().page.select_option("#theme", "light")
    report.page.click("text=history")
    assert report.page.evaluate(GROUND) == LIGHT
    assert report.settled() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [{"width": 1440, "height": 900}, PHONE])
def test_axe_finds_nothing_in_a_chosen_theme(opened, tmp_path, theme, viewport):
    from axe_playwright_python.sync_playwright import Axe

    write_page(pages.index(40), tmp_path)
    other = {"light": "dark", "dark": "light"}[theme]
    report = opened(tmp_path / "index.html", color_scheme=other, viewport=viewport, reduced_motion="reduce").go()
    report.page.select_option("#theme", theme)
    violations = Axe().run(report.page).response["violations"]
    assert [(each["id"], [node["html"][:200] for node in each["nodes"]]) for each in violations] == []
