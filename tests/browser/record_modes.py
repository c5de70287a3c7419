"""Record the same ten tasks in each mode of Playwright, and each kind of body that a script can send; then score them.

    python -m tests.browser.record_modes [--output DIR] [--rules RULES] [MODE ...]

prints a table of modes and tasks. A cell is the verdict, marked where it is wrong, or the gap that an error names. The
shop and its agents are those of the example suite. A second root in each mode has requests of scripts: `fetch`, XHR and
beacons, with texts, forms and Blobs, each once with the right and once with another message.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pytest_webeval import load_sites, load_tasks, score_runs
from tests.conftest import CHROMIUM, SWITCHES

SUITE = Path(__file__).parents[2] / "example_suite"
TASKS = (105, 106, 107, 108, 109, 111, 112, 115, 205, 301)
SENT = "the lamp flickers"
OpenRun = Callable[[Path], AbstractContextManager[Any]]
Act = Callable[[Any], None]


class Mode(NamedTuple):
    """A way to record. What it omits on purpose is a gap: `complete` modes have none for the ten tasks."""

    open: Callable[[Any], AbstractContextManager[OpenRun]]
    complete: bool = True


@dataclass(frozen=True)
class Agent:
    """One run: its task, what it does on a page, what it answers, and which verdict that deserves."""

    task_id: int | str
    act: Act
    answer: str
    verdict: str


class Cell(NamedTuple):
    """What became of a run in a mode."""

    verdict: str
    expected: str
    message: str

    @property
    def is_right(self) -> bool:
        """Whether the verdict is the one that the run deserves."""
        return self.verdict == self.expected

    def __str__(self) -> str:
        if self.is_right:
            return self.verdict
        return f"gap: {self.message}" if self.verdict == "error" else f"WRONG: {self.verdict}"


@contextmanager
def _har(browser: Any, name: str, content: str, mode: str = "full") -> Iterator[OpenRun]:
    """One context for each run, whose HAR is written as it closes."""

    @contextmanager
    def open_run(directory: Path) -> Iterator[Any]:
        options = {"record_har_content": content, "record_har_mode": mode}
        context = browser.new_context(record_har_path=directory / name, **options)
        yield context.new_page()
        context.close()

    yield open_run


@contextmanager
def _trace(browser: Any) -> Iterator[OpenRun]:
    """One context and one trace for each run."""

    @contextmanager
    def open_run(directory: Path) -> Iterator[Any]:
        context = browser.new_context()
        context.tracing.start(snapshots=True)
        yield context.new_page()
        context.tracing.stop(path=directory / "trace.zip")
        context.close()

    yield open_run


@contextmanager
def _chunks(browser: Any) -> Iterator[OpenRun]:
    """One context for all runs, each of which is a chunk of its trace."""
    context = browser.new_context()
    context.tracing.start(snapshots=True)

    @contextmanager
    def open_run(directory: Path) -> Iterator[Any]:
        context.tracing.start_chunk()
        page = context.new_page()
        yield page
        page.close()
        context.tracing.stop_chunk(path=directory / "trace.zip")

    yield open_run
    context.close()


@contextmanager
def _unpacked(browser: Any, top: str = "") -> Iterator[OpenRun]:
    """Traces that somebody unpacked; packed again with a top folder if that has a name."""
    with _trace(browser) as record:

        @contextmanager
        def open_run(directory: Path) -> Iterator[Any]:
            with record(directory) as page:
                yield page
            archive, folder = directory / "trace.zip", directory / (top or "trace")
            shutil.unpack_archive(archive, folder)
            archive.unlink()
            if top:
                shutil.make_archive(str(directory / "trace"), "zip", directory, top)
                shutil.rmtree(folder)

        yield open_run


MODES = {
    "har-full-embed": Mode(partial(_har, name="network.har", content="embed")),
    "har-full-attach": Mode(partial(_har, name="network.har", content="attach")),
    "har-full-omit": Mode(partial(_har, name="network.har", content="omit"), complete=False),
    "har-minimal-embed": Mode(partial(_har, name="network.har", content="embed", mode="minimal"), complete=False),
    "har-minimal-attach": Mode(partial(_har, name="network.har", content="attach", mode="minimal"), complete=False),
    "har-minimal-omit": Mode(partial(_har, name="network.har", content="omit", mode="minimal"), complete=False),
    "zip-full-embed": Mode(partial(_har, name="network.har.zip", content="embed")),
    "zip-full-attach": Mode(partial(_har, name="network.har.zip", content="attach")),
    "zip-full-omit": Mode(partial(_har, name="network.har.zip", content="omit"), complete=False),
    "zip-minimal-embed": Mode(partial(_har, name="network.har.zip", content="embed", mode="minimal"), complete=False),
    "zip-minimal-attach": Mode(partial(_har, name="network.har.zip", content="attach", mode="minimal"), complete=False),
    "zip-minimal-omit": Mode(partial(_har, name="network.har.zip", content="omit", mode="minimal"), complete=False),
    "trace": Mode(_trace),
    "chunk": Mode(_chunks),
    "unpacked-trace": Mode(_unpacked),
    "packed-again": Mode(partial(_unpacked, top="my-trace")),
}

# How scripts send a message; `text` is JSON with the message. What a browser sends of a Blob, no recorder sees.
JSON_TYPE = "{'Content-Type': 'application/json'}"
SCRIPTS = {
    "fetch-json": f"fetch('/contact', {{method: 'POST', headers: {JSON_TYPE}, body: text}})",
    "fetch-text": "fetch('/contact', {method: 'POST', body: text})",
    "fetch-fields": "fetch('/contact', {method: 'POST', body: new URLSearchParams({message})})",
    "fetch-form": "fetch('/contact', {method: 'POST', body: form})",
    "fetch-bytes": f"fetch('/contact', {{method: 'POST', headers: {JSON_TYPE}, body: new TextEncoder().encode(text)}})",
    "fetch-blob": "fetch('/contact', {method: 'POST', body: new Blob([text], {type: 'application/json'})})",
    "xhr-json": "new Promise((resolve) => { const sent = new XMLHttpRequest(); sent.open('POST', '/contact');"
    " sent.setRequestHeader('Content-Type', 'application/json'); sent.onloadend = resolve; sent.send(text); })",
    "beacon-text": "navigator.sendBeacon('/contact', text)",
    "beacon-fields": "navigator.sendBeacon('/contact', new URLSearchParams({message}))",
    "beacon-form": "navigator.sendBeacon('/contact', form)",
    "beacon-blob": "navigator.sendBeacon('/contact', new Blob([text], {type: 'application/json'}))",
}
SEND = """async (message) => {{
    const text = JSON.stringify({{message}}), form = new FormData();
    form.append("message", message);
    await {};
}}"""
WRONG = "-with-another-message"
ANSWER = json.dumps({"task_type": "MUTATE", "status": "SUCCESS", "retrieved_data": None})


def list_shop_agents(urls: Any) -> Iterator[Agent]:
    """The agents of the ten tasks, with the verdicts that the example suite gives them."""
    from recordings import RECORDINGS

    verdicts = json.loads((SUITE / "verdicts.json").read_bytes())
    for recording in RECORDINGS:
        if recording.task_id in TASKS:
            verdict = verdicts[str(recording.task_id)]["status"]
            yield Agent(recording.task_id, partial(_work, recording.agent, urls), recording.answer, verdict)


def _work(agent: Callable[[Any, Any], None], urls: Any, page: Any) -> None:
    agent(page, urls)
    page.wait_for_load_state("networkidle")


def list_script_agents(urls: Any) -> Iterator[Agent]:
    """Two agents for each kind of script: one sends the message that the task asks for, one another."""
    for name, script in SCRIPTS.items():
        yield Agent(name, partial(_send, urls, script, SENT), ANSWER, "success")
        yield Agent(f"{name}{WRONG}", partial(_send, urls, script, "all is well"), ANSWER, "failure")


def _send(urls: Any, script: str, message: str, page: Any) -> None:
    page.goto(f"{urls.shopping}/contact")
    with page.expect_response("**/contact"):  # a beacon's comes after the script has ended
        page.evaluate(SEND.format(script), message)
    page.wait_for_timeout(100)


def write_tasks(root: Path) -> None:
    """The ten tasks, without the evaluator that is the suite's own, and one for each agent with a script."""
    root.mkdir(parents=True)
    tasks = [task for task in json.loads((SUITE / "runs/tasks.json").read_bytes()) if task["task_id"] in TASKS]
    for task in tasks:
        task["eval"] = [check for check in task["eval"] if check["evaluator"] != "PageBudgetEvaluator"]
    letter = {
        "evaluator": "NetworkEventEvaluator",
        "expected": {"url": "__SHOPPING__/contact", "http_method": "POST", "post_data": {"message": SENT}},
    }
    like = next(task for task in tasks if task["task_id"] == 108)
    asked = [like | {"task_id": f"{name}{end}", "eval": [letter]} for name in SCRIPTS for end in ("", WRONG)]
    (root / "tasks.json").write_text(json.dumps([*tasks, *asked]), "utf-8")


