"""The step viewer of a task: one step at a time, by mouse, keys, finger and address, with a mark where the agent clicked."""

# ruff: noqa: E501  (rows of data and scripts of the page read best in one line)

from __future__ import annotations

import pytest

from pytest_webeval.recordings.trajectory.step import Screenshot
from pytest_webeval.reports.html.screenshots import Links
from tests.browser import pages
from tests.browser.conftest import PHONE

pytestmark = pytest.mark.browser
MARK = """() => { const mark = document.querySelector('.stage [class^=mark-of]').getBoundingClientRect();
    const image = document.querySelector('.stage img').getBoundingClientRect();
    const percent = (number, whole) => Math.round(1000 * number / whole) / 10;
    return [percent(mark.left + mark.width / 2 - image.left, image.width), percent(mark.top + mark.height / 2 - image.top, image.height)]; }"""
OPEN_STEP = """async () => { location.hash = '#task=1&step=150';
    while (!document.querySelector('.counter')) await new Promise((go) => setTimeout(go, 5)); }"""
IN_SIGHT = "() => { const {top, bottom} = document.querySelector('.viewer').getBoundingClientRect(); return top >= 0 && top < innerHeight && bottom > 0; }"
LOADED = "document.querySelector('.stage img')?.naturalWidth > 0"


@pytest.fixture
def with_steps(opened, tmp_path):
    """Opens a report at a task that succeeded and has these steps."""

    def showing(*changes, fragment="", settings=None, **task):
        path = pages.write(tmp_path, 3, tasks=0)
        steps = [
            pages.step(number) | {"before": "../runs/shots/0.png", "events": None} | change
            for number, change in enumerate(changes, 1)
        ]
        pages.write_task("runs/00001", pages.task(1, **{"steps": steps, "network": None} | task), path.parent)
        return opened(path, **(settings or {})).go(f"#task=1{fragment}")

    return showing


def current(report):
    """The step that is shown, by the viewer, by the filmstrip and by the address."""
    counter = report.page.locator(".counter").inner_text()
    thumb = report.page.locator(".thumb[aria-current=step] .step-number").inner_text()
    assert report.page.locator(".step-details h4 .quiet").inner_text().strip() == thumb.removeprefix("✕ ")
    return counter.split(" ✕ ")[0], report.fragment.partition("&step=")[2]


def test_buttons_and_thumbnails_lead_from_step_to_step(with_steps):
    report = with_steps({}, {}, {})
    assert current(report) == ("Step 1 of 3", "")
    report.page.click("text=Next step")
    assert current(report) == ("Step 2 of 3", "2")
    report.page.click(".thumb >> nth=2")
    assert current(report) == ("Step 3 of 3", "3")
    report.page.locator("button >> text=Next step").dispatch_event("click")  # there is none
    assert current(report) == ("Step 3 of 3", "3")
    report.page.click("text=Previous step")
    assert current(report) == ("Step 2 of 3", "2")


def test_back_and_forward_lead_from_step_to_step(with_steps):
    report = with_steps({}, {}, {})
    report.page.click("text=Next step")
    report.pressed("ArrowRight")
    for move, shown in (("go_back", "2"), ("go_back", ""), ("go_forward", "2"), ("go_forward", "3")):
        getattr(report.page, move)()
        report.until(f"location.hash.endsWith('task=1{shown and '&step=' + shown}')")
        assert current(report)[1] == shown
    report.page.go_back()
    report.pressed("Escape")
    assert report.fragment in ("", "#")
    report.page.go_back()
    report.until("document.querySelector('.counter')?.textContent.startsWith('Step 2')")


def test_a_link_to_a_step_shows_it(with_steps):
    report = with_steps(*[{}] * 30, fragment="&step=28")
    assert current(report) == ("Step 28 of 30", "28")
    assert report.page.evaluate(IN_SIGHT)
    assert report.page.evaluate(
        "() => { const [strip, thumb] = ['.filmstrip', '.thumb[aria-current]'].map((name) => document.querySelector(name).getBoundingClientRect()); return thumb.left >= strip.left && thumb.right <= strip.right; }"
    )


