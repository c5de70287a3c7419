"""A failed task at a glance: sentence, intent, answer, differences; what is folded; commands and files that open."""

# ruff: noqa: E501  (rows of data and selectors read best in one line)

from __future__ import annotations

import json
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.browser import pages, sessions
from tests.browser.conftest import DESK, PHONE

pytestmark = pytest.mark.browser
ORDER = (
    ".heading",
    ".why",
    ".facts-of",
    ".differences",
    ".part:has(.network)",
    ".part:has-text('Start URLs')",
    ".command",
    ".links",
)
UNFOLDED = "[...document.querySelectorAll('#task details[open]')].length"


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Some runs of the suite: one with a trace next to its HAR, one answered in the documented dialect."""
    directory = sessions.copied(tmp_path_factory.mktemp("glance"))
    runs = directory / "suite" / "runs"
    shutil.copy(runs / "107" / "trace.zip", runs / "106" / "trace.zip")
    answer = json.loads((runs / "102" / "agent_response.json").read_bytes())
    documented = {"action": answer.pop("task_type"), "results": answer.pop("retrieved_data"), **answer}
    (runs / "102" / "agent_response.json").write_text(json.dumps(documented))
    return sessions.scored(directory, *sessions.RUNS)


@pytest.fixture
def trajectories(tmp_path_factory):
    return sessions.scored(sessions.copied(tmp_path_factory.mktemp("trajectories")), *sessions.TRAJECTORIES)


def tops(page):
    return [page.locator(f"#task {selector}").first.bounding_box()["y"] for selector in ORDER]


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_from_the_list_to_the_cause_and_its_request(opened, session, viewport):
    report = opened(session.page, viewport=viewport).go()
    page = report.page
    page.click("[role=option] .run:text-is('109')")
    page.wait_for_selector("#task .body[aria-busy=true]", state="detached")
    assert page.locator(".why").inner_text() == (
        "No POST to __SHOPPING__/cart/add was sent; the nearest request differs in url and method."
    )
    assert page.locator(".intent").inner_text() == "Put 3 of the Gel Pens, Pack of 6 into my cart."
    assert page.locator(".answer").inner_text().split("\n") == ["task_type MUTATE", "status SUCCESS"]
    fields = page.locator("tr.difference th").all_inner_texts()
    assert fields == ["url", "http_method", "response_status", "headers.referer", "post_data"]
    assert tops(page) == sorted(tops(page))
    assert page.evaluate(UNFOLDED) == 0
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    page.click("text=show in network")
    report.until("!document.getElementById('event-panel').hidden")
    assert report.fragment == "#task=suite%2Fruns%2F109&event=14"


def test_no_fact_of_a_failure_stands_unfolded_more_than_twice(opened, session):
    text = opened(session.page).go("#task=106").page.locator("#task").inner_text()
    assert text.count("price_asc") == 2  # in the sentence and in the table
    assert text.count("__SHOPPING__/search") == 2  # in the sentence and as the nearest request
    assert "missing_navigation_event" not in text


def test_values_checks_and_definition_unfold_by_keys(opened, session):
    report = opened(session.page).go("#task=106")
    page = report.page
    for summary, shown in (
        ("Expected and actual values", '"sort": "price_asc"'),
        ("2 checks failed, 6 passed", "network_event.query_params_mismatch"),
        ("Definition", '"intent_template_id": 4'),
    ):
        assert shown not in page.locator("#task").inner_text()
        page.locator(f"summary:text-is('{summary}')").focus()
        report.pressed("Enter").page.locator("#task").get_by_text(shown).first.wait_for()
    assert page.evaluate(UNFOLDED) == 3
    assert page.locator("#task pre mark").all_inner_texts() == ['"sort": "price_asc"', '"sort": "price_desc"']
    assert "no matching GET __SHOPPING__/search" in page.locator(".checks").first.inner_text()
    report.pressed("Enter")
    report.until(f"{UNFOLDED} === 2")


@pytest.mark.parametrize("task", [109, 111])
def test_nothing_that_people_read_calls_a_post_a_navigation(opened, session, task):
    page = opened(session.page).go(f"#task={task}").page
    page.evaluate("document.querySelectorAll('#task details').forEach((block) => (block.open = true))")
    page.wait_for_selector("#task .checks")
    checks = page.locator("#task .checks code").all_inner_texts()
    assert checks[0] == {109: "missing request", 111: "forbidden request"}[task]
    assert not any("navigation_event" in text for text in (*checks, *page.locator(".row").all_inner_texts()))
    stored = json.loads((session.directory / f"suite/runs/{task}/eval_result.json").read_bytes())
    names = {check["assertion_name"] for each in stored["evaluators_results"] for check in each["assertions"]}
    assert {109: "missing_navigation_event", 111: "unexpected_navigation_event"}[task] in names


def test_the_agents_words_are_those_of_its_answer(opened, session):
    page = opened(session.page).go("#task=102").page
    assert page.locator(".answer").inner_text().split("\n") == [
        "action RETRIEVE",
        'results ["Ironvale"]',
        "status SUCCESS",
    ]
    assert page.locator("tr.difference").inner_text() == "results[0]\tdifferent\thearth & co\tironvale"
    page.click("text=Expected and actual values")
    page.wait_for_selector("#task pre mark")
    assert page.locator("#task pre mark").all_inner_texts() == ['"hearth & co"', '"ironvale"']
    assert '"task_type"' not in page.locator("#task pre").first.inner_text()
    other = opened(session.page).go("#task=210").page
    assert other.locator("tr.difference th").first.inner_text() == "retrieved_data[0]"


def test_a_success_has_the_same_order_with_its_checks_folded(opened, session):
    page = opened(session.page).go("#task=105").page
    assert page.locator(".why, .differences").count() == 0
    places = [page.locator(f"#task {selector}").first.bounding_box()["y"] for selector in
              (".intent", ".answer", "summary:text-is('Expected and actual values')", ".network", ".command", ".links")]  # fmt: skip
    assert places == sorted(places)


def test_an_error_has_its_reason_once(opened, session):
    text = opened(session.page).go("#task=307").page.locator("#task").inner_text()
    assert text.count("Input data was truncated") == 1
    assert '"' not in text.partition("Answer")[0].partition("Intent")[2]
    assert "task_type RETRIEVE" in text


def test_trajectories_have_their_final_answer_or_none(opened, trajectories):
    answers = {}
    for ending in ("r2/traj/books_find_7", "r1/traj/books_cart_2"):
        report = opened(trajectories.page).go(f"#task={trajectories.label(ending)}")
        answers[ending] = report.page.locator(".answer").inner_text()
        assert report.page.locator("#task").inner_text().count(answers[ending]) <= 3  # the last step may repeat it
    assert answers == {
        "r2/traj/books_find_7": "The Pocket Atlas costs 39.95 EUR and is in stock.",
        "r1/traj/books_cart_2": "no answer",
    }


def test_a_trace_next_to_a_har_has_its_command_and_all_links_open(opened, session):
    page = opened(session.page).go("#task=106").page
    commands = page.locator("#task .command code").all_inner_texts()
    assert commands[1:] == ["npx playwright show-trace suite/runs/106/trace.zip"]
    links = page.locator("#task .links a").evaluate_all("(all) => all.map((link) => [link.textContent, link.href])")
    assert [name for name, _ in links] == [
        "run directory",
        "eval_result.json",
        "agent_response.json",
        "network.har",
        "trace.zip",
    ]
    assert all(Path(unquote(urlsplit(address).path)).exists() for _, address in links)
    page.context.new_page().goto(dict(links)["agent_response.json"])
    assert "NAVIGATE" in page.context.pages[-1].locator("pre").inner_text()


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_what_is_unfolded(opened, session, theme, viewport):
    from axe_playwright_python.sync_playwright import Axe

    report = opened(session.page, color_scheme=theme, viewport=viewport, reduced_motion="reduce").go("#task=109")
    report.page.evaluate("document.querySelectorAll('#task details').forEach((block) => (block.open = true))")
    report.page.wait_for_selector("#task .checks")
    violations = Axe().run(report.page).response["violations"]
    assert [(each["id"], [node["html"][:200] for node in each["nodes"]]) for each in violations] == []


def test_a_long_answer_scrolls_in_its_box(opened, tmp_path):
    path = pages.write(tmp_path, 3, tasks=0)
    answer = {"fields": [{"name": "retrieved_data", "value": ["A" * 30] * 300}], "more": 7}
    pages.write_task("runs/00003", pages.task(3, answer=answer), path.parent)
    page = opened(path).go("#task=3").page
    box = page.locator(".answer")
    assert box.bounding_box()["height"] < 400
    assert "7 fields more" in box.inner_text()
    box.focus()
    assert page.evaluate("document.activeElement.classList.contains('answer')")
