"""Made-up tasks of one or two evaluators, and recordings for them: what a row of a table needs around it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.parity.harness.recording import SITES, Recording

HOME = "http://shop.test:7770/"
NULL_SCHEMA = {"type": "null"}
STRINGS = {"type": "array", "items": {"type": "string"}}
MODERN = {
    "accept": "text/html,application/xhtml+xml",
    "sec-fetch-dest": "document",
    "sec-fetch-mode": "navigate",
    "sec-fetch-user": "?1",
}
FORM = "application/x-www-form-urlencoded"


def task(*evaluators: Mapping[str, Any], sites: Sequence[str] = tuple(SITES)) -> dict[str, Any]:
    """A task definition with these evaluators."""
    texts = {"intent": "find", "intent_template": "find", "instantiation_dict": {}, "start_urls": ["__SHOPPING__"]}
    return {"sites": list(sites), "task_id": 7, "intent_template_id": 79, "revision": 1, **texts, "eval": evaluators}


def answering(kind: str, data: Any = None, schema: Any = NULL_SCHEMA, **config: Any) -> dict[str, Any]:
    """The configuration of a response evaluator."""
    expected = {"task_type": kind, "status": "SUCCESS", "retrieved_data": data}
    return {"evaluator": "AgentResponseEvaluator", "expected": expected, "results_schema": schema, **config}


def requesting(expected: Any, **config: Any) -> dict[str, Any]:
    """The configuration of a network-event evaluator."""
    return {"evaluator": "NetworkEventEvaluator", "expected": expected, **config}


def retrieval(data: Any, schema: Any = STRINGS, sites: Sequence[str] = tuple(SITES), **config: Any) -> dict[str, Any]:
    """A task that retrieves this data."""
    return task(answering("RETRIEVE", data, schema, **config), sites=sites)


def event_task(
    expected: Any, kind: str = "MUTATE", sites: Sequence[str] = tuple(SITES), **config: Any
) -> dict[str, Any]:
    """A task in which this event must have happened."""
    return task(answering(kind), requesting(expected, **config), sites=sites)


def response(kind: str = "RETRIEVE", **fields: Any) -> bytes:
    """A response of that type, in the order in which agents write it."""
    return json.dumps({"task_type": kind, "status": "SUCCESS", **fields}, ensure_ascii=False).encode()


def entry(url: str = HOME, method: str = "GET", status: Any = 200, headers: Any = MODERN, **parts: Any) -> Any:
    """A HAR entry; `post` and `content` are (MIME type, text), `cookies` an object."""
    request = {"method": method, "url": url, "headers": pairs(headers)}
    answer = {"status": status, "headers": [], "cookies": pairs(parts.get("cookies", {}))}
    if "post" in parts:
        request["postData"] = dict(zip(("mimeType", "text"), parts["post"], strict=True))
    if "content" in parts:
        answer["content"] = dict(zip(("mimeType", "text"), parts["content"], strict=True))
    return {"request": request, "response": answer}


def pairs(members: Mapping[str, str]) -> list[dict[str, str]]:
    """Headers or cookies as a HAR has them."""
    return [{"name": name, "value": value} for name, value in members.items()]


def answered(data: Any, wanted: Any, schema: Any = STRINGS, **fields: Any) -> Recording:
    """A run that answers `data` where `wanted` is expected."""
    about = f"{wanted!r} as {schema.get('items', schema)}: {data!r}"
    said = response(retrieved_data=data)
    return Recording(retrieval(wanted, schema, **fields), said, (entry(),), about)


def one_item(kind: str, wanted: Any, data: Any) -> Recording:
    """A run that answers one datum where one of that value type is expected."""
    return answered([data], [wanted], {"type": "array", "items": {"type": "string", "format": kind}})


def requested(expected: Any, *entries: Any, about: str = "", kind: str = "MUTATE", **config: Any) -> Recording:
    """A run that made these requests where one is expected."""
    made = event_task(expected, kind, **config)
    return Recording(made, response(kind), entries, about or f"{expected} {config}: {entries}")
