"""The network table of a task: each request opens, and what differs from the expected one is marked."""

# ruff: noqa: E501  (rows of data and scripts of the page read best in one line)

from __future__ import annotations

import pytest

from pytest_webeval.reports.html.writer import events_name, task_script, write_single
from tests.browser import pages
from tests.browser.conftest import PHONE

pytestmark = pytest.mark.browser
OPEN_EVENT = """() => new Promise((resolve) => { location.hash = '#task=1&event=1999';
    const look = () => { if (document.querySelector('.event-body details')) resolve(); else setTimeout(look, 4); }; look(); })"""
FILTER = """() => { const box = document.querySelector("select[aria-label='Method of requests']");
    box.value = 'POST'; box.dispatchEvent(new Event('change', {bubbles: true})); }"""
MOST_ADDED = 10_000  # elements and texts, of 2,000 requests: each row once
DIFFERENCES = [
    {"path": "headers.x-shop", "kind": "different", "expected": "eu", "actual": "us"},
    {"path": "headers.x-lost", "kind": "missing", "expected": "1", "actual": None},
    {"path": "post_data.order.qty", "kind": "different", "expected": 3, "actual": 2},
    {"path": "query_params.q", "kind": "missing", "expected": "lamp", "actual": None},
]
DETAILS = pages.details(
    117,
    request={
        "query_params": [],
        "headers": [{"name": "Accept", "value": "text/html"}, {"name": "X-Shop", "value": "us"}],
        "body": {"type": "application/json", "length": 20, "form": "json", "post_data": {"order": {"qty": 2, "id": 7}}},
    },
)


@pytest.fixture
def with_events(opened, tmp_path):
    """Opens a report of three tasks at the third, with these details of events."""

    def showing(fragment="#task=3", details=(DETAILS,), settings=None, **changes):
        path = pages.write(tmp_path, 3, tasks=0)
        evaluator = pages.network_evaluator() | {"differences": DIFFERENCES}
        task = pages.task(3, **({"evaluators": [evaluator]} | changes))
        pages.write_task("runs/00003", task, path.parent)
        pages.write_details("runs/00003", details, path.parent)
        return opened(path, **(settings or {})).go(fragment)

    return showing


def panel(report):
    report.page.wait_for_selector("#event-panel .event-body details")
    return report.page.locator("#event-panel")


def listed(report):
    return [int(text) for text in report.page.locator(".network tbody th").all_inner_texts()]


def differing(report):
    """Name, value and expected value of each row that is marked."""
    return [row.locator("th, td").all_inner_texts() for row in panel(report).locator("tr.differs").all()]


def test_the_mouse_leads_from_the_list_to_the_header_that_differs(with_events):
    report = with_events("")
    report.page.click("[role=option] >> text=00003")
    report.page.click("text=show in network")
    assert report.fragment == "#task=runs%2F00003&event=118"
    assert differing(report) == [["q", "not sent", "lamp"], ["X-Shop", "us", "eu"], ["x-lost", "not sent", "1"]]
    assert panel(report).locator("details pre mark").all_inner_texts() == ['"qty": 2,']
    assert report.page.locator("tr.open th").all_inner_texts() == ["118"]
    assert report.settled()[1:] == []  # the fourth screenshot is missing


def test_json_that_came_as_it_was_sent_is_shown_as_a_tree(with_events):
    request = DETAILS["request"]
    sent = request | {"body": request["body"] | {"post_data": '{"order": {"qty": 2, "id": 7}}'}}
    report = with_events("#task=3&event=118", [DETAILS | {"request": sent}])
    assert panel(report).locator("details pre mark").all_inner_texts() == ['"qty": 2,']


def test_a_forbidden_request_is_marked_as_one(with_events):
    network = pages.task(3)["network"]
    row = next(row for row in network["events"] if row[0] == 117)
    row[6] = "forbidden"
    report = with_events("#task=3&event=118", network=network)
    assert report.page.locator(".network tr.forbidden .mark").inner_text() == "\u2717 forbidden"
    panel(report).locator(".event-body").wait_for()
    assert "\u2717 forbidden" in panel(report).inner_text()


