"""Write the Fara trajectories anew: `python example_suite/record_trajectories.py [--output DIR] [--keep-screenshots]`.

The texts are always the same; the screenshots show the shop of the suite, with a book more and its prices in euros.
The browser is that of record.py. After other screenshots, record_judge_replies.py has to follow.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agents import Agent, storefront
from record import CHROMIUM, SWITCHES
from shop import catalog
from shop.sites import SiteUrls, fresh_sites
from trajectory_recordings import TRAJECTORIES, Trajectory
from trajectory_tables import METRICS, metrics_json, tasks_tsv
from unjudged_recordings import UNJUDGED, tasks_json

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SUITE = Path(__file__).parent
ATLAS = catalog.Product(
    "pocket-atlas", "Pocket Atlas", "Meridian Press", "bags", 1250, 30, "The world on 192 pages, in a coat pocket."
)
EUROS = r"""
addEventListener("DOMContentLoaded", () => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replace(/\$([\d.,]+)/g, "$1 EUR");
});
"""


def _start(page: Page, _: SiteUrls) -> None:
    page.set_content('<title>Start page</title><h1 style="font: 24px sans-serif; margin: 3rem">Start page</h1>')


def _home(page: Page, urls: SiteUrls) -> None:
    page.goto(urls.shopping)


VIEWS: dict[str, Agent] = {
    "start": _start,
    "home": _home,
    "atlas found": storefront.search("pocket atlas"),
    "atlas": storefront.look_at("Pocket Atlas"),
    "atlas in cart": storefront.add_to_cart("Pocket Atlas", 1),
    "radio": storefront.look_at("Pocket Radio"),
    "radio in cart": storefront.add_to_cart("Pocket Radio", 1),
    "nothing found": storefront.search("rain"),
}


def main() -> None:
    """Write what the command line asks for."""
    asked = _arguments()
    trajectories, unjudged = asked.output / "trajectories", asked.output / "unjudged"
    directories = {trajectories / "runs" / each.run / "traj" / each.task_id: each for each in TRAJECTORIES}
    directories |= {unjudged / each.task_id: each for each in UNJUDGED}
    images = {} if asked.keep_screenshots else photograph()
    if not asked.keep_screenshots:
        shutil.rmtree(trajectories / "runs", ignore_errors=True)
        shutil.rmtree(unjudged, ignore_errors=True)
    for directory, trajectory in directories.items():
        write(trajectory, directory, images)
        print(directory.relative_to(asked.output))
    _write(trajectories / "runs" / METRICS, metrics_json())
    _write(trajectories / "tasks.tsv", tasks_tsv())
    _write(unjudged / "tasks.json", tasks_json())


def write(trajectory: Trajectory, directory: Path, images: dict[str, bytes]) -> None:
    """Leave the files of a trajectory in its directory, and those of its screenshots that there are images for."""
    for name, text in trajectory.files.items():
        _write(directory / name, text)
    for name, view in trajectory.screenshots.items():
        if view in images:
            (directory / name).write_bytes(images[view])


def photograph() -> dict[str, bytes]:
    """Every view of the shop as a PNG, 1440 pixels wide and 900 high."""
    from playwright.sync_api import sync_playwright  # which texts alone do not need

    with _atlas_for_sale(), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=SWITCHES)
        images = {name: _view(browser, visit) for name, visit in VIEWS.items()}
        browser.close()
    return images


def _view(browser: Browser, visit: Agent) -> bytes:
    with fresh_sites(0, 0) as urls:
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.add_init_script(EUROS)
        page = context.new_page()
        visit(page, urls)
        page.wait_for_load_state("networkidle")
        image = page.screenshot(animations="disabled")
        context.close()
    return image


@contextmanager
def _atlas_for_sale() -> Iterator[None]:
    catalog.PRODUCTS.append(ATLAS)
    catalog.BY_SLUG[ATLAS.slug] = ATLAS
    try:
        yield
    finally:
        del catalog.BY_SLUG[ATLAS.slug]
        catalog.PRODUCTS.remove(ATLAS)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Write the Fara trajectories anew.")
    parser.add_argument("--output", type=Path, default=SUITE, metavar="DIR", help="where to put both directories")
    parser.add_argument("--keep-screenshots", action="store_true", help="write the texts only, without a browser")
    return parser.parse_args()


if __name__ == "__main__":
    main()
