"""Our own report in a browser, opened from a disk: fast, quiet, and usable by hand, by keys and by address."""

# ruff: noqa: E501, RUF001  (rows of data and scripts of the page read best in one line)

from __future__ import annotations

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

from pytest_webeval.reports.html.writer import data_name, task_script, write_single
from tests.browser import pages
from tests.browser.conftest import PHONE

pytestmark = pytest.mark.browser
ROWS = pages.index(400)["rows"]
MOST_ADDED = 1_000  # elements and texts, of 10,000 tasks: what can be seen of them, and no more
SET = """([id, value]) => {
    const box = document.getElementById(id);
    if (box.localName === 'details') { box.open = true; box.dispatchEvent(new Event('toggle'));
        [...box.querySelectorAll('input[type=checkbox]')].find((one) => one.value === value).click(); }
    else { box.value = value; box.dispatchEvent(new Event(id === 'search' ? 'input' : 'change', {bubbles: true})); }
}"""


def fitting(column, value):
    at = pages.COLUMNS.index(column)
    return sum(value in one[at] if isinstance(one[at], list) else one[at] == value for one in ROWS)


def test_a_report_of_10_000_tasks_makes_few_elements(opened, large):
    report = opened(large).go()
    assert report.page.locator("body *").count() < 2 * MOST_ADDED
    assert report.count == 10_000


def test_a_filter_of_10_000_tasks_makes_few_elements(opened, large):
    report = opened(large).go()
    steps = [
        ["filter-site", "gitlab"],
        ["filter-site", "reddit"],
        ["filter-group", "2"],
        ["filter-group", "2"],
        ["filter-template", "107"],
        ["search", "commits CASE 1"],
        ["search", ""],
    ]
    counts = [report.count_added(SET, step) for step in [*steps, ["sort", "seconds"]]]
    assert min(counts) > 0
    assert max(counts) < MOST_ADDED


def test_only_rows_that_can_be_seen_are_in_the_document(opened, large):
    report = opened(large).go("#sort=recorded")
    report.page.evaluate("list.scrollTop = 5020 * document.querySelector('.row').offsetHeight")
    report.page.wait_for_selector("#row-5020")
    assert report.page.locator("[role=option]").count() < 60
    assert report.page.locator("#row-5020").get_attribute("aria-posinset") == "5021"
    assert report.page.locator("#row-5020").get_attribute("aria-setsize") == "10000"


def test_a_page_asks_for_nothing_but_its_own_files_and_says_nothing(opened, small):
    report = opened(small).go("#task=runs%2F00001&step=3")
    root = small.parent.parent.as_uri()
    # The fourth screenshot is missing; both the stage and the filmstrip ask for it.
    assert set(report.settled()) == {"console: Failed to load resource: net::ERR_FILE_NOT_FOUND"}
    assert {one.removeprefix(root) for one in report.requests if one != "about:blank"} <= {
        "/report/index.html", "/report/index.html#task=runs%2F00001&step=3", "/report/report.css", "/report/report.js",
        f"/report/data/{data_name('runs/00001')}.js", *(f"/runs/shots/{at}.png" for at in range(4)), "data:,",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "column", "value", "asked"),
    [
        ("site", "site", "gitlab", "gitlab"),
        ("type", "type", "mutate", "mutate"),
        ("template", "template", 107, "107"),
        ("group", "group", 2, "2"),
        ("evaluator", "evaluators", 1, "NetworkEventEvaluator"),
        ("warning", "warnings", 0, "bodies_missing"),
        ("flip", "flip", "regressed", "regressed"),
    ],
)
def test_each_filter_shows_its_tasks_and_stands_in_the_address(opened, small, key, column, value, asked):
    report = opened(small).go()
    report.choose(key, asked)
    assert report.count == fitting(column, value) > 0
    assert report.fragment == f"#{key}={asked}"
    assert opened(small).go(report.fragment).count == report.count


@pytest.mark.parametrize("status", ["failure", "success", "error", "excluded"])
def test_a_status_is_a_button(opened, small, status):
    report = opened(small).go()
    report.page.click(f"#statuses [data-value={status}]")
    assert report.count == fitting("status", status)
    assert report.page.get_attribute(f"#statuses [data-value={status}]", "aria-pressed") == "true"