@pytest.mark.parametrize("step", ["99", "0", "x%3Cb%3E", "-1", "__proto__"])
def test_a_link_to_no_step_shows_the_first(with_steps, step):
    report = with_steps({}, {}, fragment=f"&step={step}")
    assert report.page.locator(".counter").inner_text() == "Step 1 of 2"
    assert report.settled() == []


def test_another_task_starts_at_its_own_step(opened, small):
    report = opened(small).go("#task=3&step=5")
    report.pressed("j")
    report.until("document.querySelector('#task-title bdi').textContent !== 'runs/00003'")
    report.until("!location.hash.includes('step')")


def test_arrow_keys_lead_from_step_to_step_wherever_the_focus_is(with_steps):
    report = with_steps({}, {}, {})
    report.pressed("ArrowRight")
    assert current(report) == ("Step 2 of 3", "2")
    report.page.focus("#list")
    report.pressed("ArrowRight")
    report.page.focus(".stage button")
    report.pressed("ArrowRight", "ArrowRight")
    assert current(report) == ("Step 3 of 3", "3")
    report.page.focus("text=Next step")
    report.pressed("ArrowLeft")
    assert current(report) == ("Step 2 of 3", "2")
    assert report.task == "runs/00001"


def test_arrow_keys_are_the_text_fields_while_somebody_types(with_steps):
    report = with_steps({}, {})
    report.page.focus("#search")
    report.pressed("ArrowRight")
    report.page.focus("#sort")
    report.pressed("ArrowRight", "ArrowLeft")
    assert current(report) == ("Step 1 of 2", "")


def test_arrow_keys_scroll_a_wide_box_that_has_the_focus(with_steps):
    report = with_steps({}, {}, settings={"viewport": PHONE}, network={"events": [pages.event(1)]})
    report.page.focus(".events")
    report.pressed("ArrowRight")
    report.until("document.querySelector('.events').scrollLeft > 0")
    assert current(report) == ("Step 1 of 2", "")


def test_a_key_that_is_held_down_leaves_one_entry_in_the_history(with_steps):
    report = with_steps(*[{}] * 9)
    before = report.page.evaluate("history.length")
    report.page.keyboard.down("ArrowRight")
    for _ in range(5):
        report.page.keyboard.down("ArrowRight")  # as a keyboard repeats it
    report.page.keyboard.up("ArrowRight")
    report.until("location.hash.endsWith('step=7')")
    assert report.page.evaluate("history.length") == before + 1


def test_arrow_keys_without_a_trajectory_do_nothing(opened, small):
    report = opened(small).go().pressed("ArrowRight", "ArrowLeft")
    assert report.settled() == []
    assert report.page.locator("#overview").is_visible()


def test_the_keys_of_the_page_name_the_arrows(opened, small):
    report = opened(small).go().pressed("?")
    assert "← →\nshow the previous or next step of the open task" in report.page.locator("#keys").inner_text()


@pytest.mark.parametrize(("way", "step"), [(-200, "Step 3 of 3"), (200, "Step 1 of 3"), (-20, "Step 2 of 3")])
def test_a_swipe_leads_to_the_next_step_or_the_previous_one(with_steps, way, step):
    report = with_steps(
        {}, {}, {}, fragment="&step=2", settings={"viewport": PHONE, "has_touch": True, "is_mobile": True}
    )
    report.until(LOADED)
    box = report.page.locator(".stage").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touches = report.page.context.new_cdp_session(report.page)
    touches.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x - way / 2, "y": y}]})
    for part in (-0.25, 0, 0.25, 0.5):
        touches.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x + way * part, "y": y}]})
    touches.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    report.until(f"document.querySelector('.counter').textContent === '{step}'")