def record(browser: Any, mode: str, root: Path, *, scripts: bool = False) -> dict[str, str]:
    """Record all agents in a mode below a new root, with tasks and `config.json`. Gives the verdicts they deserve."""
    sys.path.insert(0, str(SUITE))
    try:
        from shop.sites import fresh_sites

        write_tasks(root)
        with fresh_sites(0, 0) as urls:
            (root / "config.json").write_text(json.dumps(urls.as_config()), "utf-8")
        agents = list((list_script_agents if scripts else list_shop_agents)(urls))
        with MODES[mode].open(browser) as open_run:
            for agent in agents:
                directory = root / str(agent.task_id)
                directory.mkdir()
                with fresh_sites(*urls.ports), open_run(directory) as page:
                    agent.act(page)
                (directory / "agent_response.json").write_text(agent.answer, "utf-8")
    finally:
        sys.path.remove(str(SUITE))
    return {str(agent.task_id): agent.verdict for agent in agents}


def evaluate(root: Path, expected: dict[str, str], rules: str) -> dict[str, Cell]:
    """What becomes of the runs below a root."""
    tasks, sites = load_tasks(str(root / "tasks.json")), load_sites(root / "config.json")
    results = {str(result.task_id): result for result in score_runs(root, tasks, sites, rules=rules)}
    return {
        name: Cell(str(results[name].status), verdict, results[name].error_msg or "")
        for name, verdict in expected.items()
    }