def test_keys_lead_from_the_list_to_the_header_that_differs_and_back(with_events):
    report = with_events("#sort=recorded")
    report.pressed("j", "j", "j")
    report.page.wait_for_selector("#task .evaluator")
    report.pressed("e")
    assert ["X-Shop", "us", "eu"] in differing(report)
    focused = "document.activeElement.textContent"
    assert report.page.evaluate(focused) == "118"
    report.pressed("ArrowDown", "ArrowDown", "ArrowUp", "Enter")
    assert report.fragment.endswith("&event=119")
    assert report.page.evaluate(focused) == "119"
    report.pressed("Escape")
    assert (report.fragment, report.page.locator("#event-panel").is_visible()) == (
        "#sort=recorded&task=runs%2F00003",
        False,
    )
    report.pressed("Home", "Enter")
    assert report.fragment.endswith("&event=1")
    report.pressed("Escape", "Escape")
    assert report.page.locator("#overview").is_visible()


def test_a_phone_shows_what_differs_in_its_width(with_events):
    report = with_events("#task=3&event=118", settings={"viewport": PHONE})
    assert ["X-Shop", "us", "eu"] in differing(report)
    assert report.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    for cell in panel(report).locator("tr.differs td").all():
        box = cell.bounding_box()
        assert 0 < box["x"] < box["x"] + box["width"] < PHONE["width"]
    report.page.locator(".network button.event", has_text="118").click()
    assert report.fragment == "#task=3"


def test_a_deep_link_opens_its_event_where_it_can_be_seen(with_events):
    report = with_events("#task=3&event=118")
    assert panel(report).get_attribute("aria-label") == "Event 118"
    assert report.page.evaluate("""() => { const box = document.querySelector('.events').getBoundingClientRect();
        const row = document.querySelector('tr.open').getBoundingClientRect();
        return row.top >= box.top && row.bottom <= box.bottom; }""")
    assert report.page.locator("button[aria-expanded=true]").all_inner_texts() == ["118"]


def test_a_link_to_an_event_that_is_not_listed_says_so(with_events):
    report = with_events("#task=3&event=999")
    assert "The table has no event 999" in report.page.locator("#event-panel").inner_text()
    report.page.click("#event-panel >> text=Close")
    assert report.fragment == "#task=3"


def test_back_and_forward_walk_through_events(with_events):
    report = with_events()
    for number in ("116", "117"):
        report.page.locator(".network button.event", has_text=number).click()
    report.page.click("text=Next request")
    title = "document.querySelector('#event-panel h4')?.textContent"
    assert report.page.evaluate(title) == "Event 118"
    report.page.go_back()
    report.until(f"{title} === 'Event 117'")
    report.page.go_back()
    report.page.go_back()
    report.until("document.getElementById('event-panel').hidden")
    report.page.go_forward()
    report.until(f"{title} === 'Event 116'")
    assert report.task == "runs/00003"


def test_the_next_task_opens_without_the_event_of_the_one_before(opened, small):
    report = opened(small).go("#sort=recorded&task=runs%2F00002&event=118")
    report.page.wait_for_selector("#event-panel .event-body details")
    report.pressed("j")
    report.page.wait_for_selector("#task .evaluator")
    report.until("location.hash === '#sort=recorded&task=runs%2F00003'")
    assert not report.page.locator("#event-panel").is_visible()


def test_details_are_loaded_once_when_the_first_row_is_opened(opened, small):
    report = opened(small).go("#task=3")
    name = events_name("runs/00003")
    assert not any(name in address for address in report.requests)
    report.pressed("e")
    panel(report)
    report.page.click("text=Next request")
    panel(report)
    assert sum(name in address for address in report.requests) == 1


