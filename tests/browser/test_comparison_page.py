"""The comparison of two sessions of 10,000 tasks in Chromium: quick, quiet, readable, and safe."""

from __future__ import annotations

import pytest

from pytest_webeval.reports.html.comparison_page import write_comparison_page
from pytest_webeval.summary.comparison.session_comparison import SessionComparison
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession
from tests.browser.conftest import DESK, PHONE

pytestmark = pytest.mark.browser
TASKS = 10_000
SITES = ("shopping", "gitlab", "<script>alert(1)</script>")
MOST_BYTES = 8_000_000
HOSTILE = "</li><img src=x onerror=alert(1)>\u202e\x1b[31m"


def session(name, offset, tasks=TASKS):
    """Each third task fails; which of them depends on the offset. Some are errors, excluded or in one session only."""
    runs = []
    for number in range(offset, tasks + offset):
        status = "failure" if (number + offset) % 3 == 0 else "success"
        status = {0: "error", 1: "excluded"}.get((number + offset) % 97, status)
        reason = f"retrieved_data: expected {number}; got {HOSTILE}" if status != "success" else None
        runs.append(
            ScoredRun(
                run=f"runs/{number}",
                task_id=number,
                status=status,
                sites=[SITES[number % 3]],
                template=number % 300,
                type=("retrieve", "mutate")[number % 2],
                reason=reason,
                checksums=f"recording={offset} task=same",
            )
        )
    return ScoredSession(name, runs, rules="default", timestamp="2026-01-02T03:04:05Z")


def write(directory, tasks):
    """The page of so many tasks, with a gate of each outcome."""
    comparison = SessionComparison(session("before", 0, tasks), session(HOSTILE, 1, tasks)).to_json()
    gates = [{"gate": f"errors <= {n}", "wanted": "few", "found": "many", "passed": bool(n)} for n in (0, 9)]
    return write_comparison_page({"comparisons": [comparison], "gates": gates}, directory)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The page of 10,000 tasks."""
    return write(tmp_path_factory.mktemp("page"), TASKS)


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """The page of 400 tasks."""
    return write(tmp_path_factory.mktemp("short"), 400)


def go(opened, path, **settings):
    """The page, open in a browser."""
    report = opened(path, **settings)
    report.page.goto(report.address, wait_until="load")
    return report


def test_the_page_of_10_000_tasks_is_small(opened, path):
    assert path.stat().st_size < MOST_BYTES
    page = go(opened, path).page
    assert page.locator(".changes li").count() > TASKS / 2


def test_nothing_runs_and_nothing_is_requested_but_the_style(opened, path):
    report = go(opened, path)
    assert report.settled() == []
    requested = {address.rpartition("/")[2] for address in report.requests if not address.startswith("data:")}
    assert requested == {"comparison.html", "report.css"}
    assert report.page.locator("script, img").count() == 0
    assert "\u202e" not in report.page.inner_text("body")


def test_the_numbers_can_be_read(opened, path):
    text = go(opened, path).page.inner_text("main")
    assert "tasks fewer solved of" in text or "tasks more solved of" in text or "as many solved of" in text
    assert "errors <= 0: wanted few; found many" in text
    assert "Exact McNemar test" in text


def complaints(page):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [(one["id"], [node["html"][:200] for node in one["nodes"]][:3]) for one in found]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_axe_finds_nothing_to_complain_about(opened, short, theme, viewport):
    assert complaints(go(opened, short, color_scheme=theme, viewport=viewport, reduced_motion="reduce").page) == []


def test_axe_finds_nothing_among_10_000_tasks(opened, path):
    assert complaints(go(opened, path, reduced_motion="reduce").page) == []


def test_the_page_fits_on_a_phone(opened, path):
    page = go(opened, path, viewport=PHONE).page
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