@pytest.mark.parametrize(
    "settings", [{}, {"viewport": PHONE}, {"device_scale_factor": 2}], ids=["desk", "phone", "fine"]
)
@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"target": [320, 100, 0, 0]}, [50.0, 25.0]),
        ({"target": [64, 40, 128, 80]}, [20.0, 20.0]),
        ({"target": [640, 200, 0, 0], "size": [1280, 800]}, [50.0, 25.0]),  # of a small copy of a larger screenshot
    ],
)
def test_the_mark_is_where_the_agent_clicked_fitted_and_in_full_size(with_steps, settings, change, place):
    report = with_steps(change, settings=settings)
    report.until(LOADED)
    report.page.wait_for_selector(".stage [class^=mark-of]")
    assert report.page.evaluate(MARK) == pytest.approx(place, abs=0.3)
    report.page.click("text=100 %")
    assert (
        report.page.evaluate("document.querySelector('.stage img').getBoundingClientRect().width")
        == change.get("size", [640])[0]
    )
    assert report.page.evaluate(MARK) == pytest.approx(place, abs=0.3)
    report.page.click("button:text-is('Fit')")
    assert report.page.evaluate("document.documentElement.scrollWidth") == report.page.viewport_size["width"]


@pytest.mark.parametrize(
    "target", [None, [640, 5, 0, 0], [-9, 5, 0, 0], [1e99, 1, 1, 1], ["<b>", 1, 2, 3], {"x": 1}, [1, 2]]
)
def test_what_is_no_place_in_the_picture_is_no_mark(with_steps, target):
    report = with_steps({"target": target})
    report.until(LOADED)
    assert report.page.locator(".stage [class^=mark-of]").count() == 0
    assert report.settled() == []


def test_the_picture_after_the_action_has_no_mark(with_steps):
    report = with_steps({"target": [320, 100, 0, 0], "after": "../runs/shots/1.png"})
    report.until(LOADED)
    report.page.click("button:text-is('After')")
    report.until("document.querySelector('.stage img')?.src.endsWith('1.png')")
    assert report.page.locator(".stage img").get_attribute("alt") == "step 1: type, afterwards"
    assert report.page.locator(".stage [class^=mark-of]").count() == 0
    report.page.click("button:text-is('Before')")
    report.page.wait_for_selector(".stage .mark-of-point")


def test_a_full_sized_picture_is_scrolled_to_its_mark_and_back(with_steps):
    report = with_steps({"target": [630, 390, 0, 0]}, {}, settings={"viewport": PHONE})
    report.until(LOADED)
    report.page.wait_for_selector(".stage .mark-of-point")
    report.page.click(".shot")
    assert report.page.evaluate("document.querySelector('.stage').scrollLeft") > 200
    report.page.focus(".stage")
    report.pressed("ArrowLeft")  # scrolls the picture
    report.until("document.querySelector('.stage').scrollLeft < 290")
    assert current(report) == ("Step 1 of 2", "")
    report.page.click(".shot")
    assert report.page.get_attribute("button:text-is('Fit')", "aria-pressed") == "true"


def test_only_pictures_that_are_seen_or_near_are_loaded(with_steps):
    report = with_steps(*({"before": f"../runs/shots/0.png?{number}"} for number in range(1, 101)), fragment="&step=50")
    report.until("[...document.querySelectorAll('.thumb img')].length > 3")
    report.settled()
    loaded = {int(url.rpartition("?")[2]) for url in report.requests if "0.png" in url}
    assert {49, 50, 51} <= loaded
    assert max(loaded) - min(loaded) < 16  # those in the strip, which is 1,000 pixels wide


def test_the_failing_step_is_marked_and_shown_first(opened, small):
    report = opened(small).go("#task=3")
    assert report.page.locator(".counter").inner_text() == "Step 11 of 12 ✕ made the nearest event of a failed check"
    assert (
        report.page.locator(".thumb.failing")
        .get_attribute("aria-label")
        .endswith("failing step: made the nearest event of a failed check")
    )
    assert report.page.locator(".thumb.failing").count() == 1
    report.page.click("text=Next step")
    assert report.page.locator(".counter").inner_text() == "Step 12 of 12"


