"""Runs as an honest agent leaves them, which the hostile ones start from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HOME = "http://shop.test/"
PAGE = {"Accept": "text/html", "Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-User": "?1"}
RESPONSE, HAR, LINES, ZIP = "agent_response.json", "network.har", "trace.network", "trace.zip"
Definition = Mapping[str, Any]


def pairs(members: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Headers or cookies as a HAR spells them."""
    return [{"name": name, "value": value} for name, value in members.items()]


def entry(
    url: Any = HOME, method: Any = "GET", status: Any = 200, headers: Mapping[str, Any] = PAGE, **more: Any
) -> dict[str, Any]:
    """A HAR entry; `post` and `content` become its bodies, `cookies` what came back."""
    request = {"method": method, "url": url, "headers": pairs(headers)}
    response = {"status": status, "cookies": pairs(more.get("cookies", {}))}
    if "post" in more:
        request["postData"] = more["post"]
    if "content" in more:
        response["content"] = more["content"]
    return {"request": request, "response": response}


def har(*entries: Any) -> dict[str, Any]:
    """A HAR with these entries."""
    return {"log": {"version": "1.2", "entries": list(entries)}}


def lines(*entries: Any) -> bytes:
    """The same as Playwright's lines."""
    return b"".join(json.dumps({"type": "resource-snapshot", "snapshot": one}).encode() + b"\n" for one in entries)


def visited(url: Any = "__SHOPPING__/", **more: Any) -> dict[str, Any]:
    """The expectation that the last page was this one; `expected` and options beside it."""
    expected = {"url": url, "http_method": "GET", **more.pop("expected", {})}
    return {"evaluator": "NetworkEventEvaluator", "expected": expected, **more}


def asked(
    data: Sequence[Any] | None = ("lamp",), schema: Any = "string", *more: Definition, kind: str = "retrieve"
) -> dict[str, Any]:
    """A task without its id; what it retrieves must have a type of the schema, or the schema itself."""
    items = {"type": schema} if isinstance(schema, str) else schema
    expected = {"task_type": kind, "status": "SUCCESS", "retrieved_data": None if data is None else list(data)}
    results = {"type": "null"} if data is None else {"type": "array", "items": items}
    evaluator = {"evaluator": "AgentResponseEvaluator", "expected": expected, "results_schema": results}
    return {
        "sites": ["shopping"],
        "intent_template_id": 1,
        "start_urls": ["__SHOPPING__"],
        "intent": "Find the lamp.",
        "intent_template": "Find the {{thing}}.",
        "instantiation_dict": {"thing": "lamp"},
        "revision": 1,
        "eval": [evaluator, *(more or (visited(),))],
    }


def judged(**options: Any) -> dict[str, Any]:
    """A task whose run is judged by the points in its rubric.json as well."""
    return asked(("lamp",), "string", visited(), {"evaluator": "RubricEvaluator", **options})


def answer(data: Any = ("lamp",), **more: Any) -> dict[str, Any]:
    """What an agent answers."""
    told = list(data) if isinstance(data, tuple) else data
    return {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": told, "error_details": None} | more


def write(path: Path, task: Definition) -> None:
    """A run that passes its task, if that wants the home page visited."""
    expected = task["eval"][0]["expected"]
    told = answer(expected["retrieved_data"], task_type=expected["task_type"].upper())
    path.mkdir(parents=True)
    (path / RESPONSE).write_text(json.dumps(told))
    (path / HAR).write_text(json.dumps(har(entry())))
