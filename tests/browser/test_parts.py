"""The list of a report of very many runs: its parts, the ways to a run, and what it says of rows that it has not."""

from __future__ import annotations

import pytest

from tests.browser import many_runs, pages
from tests.browser.conftest import PHONE

pytestmark = pytest.mark.browser
COUNT = 1_000
NUMBERS = range(1, COUNT + 1)
ORDER = {status: [number for number in NUMBERS if pages.row(number)[2] == status] for status in many_runs.STATUSES}
GROUP = next(  # that the page has as its first
    number
    for number, group in enumerate(pages.GROUPS)
    if group[3] == many_runs.summarize(COUNT).webeval["failures"][0]["text"]
)
LISTED = [number for numbers in ORDER.values() for number in numbers]  # as the list has all runs


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A report of 1,000 runs in parts of 50 rows, of which a page of the list has up to 100."""
    return many_runs.write(tmp_path_factory.mktemp("parts"), COUNT)


def settled(report):
    """Wait for the rows of the present address."""
    return report.until("document.getElementById('list').getAttribute('aria-busy') === 'false'")


def said(report):
    return settled(report).page.locator("#count").inner_text()


def place(report):
    return settled(report).page.locator(".turning span").inner_text()


def first(report):
    return settled(report).page.locator("#list .row[aria-posinset='1'] .run").inner_text()


def shorten(number):
    return many_runs.label(number).removeprefix("runs/")


def test_the_list_begins_with_the_first_part_of_what_went_wrong(opened, path):
    report = opened(path).go()
    assert said(report) == "1,000 tasks"
    assert place(report) == "of 11: 1–53"  # noqa: RUF001
    assert first(report) == shorten(ORDER["error"][0])
    assert len([address for address in report.requests if "/data/rows-" in address]) == 2
    assert report.settled() == []


def test_the_parts_together_have_all_runs_in_the_order_of_a_small_report(opened, path):
    report = opened(path).go()
    start = 0
    for part in range(1, 12):
        report.page.evaluate(f"location.hash = '#part={part}'")
        assert first(report) == shorten(LISTED[start])
        start += int(report.page.locator("#list .row").first.get_attribute("aria-setsize"))
    assert start == COUNT


def test_buttons_and_a_number_turn_to_other_parts(opened, path):
    report = opened(path).go()
    page = report.page
    assert page.locator("text=Previous part").is_disabled()
    page.click("text=Next part")
    assert first(report) == shorten(LISTED[53])
    page.fill(".turning input", "11")
    page.press(".turning input", "Enter")
    report.until("location.hash === '#part=11'")
    settled(report)
    assert page.locator("text=Next part").is_disabled()
    page.go_back()
    report.until("location.hash === '#part=2'")
    assert first(report) == shorten(LISTED[53])


@pytest.mark.parametrize(
    ("fragment", "column", "value"),
    [
        ("#status=failure", 2, "failure"),
        ("#site=gitlab", 4, "gitlab"),
        ("#group=0", 7, GROUP),
        ("#status=excluded", 2, "excluded"),
    ],
)
def test_a_status_a_site_and_a_group_open_with_all_their_runs(opened, path, fragment, column, value):
    report = opened(path).go(fragment)
    numbers = [number for number in LISTED if pages.row(number)[column] == value]
    assert said(report) == f"{len(numbers):,} of 1,000 tasks"
    assert first(report) == shorten(numbers[0])
    assert report.settled() == []


def test_a_group_opens_from_the_overview(opened, path):
    report = opened(path).go()
    report.page.click("#overview a[href='#group=1']")
    report.until("document.getElementById('count').textContent.includes(' of 1,000')")
    assert report.chosen("group").startswith("Reason:")
    assert set(settled(report).page.locator("#list .sign").evaluate_all("signs => signs.map(each => each.title)")) == {
        "failure"
    }


def test_statuses_and_sites_combine(opened, path):
    report = opened(path).go("#status=failure&status=error&site=map&site=reddit")
    numbers = [n for n in NUMBERS if pages.row(n)[4] in ("map", "reddit") and pages.row(n)[2] in ("failure", "error")]
    assert said(report) == f"{len(numbers)} of 1,000 tasks"


def test_other_filters_say_that_they_select_in_this_part_and_can_search_all(opened, path):
    report = opened(path).go("#type=mutate")
    shown = [number for number in LISTED[:53] if pages.row(number)[5] == "mutate"]
    assert said(report) == f"{len(shown)} of 53 tasks in this part"
    report.page.click("text=Search all parts")
    report.until("document.getElementById('count').textContent.includes('in all parts')")
    assert said(report) == "100 tasks in all parts (there may be more)"
    report.page.click("#clear")
    assert said(report) == "1,000 tasks"


def test_a_search_in_all_parts_finds_words_that_are_in_one(opened, path):
    report = opened(path).go()
    report.page.fill("#search", "case 777")
    assert said(report) == "0 of 53 tasks in this part"
    report.page.click("text=Search all parts")
    report.until("document.getElementById('count').textContent === '1 task in all parts'")
    assert first(report) == shorten(777)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("512", [512]),
        (many_runs.label(512), [512]),
        (shorten(512), [512]),
        ("agent-3/00000", [number for number in NUMBERS if number % 7 == 3 and number < 100]),
        ("runs/agent-6/0000", [number for number in NUMBERS if number % 7 == 6]),
    ],
)
def test_a_search_finds_runs_by_task_id_and_by_the_beginning_of_the_run(opened, path, text, numbers):
    report = opened(path).go()
    report.page.fill("#search", text)
    report.until("document.getElementById('count').textContent.includes('by run or id')")
    assert said(report) == f"{min(100, len(numbers))} task{'s' * (len(numbers) > 1)} by run or id" + (
        " (there may be more)" if len(numbers) >= 100 else ""
    )
    assert first(report) == shorten(numbers[0])


@pytest.mark.parametrize("number", [1, LISTED[500], 512, COUNT])
def test_a_link_opens_a_run_and_the_part_with_it(opened, path, number):
    for name in (many_runs.label(number), number):
        report = opened(path).go(f"#task={name}")
        assert report.task == many_runs.label(number)
        selected = settled(report).page.locator("#list .row[aria-selected=true] .run")
        assert selected.inner_text() == shorten(number)
        loaded = {address for address in report.requests if "/data/rows-" in address}
        assert len(loaded) < 12
        report.page.click("text=All tasks")
        assert settled(report).page.locator(f"#list .run >> text={shorten(number)}").count() == 1


@pytest.mark.parametrize("name", ["nothing", "0", "runs/agent-1/", "zzz", "😀"])
def test_a_link_to_a_run_that_does_not_exist_says_so(opened, path, name):
    report = opened(path).go(f"#task={name}")
    settled(report)
    assert report.page.locator("#task h2").inner_text() == "No such task"


def test_a_run_without_a_page_shows_what_the_list_has(opened, path):
    number = ORDER["failure"][100]
    page = opened(path).go(f"#task={many_runs.label(number)}").page
    text = page.locator("#task").inner_text()
    group = pages.GROUPS[pages.row(number)[7]]
    for part in ("failure", "no event fits; nearest is", group[3], group[0], f"case {number}"):
        assert part in text


def test_keys_move_in_a_part_and_open_its_runs(opened, path):
    report = opened(path).go("#part=3")
    settled(report).pressed("j", "j")
    settled(report)
    position = 53 + 100 + 1
    assert report.task == many_runs.label(LISTED[position])
    report.pressed("k")
    report.until(f"document.querySelector('#task-title bdi').textContent === '{many_runs.label(LISTED[position - 1])}'")
    report.pressed("Escape")
    assert settled(report).page.locator("#overview").is_visible()
    assert report.fragment == "#part=3"


def test_another_order_says_that_it_sorts_the_rows_of_the_part(opened, path):
    report = opened(path).go("#sort=seconds&part=2")
    settled(report)
    assert report.page.locator(".parts .quiet").inner_text() == "sorts the 100 tasks shown"
    assert report.page.locator("#sort option[value=recorded]").count() == 0


def test_a_report_without_its_folder_says_what_to_do(opened, tmp_path):
    path = many_runs.write(tmp_path, 200)
    for part in (tmp_path / "data").iterdir():
        part.unlink()
    report = opened(path).go()
    assert 'copy the folder "data" along with this page' in said(report)
    assert not report.page.locator("#none").is_visible()
    assert report.page.locator("#overview").is_visible()


@pytest.mark.parametrize("colour", ["light", "dark"])
def test_on_a_phone_nothing_is_wider_than_the_page(opened, path, colour):
    report = opened(path, viewport=PHONE, color_scheme=colour).go()
    settled(report)
    assert report.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    report.page.locator("#list .row").nth(3).click()
    report.page.wait_for_selector("#task-title")
    assert report.settled() == []


def test_the_rows_shown_are_saved(opened, path):
    report = opened(path).go("#part=2")
    settled(report)
    with report.page.expect_download() as saved:
        report.page.click("#save-csv")
    runs = [line.split('"')[1] for line in saved.value.path().read_text().splitlines()[1:]]
    assert runs == [many_runs.label(number) for number in LISTED[53:153]]
