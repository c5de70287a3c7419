"""The actions of a recorded Playwright trace in the step viewer: frames, marks and requests."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pytest_webeval import load_run
from pytest_webeval.recordings.action_trace import load_action_trace
from pytest_webeval.reports.html.requests import network_table
from pytest_webeval.reports.html.screenshots import FrameCopies, no_frames
from pytest_webeval.reports.html.timeline import step_timeline
from tests.browser import pages
from tests.browser.conftest import PHONE

pytestmark = pytest.mark.browser
TRACE = Path(__file__).parents[1] / "recorded/playwright_trace/trace.zip"
LOADED = "document.querySelector('.stage img')?.naturalWidth === 640"
MARK = """() => { const mark = document.querySelector('.stage [class^=mark-of]').getBoundingClientRect();
    const image = document.querySelector('.stage img').getBoundingClientRect();
    const percent = (number, whole) => Math.round(1000 * number / whole) / 10;
    return [percent(mark.left + mark.width / 2 - image.left, image.width),
            percent(mark.top + mark.height / 2 - image.top, image.height)]; }"""


@pytest.fixture
def with_trace(opened, tmp_path):
    """Opens a report at a step of a run with the recorded trace."""

    def showing(number, *, is_copied=True, **settings):
        path = pages.write(tmp_path, 3, tasks=0)
        (run_path := tmp_path / "107").mkdir()
        (run_path / "agent_response.json").write_text(json.dumps({}))
        shutil.copy(TRACE, run_path / "trace.zip")
        run = load_run(run_path)
        trace = load_action_trace(run.inputs)
        pictures = FrameCopies.of_run("runs/00001", trace, path.parent, 1) if is_copied else no_frames
        parts = {"steps": step_timeline(run, pictures, trace), "network": network_table(run, {})}
        pages.write_task("runs/00001", pages.task(1, status="failure", evaluators=[], **parts), path.parent)
        return opened(path, **settings).go(f"#task=1&step={number}")

    return showing


@pytest.mark.parametrize("viewport", [{"width": 1440, "height": 900}, PHONE], ids=["desk", "phone"])
def test_a_click_shows_what_it_met_where_it_was_and_what_it_sent(with_trace, viewport):
    report = with_trace(6, viewport=viewport)
    report.until(LOADED)
    assert report.page.evaluate(MARK) == [63.2, 19.5]  # of 640 x 400 pixels
    assert report.page.locator(".step-details h4").inner_text().split() == ["6", "click"]
    assert "locator resolved to <button>Log in</button>\nattempting click" in report.page.inner_text(".step-details")
    requests = report.page.locator(".requests li").all_inner_texts()
    assert [text.split()[:2] for text in requests] == [["2", "POST"]]
    report.page.click("button:text-is('After')")
    report.until(LOADED)
    assert report.page.locator(".stage [class^=mark-of]").count() == 0
    assert report.settled() == []
    assert report.page.evaluate("document.documentElement.scrollWidth") == viewport["width"]


def test_keys_lead_through_all_actions_to_the_field_that_was_filled(with_trace):
    report = with_trace(3)
    report.pressed("ArrowRight", "ArrowRight")
    report.until(LOADED)
    assert report.page.locator(".counter").inner_text().startswith("Step 5 of 13")
    assert report.page.locator(".stage .mark-of-box").count() == 1


def test_the_first_action_has_no_frame_and_says_so(with_trace):
    report = with_trace(1)
    assert report.page.locator(".stage").inner_text() == "no screenshot"
    assert report.settled() == []


def test_a_step_whose_frame_was_not_copied_says_why(with_trace):
    report = with_trace(6, is_copied=False)
    text = "no screenshot: frames are copied for tasks that did not succeed; open the trace"
    assert " ".join(report.page.locator(".stage").inner_text().split()) == text
    assert report.page.locator(".requests li").count() == 1


def test_axe_finds_nothing(with_trace):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(with_trace(6).page).response["violations"]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == []
