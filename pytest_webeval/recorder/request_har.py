"""Requests that an agent sends through `page.request` or `context.request`, added to the HAR of its browser.

Since version 1.63 Playwright records them with a tracing of their own; before, they were in the HAR of the context.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from pytest_webeval.recordings.network.playwright import sort_by_time


def find_request_tracing(context: Any) -> Any:
    """What records the requests of a context that no page sends; None where the tracing of the context does it."""
    tracing = getattr(context.request, "tracing", None)
    return None if tracing is context.tracing else tracing


def add_requests(har: Path, requests: Path) -> None:
    """Add the entries of a second HAR in the order of time. Raises `OSError`, and `MsgspecError` for damaged files."""
    added = _read(requests)[2]
    if not added:
        return
    content, log, entries = _read(har)
    merged = sort_by_time([[(entry, False) for entry in part] for part in (entries, added)])
    log["entries"] = msgspec.Raw(msgspec.json.encode([entry for entry, _ in merged]))
    content["log"] = msgspec.Raw(msgspec.json.encode(log))
    complete = har.with_suffix(".tmp")
    complete.write_bytes(msgspec.json.encode(content))
    os.replace(complete, har)  # noqa: PTH105  (the name says what it does)


def _read(har: Path) -> tuple[dict[str, msgspec.Raw], dict[str, msgspec.Raw], list[msgspec.Raw]]:
    """A HAR, its log and its entries. Raises the same."""
    content = msgspec.json.decode(har.read_bytes(), type=dict[str, msgspec.Raw])
    log = msgspec.json.decode(content.get("log", b"{}"), type=dict[str, msgspec.Raw])
    return content, log, msgspec.json.decode(log.get("entries", b"[]"), type=list[msgspec.Raw])