@pytest.mark.parametrize(
    "words", ["runs/00107", "COMMITS kilian", "case 41 commits", "missing_navigation", "nothing like it"]
)
def test_a_search_finds_the_tasks_with_all_words(opened, small, words):
    report = opened(small).go()
    report.page.fill("#search", words)
    texts = [f"{one[0]}\n{one[1]}\n{one[11]}\n{one[10]}".lower() for one in ROWS]
    found = sum(all(word in text for word in words.lower().split()) for text in texts)
    assert report.count == found
    assert bool(found) is (words != "nothing like it")


def test_filters_that_fit_nothing_say_so_and_can_be_cleared(opened, small):
    report = opened(small).go("#q=nothing-of-that-kind&site=nowhere")
    assert report.count == 0
    report.page.click("#clear-all")
    assert report.count == 400
    assert report.fragment == ""


def test_a_bar_of_the_overview_sets_its_filter(opened, small):
    report = opened(small).go()
    report.page.click("a[href='#site=gitlab']")
    report.until("document.querySelector('#filter-site summary').textContent === 'Site: gitlab'")
    assert report.count == fitting("site", "gitlab")


def test_the_list_begins_with_errors_and_failures(opened, small):
    report = opened(small).go()
    statuses = {row[0]: row[2] for row in ROWS}
    runs = [f"runs/{run}" for run in report.page.locator("[role=option] .run").all_inner_texts()]
    first = [row[0] for row in ROWS if row[2] == "error"] + [row[0] for row in ROWS if row[2] == "failure"]
    assert runs == first[: len(runs)]
    assert {statuses[run] for run in runs} == {"error", "failure"}
    assert report.page.input_value("#sort") == ""


def test_another_order_of_the_list_stands_in_the_address(opened, small):
    report = opened(small).go()
    report.page.select_option("#sort", "recorded")
    assert report.page.locator("[aria-posinset='1'] .run").inner_text() == "00001"
    assert report.fragment == "#sort=recorded"
    report.page.go_back()
    report.until("document.querySelector('[aria-posinset=\"1\"] .run').textContent === '00300'")


def test_an_old_link_that_asks_for_the_worst_status_first_still_works(opened, small):
    report = opened(small).go("#sort=status&status=failure")
    assert report.page.locator("[aria-posinset='1'] .run").inner_text() == "00003"


def test_the_list_sorts(opened, small):
    report = opened(small).go("#sort=seconds")
    assert report.page.locator("[aria-posinset='1'] .run").inner_text() == "00088"


@pytest.mark.parametrize("fragment", ["#task=runs%2F00003", "#task=3", "#status=failure&task=runs/00003"])
def test_a_deep_link_opens_its_task(opened, small, fragment):
    report = opened(small).go(fragment)
    assert report.task == "runs/00003"
    assert report.page.title() == "runs/00003 · failure · nightly agent, webarena-verified"
    assert report.page.locator("[aria-selected=true] .run").inner_text() == "00003"  # all of them are in runs


def test_a_link_to_no_task_says_so(opened, small):
    report = opened(small).go("#task=none%3Cb%3E")
    assert "no task none<b>" in report.page.locator("#task").inner_text()


def test_j_and_k_open_the_next_and_the_previous_task_of_the_list(opened, small):
    report = opened(small).go("#group=2")
    runs = [one[0] for one in ROWS if one[7] == 2]
    assert report.pressed("j").task == runs[0]
    assert report.pressed("j", "j").task == runs[2]
    assert report.pressed("k").task == runs[1]


def test_arrows_move_in_the_list_and_enter_opens(opened, small):
    report = opened(small).go("#sort=recorded")
    report.page.focus("#list")
    at = lambda: report.page.get_attribute("#list", "aria-activedescendant")  # noqa: E731
    assert [report.pressed(key) and at() for key in ("ArrowDown", "ArrowDown", "ArrowUp", "End", "Home")] == [
        "row-1", "row-2", "row-1", "row-399", "row-0",
    ]  # fmt: skip
    report.pressed("PageDown", "PageUp", "ArrowDown", "Enter")
    assert report.task == "runs/00002"
    assert report.page.evaluate("document.activeElement.id") == "task-title"
    report.pressed("Escape")
    assert report.page.locator("#overview").is_visible()
    assert report.page.evaluate("document.activeElement.id") == "list"


def test_o_opens_what_the_list_is_at(opened, small):
    report = opened(small).go("#sort=recorded")
    report.page.focus("#list")
    assert report.pressed("ArrowDown", "o").task == "runs/00002"


