"""Records `tests/recorded/playwright_trace/trace.zip`: a Playwright trace with a screencast, by a real Chromium.

Playwright 1.65 wrote it, in version 10 of the format. The agent logs in, looks at a lamp, looks for a discount and
orders the lamp. Run it in the environment of the browser tests:

    python tests/recorded/record_playwright_trace.py tests/recorded/playwright_trace
"""

from __future__ import annotations

import http.server
import json
import shutil
import sys
import threading
import zipfile
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Error, sync_playwright

LAMP = b"<a href=/lamp>lamp</a>"
PAGES = {
    "/": b"<h1>Shop</h1><form action=/login method=post><input id=user name=user> "
    b"<input id=password type=password name=password> <button>Log in</button></form>" + LAMP,
    "/login": b"<h1>Welcome</h1>" + LAMP,
    "/lamp": b"<h1>Lamp</h1><p>12.50</p><form method=post action=/cart><button id=add>Add to cart</button></form>",
    "/cart": b"<h1>Cart</h1><p>1 lamp</p>",
}
PASSWORD = "CaNaRyTyped7zQ4"
PAUSE = 300  # milliseconds in which the screencast catches up


class Shop(http.server.BaseHTTPRequestHandler):
    """Serves the pages, whatever is posted to them."""

    def do_GET(self) -> None:
        """Send a page."""
        page = PAGES.get(self.path)
        self.send_response(404 if page is None else 200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page or b"")

    def do_POST(self) -> None:
        """Read what was posted, and send a page."""
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def record(path: Path, address: str) -> None:
    """Drive the browser and write the trace."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        context = browser.new_context(viewport={"width": 640, "height": 400})
        context.tracing.start(snapshots=True, screenshots=True)
        page = context.new_page()
        page.goto(f"{address}/")
        page.wait_for_timeout(PAUSE)
        page.fill("#user", "joe")
        page.fill("#password", PASSWORD)
        page.click("button")
        page.wait_for_timeout(PAUSE)
        page.click("text=lamp")
        page.wait_for_timeout(PAUSE)
        page.mouse.click(600, 300)
        page.title()
        with suppress(Error):
            page.click("#discount", timeout=PAUSE)
        page.click("#add")
        page.wait_for_timeout(PAUSE)
        context.tracing.stop(path=path)
        browser.close()


def remove_stacks(path: Path) -> None:
    """Write the trace anew without the places in the code that recorded it."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if not name.endswith(".stacks")}
    events = [json.loads(line) for line in members["trace.trace"].splitlines()]
    for event in events:
        (event.get("error") or {}).pop("stack", None)
    lines = [json.dumps(event, separators=(",", ":"), ensure_ascii=False) for event in events]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (members | {"trace.trace": "\n".join(lines).encode()}).items():
            archive.writestr(name, content)


def main() -> None:
    """Write the trace into the directory that the command line names."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    record(directory / "trace.zip", f"http://127.0.0.1:{server.server_port}")
    remove_stacks(directory / "trace.zip")


if __name__ == "__main__":
    main()
