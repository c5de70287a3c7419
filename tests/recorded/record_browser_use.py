"""Record runs of browser-use anew: `python -m tests.recorded.record_browser_use [DIR [NAME ...]]`.

Run by hand in an environment of its own with `pip install browser-use==0.13.14 flask`, and with `/usr/bin/chromium` and
`openssl`. The library drives the browser; its chat model and its judge are scripted. The shop of `example_suite`
answers over HTTPS, because the library's HAR leaves out plain HTTP. A pixel takes the place of each screenshot.
"""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.browser_use_model import RATE_LIMIT, ScriptedModel, done, element

ROOT = Path("/tmp/recording-browser-use")  # the paths in the histories are those of this directory
os.environ |= {
    "ANONYMIZED_TELEMETRY": "false",
    "BROWSER_USE_CLOUD_SYNC": "false",
    "BROWSER_USE_CONFIG_DIR": str(ROOT / "config"),
    "BROWSER_USE_VERSION_CHECK": "false",
    "TMPDIR": str(ROOT),
}
sys.path.insert(0, str(Path(__file__).parents[2] / "example_suite"))

PORT = 7743
SHOP = f"https://127.0.0.1:{PORT}"
SWITCHES = [
    "--ignore-certificate-errors",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


@dataclass(frozen=True)
class Scenario:
    """What the model replies in each step, and the judge at the end. A reply that is a text is no JSON."""

    task: str
    replies: list[list[dict[str, Any]] | str]
    judgement: dict[str, Any] | None = None
    max_steps: int = 10
    settings: dict[str, Any] = field(default_factory=dict)


def judged(reasoning: str, failure: str = "", *, verdict: bool = False, **flags: bool) -> dict[str, Any]:
    findings = {"impossible_task": False, "reached_captcha": False} | flags
    return {"reasoning": reasoning, "verdict": verdict, "failure_reason": failure, **findings}


SEARCH_BOX = element(r"<input[^>]*name=q")


def search(words: str) -> list[list[dict[str, Any]] | str]:
    """Go to the shop and search, with two actions in the second step."""
    return [
        [{"navigate": {"url": f"{SHOP}/", "new_tab": False}}],
        [{"input": {"index": SEARCH_BOX, "text": words, "clear": True}}, {"send_keys": {"keys": "Enter"}}],
    ]


CHEAPEST_FIRST = [{"navigate": {"url": f"{SHOP}/search?q=desk+lamp&sort=price_asc", "new_tab": False}}]
LETTER = [
    [{"navigate": {"url": f"{SHOP}/contact", "new_tab": False}}],
    [
        {"input": {"index": element(r"<input[^>]*name=name"), "text": "Ida Novak", "clear": True}},
        {"input": {"index": element(r"<input[^>]*name=email"), "text": "ida.novak@example.com", "clear": True}},
        {"input": {"index": element(r"<textarea"), "text": "Is the kettle back?", "clear": True}},
        {"click": {"index": element(r"<button[^>]*>\s*Send")}},
    ],
]
CHEAPEST = "Search the shop for desk lamps and show me the results, cheapest first."
SCENARIOS = {
    "shop-judged-success": Scenario(
        CHEAPEST,
        [*search("desk lamp"), CHEAPEST_FIRST, [done("The desk lamps are sorted, cheapest first.", success=True)]],
        judged("The list of desk lamps is sorted by price.", verdict=True),
    ),
    "shop-judged-failure": Scenario(
        CHEAPEST,
        [*search("desk lamp"), [done("The desk lamps are sorted, cheapest first.", success=True)]],
        judged("The list is sorted by relevance.", "The agent never changed the order."),
    ),
    "shop-not-judged": Scenario(
        "Ask the shop as Ida Novak: Is the kettle back?",
        [*LETTER, [done("The message was sent.", success=True)]],
        settings={"use_judge": False},
    ),
    "shop-reported-failure": Scenario(
        CHEAPEST,
        [
            *search("desk lamp"),
            [{"upload_file": {"index": 1, "path": "/nowhere.pdf"}}],
            [done("I could not sort the list.", success=False)],
        ],
        settings={"use_judge": False},
    ),
    "shop-max-steps": Scenario(CHEAPEST, search("desk lamp"), max_steps=2),
    "shop-impossible": Scenario(
        "Order the Blue Teapot.",
        [*search("blue teapot"), [done("The shop has no Blue Teapot.", success=False)]],
        judged("The shop does not sell it.", "There is no Blue Teapot.", impossible_task=True),
    ),
    "shop-captcha": Scenario(
        CHEAPEST,
        [*search("desk lamp"), [done("A captcha blocks the list.", success=False)]],
        judged("A captcha was shown.", "The agent was blocked.", reached_captcha=True),
    ),
    "shop-failures": Scenario(
        CHEAPEST, [search("desk lamp")[0], "no JSON", "no JSON", "no JSON"], settings={"max_failures": 2}
    ),
    "shop-rate-limit": Scenario(
        CHEAPEST, [search("desk lamp")[0], RATE_LIMIT, RATE_LIMIT], settings={"max_failures": 1}
    ),
    "shop-judge-failed": Scenario(CHEAPEST, [*search("desk lamp"), [done("Done.", success=True)]]),
}


@contextmanager
def https_shop(folder: Path) -> Iterator[None]:
    """The shop in its first state, with a certificate that nobody signed."""
    from shop.sites import shop_app
    from werkzeug.serving import make_server

    key, certificate = folder / "key.pem", folder / "certificate.pem"
    if not key.exists():
        openssl = (
            f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -keyout {key} -out {certificate}"
        )
        subprocess.run(openssl.split(), check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = make_server("127.0.0.1", PORT, shop_app(), threaded=True, ssl_context=context)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


async def record(scenario: Scenario, run: Path) -> None:
    """Let the library work, and copy its history and screenshots below the run."""
    from browser_use import Agent, BrowserProfile

    profile = BrowserProfile(
        executable_path="/usr/bin/chromium",
        headless=True,
        chromium_sandbox=False,
        enable_default_extensions=False,
        user_data_dir=tempfile.mkdtemp(),
        viewport={"width": 640, "height": 480},
        args=SWITCHES,
        record_har_path=run / "network.har",
        record_har_content="embed",
    )
    model = ScriptedModel(scenario.replies, scenario.judgement)
    agent = Agent(scenario.task, llm=model, browser_profile=profile, enable_signal_handler=False, **scenario.settings)
    await agent.run(max_steps=scenario.max_steps)
    agent.save_history(run / "AgentHistory.json")
    for shot in sorted((agent.agent_directory / "screenshots").glob("*.png")):
        (run / "screenshots").mkdir(exist_ok=True)
        (run / "screenshots" / shot.name).write_bytes(PIXEL)


def main() -> None:
    """Record all runs, or those that are named after the directory."""
    output = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent / "browser_use"
    names = sys.argv[2:] or list(SCENARIOS)
    shutil.rmtree(ROOT, ignore_errors=True)
    ROOT.mkdir()
    for name in names:
        run = ROOT / name
        run.mkdir()
        with https_shop(ROOT):
            asyncio.run(record(SCENARIOS[name], run))
        shutil.rmtree(output / name, ignore_errors=True)
        shutil.copytree(run, output / name)


if __name__ == "__main__":
    main()