def test_slash_searches_and_keys_do_nothing_while_somebody_types(opened, small):
    report = opened(small).go().pressed("/")
    assert report.page.evaluate("document.activeElement.id") == "search"
    report.page.keyboard.type("jk?o/")
    assert report.page.input_value("#search") == "jk?o/"
    assert report.page.locator("#overview").is_visible()
    assert not report.page.locator("#keys").is_visible()


def test_keys_with_a_modifier_are_the_browsers(opened, small):
    report = opened(small).go().pressed("Control+j", "Alt+j")
    assert report.page.locator("#overview").is_visible()


def test_a_question_mark_shows_the_keys(opened, small):
    report = opened(small).go().pressed("?")
    assert report.page.locator("#keys").is_visible()
    report.pressed("j", "Escape")
    assert not report.page.locator("#keys").is_visible()
    assert report.page.locator("#overview").is_visible()


def test_back_and_forward_walk_through_what_was_asked(opened, small):
    report = opened(small).go()
    report.choose("site", "gitlab")
    report.page.click("[role=option] >> nth=1")
    run = report.task
    report.page.go_back()
    assert report.page.locator("#overview").is_visible()
    assert report.count == fitting("site", "gitlab")
    report.page.go_back()
    assert report.count == 400
    report.page.go_forward()
    report.page.go_forward()
    assert report.task == run


def test_typing_leaves_no_trail_in_the_history(opened, small):
    report = opened(small).go()
    before = report.page.evaluate("history.length")
    report.page.locator("#search").press_sequentially("commits to", delay=20)
    report.until("location.hash === '#q=commits+to'")
    assert report.page.evaluate("history.length") == before


def test_a_task_shows_what_was_expected_what_happened_and_what_the_agent_thought(opened, small):
    text = opened(small).go("#task=3").page.locator("#task").inner_text()
    for told in (
        'The answer lacks "$8.00" in task 3.', "12 of 240 events have no body", "$34.90", "Nearest request 118 of 240",
        "2 checks failed, 2 passed", "I need the price column", "events 111–118", "Names the amount", "◆ nearest", "340 events",
        "pytest --webeval-runs=runs -k '[00003]'", "eval_result.json", "pint",
    ):  # fmt: skip
        assert told in text


def test_differing_parts_are_marked(opened, small):
    page = opened(small).go("#task=3").page
    page.click("text=Expected and actual values")
    page.wait_for_selector(".differences mark")
    assert page.locator(".differences mark").all_inner_texts() == [
        "9",
        "0",
        "$8.00",
        "a",
        "de",
    ]  # asc, desc: common "sc"
    assert page.locator("pre mark").all_inner_texts() == ['"$34.99",', '"$8.00"', '"$34.90",', '"asc"', '"desc"']


def test_the_network_table_stands_at_the_nearest_event_and_can_show_only_marked_ones(opened, small):
    page = opened(small).go("#task=3").page
    assert page.evaluate("""() => { const box = document.querySelector('.events').getBoundingClientRect();
        const row = document.querySelector('tr.nearest').getBoundingClientRect();
        return row.top >= box.top && row.bottom <= box.bottom; }""")
    page.check("text=only marked")
    assert page.locator(".network tbody tr th").all_inner_texts() == ["18", "118"]


def test_a_step_leads_to_its_events(opened, small):
    page = opened(small).go("#task=3&step=2").page
    page.click("text=events 21–28")
    assert page.locator("tr.pointed th").all_inner_texts() == [str(at) for at in range(21, 29)]


def test_of_many_events_500_are_shown_at_a_time(opened, tmp_path):
    path = pages.write(tmp_path, 3, tasks=0)
    network = {"total": 1300, "assets": 0, "left_out": 0, "events": [[*pages.event(at)[:6], ""] for at in range(1300)]}
    pages.write_task("runs/00001", pages.task(1, network=network), path.parent)
    page = opened(path).go("#task=1").page
    assert page.locator(".network tbody tr").count() == 500
    page.click("text=500 later")
    assert page.locator(".network tbody tr").first.get_attribute("data-event") == "500"


def test_screenshots_load_when_they_come_into_sight(opened, tmp_path):
    path = pages.write(tmp_path, 3, tasks=0)
    steps = [pages.step(at) | {"before": f"../runs/shots/0.png?{at}"} for at in range(1, 80)]
    pages.write_task("runs/00001", pages.task(1, steps=steps), path.parent)
    report = opened(path).go("#task=1")
    report.settled()
    assert not any(one.endswith("?79") for one in report.requests)
    assert report.page.locator(".thumb").last.locator("img").count() == 0
    report.page.locator(".thumb").last.scroll_into_view_if_needed()
    report.until("document.querySelector('.filmstrip li:last-child img')?.naturalWidth === 640")


