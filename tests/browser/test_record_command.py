"""`webeval record`: a person browses in Chromium, which the tests do in the place of the person."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_webeval import load_sites, load_tasks, score_runs
from tests.conftest import CHROMIUM, SWITCHES

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
SUITE = ROOT / "example_suite"
COMMAND = (sys.executable, "-m", "pytest_webeval", "record")
TASKS = ("--tasks=tasks.json", "--config=config.json")
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
SECONDS = 60


@pytest.fixture
def shop(monkeypatch, tmp_path) -> Iterator[str]:
    """The address of the example shop, and its configuration as config.json."""
    monkeypatch.syspath_prepend(str(SUITE))
    from shop.sites import fresh_sites

    with fresh_sites(0, 0) as urls:
        (tmp_path / "config.json").write_text(json.dumps(urls.as_config()), "utf-8")
        yield urls.shopping


@pytest.fixture
def chromium(browser) -> object:
    """Playwright's way to the browser of the command."""
    return browser.browser_type


class Command:
    """The command while it runs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []  # until the browser is open

    def read_address(self) -> str:
        """The address of the browser, once it is open."""
        for line in self.process.stdout:
            self.lines.append(line)
            if line.startswith("browse "):
                return ADDRESS.search(line)[0]
        raise AssertionError(f"no browser: {self.process.stderr.read()}")

    def type(self, *lines: str) -> tuple[int, str]:
        """Type lines, and return the exit code and what is printed."""
        printed, problems = self.process.communicate("".join(f"{line}\n" for line in lines), timeout=SECONDS)
        return self.process.returncode, printed + problems


@pytest.fixture
def record(tmp_path) -> Iterator[object]:
    """Starts the command for a task of the example suite, without the evaluator that is the suite's own."""
    started = []
    tasks = json.loads((SUITE / "runs/tasks.json").read_bytes())
    for task in tasks:
        task["eval"] = [check for check in task["eval"] if check["evaluator"] != "PageBudgetEvaluator"]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks), "utf-8")

    def start(task_id, *options, output="runs", tasks=TASKS):
        command = (
            *COMMAND,
            f"--output={output}",
            *tasks,
            f"--browser={CHROMIUM}",
            f"--task={task_id}",
            *options,
        )
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(command, cwd=tmp_path, env=environment, text=True, start_new_session=True, **pipes)
        started.append(process)
        return Command(process)

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@contextmanager
def open_page(chromium, address):
    """The page that the command has opened, as somebody with DevTools reaches it."""
    connected = chromium.connect_over_cdp(address)
    yield connected.contexts[0].pages[0]
    connected.close()


def sort_lamps(page):
    page.get_by_label("Search").fill("desk lamp")
    page.keyboard.press("Enter")
    with page.expect_navigation():
        page.get_by_label("Sort by").select_option("Price: low to high")


def score(tmp_path):
    results = score_runs(
        tmp_path / "runs", load_tasks(str(tmp_path / "tasks.json")), load_sites(tmp_path / "config.json")
    )
    return {str(result.task_id): (str(result.status), result.error_msg) for result in results}


def test_a_person_browses_and_answers_and_the_run_succeeds(shop, chromium, record, tmp_path):
    command = record(105, "--headless")
    with open_page(chromium, command.read_address()) as page:
        assert page.url == f"{shop}/"
        sort_lamps(page)
    assert command.type("", "", "")[0] == 0
    response = {"task_type": "NAVIGATE", "status": "SUCCESS", "retrieved_data": None, "error_details": None}
    assert json.loads((tmp_path / "runs/105/agent_response.json").read_text()) == response
    assert score(tmp_path) == {"105": ("success", None)}


def test_the_manual_shows_what_is_printed(shop, chromium, record):
    command = record(107, "--headless", output="webeval-runs")
    with open_page(chromium, command.read_address()) as page:
        page.get_by_role("link", name="Lighting").click()
    _, printed = command.type("", "", "")
    manual = (ROOT / "docs/how-to/record-by-hand.md").read_text("utf-8")
    (block,) = re.findall(r"^```text\n(.*?)^```$", manual, re.DOTALL | re.MULTILINE)
    task, browse, *rest = block.splitlines()
    assert [re.sub(r"through http://[\d.:]+", "in the window", line.rstrip()) for line in command.lines] == [
        task,
        browse,
    ]
    assert [line.rstrip() for line in printed.splitlines()] == rest


