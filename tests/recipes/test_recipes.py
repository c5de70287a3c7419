"""Agents of browser-use and Stagehand, with scripted models, are recorded and scored by the tests of the manual."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.recipes.conftest import LIBRARIES, ROOT

pytestmark = [
    pytest.mark.whole,
    pytest.mark.browser,
    pytest.mark.unchecked_files("a run is moved to where two formats claim it"),
]

BROWSER_USE, STAGEHAND = "docs/how-to/record-browser-use.md", "docs/how-to/record-stagehand.md"
SORTED = ("GET", "/search?q=desk+lamp&sort=price_asc")
ANSWER = '{"task_type": "navigate", "status": "SUCCESS", "retrieved_data": null}'
BROWSING_MODEL = """
from tests.support.browser_use_model import ScriptedModel, done, element

@pytest.fixture
def model():
    return ScriptedModel([
        [{{"input": {{"index": element("<input[^>]*name=q"), "text": "desk lamp", "clear": True}}}},
         {{"send_keys": {{"keys": "Enter"}}}}],
        [{{"select_dropdown": {{"index": element("<select"), "text": {option!r}}}}}],
        *{end},
    ])
"""
ACTING_MODEL = """
from tests.support.stagehand_model import Choice, ScriptedModel

@pytest.fixture
def model():
    return ScriptedModel({{
        "type desk lamp into the search box": Choice("textbox: Search", "fill", ["desk lamp"]),
        "press Enter": Choice("textbox: Search", "press", ["Enter"]),
        {sort}: Choice("select: Sort by", "selectOptionFromDropdown", ["{option}"]),
    }})
"""
LOW, HIGH = "Price: low to high", "Price: high to low"
SORT = "sort by price, cheapest first"


def browsing(option=LOW, end=f"[[done({ANSWER!r}, success=True)]]"):
    return BROWSING_MODEL.format(option=option, end=end)


def acting(option=LOW, sort=SORT):
    return ACTING_MODEL.format(option=option, sort=repr(sort))


AGENTS = pytest.mark.parametrize(
    ("library", "page", "model"),
    [("browser-use", BROWSER_USE, browsing), ("stagehand", STAGEHAND, acting)],
    ids=["browser-use", "stagehand"],
)


@AGENTS
def test_an_agent_succeeds_live_and_later(run_live, score_again, library, page, model):
    session = run_live(library, page, model())
    assert "1 scored: 1 success" in session.printed, session.printed
    assert SORTED in session.requests
    assert session.read_json("agent_response.json")["status"] == "SUCCESS"
    assert session.read_json("webeval_recording.json")["outcome"] == "closed"
    assert len(session.steps) == 3 + (library == "browser-use")  # which types and presses Enter in one step
    assert all((session.run / "webeval_steps" / step["screenshot"]).exists() for step in session.steps)
    assert "1 scored: 1 success" in score_again(library)


@AGENTS
def test_an_agent_that_sorts_the_other_way_fails_by_the_network_check(run_live, library, page, model):
    session = run_live(library, page, model(option=HIGH))
    assert "1 scored: 0 success, 1 failure" in session.printed, session.printed
    result = session.read_json("eval_result.json")
    assert [each["status"] for each in result["evaluators_results"]] == ["success", "failure"]
    assert 'got {"q": ["desk lamp"], "sort": ["price_desc"]}' in session.printed


def test_an_agent_of_browser_use_that_gives_up_leaves_no_answer(run_live):
    session = run_live("browser-use", BROWSER_USE, browsing(end="['no JSON'] * 9"))
    assert "1 scored: 0 success, 1 failure" in session.printed, session.printed
    assert "got no answer: the agent ended" in session.printed
    assert SORTED in session.requests


def test_an_instruction_that_stagehand_cannot_follow_fails_without_an_answer(run_live):
    session = run_live("stagehand", STAGEHAND, acting(sort="dance"))
    assert "1 scored: 0 success, 1 failure" in session.printed, session.printed
    assert "no answer: the agent crashed: AssertionError: " in session.printed
    assert len(session.steps) == 3


def test_a_history_of_browser_use_is_kept_and_is_no_second_recording(run_live, score_again):
    session = run_live("browser-use", BROWSER_USE, browsing())
    *_, last = session.read_json("browser_use/AgentHistory.json")["history"]
    assert last["result"][-1]["extracted_content"] == ANSWER
    shutil.move(session.run / "browser_use/AgentHistory.json", session.run)
    assert "has the files of several formats" in score_again("browser-use")


@pytest.mark.parametrize(("library", "page"), [("browser-use", BROWSER_USE), ("stagehand", STAGEHAND)])
def test_the_page_names_the_version_that_is_tested(library, page):
    version = LIBRARIES[library].requirement.partition("==")[2]
    assert re.search(rf"\({re.escape(version)} is what the tests\s+use\)", (ROOT / page).read_text("utf-8"))
