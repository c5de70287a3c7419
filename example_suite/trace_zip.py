"""Make a Playwright trace fit for sharing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZipFile

if TYPE_CHECKING:
    from pathlib import Path


def keep_what_scoring_reads(path: Path) -> None:
    """Rewrite a trace so that only the traffic, the actions and the bodies are left in it.

    Stack files name the sources of whoever recorded; they are dropped, as are the options of the browser.
    """
    with ZipFile(path) as trace:
        members = {name: trace.read(name) for name in sorted(trace.namelist())}
    with ZipFile(path, "w", ZIP_DEFLATED) as trace:
        for name, content in members.items():
            if name == "trace.trace":
                trace.writestr(name, _without_options(content))
            elif name == "trace.network" or name.startswith("resources/"):
                trace.writestr(name, content)


def _without_options(lines: bytes) -> bytes:
    events = [json.loads(line) for line in lines.splitlines()]
    for event in events:
        if event["type"] == "context-options":
            event["options"] = {}
        event.pop("stack", None)
    return b"".join(json.dumps(event, separators=(",", ":")).encode() + b"\n" for event in events)