def test_a_step_lists_its_requests_each_with_the_way_to_its_row(opened, small):
    page = opened(small).go("#task=3&step=2").page
    requests = page.locator(".requests li").all_inner_texts()
    assert requests[0] == f"21 GET {pages.event(20)[2]} → 200"
    assert [text.split()[0] for text in requests] == [str(number) for number in range(21, 29)]
    page.click(".requests button >> nth=3")
    assert page.locator("tr.pointed th").all_inner_texts() == ["24"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [{"width": 1440, "height": 900}, PHONE], ids=["desk", "phone"])
def test_axe_finds_nothing_in_a_full_sized_picture(with_steps, theme, viewport):
    from axe_playwright_python.sync_playwright import Axe

    steps = [{"target": [3, 3, 9, 9], "after": "../runs/shots/1.png"}, {"before": None, "problem": "too large"}, {}]
    report = with_steps(*steps, settings={"viewport": viewport, "color_scheme": theme}, status="failure")
    for fragment in ("&step=1", "&step=2"):
        report.go(f"#task=1{fragment}")
        if fragment.endswith("1"):
            report.page.click("text=100 %")
        found = Axe().run(report.page).response["violations"]
        assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == []
        assert report.page.evaluate("document.documentElement.scrollWidth") == viewport["width"]


def test_200_steps_with_2_000_requests_make_each_row_once(opened, tmp_path):
    path = pages.write(tmp_path, 3, tasks=0)
    steps = [pages.step(number) | {"events": [10 * number - 10, 10 * number - 1]} for number in range(1, 201)]
    network = {"total": 2000, "assets": 0, "left_out": 0, "events": [pages.event(number) for number in range(2000)]}
    pages.write_task("runs/00001", pages.task(1, steps=steps, network=network), path.parent)
    report = opened(path).go()
    assert 200 < report.count_added(OPEN_STEP) < 10_000
    assert current(report) == ("Step 150 of 200", "150")


def hostile_image(kind):
    return {
        "SVG": b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9' onload='window.pwned=1'><script>window.pwned=1</script></svg>",
        "HTML": b"<!doctype html><script>window.pwned=1</script>",
        "huge": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x75\x30\x00\x00\x75\x30\x08\x02\x00\x00\x00",
        "cut": pages.png(640, 400, (9, 9, 9))[:200],
    }[kind]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("SVG", "no screenshot: not a PNG, JPEG or WebP image"),
        ("HTML", "no screenshot: not a PNG, JPEG or WebP image"),
        ("huge", "no screenshot: the image has 30,000 x 30,000 pixels; the limit is 50,000,000"),
        ("cut", None),
    ],
)
def test_pictures_of_strangers_are_a_text_or_harmless(with_steps, tmp_path, kind, text):
    (tmp_path / "stranger.png").write_bytes(hostile_image(kind))
    picture = Links(tmp_path, tmp_path / "report").of(Screenshot("stranger.png", 1))
    report = with_steps({"before": picture.url, "problem": picture.problem})
    report.page.locator(".filmstrip").scroll_into_view_if_needed()
    report.settled()
    assert report.page.evaluate("window.pwned") is None
    assert report.page.locator(".counter").inner_text() == "Step 1 of 1"
    assert any(url.endswith("stranger.png") for url in report.requests) is (text is None)
    if text:
        assert " ".join(report.page.locator(".stage").inner_text().split()) == text
        assert report.page.locator("#task img").count() == 0


@pytest.mark.parametrize("kind", ["SVG", "HTML"])
def test_a_stranger_that_replaces_a_picture_later_runs_nothing(with_steps, tmp_path, kind):
    report = with_steps({}, {})
    for number in range(3):
        (tmp_path / "runs" / "shots" / f"{number}.png").write_bytes(hostile_image(kind))
    report.go("#task=1&step=2")
    report.page.wait_for_selector(".stage >> text=screenshot not found")
    assert report.page.evaluate("window.pwned") is None
