"""Screenshots of six states of the pages, in light, in dark and on a phone, for the manual.

    python -m tests.browser.screenshots DIR

writes overview-light.png, overview-dark.png, overview-phone.png, and so on for `STATES`. It needs Debian's Chromium,
and Pillow to make the files small.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from tests.browser import sessions
from tests.support.sessions import PLAIN

DESK, PHONE = {"width": 1400, "height": 1000}, {"width": 390, "height": 844}
LOOKS = {"light": ("light", DESK), "dark": ("dark", DESK), "phone": ("light", PHONE)}
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--font-render-hinting=none",
]
COLOURS = 256
DAY = "2026-01-{:02}T12:00:00Z"
DATED = """(time) => document.querySelectorAll('.top .facts span').forEach((fact) => {
    if (/^\\d{4}-\\d\\d-\\d\\dT/.test(fact.textContent)) fact.textContent = time; })"""
ATTEMPTS = "suite/trajectories/runs/WebSurfer-fara-3-max_n_images-3/fara-7b/ana/WebTailBench_hf"
TASKS = "--webeval-tasks=suite/trajectories/tasks.tsv"
# What agents of earlier days did otherwise: the first day, the last one, a file, and a text in it that differs.
EARLIER = (
    (1, 4, "106/network.har", "price_desc", "price_asc"),
    (1, 2, "105/network.har", "price_asc", "price_desc"),
    (1, 5, "102/agent_response.json", "Ironvale", "Hearth & Co"),
    (2, 3, "101/agent_response.json", "northlight", "Ironvale"),
    (3, 3, "201/agent_response.json", "SUCCESS", "UNKNOWN_ERROR"),
    (1, 3, "309/network.har", '"method":"PUT"', '"method":"POST"'),
)
DAYS = 6


@dataclass(frozen=True)
class State:
    """What a screenshot shows: a page, and its fragment."""

    name: str
    page: str
    run: str = ""  # how the label of the open run ends
    more: str = ""  # of the fragment


STATES = (
    State("overview", "runs"),
    State("task", "runs", "suite/runs/106"),
    State("step", "trajectories", "books_rain_9", "&step=3"),
    State("request", "runs", "suite/runs/106", "&event=14"),
    State("comparison", "comparison", more="#task-books_find_7"),
    State("history", "history"),
)


def main(target: Path) -> None:
    """Score the suite in a directory for the time being, and look at the pages."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        addresses = write_pages(Path(place))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=SWITCHES)
        for look, (theme, window) in LOOKS.items():
            context = browser.new_context(
                viewport=window, color_scheme=theme, device_scale_factor=1, reduced_motion="reduce"
            )
            for state in STATES:
                take(context.new_page(), state, addresses[state.name], target / f"{state.name}-{look}.png")
            context.close()
        browser.close()


def write_pages(place: Path) -> dict[str, str]:
    """The address of each state, after all sessions that it needs."""
    reports = {
        "runs": sessions.scored(sessions.copied(place / "runs"), *sessions.RUNS),
        "trajectories": sessions.scored(sessions.copied(place / "trajectories"), *sessions.TRAJECTORIES),
    }
    pages = {name: report.page for name, report in reports.items()}
    pages["comparison"] = compare_attempts(sessions.copied(place / "attempts"))
    pages["history"] = write_history(sessions.copied(place / "days"))
    return {state.name: f"{pages[state.page].as_uri()}{fragment(state, reports)}" for state in STATES}


def fragment(state: State, reports: dict[str, sessions.Session]) -> str:
    """The part of an address that opens a run of a report."""
    label = reports[state.page].label(state.run) if state.run else ""
    return f"#task={quote(label, safe='')}{state.more}" if label else state.more


def compare_attempts(place: Path) -> Path:
    """The comparison of two attempts of an agent at the same tasks."""
    for name in ("r1", "r2"):
        sessions.called(place, *PLAIN, "-q", f"--webeval-runs={ATTEMPTS}/{name}", TASKS, f"--webeval-output={name}")
        set_time(place / name, DAY.format(31))
    run_command(place, "compare", "r1", "r2")
    return place / "page" / "comparison.html"


def write_history(place: Path) -> Path:
    """The history of sessions of several days."""
    days = [f"day-{day}" for day in range(1, DAYS + 1)]
    for day, name in enumerate(days, 1):
        undone = change_recordings(place / "suite" / "runs", day)
        sessions.called(place, *PLAIN, "-q", *sessions.RUNS, f"--webeval-output={name}")
        set_time(place / name, DAY.format(day))
        for path, content in undone.items():
            path.write_bytes(content)
    run_command(place, "history", *days)
    return place / "page" / "history.html"


def change_recordings(runs: Path, day: int) -> dict[Path, bytes]:
    """Let agents do what they did on a day; the result is what the files had."""
    undone = {}
    for first, last, name, text, earlier in EARLIER:
        if first <= day <= last:
            path = runs / name
            undone[path] = path.read_bytes()
            assert text.encode() in undone[path], f"{name} lacks {text}"
            path.write_bytes(undone[path].replace(text.encode(), earlier.encode()))
    return undone


def set_time(session: Path, time: str) -> None:
    """Let a session have ended at a time that stays the same."""
    path = session / "eval_summary.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"timestamp": time}), "utf-8")


def run_command(place: Path, *arguments: str) -> None:
    """Write a page from sessions."""
    command = [sys.executable, "-m", "pytest_webeval", *arguments, "--report", "page"]
    subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL)


def take(page, state, address, path) -> None:
    """One screenshot, when all that it shows is there."""
    page.goto(address, wait_until="load")
    if page.locator("#count").count():
        page.wait_for_selector("#count:not(:empty)", state="attached")
    page.evaluate(DATED, DAY.format(31))
    if state.run:
        page.wait_for_selector("#task .body[aria-busy=true]", state="detached")
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
