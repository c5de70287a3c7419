"""Live tests: whatever an agent does, its run leaves a directory that scores as it should, now and later."""

from __future__ import annotations

import json
import signal

import pytest

from tests.browser.live_agents import Project, open_shop

pytestmark = pytest.mark.browser

AGENTS = '''
@pytest.mark.webeval_task("tasks.json", "succeeds")
def test_succeeds(webeval_recording):
    page = webeval_recording.page
    webeval_recording.step("buy", "five of them", page.screenshot(), url=webeval_recording.start_url)
    buy(webeval_recording)
    webeval_recording.answer()


@pytest.mark.webeval_task("tasks.json", "fails")
def test_fails(webeval_recording):
    buy(webeval_recording, "4")
    webeval_recording.answer()


@pytest.mark.webeval_task("tasks.json", "hangs", timeout=60)
def test_hangs(webeval_recording):
    page = webeval_recording.page
    let_time_pass()
    try:
        page.wait_for_timeout(60_000)
    except Exception:
        webeval_recording.answer()


@pytest.mark.webeval_task("tasks.json", "hangs_after_its_answer", timeout=60)
def test_hangs_after_its_answer(webeval_recording):
    buy(webeval_recording)
    webeval_recording.answer()
    let_time_pass()
    time.sleep(60)


@pytest.mark.webeval_task("tasks.json", "exceeds_its_budget", max_steps=2)
def test_exceeds_its_budget(webeval_recording):
    while True:
        webeval_recording.step("wait")


@pytest.mark.webeval_task("tasks.json", "crashes")
def test_crashes(webeval_recording):
    buy(webeval_recording)
    raise ValueError("no lamp")


@pytest.mark.webeval_task("tasks.json", "kills_its_browser")
def test_kills_its_browser(webeval_recording):
    buy(webeval_recording)
    webeval_recording.answer()
    kill_browser()


@pytest.mark.webeval_task("tasks.json", "kills_its_browser_early")
def test_kills_its_browser_early(webeval_recording):
    buy(webeval_recording)
    kill_browser()
    webeval_recording.page.reload()


@pytest.mark.webeval_task("tasks.json", "closes_its_browser")
def test_closes_its_browser(webeval_recording):
    buy(webeval_recording)
    webeval_recording.context.browser.close()
    webeval_recording.answer()


@pytest.mark.webeval_task("tasks.json", "downloads")
def test_downloads(webeval_recording):
    page = webeval_recording.page
    page.goto(webeval_recording.start_url)
    with page.expect_download() as download:
        page.evaluate("""() => {
            const link = document.createElement("a");
            link.href = URL.createObjectURL(new Blob(["{}"]));
            link.download = "eval_result.json";
            link.click();
        }""")
    assert download.value.path().read_text() == "{}"
    buy(webeval_recording)
    webeval_recording.answer()


@pytest.mark.webeval_task("tasks.json", "opens_a_tab")
def test_opens_a_tab(webeval_recording):
    page = webeval_recording.page
    page.goto(webeval_recording.start_url)
    with webeval_recording.context.expect_page() as tab:
        page.evaluate("() => { window.open('/cart') }")
    buy(webeval_recording, page=tab.value)
    webeval_recording.answer()
'''
EXPECTED = {
    "succeeds": "success",
    "fails": "failure",
    "hangs": "failure",
    "hangs_after_its_answer": "success",
    "exceeds_its_budget": "failure",
    "crashes": "failure",
    "kills_its_browser": "success",
    "kills_its_browser_early": "error",
    "closes_its_browser": "success",
    "downloads": "success",
    "opens_a_tab": "success",
}


@pytest.fixture
def project(pytester):
    with open_shop(pytester.path / "config.json"):
        yield Project(pytester)


def test_each_agent_scores_as_it_should_now_and_later(project):
    project.write(AGENTS)
    live = project.record("-n2", "--webeval-report=report", "--junitxml=junit.xml")
    assert project.statuses() == EXPECTED
    live.assert_outcomes(passed=6, failed=5)
    _check_messages(live.stdout.str())
    _check_directories(project)
    results = project.results()
    summary = json.loads((project.runs / "eval_summary.json").read_bytes())
    assert (summary["total"], summary["success_count"], summary["webeval"]["partial"]) == (11, 6, False)
    assert len(list((project.pytester.path / "report/data").glob(f"task-{'?' * 16}.js"))) == 11
    assert "webeval_status" in (project.pytester.path / "junit.xml").read_text()
    project.score().assert_outcomes(passed=6, failed=4, errors=1)
    assert project.results() == results


def _check_messages(text):
    for message in (
        "got no answer: the time limit of 60 s was exceeded",
        "the budget of 2 steps was exceeded",
        "ValueError: no lamp",
        "got no answer: the agent crashed: ValueError: no lamp",
        "the browser ended before the agent did",
    ):
        assert message in text, message
    assert "KeyboardInterrupt" not in text
    assert "TimeLimitExceeded" not in text


