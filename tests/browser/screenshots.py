"""Screenshots of the report of the example suite, for the manual.

    python -m tests.browser.screenshots DIR

writes report-light.png, report-dark.png, report-phone.png and report-trajectory.png there. It needs Debian's Chromium,
and Pillow to make the files small.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

from tests.browser import sessions

DESK, PHONE = {"width": 1400, "height": 1000}, {"width": 390, "height": 844}
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--font-render-hinting=none",
]
COLOURS = 256
TASK = "suite/runs/106"
# File, session, whose label ends so is open (nothing: the first page), theme, window, and what is scrolled to.
SHOTS = (
    ("report-light.png", "runs", TASK, "light", DESK, None),
    ("report-dark.png", "runs", None, "dark", DESK, None),
    ("report-phone.png", "runs", TASK, "light", PHONE, None),
    ("report-trajectory.png", "trajectories", "r2/traj/books_rain_9", "light", DESK, "section:has(.rubric-points)"),
)


def main(target: Path) -> None:
    """Score the suite in a directory for the time being, and look at the reports."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        reports = scored(Path(place))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=SWITCHES)
        for name, session, ending, theme, window, seen in SHOTS:
            context = browser.new_context(
                viewport=window, color_scheme=theme, device_scale_factor=1, reduced_motion="reduce"
            )
            take(context.new_page(), reports[session], ending, seen, target / name)
            context.close()
        browser.close()


def scored(place: Path) -> dict[str, sessions.Session]:
    """A session over the runs, and one over the trajectories."""
    found = {}
    for name, options in (("runs", sessions.RUNS), ("trajectories", sessions.TRAJECTORIES)):
        found[name] = sessions.scored(sessions.copied(place / name), *options)
    return found


def take(page, session, ending, seen, path) -> None:
    """One screenshot, when all that it shows is there."""
    fragment = f"#task={quote(session.label(ending), safe='')}" if ending else ""
    page.goto(f"{session.page.as_uri()}{fragment}", wait_until="load")
    page.wait_for_selector("#count:not(:empty)", state="attached")
    page.evaluate("document.querySelector('.facts span').textContent = '2026-01-31T12:00:00Z'")
    if ending:
        page.wait_for_selector("#task .body[aria-busy=true]", state="detached")
    if seen:
        page.locator(seen).evaluate("(one) => one.scrollIntoView({block: 'start'})")
        page.wait_for_timeout(1_000)  # for images that load when they come into sight
    page.screenshot(path=path, animations="disabled", caret="hide")
    shrink(path)


def shrink(path: Path) -> None:
    """The same picture with a palette."""
    from PIL import Image

    with Image.open(path) as image:
        image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
