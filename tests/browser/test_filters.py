"""Filters of several values in a report: by mouse, by keys, on a phone, and in the address."""

from __future__ import annotations

import pytest

from pytest_webeval.reports.html.writer import write_page
from tests.browser import pages
from tests.browser.conftest import PHONE

pytestmark = pytest.mark.browser
ROWS = [dict(zip(pages.COLUMNS, row, strict=True)) for row in pages.index(400)["rows"]]
FOCUS = "[document.activeElement.localName, document.activeElement.value ?? document.activeElement.textContent]"


def count(**values):
    """How many tasks have one of the values in each column."""
    return sum(all(row[column] in allowed for column, allowed in values.items()) for row in ROWS)


def test_values_of_one_filter_add_tasks_and_filters_narrow_them(opened, small):
    report = opened(small).go().choose("site", "gitlab", "reddit")
    assert report.count == count(site=["gitlab", "reddit"])
    report.choose("type", "mutate")
    assert report.count == count(site=["gitlab", "reddit"], type=["mutate"])
    assert report.fragment == "#site=gitlab&site=reddit&type=mutate"
    assert (report.chosen("site"), report.chosen("type")) == ("Site: 2 values", "Kind: mutate")
    report.choose("site", "gitlab")
    assert report.fragment == "#site=reddit&type=mutate"


def test_buttons_of_statuses_toggle(opened, small):
    report = opened(small).go()
    for status in ("failure", "error"):
        report.page.click(f"#statuses [data-value={status}]")
    assert report.count == count(status=["failure", "error"])
    assert report.fragment == "#status=failure&status=error"
    pressed = "[...document.querySelectorAll('#statuses [aria-pressed=true]')].map((one) => one.dataset.value)"
    assert report.page.evaluate(pressed) == ["failure", "error"]
    report.page.click("#statuses [data-value=failure]")
    assert report.page.evaluate(pressed) == ["error"]
    report.page.click("#statuses :first-child")
    assert (report.page.evaluate(pressed), report.count, report.fragment) == ([None], 400, "")


def test_a_link_with_several_values_opens_them_and_back_takes_one_away(opened, small):
    report = opened(small).go("#status=error&status=failure&site=map&site=nowhere")
    assert report.count == count(status=["error", "failure"], site=["map"])
    assert report.chosen("site") == "Site: 2 values"
    report.choose("site", "gitlab")
    report.page.go_back()
    report.until("document.querySelector('#filter-site summary').textContent === 'Site: 2 values'")
    checked = "[...document.querySelectorAll('#filter-site input:checked')].map((one) => one.value).join()"
    report.choose("site").until(f"{checked} === 'map,nowhere'")
    report.page.go_forward()
    report.until("document.querySelector('#filter-site summary').textContent === 'Site: 3 values'")


def test_keys_open_a_filter_choose_and_leave_it(opened, small):
    report = opened(small).go()
    report.page.focus("#filter-site summary")
    report.pressed("Enter", "ArrowDown", "Space", "ArrowDown", "Space")
    assert report.fragment == "#site=gitlab&site=map"
    assert report.page.evaluate(FOCUS) == ["input", "map"]
    report.pressed("ArrowUp", "Space")
    assert report.fragment == "#site=map"
    report.pressed("Escape")
    assert report.page.locator("#filter-site .options").is_visible() is False
    assert report.page.evaluate(FOCUS) == ["summary", "Site: map"]
    assert report.page.locator("#overview").is_visible()


def test_a_filter_folds_when_somebody_turns_to_something_else(opened, small):
    report = opened(small).go().choose("site")
    report.choose("type")
    assert not report.page.locator("#filter-site .options").is_visible()
    report.page.click("h1")
    assert not report.page.locator("#filter-type .options").is_visible()
    report.choose("site").page.keyboard.press("Shift+Tab")
    assert not report.page.locator("#filter-site .options").is_visible()


def test_any_takes_all_values_away(opened, small):
    report = opened(small).go("#site=map&site=gitlab").choose("site")
    report.page.click("text=any site")
    assert (report.count, report.fragment, report.chosen("site")) == (400, "", "Site")


def test_templates_are_listed_by_their_text_and_found_by_a_part_of_it(opened, tmp_path):
    index = pages.index(400)
    for number, template in enumerate(index["templates"]):
        template["text"] = f"Show {'orders' if number < 2 else f'thing {number}'}" if number else None
    write_page(index, tmp_path)
    report = opened(tmp_path / "index.html").go().choose("template")
    texts = report.page.locator("#filter-template label bdi").all_inner_texts()
    assert texts[:2] == [index["templates"][0]["name"], "Show orders"]
    assert len(texts) == len(index["templates"])
    report.page.fill("#filter-template [type=search]", "THING 7")
    assert report.page.locator("#filter-template label bdi").all_inner_texts() == ["Show thing 7"]
    report.page.locator("#filter-template label").click()
    assert report.fragment == f"#template={index['templates'][7]['name']}"
    assert report.count == index["templates"][7]["total"]
    assert report.chosen("template") == "Template: Show thing 7"


def test_of_very_many_values_some_are_drawn_at_a_time(opened, tmp_path):
    index = pages.index(1_000)
    at = pages.COLUMNS.index("site")
    for number, row in enumerate(index["rows"]):
        row[at] = f"site {number}"
    write_page(index, tmp_path)
    report = opened(tmp_path / "index.html").go().choose("site")
    assert report.page.locator("#filter-site label").count() == 200
    assert "800 more" in report.page.locator("#filter-site .options").inner_text()
    report.page.fill("#filter-site [type=search]", "site 999")
    report.choose("site", "site 999")
    assert report.count == 1
    report.choose("site").page.fill("#filter-site [type=search]", "nothing like it")
    assert "No value has this part." in report.page.locator("#filter-site .options").inner_text()


def test_on_a_phone_the_box_of_a_filter_fits(opened, small):
    report = opened(small, viewport=PHONE).go().choose("template", "107").choose("template")
    box = report.page.locator("#filter-template .options").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]
    assert report.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert report.count == count(template=[107])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_an_open_filter(opened, small, theme):
    from axe_playwright_python.sync_playwright import Axe

    report = opened(small, color_scheme=theme, reduced_motion="reduce").go("#site=map").choose("site")
    violations = Axe().run(report.page).response["violations"]
    assert [(each["id"], [node["html"][:200] for node in each["nodes"]]) for each in violations] == []


def test_texts_of_strangers_in_a_filter_are_texts(opened, tmp_path):
    text = "<img src=x onerror=window.pwned=1>\u202egnp"
    index = pages.index(9)
    for template in index["templates"]:
        template["text"] = text
    for row in index["rows"]:
        row[pages.COLUMNS.index("site")] = f"{text}{row[1] % 2}"
    write_page(index, tmp_path)
    report = opened(tmp_path / "index.html").go().choose("site").choose("template")
    assert report.page.locator(".choice img").count() == 0
    assert r"onerror=window.pwned=1>\u202egnp1" in report.page.locator("#filter-site").evaluate(
        "(one) => one.textContent"
    )
    assert report.settled() == []
    assert report.page.evaluate("window.pwned") is None