def _check_directories(project):
    recorded = {"agent_response.json", "eval_result.json", "network.har", "trace.zip", "webeval_recording.json"}
    for name in ("fails", "hangs_after_its_answer", "closes_its_browser", "downloads", "opens_a_tab"):
        assert project.files(name) == recorded, name
    assert project.files("succeeds") == recorded | {"webeval_steps"}
    assert project.files("crashes") == recorded - {"agent_response.json"}
    assert project.files("kills_its_browser") == recorded - {"network.har", "trace.zip"} | {"trace"}


KILLED = """
@pytest.mark.webeval_task("tasks.json", "answered")
def test_answered(webeval_recording):
    buy(webeval_recording)
    webeval_recording.answer()
    webeval_recording.page.wait_for_load_state()
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.webeval_task("tasks.json", "not_answered")
def test_not_answered(webeval_recording):
    buy(webeval_recording)
    os.kill(os.getpid(), signal.SIGKILL)
"""


# The shop may be sending a file to the browser that is killed.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_a_process_that_is_killed_leaves_a_recording_that_says_so(project):
    project.write(KILLED)
    for name in ("test_answered", "test_not_answered"):
        assert project.record("-k", name).ret == -signal.SIGKILL
    assert project.statuses() == {}
    result = project.score()
    assert project.statuses() == {"answered": "success", "not_answered": "error"}
    result.stdout.fnmatch_lines(["*no answer in *: recording was interrupted: the process ended before the browser*"])
    assert project.read("answered", "eval_result.json")["webeval"]["recording"]["outcome"] == "recording"


VARIANTS = '''
@pytest.mark.webeval_task("tasks.json", "awaits")
def test_awaits(webeval_recording):
    async def act():
        async with webeval_recording.open_async() as context:
            await buy_async(webeval_recording, context)
            webeval_recording.answer()

    asyncio.run(act())


@pytest.mark.webeval_task("tasks.json", "awaits_for_ever", timeout=60)
def test_awaits_for_ever(webeval_recording):
    async def act():
        async with webeval_recording.open_async() as context:
            await buy_async(webeval_recording, context)
            let_time_pass()
            await asyncio.sleep(60)

    asyncio.run(act())


@pytest.mark.webeval_task("tasks.json", "opens_a_second_browser")
def test_opens_a_second_browser(webeval_recording):
    async def act():
        async with webeval_recording.open_async() as context:
            await buy_async(webeval_recording, context)
        async with webeval_recording.open_async():
            pass

    with pytest.raises(SettingsError, match="this recording has had its browser"):
        asyncio.run(act())
    with pytest.raises(SettingsError, match="this recording has had its browser"):
        webeval_recording.page
    webeval_recording.answer()


@pytest.mark.webeval_task("tasks.json", "connects")
def test_connects(webeval_recording, tmp_path):
    from pytest_webeval.recorder.browser import find_browser

    arguments = ("--headless", "--no-sandbox", "--remote-debugging-port=0", f"--user-data-dir={tmp_path}")
    with subprocess.Popen((find_browser(""), *arguments), stderr=subprocess.DEVNULL) as browser:
        port_file = tmp_path / "DevToolsActivePort"
        while not (port_file.exists() and port_file.read_text().count("\\n")):
            time.sleep(0.05)
        webeval_recording.connect(f"http://127.0.0.1:{port_file.read_text().split()[0]}")
        buy(webeval_recording)
        webeval_recording.answer()
        webeval_recording.close()
        assert browser.poll() is None
        browser.terminate()


OTHER_PROGRAM = """
import sys
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    page = playwright.chromium.connect_over_cdp(sys.argv[1]).contexts[0].new_page()
    page.goto(sys.argv[2] + "/product/dot-notebook")
    page.get_by_label("Quantity").fill("5")
    page.get_by_role("button", name="Add to cart").click()
    page.wait_for_load_state()
"""


@pytest.mark.webeval_task("tasks.json", "lets_another_program_connect")
def test_lets_another_program_connect(webeval_recording):
    async def act():
        async with webeval_recording.open_async(serves_cdp=True):
            addresses = webeval_recording.cdp_url, webeval_recording.start_url
            program = await asyncio.create_subprocess_exec(sys.executable, "-c", OTHER_PROGRAM, *addresses)
            assert await program.wait() == 0
            webeval_recording.answer()

    asyncio.run(act())
'''


def test_agents_that_await_their_browser_or_share_it_are_recorded(project):
    project.write(VARIANTS)
    project.record()
    assert project.statuses() == {
        "awaits": "success",
        "awaits_for_ever": "failure",
        "connects": "success",
        "lets_another_program_connect": "success",
        "opens_a_second_browser": "success",
    }
    results = project.results()
    project.score().assert_outcomes(passed=4, failed=1)
    assert project.results() == results


INTERRUPTED = """
@pytest.mark.webeval_task("tasks.json", "interrupted")
def test_interrupted(webeval_recording):
    buy(webeval_recording)
    os.kill(os.getpid(), signal.SIGINT)
    webeval_recording.page.wait_for_timeout(60_000)
"""


def test_ctrl_c_closes_the_recording(project):
    project.write(INTERRUPTED)
    assert project.record().ret == pytest.ExitCode.INTERRUPTED
    assert {"network.har", "trace.zip"} < project.files("interrupted")
    assert project.read("interrupted", "webeval_recording.json")["outcome"] == "interrupted"
