"""Walks through the example shop in Chromium, each with a browser of its own, and records them.

    python recorded_walk.py plain|ours SUITE DIRECTORY TIMES

`plain` is Playwright alone with a HAR and a trace; `ours` is the recorder. Both leave `DIRECTORY/<number>/network.har`.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or "chromium"
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


@contextmanager
def record_plainly(directory: Path) -> Iterator[Any]:
    """A context of Playwright with what it can record itself."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=SWITCHES)
        context = browser.new_context(record_har_path=directory / "network.har", record_har_content="embed")
        context.tracing.start(screenshots=True, snapshots=True)
        yield context
        context.tracing.stop(path=directory / "trace.zip")
        context.close()
        browser.close()


@contextmanager
def record_with_ours(directory: Path) -> Iterator[Any]:
    """A context of the recorder, with the same browser."""
    from pytest_webeval.recorder.browser import BrowserOptions
    from pytest_webeval.recorder.contexts import open_context
    from pytest_webeval.recorder.recording import Recording

    options = BrowserOptions(executable_path=CHROMIUM, args=tuple(SWITCHES))
    with Recording(directory) as recording, open_context(recording, options) as context:
        yield context
        recording.answer("done")


def walk(page: Any, urls: Any) -> None:
    """Search, look at products, fill the cart, and send a letter."""
    from agents import storefront

    for agent in (
        storefront.look_at_best_rated("desk lamp"),
        storefront.look_in_category("Audio", "Bookshelf Speakers"),
        storefront.add_to_cart("Dot Grid Notebook", 5),
        storefront.send_letter("1038", "Two notebooks are missing."),
        storefront.search("kettle", "Price: high to low"),
    ):
        agent(page, urls)
    page.wait_for_load_state("networkidle")


RECORDERS: dict[str, Callable[[Path], AbstractContextManager[Any]]] = {
    "plain": record_plainly,
    "ours": record_with_ours,
}


def main(recorder: str, suite: str, directory: Path, times: int) -> None:
    """Record so many walks, each in the first state of the sites."""
    sys.path.insert(0, suite)
    from shop.sites import fresh_sites

    shutil.rmtree(directory, ignore_errors=True)
    for number in range(times):
        run = directory / str(number)
        run.mkdir(parents=True)
        with fresh_sites(0, 0) as urls, RECORDERS[recorder](run) as context:
            walk(context.new_page(), urls)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
