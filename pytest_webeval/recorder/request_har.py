"""Requests that an agent sends through `page.request` or `context.request`, added to the HAR of its browser.

Since version 1.63 Playwright records them with a tracing of their own; before, they were in the HAR of the context.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

from pytest_webeval.recordings.network.playwright import sort_by_time
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.storage import write_bytes


def find_request_tracing(context: Any) -> Any:
    """What records the requests of a context that no page sends; None where the tracing of the context does it."""
    tracing = getattr(context.request, "tracing", None)
    return None if tracing is context.tracing else tracing


def add_requests(folder: Path, har: str, requests: str) -> None:
    """Add the entries of a second HAR to the first, in the order of time.

    Raises `WebEvalError`, and `MsgspecError` for damaged files.
    """
    added = _read(folder, requests)[2]
    if not added:
        return
    content, log, entries = _read(folder, har)
    merged = sort_by_time([[(entry, False) for entry in part] for part in (entries, added)])
    log["entries"] = msgspec.Raw(msgspec.json.encode([entry for entry, _ in merged]))
    content["log"] = msgspec.Raw(msgspec.json.encode(log))
    write_bytes(folder / har, msgspec.json.encode(content), "record again")


def _read(folder: Path, name: str) -> tuple[dict[str, msgspec.Raw], dict[str, msgspec.Raw], list[msgspec.Raw]]:
    """A HAR, its log and its entries. Raises the same."""
    content = msgspec.json.decode(read_file_inside(folder, name, sys.maxsize), type=dict[str, msgspec.Raw])
    log = msgspec.json.decode(content.get("log", b"{}"), type=dict[str, msgspec.Raw])
    return content, log, msgspec.json.decode(log.get("entries", b"[]"), type=list[msgspec.Raw])