def test_a_screenshot_that_is_missing_is_a_text(opened, small):
    page = opened(small).go("#task=3&step=3").page
    page.wait_for_selector(".stage >> text=screenshot not found: ../runs/shots/3.png")
    page.click("text=Previous step")
    assert page.locator(".stage img").get_attribute("alt") == "step 2: scroll"


def test_details_come_when_they_are_asked_for_and_once(opened, small):
    report = opened(small).go("#sort=recorded")
    assert not any("/data/" in one for one in report.requests)
    report.pressed("j", "j", "k", "j")
    report.page.wait_for_selector("#task .evaluator")
    assert sum(data_name("runs/00002") in one for one in report.requests) == 1


def test_missing_details_say_what_to_do(opened, small):
    page = opened(small).go("#task=77").page
    assert 'copy the folder "data" along with this page' in page.locator("#task .notice").inner_text()
    assert "case 77" in page.locator("#task").inner_text()


def test_a_command_is_copied(opened, small):
    written = "navigator.clipboard.writeText = async (text) => { window.copied = text; }"
    page = opened(small, before=written).go("#task=3").page
    page.locator("#task .command button").first.click()
    page.wait_for_selector("text=Copied")
    assert page.evaluate("window.copied") == "pytest --webeval-runs=runs -k '[00003]'"


def test_without_a_clipboard_a_command_is_selected(opened, small):
    absent = "Object.defineProperty(Navigator.prototype, 'clipboard', {value: undefined})"
    page = opened(small, before=absent).go("#task=3").page
    page.locator("#task .command button").first.click()
    assert page.evaluate("getSelection().toString()") == "pytest --webeval-runs=runs -k '[00003]'"


@pytest.mark.parametrize("fragment", ["", "#task=3"])
def test_a_phone_scrolls_in_one_direction(opened, small, fragment):
    page = opened(small, viewport=PHONE).go(fragment).page
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_on_a_phone_a_task_covers_the_list_and_leads_back(opened, small):
    report = opened(small, viewport=PHONE).go("#task=3")
    assert not report.page.locator("#tasks").is_visible()
    report.page.click("text=All tasks")
    assert report.page.locator("#tasks").is_visible()


@pytest.mark.parametrize(("fragment", "seen"), [("", "#overview"), ("#task=3", "#task")])
def test_paper_shows_what_is_open_and_no_list(opened, small, fragment, seen):
    page = opened(small).go(fragment).page
    page.emulate_media(media="print")
    assert page.locator(seen).is_visible()
    assert not page.locator("#tasks").is_visible()
    assert page.evaluate("getComputedStyle(document.body).overflow") == "visible"


def test_without_scripts_the_overview_shows(opened, small):
    report = opened(small, java_script_enabled=False)
    report.page.goto(report.address)
    assert report.page.locator("noscript").is_visible()
    assert "Why tasks did not succeed" in report.page.locator("#overview").inner_text()
    assert not report.page.locator("#tasks").is_visible()


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.whole)])
@pytest.mark.parametrize("viewport", [{"width": 1440, "height": 900}, pytest.param(PHONE, marks=pytest.mark.whole)])
@pytest.mark.parametrize("fragment", ["", "#status=failure&task=3", "#q=nothing-fits"])
def test_axe_finds_nothing_to_complain_about(opened, small, theme, viewport, fragment):
    from axe_playwright_python.sync_playwright import Axe

    page = opened(small, color_scheme=theme, viewport=viewport, reduced_motion="reduce").go(fragment).page
    found = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == []


def test_a_page_of_one_file_needs_no_other(opened, tmp_path):
    write_single(pages.index(3), [task_script("runs/00003", pages.task(3))], tmp_path / "one.html")
    report = opened(tmp_path / "one.html").go("#task=3")
    assert "Nearest request" in report.page.locator("#task").inner_text()
    assert not any(one.endswith((".js", ".css")) for one in report.requests)


def test_a_page_on_a_web_server_is_the_same(opened, small):
    serve = functools.partial(_Quiet, directory=small.parent.parent)
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        report = opened(f"http://127.0.0.1:{server.server_port}/report/index.html").go("#task=3&step=1")
        report.until("document.querySelector('.shot img').naturalWidth === 640")
        server.shutdown()
    assert unquote(report.fragment) == "#task=3&step=1"
    assert report.task == "runs/00003"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *told):
        pass