def test_a_click_that_selects_a_text_opens_nothing(with_events):
    report = with_events()
    url = report.page.locator(".network tr.nearest code")
    url.scroll_into_view_if_needed()
    box, mouse = url.bounding_box(), report.page.mouse
    mouse.move(box["x"] + 5, box["y"] + 6)
    mouse.down()
    mouse.move(box["x"] + 90, box["y"] + 6, steps=4)
    mouse.up()
    assert report.page.evaluate("String(getSelection())") != ""
    assert report.fragment == "#task=3"
    url.click()
    assert report.fragment == "#task=3&event=118"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"detailed": 1}, 'copy the folder "data" along with this page'),
        ({"detailed": 0}, "This report has no details of this request."),
        ({}, "This report has no details of this request."),
    ],
)  # fmt: skip
def test_missing_details_say_why(with_events, changes, sentence):
    network = {"total": 2, "assets": 0, "left_out": 0, "events": [pages.event(0), pages.event(117)]}
    report = with_events("#task=3&event=118", details=(), network=network | changes)
    report.until(f"document.getElementById('event-panel').textContent.includes({sentence!r})")


def test_an_event_without_details_beside_others_says_so(with_events):
    report = with_events("#task=3&event=2")
    report.until("document.querySelector('.event-body').textContent.includes('no details of this request')")


def test_a_report_in_one_file_names_the_directory(opened, tmp_path):
    write_single(pages.index(3, embedded=True), [task_script("runs/00003", pages.task(3))], tmp_path / "one.html")
    report = opened(tmp_path / "one.html").go("#task=3&event=118")
    text = report.page.locator("#event-panel").inner_text()
    assert "open the directory of the report" in text
    assert "query_params.dir[0]" in text
    assert not any("events" in address for address in report.requests)


HOSTILE = "</script><img src=x onerror=window.pwned=1><script>window.pwned=1</script>\u202e' \" \\"


def test_hostile_values_show_as_text(with_events):
    hostile = [{"name": HOSTILE, "value": HOSTILE}]
    body = {
        "type": HOSTILE,
        "length": HOSTILE,
        "form": "json",
        "post_data": {HOSTILE: [HOSTILE], "__proto__": {"x": 1}},
    }
    page = {"type": "text/html", "length": 9, "form": "text", "response_content": {"text": HOSTILE}}
    request = {"query_params": hostile, "headers": hostile, "body": body}
    response = {"response_cookies": hostile, "headers": hostile, "body": page, "lacks_body": HOSTILE}
    row = [117, HOSTILE, f"http://{HOSTILE}/", HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE]
    network = {"total": 1, "assets": 0, "left_out": 0, "detailed": 1, "events": [row, pages.event(3)]}
    differences = [{"path": f"headers.{HOSTILE}", "kind": HOSTILE, "expected": HOSTILE, "actual": HOSTILE}]
    evaluators = [pages.network_evaluator() | {"name": HOSTILE, "differences": differences}]
    details = {"index": 117, "request": request, "response": response}
    report = with_events("#task=3&event=118", details=(details,), network=network, evaluators=evaluators)
    page = report.page
    panel(report)
    page.evaluate("document.querySelectorAll('details').forEach((part) => (part.open = true))")
    shown = HOSTILE.replace("\u202e", "\\u202e")
    assert page.locator("#event-panel").inner_text().count(shown) >= 12
    assert page.evaluate("[window.pwned, ({}).x]") == [None, None]
    assert page.locator("main img[src=x], main script").count() == 0
    assert [text for text in report.settled() if "ERR_FILE_NOT_FOUND" not in text] == []


def select(report, label, value):
    report.page.select_option(f"select[aria-label='{label} of requests']", value)


def test_filters_combine_and_count(with_events):
    report = with_events()
    posts = [at + 1 for at in range(240) if at % 9 == 4]
    options = report.page.locator("select[aria-label='Method of requests'] option").all_inner_texts()
    assert options == ["Method: all", f"GET ({240 - len(posts)})", f"POST ({len(posts)})"]
    select(report, "Method", "POST")
    assert listed(report) == posts
    assert report.page.locator("text=27 of 240 requests").count() == 1
    select(report, "Status", "3xx")
    report.page.fill("input[aria-label='Filter requests']", "id/13?")
    assert listed(report) == [14]
    assert report.page.locator("select[aria-label='Method of requests'] option").all_inner_texts() == [
        "Method: all",
        "POST (1)",
    ]
    report.page.fill("input[aria-label='Filter requests']", "nothing like it")
    assert listed(report) == []
    report.page.fill("input[aria-label='Filter requests']", "")
    select(report, "Method", "")
    select(report, "Status", "")
    report.page.check("text=changed something")
    assert listed(report) == posts
    report.page.uncheck("text=changed something")
    assert len(listed(report)) == 240


