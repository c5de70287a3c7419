"""The history of 50 sessions of 812 tasks in Chromium: quick, quiet, readable, and safe."""

from __future__ import annotations

import re

import pytest

from pytest_webeval.reports.html.static_pages import (
    FLIPS_ON_PAGE,
    GROUPS_ON_PAGE,
    PROBLEMS_ON_PAGE,
    SESSIONS_OPEN,
    write_history_page,
)
from pytest_webeval.summary.comparison.history import build_history
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession
from tests.browser.conftest import DESK, PHONE
from tests.browser.test_comparison_page import HOSTILE, complaints, go

pytestmark = pytest.mark.browser
SESSIONS, TASKS = 50, 812
QUICK = 1_000  # milliseconds
MOST_BYTES = 500_000
SITES = ("shopping", "gitlab", "reddit", "<script>alert(1)</script>")
GROUPS = ("sites", "folders", "types", "templates")
RARE = {0: "error", 1: "excluded"}


def session(number, tasks, **fields):
    """A session in which each task flips in its own rhythm. Some are errors, excluded or absent."""
    runs = []
    for task in range(tasks):
        if task == number % 3:
            continue
        status = "success" if number * (task % 7) % 5 < 3 else "failure"
        runs.append(
            ScoredRun(
                run=f"runs/{task}",
                task_id=task if task % 50 else f"{HOSTILE}{task}",
                status=RARE.get((number + task) % 97, status),
                sites=[SITES[task % 4]],
                checksums=f"recording={number} task=same",
            )
        )
    minor = number // 10
    described = {
        "name": f"history/{HOSTILE}{number:02}/eval_summary.json",
        "timestamp": f"2026-{1 + number // 28:02}-{1 + number % 28:02}T03:00:00Z",
        "rules": "default",
        "evaluators": f"e{minor}",
        "libraries": {f"geopy{HOSTILE}": f"2.{minor}"},
    }
    return ScoredSession(**{**described, "runs": runs, **fields})


