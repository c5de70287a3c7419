"""Record runs of an older browser-use: `python -m tests.recorded.record_browser_use_0_2 [DIR]`.

As `record_browser_use`, but with `pip install browser-use==0.2.7 playwright==1.52.0 flask`. Its histories hold the
screenshots in base64, and Playwright records the traffic: in a HAR, or in a trace.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from tests.recorded.record_browser_use import PIXEL, ROOT, SHOP, SWITCHES, https_shop

os.environ["SKIP_LLM_API_KEY_VERIFICATION"] = "true"
CHEAPEST = f"{SHOP}/search?q=desk+lamp&sort=price_asc"
REPLIES = [
    [{"go_to_url": {"url": f"{SHOP}/"}}],
    [{"go_to_url": {"url": CHEAPEST}}, {"wait": {"seconds": 1}}],
    [{"done": {"text": "The desk lamps are sorted, cheapest first.", "success": True}}],
]
RUNS = {
    "shop-02-har": REPLIES,
    "shop-02-trace": REPLIES,
    "shop-02-max-steps": REPLIES[:2],
    "shop-02-no-browser": REPLIES,
}


def build_model(replies: list[list[dict[str, Any]]]) -> Any:
    """A chat model of LangChain that replies with what was prepared."""
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel

    brain = {"evaluation_previous_goal": "Success", "memory": "Use the shop.", "next_goal": "Go on"}
    return GenericFakeChatModel(
        messages=iter(json.dumps({"current_state": brain, "action": actions}) for actions in replies)
    )


async def record(name: str, run: Path) -> None:
    """Let the library work, and save its history."""
    from browser_use import Agent, BrowserProfile, BrowserSession

    traffic = {"traces_dir": run} if name.endswith("trace") else {"record_har_path": run / "network.har"}
    profile = BrowserProfile(
        executable_path="/usr/bin/no-chromium" if name.endswith("no-browser") else "/usr/bin/chromium",
        headless=True,
        chromium_sandbox=False,
        user_data_dir=tempfile.mkdtemp(),
        viewport={"width": 640, "height": 480},
        ignore_https_errors=True,
        args=SWITCHES,
        **traffic,
    )
    agent = Agent(
        "Search the shop for desk lamps and show me the results, cheapest first.",
        llm=build_model(RUNS[name]),
        browser_session=BrowserSession(browser_profile=profile),
        tool_calling_method="raw",
        enable_memory=False,
    )
    await agent.run(max_steps=len(RUNS[name]))
    agent.save_history(run / "AgentHistory.json")
    replace_images(run / "AgentHistory.json")
    keep_trace(run)


def replace_images(path: Path) -> None:
    """Keep one pixel of each screenshot."""
    document = json.loads(path.read_text())
    for entry in document["history"]:
        if entry["state"]["screenshot"]:
            entry["state"]["screenshot"] = base64.b64encode(PIXEL).decode()
    path.write_text(json.dumps(document, indent=2))


def keep_trace(run: Path) -> None:
    """Keep what scoring reads of a trace but the film of the page, without the files that Playwright made it of."""
    from trace_zip import keep_what_scoring_reads

    for path in run.glob("*.zip"):
        keep_what_scoring_reads(path)
        with ZipFile(path) as trace:
            members = {name: trace.read(name) for name in trace.namelist() if not name.endswith(".jpeg")}
        with ZipFile(path, "w", ZIP_DEFLATED) as trace:
            for name, content in members.items():
                trace.writestr(name, content)
    for path in (*run.glob("*.trace"), *run.glob("*.network")):
        path.unlink()
    shutil.rmtree(run / "resources", ignore_errors=True)


def main() -> None:
    """Record all runs."""
    output = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent / "browser_use"
    shutil.rmtree(ROOT, ignore_errors=True)
    ROOT.mkdir()
    for name in RUNS:
        run = ROOT / name
        run.mkdir()
        with https_shop(ROOT):
            asyncio.run(record(name, run))
        shutil.rmtree(output / name, ignore_errors=True)
        shutil.copytree(run, output / name)


if __name__ == "__main__":
    main()