def record_all(root: Path, modes: Iterable[str], rules: str) -> dict[str, dict[str, Cell]]:
    """The cells of the table by mode."""
    from playwright.sync_api import sync_playwright

    table = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=SWITCHES)
        for mode in modes:
            table[mode] = {}
            for scripts in (False, True):
                place = root / mode / ("scripts" if scripts else "shop")
                table[mode] |= evaluate(place, record(browser, mode, place, scripts=scripts), rules)
            print_rows(mode, table[mode])
        browser.close()
    return table


def print_rows(mode: str, cells: dict[str, Cell]) -> None:
    """Print what became of each run in a mode."""
    for name, cell in cells.items():
        print(f"{mode:<20} {name:<36} {cell}", flush=True)


def main() -> int:
    """Record and print. The exit code is 1 for a wrong verdict."""
    parser = argparse.ArgumentParser(description="Record the same tasks in each mode of Playwright, and score them.")
    parser.add_argument("modes", nargs="*", metavar="MODE", help=f"one of {', '.join(MODES)} (default: all)")
    parser.add_argument("--output", type=Path, metavar="DIR", help="keep the recordings in DIR, which is new")
    parser.add_argument("--rules", default="strict", help="rules to score by (default: strict)")
    options = parser.parse_args()
    if unknown := set(options.modes) - MODES.keys():
        parser.error(f"unknown mode {min(unknown)!r}; use one of {', '.join(MODES)}")
    with tempfile.TemporaryDirectory() as scratch:
        table = record_all(options.output or Path(scratch), options.modes or MODES, options.rules)
    cells = [cell for row in table.values() for cell in row.values()]
    wrong = sum(not cell.is_right and cell.verdict != "error" for cell in cells)
    print(f"{len(cells)} runs, {sum(cell.is_right for cell in cells)} right verdicts, {wrong} wrong ones")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