def write(directory, sessions, tasks, **fields):
    """The page of so many sessions of so many tasks."""
    content = build_history([session(number, tasks, **fields) for number in range(sessions)])
    return write_history_page(content | {"skipped": [f"cannot read {HOSTILE}"]}, directory)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The page of 50 sessions of 812 tasks."""
    return write(tmp_path_factory.mktemp("page"), SESSIONS, TASKS)


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """The page of five sessions of 40 tasks."""
    return write(tmp_path_factory.mktemp("short"), 5, 40)


def test_the_page_of_50_sessions_is_shown_in_less_than_a_second(opened, path):
    assert path.stat().st_size < MOST_BYTES
    report = go(opened, path)
    assert report.page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd") < QUICK
    painted = "performance.getEntriesByName('first-contentful-paint')"
    assert report.until(f"{painted}.length").page.evaluate(f"{painted}[0].startTime") < QUICK


def test_nothing_runs_and_nothing_is_requested_but_the_style(opened, path):
    report = go(opened, path)
    assert report.settled() == []
    requested = {address.rpartition("/")[2] for address in report.requests if not address.startswith("data:")}
    assert requested == {"history.html", "report.css"}
    assert report.page.locator("script, img, [onerror]").count() == 0
    assert "\u202e" not in report.page.content()


def test_the_page_says_what_it_leaves_to_the_json(opened, path):
    page = go(opened, path).page
    strips = page.locator(".strip code")
    assert strips.count() == FLIPS_ON_PAGE
    assert {len(text) for text in strips.all_inner_texts()} == {SESSIONS}
    shown = re.search(r"The 200 tasks that changed most often; (\d+) more are in the JSON", page.inner_text("main"))
    assert shown
    assert int(shown[1]) == int(page.locator("#flips .count").inner_text()) - FLIPS_ON_PAGE > 0


def test_the_chart_has_a_name_and_its_numbers_are_in_a_table(opened, path):
    page = go(opened, path).page
    (chart,) = page.get_by_role("img", name="Success rate of each session").all()
    assert chart.locator("rect").count() == SESSIONS
    assert chart.locator(".change").count() == SESSIONS // 10 - 1
    page.get_by_text(f"The numbers of each session ({SESSIONS})").click()
    rows = page.get_by_role("group", name="Table of sessions").locator("tbody tr")
    assert rows.count() == SESSIONS
    assert re.search(r"\d\d\.\d%\s+\d+% to \d+%\s+\d+\s+8\d\d\s", rows.first.inner_text())
    assert page.locator(".multiples svg[role=img]").count() == len(SITES)
    page.get_by_text("The numbers by site").click()
    assert page.get_by_role("group", name="Table of rates by site").locator("tbody tr").count() == SESSIONS


def test_the_differences_between_sessions_are_listed(opened, path):
    notes = go(opened, path).page.locator(".changes li").all_inner_texts()
    assert len(notes) == SESSIONS // 10 - 1
    assert "other evaluator code: e0 to e1" in notes[0]
    assert "other libraries: geopy" in notes[0]


def test_a_dot_is_where_its_rate_is(opened, tmp_path):
    runs = [ScoredRun(run=f"r/{n}", task_id=n, status="success" if n else "failure") for n in range(4)]
    page = go(opened, write(tmp_path, 1, 0, runs=runs)).page
    assert page.locator(".chart .dots").get_attribute("d") == "M500.0 25.0h0"
    assert page.locator(".rate strong").inner_text() == "75.0%"


def test_the_table_of_few_sessions_is_open(opened, short, path):
    for page, count in ((short, 1), (path, 1)):  # of the long one only the few differences
        assert go(opened, page).page.locator("details[open]").count() == count
    assert SESSIONS_OPEN < SESSIONS


def test_a_long_list_of_differences_is_closed(opened, tmp_path):
    sessions = [
        ScoredSession(f"s{number}", [], timestamp=f"2026-01-{1 + number:02}", rules=f"r{number}")
        for number in range(SESSIONS_OPEN + 2)
    ]
    page = go(opened, write_history_page(build_history(sessions), tmp_path)).page
    assert page.locator("details[open]").count() == 0
    page.get_by_text(f"Differences between sessions ({SESSIONS_OPEN + 1})").click()
    assert "other rules: r0 to r1" in page.locator(".changes").inner_text()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_axe_finds_nothing_to_complain_about(opened, short, theme, viewport):
    page = go(opened, short, color_scheme=theme, viewport=viewport, reduced_motion="reduce").page
    page.get_by_text("The numbers by site").click()
    assert complaints(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_axe_finds_nothing_in_50_sessions(opened, path, theme, viewport):
    assert complaints(go(opened, path, color_scheme=theme, viewport=viewport, reduced_motion="reduce").page) == []


def test_the_page_fits_on_a_phone_and_on_paper(opened, path):
    page = go(opened, path, viewport=PHONE).page
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.emulate_media(media="print")
    assert page.locator(".chart svg").bounding_box()["height"] > 100


def test_many_sites_and_problems_are_counted(opened, tmp_path):
    runs = [
        ScoredRun(run=f"r/{n}", task_id=n, status="success", sites=[f"site-{n}"]) for n in range(GROUPS_ON_PAGE + 3)
    ]
    problems = [f"problem {number}" for number in range(PROBLEMS_ON_PAGE + 1)]
    page = go(opened, write(tmp_path, 1, 0, runs=runs, problems=problems)).page
    assert page.locator(".multiples li").count() == GROUPS_ON_PAGE
    assert "3 more sites are in the JSON" in page.inner_text("main")
    assert page.locator(".notice").count() == PROBLEMS_ON_PAGE + 1
    assert "2 more problems" in page.inner_text("main")


def test_each_kind_of_group_has_its_charts_those_first_that_cost_most(opened, tmp_path):
    runs = [
        ScoredRun(
            run=f"{('large', HOSTILE)[n % 2]}/{n}",
            task_id=n,
            status="failure" if n % 3 else "success",
            sites=["shopping"],
            type=("retrieve", "<b>mutate", "<b>mutate")[n % 3],
            template=n % 40,
        )
        for n in range(120)
    ]
    report = go(opened, write(tmp_path, 2, 0, runs=runs), viewport=PHONE)
    page = report.page
    titles = {name: page.locator(f"section[aria-labelledby={name}] .multiples h3").all_inner_texts() for name in GROUPS}
    assert [len(listed) for listed in titles.values()] == [1, 2, 2, GROUPS_ON_PAGE]
    assert titles["types"] == ["<b>mutate 0.0% to 0.0%, 80 not solved", "retrieve 100.0% to 100.0%"]
    assert "16 more intent templates are in the JSON" in page.inner_text("main")
    assert page.locator(".multiples svg").count() == page.locator(".multiples svg[viewBox='0 0 1000 100']").count()
    for name in ("site", "run folder", "task type", "intent template"):
        page.get_by_text(f"The numbers by {name}").click()
    assert report.settled() == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert complaints(page) == []


def test_a_session_without_runs_has_a_page(opened, tmp_path):
    page = go(opened, write(tmp_path, 1, 0)).page
    assert page.locator(".rate strong").inner_text() == "-"
    assert page.locator("#sites, #flips").count() == 0
    assert complaints(page) == []