def test_a_run_is_recorded_before_its_task_is_defined(shop, chromium, record, tmp_path):
    command = record("lamps", "--headless", f"--url={shop}/search?q=lamp", tasks=())
    with open_page(chromium, command.read_address()) as page:
        assert page.url == f"{shop}/search?q=lamp"
    code, printed = command.type("", "", "", "5")
    assert code == 0
    assert [line.rstrip() for line in printed.splitlines()] == [
        "task type [RETRIEVE]:",
        "status [SUCCESS]:",
        "answer, as JSON or text:",
        "recorded runs/lamps",
        "next: webeval new-task runs/lamps",
    ]
    assert json.loads((tmp_path / "runs/lamps/agent_response.json").read_text())["retrieved_data"] == [5]


def test_closing_the_page_ends_the_recording_and_an_option_answers(shop, chromium, record, tmp_path):
    command = record(101, "--headless", "--answer=Northlight")
    with open_page(chromium, command.read_address()) as page:
        page.goto(f"{shop}/search?q=desk+lamp&sort=rating")
        page.close()
    assert command.process.wait(SECONDS) == 0
    assert score(tmp_path) == {"101": ("success", None)}


def test_after_ctrl_c_the_recording_is_complete_and_another_one_leaves_it_without_an_answer(
    shop, chromium, record, tmp_path
):
    command = record(105, "--headless")
    with open_page(chromium, command.read_address()) as page:
        sort_lamps(page)
    os.killpg(command.process.pid, signal.SIGINT)  # as a terminal does
    assert command.process.stdout.read(len("task type")) == "task type"
    os.killpg(command.process.pid, signal.SIGINT)
    assert command.process.wait(SECONDS) == 0
    assert "warning: no answer; write runs/105/agent_response.json" in command.process.stdout.read()
    urls = [
        entry["request"]["url"]
        for entry in json.loads((tmp_path / "runs/105/network.har").read_bytes())["log"]["entries"]
    ]
    assert f"{shop}/search?q=desk+lamp&sort=price_asc" in urls
    assert score(tmp_path)["105"][0] == "failure"


def test_a_browser_that_is_killed_costs_the_exit_code_but_not_the_evidence(shop, chromium, record, tmp_path):
    command = record(105, "--headless", "--answer=null")
    with open_page(chromium, command.read_address()) as page:
        sort_lamps(page)
        page.wait_for_load_state("networkidle")
    kill_browsers(command.process.pid)
    code, printed = command.type()
    assert code == 1
    assert re.search(
        r"^warning: the browser ended before the agent did.*; record the run again$", printed, re.MULTILINE
    )
    assert score(tmp_path) == {"105": ("success", None)}


def kill_browsers(session):
    """Kill the browsers of a session of processes."""
    listed = subprocess.run(("ps", "-o", "pid=,ppid=,comm=", "-A"), capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    children, names = {}, {int(pid): name for pid, _, name in rows}
    for pid, parent, _ in rows:
        children.setdefault(int(parent), []).append(int(pid))
    waiting = [session]
    while waiting:
        pid = waiting.pop()
        if "chrom" in names[pid]:
            os.kill(pid, signal.SIGKILL)
        else:
            waiting += children.get(pid, ())


def test_a_running_browser_is_recorded_and_left_open(shop, chromium, record, tmp_path):
    profile = tmp_path / "profile"
    switches = [*SWITCHES, "--headless=new", "--remote-debugging-port=0", f"--user-data-dir={profile}"]
    running = subprocess.Popen([CHROMIUM, *switches, "about:blank"], stderr=subprocess.PIPE, text=True)
    try:
        endpoint = next(line for line in running.stderr if "DevTools listening on " in line)
        address = "http://" + endpoint.split("//")[1].split("/")[0]
        command = record(105, f"--cdp={address}")
        assert command.read_address() == address
        with open_page(chromium, address) as page:
            sort_lamps(page)
        code, _ = command.type("", "navigate", "success")
        assert (code, running.poll()) == (0, None)
    finally:
        running.kill()
        running.communicate()
    assert score(tmp_path) == {"105": ("success", None)}


def test_without_the_site_nothing_is_left(record, tmp_path):
    (tmp_path / "config.json").write_text('{"environments": {"__SHOPPING__": {"urls": ["http://127.0.0.1:9"]}}}')
    code, printed = record(105, "--headless").type()
    problem = "ERROR: cannot open the start page: Page.goto: net::ERR_UNSAFE_PORT"
    assert (code, printed.splitlines()[-1].startswith(problem), list((tmp_path / "runs").iterdir())) == (4, True, []), (
        printed
    )
