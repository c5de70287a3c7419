"""Record the example suite anew: `python example_suite/record.py [--output DIR] [--only ID ...] [--free-ports]`.

Each run gets a new browser context and newly started sites, so runs cannot influence each other.
The browser is /usr/bin/chromium unless the environment variable CHROMIUM names another one.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from recordings import BROKEN, RECORDINGS, TRACE, Recording
from shop.sites import SHOP_PORT, TRACKER_PORT, SiteUrls, fresh_sites
from trace_zip import keep_what_scoring_reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext

RUNS = Path(__file__).parent / "runs"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def main() -> None:
    """Record what the command line asks for."""
    from playwright.sync_api import sync_playwright  # here, so that the texts of trajectories are written without it

    asked = _arguments()
    asked.output.mkdir(parents=True, exist_ok=True)
    if asked.output.resolve() != RUNS.resolve():
        shutil.copy(RUNS / "tasks.json", asked.output)
    ports = _free_ports(asked.output / "config.json") if asked.free_ports else (SHOP_PORT, TRACKER_PORT)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=SWITCHES)
        for recording in RECORDINGS:
            if asked.only and recording.task_id not in asked.only:
                continue
            with fresh_sites(*ports) as urls:
                record(browser, recording, asked.output / str(recording.task_id), urls)
            print(f"{recording.task_id}  {recording.form:<20}  {recording.name}")
        browser.close()


def record(browser: Browser, recording: Recording, run: Path, urls: SiteUrls) -> None:
    """Let the agent work and leave its answer and its traffic in the run directory."""
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir()
    kept = _trace(browser, run / TRACE) if recording.form == TRACE else _har(browser, run / "network.har")
    with kept as context:
        page = context.new_page()
        recording.agent(page, urls)
        page.wait_for_load_state("networkidle")
    if recording.form == BROKEN:
        _cut_off(run / "network.har")
    (run / "agent_response.json").write_text(recording.answer, encoding="utf-8")


@contextmanager
def _har(browser: Browser, path: Path) -> Iterator[BrowserContext]:
    context = browser.new_context(record_har_path=path, record_har_content="embed", record_har_mode="full")
    try:
        yield context
    finally:
        context.close()


@contextmanager
def _trace(browser: Browser, path: Path) -> Iterator[BrowserContext]:
    context = browser.new_context()
    try:
        context.tracing.start(snapshots=True, screenshots=False)
        yield context
        context.tracing.stop(path=path)
    finally:
        context.close()
    keep_what_scoring_reads(path)


def _free_ports(config: Path) -> tuple[int, int]:
    with fresh_sites(0, 0) as urls:
        config.write_text(json.dumps(urls.as_config(), indent=2) + "\n", encoding="utf-8")
        return urls.ports


def _cut_off(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 2 // 3])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Record the example suite anew.")
    parser.add_argument("--output", type=Path, default=RUNS, metavar="DIR", help="where to put the runs")
    parser.add_argument(
        "--only", type=int, nargs="+", choices=[r.task_id for r in RECORDINGS], metavar="ID", help="only these tasks"
    )
    parser.add_argument(
        "--free-ports",
        action="store_true",
        help=f"listen on any free ports instead of {SHOP_PORT} and {TRACKER_PORT}, and write DIR/config.json to match",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