def test_hosts_are_a_filter(with_events):
    other = [*pages.event(1)[:2], "https://user@cdn.test:8443/x", *pages.event(1)[3:]]
    report = with_events(network={"total": 2, "assets": 0, "left_out": 0, "events": [pages.event(0), other]})
    select(report, "Host", "cdn.test:8443")
    assert listed(report) == [2]


def test_f_filters_and_an_event_that_is_hidden_comes_back(with_events):
    report = with_events().pressed("f")
    report.page.keyboard.type("jk nothing")
    assert listed(report) == []
    report.page.click("text=show in network")
    assert 118 in listed(report)
    assert report.page.input_value("input[aria-label='Filter requests']") == ""
    assert report.page.locator("tr.open th").all_inner_texts() == ["118"]


def test_a_filter_leaves_the_open_event_open(with_events):
    report = with_events("#task=3&event=118")
    panel(report)
    select(report, "Method", "POST")
    assert report.fragment == "#task=3&event=118"
    assert report.page.locator("#event-panel h4").first.inner_text() == "Event 118"
    report.page.click("text=Next request")
    assert report.page.locator("tr.open th").all_inner_texts() == ["5"]


def test_a_task_with_2000_requests_and_200_steps_makes_each_row_once(opened, tmp_path):
    path = pages.write(tmp_path, 3, tasks=0)
    rows = [[*pages.event(at), at % 7 / 10] for at in range(2_000)]
    network = {"total": 2_000, "assets": 0, "left_out": 0, "detailed": 101, "events": rows}
    steps = [pages.step(number) for number in range(1, 201)]
    pages.write_task("runs/00001", pages.task(1, network=network, steps=steps), path.parent)
    pages.write_details("runs/00001", [pages.details(at) for at in range(1_900, 2_000)], path.parent)
    assert 2_000 < opened(path).go().count_added(OPEN_EVENT) < MOST_ADDED


def test_a_filter_of_2000_requests_makes_each_row_once(opened, tmp_path):
    path = pages.write(tmp_path, 3, tasks=0)
    network = {"total": 2_000, "assets": 0, "left_out": 0, "events": [pages.event(at) for at in range(2_000)]}
    pages.write_task("runs/00001", pages.task(1, network=network), path.parent)
    report = opened(path).go("#task=1")
    assert 222 < report.count_added(FILTER) < MOST_ADDED / 2
    assert report.page.locator(".network tbody tr").count() == 222


def test_bars_begin_when_requests_do(with_events):
    rows = [
        [*pages.event(0)[:5], 0, "", 1],
        [*pages.event(1)[:5], 3, "", 1],
        [*pages.event(2)[:5], -5, "", 1],
        [*pages.event(3)[:5], None, ""],
    ]
    page = with_events(network={"total": 4, "assets": 0, "left_out": 0, "events": rows}).page
    places = page.evaluate(
        "[...document.querySelectorAll('.waterfall .span')].map((bar) => [bar.style.marginInlineStart, bar.style.width])"
    )
    assert places == [["0%", "25%"], ["75%", "25%"]]
    assert page.locator("td.took").all_inner_texts() == ["1.00", "1.00", "1.00", ""]


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.whole)])
@pytest.mark.parametrize("viewport", [{"width": 1440, "height": 900}, pytest.param(PHONE, marks=pytest.mark.whole)])
def test_axe_finds_nothing_to_complain_about_in_an_open_event(with_events, theme, viewport):
    from axe_playwright_python.sync_playwright import Axe

    report = with_events(
        "#task=3&event=118", settings={"color_scheme": theme, "viewport": viewport, "reduced_motion": "reduce"}
    )
    panel(report)
    report.page.evaluate("document.querySelectorAll('details').forEach((part) => (part.open = true))")
    violations = Axe().run(report.page).response["violations"]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in violations] == []
