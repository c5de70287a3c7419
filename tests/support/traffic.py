"""Small recordings, written down as the pages and requests of an agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.support.runs import navigation

SHOP = "http://shop.test"
STARTED = "2026-03-14T10:00:00.000Z"
MOMENT = 1773482400.0  # the same in seconds since 1970


def visit(path: str = "/", *, status: int = 200, referer: str | None = None) -> dict[str, Any]:
    """A page."""
    entry = navigation(f"{SHOP}{path}", status=status)
    if referer is not None:
        entry["request"]["headers"].append({"name": "Referer", "value": f"{SHOP}{referer}"})
    return entry


def send(
    path: str,
    form: Any = (),
    *,
    method: str = "POST",
    document: Any = None,
    status: int = 200,
    location: str | None = None,
    returned: Any = None,
    url: str = SHOP,
    kind: str = "fetch",
) -> dict[str, Any]:
    """A request with a form, or with a JSON document, and what the site returned for it."""
    mime = "application/x-www-form-urlencoded" if document is None else "application/json"
    text = urlencode(form) if document is None else json.dumps(document)
    headers = [] if location is None else [{"name": "Location", "value": location}]
    content = {} if returned is None else {"content": {"mimeType": "application/json", "text": json.dumps(returned)}}
    return {
        "startedDateTime": STARTED,
        "_resourceType": kind,
        "request": {
            "method": method,
            "url": f"{url}{path}",
            "headers": [],
            "postData": {"mimeType": mime, "text": text},
        },
        "response": {"status": status, "cookies": [], "headers": headers, **content},
    }


def write_traffic(path: Path, answer: Any, *entries: dict[str, Any]) -> Path:
    """A run directory with these entries. The answer is a JSON object, or a task type alone for a success."""
    fields = {"task_type": answer, "status": "SUCCESS", "retrieved_data": None} if isinstance(answer, str) else answer
    path.mkdir(parents=True)
    (path / "agent_response.json").write_text(json.dumps(fields), "utf-8")
    (path / "network.har").write_text(json.dumps({"log": {"entries": entries}}), "utf-8")
    return path
