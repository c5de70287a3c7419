"""A report on a phone, where the list comes first, and on a wide screen, where the list has columns."""

from __future__ import annotations

import pytest

from tests.browser import pages
from tests.browser.conftest import PHONE

pytestmark = pytest.mark.browser
WIDE = {"width": 2560, "height": 1440}
ROWS = [dict(zip(pages.COLUMNS, row, strict=True)) for row in pages.index(400)["rows"]]


def box(report, selector):
    return report.page.locator(selector).first.bounding_box()


def test_on_a_phone_the_list_comes_before_the_tables(opened, small):
    report = opened(small, viewport=PHONE).go()
    assert box(report, "#tasks")["y"] < box(report, "#overview")["y"]
    assert box(report, "#list .row")["y"] < PHONE["height"]
    report.page.locator("#list .row").first.click()
    assert report.task == "runs/00300"


def test_on_a_phone_a_button_leads_to_the_overview_and_a_bar_back_to_the_list(opened, small):
    report = opened(small, viewport=PHONE).go()
    report.page.click("#show-overview")
    assert report.page.evaluate("document.activeElement.id") == "main"
    assert abs(box(report, "#main")["y"]) < 2
    assert report.fragment == ""
    report.page.click("a[href='#site=gitlab']")
    report.until("Math.abs(document.getElementById('tasks').getBoundingClientRect().top) < 2")
    assert report.chosen("site") == "Site: gitlab"


def test_on_a_phone_a_task_opens_at_its_top_and_closes_at_the_list(opened, small):
    report = opened(small, viewport=PHONE).go()
    report.page.click("#show-overview")
    report.page.evaluate("scrollTo(0, 10_000)")
    report.pressed("j")
    assert report.page.evaluate("scrollY") == 0
    report.page.evaluate("scrollTo(0, 10_000)")
    report.pressed("Escape")
    assert report.page.evaluate("scrollY") == 0
    assert report.page.locator("#tasks").is_visible()


def test_a_wide_screen_is_used(opened, small):
    report = opened(small, viewport=WIDE).go("#task=3")
    tasks, task = box(report, "#tasks"), box(report, "#task")
    assert tasks["width"] > 900
    assert task["x"] >= tasks["x"] + tasks["width"]
    assert task["x"] + task["width"] > WIDE["width"] - 60
    halves = report.page.locator(".half")
    first, second = (halves.nth(number).bounding_box() for number in range(2))
    assert first["y"] == second["y"]
    assert first["x"] + first["width"] <= second["x"]
    assert report.page.evaluate("document.documentElement.scrollWidth") == WIDE["width"]


def test_on_a_wide_screen_the_list_has_columns(opened, small):
    report = opened(small, viewport=WIDE).go("#sort=recorded")
    for kind, column in (("site", "site"), ("type", "type"), ("about", "intent")):
        cells = report.page.locator(f".row .{kind}")
        assert cells.all_inner_texts() == [row[column] for row in ROWS[: cells.count()]]
        assert len({cells.nth(number).bounding_box()["x"] for number in range(5)}) == 1
    assert report.page.locator(".row .seconds").first.inner_text() == f"{ROWS[0]['seconds']:.2f} s"
    row, reason = box(report, ".row:has(.reason)"), box(report, ".row .reason")
    assert reason["y"] >= row["y"]
    assert reason["y"] + reason["height"] <= row["y"] + row["height"]


def test_on_a_desk_a_row_has_its_reason_or_what_was_asked(opened, small):
    report = opened(small).go("#sort=recorded")
    texts = [" ".join(text.split()) for text in report.page.locator(".row").all_inner_texts()[:3]]
    assert texts == [  # the dots between the words are the style's
        f"✓ success 00001 shoppingretrievefixed {ROWS[0]['intent']}",
        f"✓ success 00002 shoppingretrieve {ROWS[1]['intent']}",
        f"✕ failure 00003 shoppingretrieve {ROWS[2]['reason']}",
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("fragment", ["", "#task=3"])
def test_axe_finds_nothing_on_a_wide_screen(opened, small, theme, fragment):
    from axe_playwright_python.sync_playwright import Axe

    page = opened(small, color_scheme=theme, viewport=WIDE, reduced_motion="reduce").go(fragment).page
    violations = Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"][:200] for node in each["nodes"]]) for each in violations] == []
