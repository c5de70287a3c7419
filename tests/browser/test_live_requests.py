"""Live tests: what an agent sends next to its pages is recorded as well, or the run is an error that says so."""

from __future__ import annotations

import json

import pytest

from tests.browser.live_agents import Project, open_shop

pytestmark = pytest.mark.browser

LETTER = 110  # fill in a letter, but do not send it
BRAND = 101  # a question, which only the answer answers
SENDS = """
LETTER = {"message": "The lamp flickers."}


def draft(recording):
    recording.page.goto(f"{recording.start_url}/contact")
    recording.answer({"task_type": "MUTATE", "status": "SUCCESS", "retrieved_data": None})


@pytest.mark.webeval_task("tasks.json", "reads_through_the_page")
def test_reads_through_the_page(webeval_recording):
    draft(webeval_recording)
    assert webeval_recording.page.request.get(f"{webeval_recording.start_url}/cart").ok


@pytest.mark.webeval_task("tasks.json", "posts_through_the_page")
def test_posts_through_the_page(webeval_recording):
    draft(webeval_recording)
    assert webeval_recording.page.request.post(f"{webeval_recording.start_url}/contact", form=LETTER).ok


@pytest.mark.webeval_task("tasks.json", "posts_through_the_context")
def test_posts_through_the_context(webeval_recording):
    assert webeval_recording.context.request.post(f"{webeval_recording.start_url}/contact", form=LETTER).ok
    draft(webeval_recording)


@pytest.mark.webeval_task("tasks.json", "posts_and_awaits")
def test_posts_and_awaits(webeval_recording):
    async def act():
        async with webeval_recording.open_async() as context:
            page = await context.new_page()
            await page.goto(f"{webeval_recording.start_url}/contact")
            await page.request.post(f"{webeval_recording.start_url}/contact", form=LETTER)
            webeval_recording.answer()

    asyncio.run(act())


@pytest.mark.webeval_task("tasks.json", "posts_and_closes_its_browser")
def test_posts_and_closes_its_browser(webeval_recording):
    draft(webeval_recording)
    webeval_recording.page.request.post(f"{webeval_recording.start_url}/contact", form=LETTER)
    webeval_recording.context.browser.close()


@pytest.mark.webeval_task("tasks.json", "posts_and_kills_its_browser")
def test_posts_and_kills_its_browser(webeval_recording):
    draft(webeval_recording)
    webeval_recording.page.request.post(f"{webeval_recording.start_url}/contact", form=LETTER)
    kill_browser()


@pytest.mark.webeval_task("tasks.json", "opens_a_context")
def test_opens_a_context(webeval_recording):
    draft(webeval_recording)
    context = webeval_recording.context.browser.new_context()
    context.request.post(f"{webeval_recording.start_url}/contact", form=LETTER)
    context.close()


@pytest.mark.webeval_task("tasks.json", "opens_a_page_of_the_browser")
def test_opens_a_page_of_the_browser(webeval_recording):
    draft(webeval_recording)
    webeval_recording.context.browser.new_page().goto(f"{webeval_recording.start_url}/contact")


@pytest.mark.webeval_task("tasks.json", "opens_a_context_and_awaits")
def test_opens_a_context_and_awaits(webeval_recording):
    async def act():
        async with webeval_recording.open_async() as context:
            page = await context.new_page()
            await page.goto(f"{webeval_recording.start_url}/contact")
            await (await context.browser.new_context()).close()
            webeval_recording.answer()

    asyncio.run(act())
"""
EXPECTED = {
    "reads_through_the_page": "success",
    "posts_through_the_page": "failure",
    "posts_through_the_context": "failure",
    "posts_and_awaits": "failure",
    "posts_and_closes_its_browser": "failure",
    "posts_and_kills_its_browser": "failure",
    "opens_a_context": "error",
    "opens_a_page_of_the_browser": "error",
    "opens_a_context_and_awaits": "error",
}
OWN_CONTEXT = (
    "the agent opened a browser context of its own, whose requests are not recorded; "
    "let the agent work in the context of the recording, and record the run again"
)


@pytest.fixture
def project(pytester):
    with open_shop(pytester.path / "config.json"):
        yield Project(pytester)


@pytest.mark.parametrize("rules", ["default", "strict"])
def test_no_request_of_an_agent_passes_unseen(project, rules):
    project.write(SENDS, LETTER)
    project.record(f"--webeval-rules={rules}")
    assert project.statuses() == EXPECTED
    results = project.results()
    project.score(f"--webeval-rules={rules}")
    assert project.results() == results
    for name, status in EXPECTED.items():
        message = project.read(name, "eval_result.json")["error_msg"]
        assert (message == OWN_CONTEXT) == (status == "error"), message


def test_requests_lie_among_those_of_pages_in_the_order_of_time(project):
    project.write(SENDS, LETTER)
    project.record("-k", "context or reads", "--webeval-rules=strict")
    entries = project.read("posts_through_the_context", "network.har")["log"]["entries"]
    stamps = [entry["startedDateTime"] for entry in entries]
    methods = [entry["request"]["method"] for entry in entries if "/contact" in entry["request"]["url"]]
    assert (methods, stamps) == (["POST", "GET"], sorted(stamps))
    assert entries[0]["request"]["postData"]["text"] == "message=The+lamp+flickers."
    recorded = {"agent_response.json", "eval_result.json", "network.har", "trace.zip", "webeval_recording.json"}
    assert project.files("posts_through_the_context") == recorded
    assert project.read("opens_a_context", "webeval_recording.json")["unrecorded"].startswith("the agent opened a")


ASKS = """
@pytest.mark.webeval_task("tasks.json", "asks_in_a_context")
def test_asks_in_a_context(webeval_recording):
    webeval_recording.page.goto(webeval_recording.start_url)
    webeval_recording.context.browser.new_context().close()
    webeval_recording.answer("Northlight")
"""


def test_a_task_that_only_asks_is_judged_by_the_answer_with_a_warning(project):
    project.write(ASKS, BRAND)
    project.record("--webeval-rules=strict")
    assert project.statuses() == {"asks_in_a_context": "success"}
    warnings = project.read("asks_in_a_context", "eval_result.json")["webeval"]["warnings"]
    assert any(OWN_CONTEXT.partition(";")[0] in json.dumps(warning) for warning in warnings)
