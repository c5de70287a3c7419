"""A bench on which made-up runs are recorded and scored. The sites are those of the specification's examples."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_webeval.api import load_run
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.evaluators.case import Case
from pytest_webeval.results import EvaluatorResult, TaskResult
from pytest_webeval.scoring.score import score
from pytest_webeval.tasks.sites import Environment, Sites
from pytest_webeval.tasks.task import read_task

ADDRESSES = {
    "shopping": "http://shop.test:7770",
    "shopping_admin": "http://shop.test:7780/admin",
    "gitlab": "http://git.test:8023",
    "reddit": "http://red.test:9999",
    "map": "http://map.test:3000",
}
HOME = {"url": "http://shop.test:7770/", "headers": {"accept": "text/html"}}
ANSWERED = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["Blue Mug"], "error_details": None}


def har_entry(
    url="http://shop.test:7770/", method="GET", status=200, headers=None, cookies=None, post=None, content=None
) -> dict[str, Any]:
    """A HAR entry; `post` and `content` are (MIME type, text)."""
    entry: dict[str, Any] = {
        "request": {"url": url, "method": method, "headers": _pairs(headers)},
        "response": {"status": status, "cookies": _pairs(cookies), "content": _stored(content)},
    }
    return entry if post is None else {**entry, "request": {**entry["request"], "postData": _stored(post)}}


def _pairs(members) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in (members or {}).items()]


def _stored(body) -> dict[str, str]:
    return {} if body is None else {"mimeType": body[0], "text": body[1]}


def expecting(kind="RETRIEVE", data=None, schema=None, *, status="SUCCESS", ordered=False) -> dict[str, Any]:
    """The configuration of a response evaluator."""
    expected = {"task_type": kind, "status": status, "retrieved_data": data}
    schema = schema or {"type": "array", "items": {"type": "string"}}
    return {"evaluator": "AgentResponseEvaluator", "expected": expected, "results_schema": schema, "ordered": ordered}


@dataclass(frozen=True)
class Bench:
    """Records and scores runs in one directory."""

    directory: Path
    sites: Sites = Sites({name: Environment((url,)) for name, url in ADDRESSES.items()})  # noqa: RUF009  (frozen)

    entry = staticmethod(har_entry)
    expecting = staticmethod(expecting)

    def task(self, *evaluators: dict[str, Any], sites=("shopping",), **fields: Any) -> dict[str, Any]:
        """A task definition."""
        task = {"sites": list(sites), "task_id": 7, "intent_template_id": 79, "start_urls": ["__SHOPPING__"]}
        texts = {"intent": "find", "intent_template": "find", "instantiation_dict": {}, "revision": 2}
        return {**task, **texts, "eval": list(evaluators), **fields}

    def record(self, response: Any = ANSWERED, events: Any = (HOME,)) -> Path:
        """Write a run directory. `response` is bytes, text or JSON; `events` are bytes or arguments of `entry`."""
        (self.directory / "7").mkdir(exist_ok=True)
        text = response if isinstance(response, str | bytes) else json.dumps(response)
        (self.directory / "7/agent_response.json").write_bytes(text if isinstance(text, bytes) else text.encode())
        entries = events if isinstance(events, bytes) else har(*events)
        (self.directory / "7/network.har").write_bytes(entries)
        return self.directory / "7"

    def case(self, task: dict[str, Any], rules="default") -> Case:
        """The recorded run with a task."""
        return Case(load_run(self.directory / "7", rules), read_task(task, "a test"), self.sites)

    def score(self, task: dict[str, Any], rules="default", evaluators=None) -> TaskResult:
        """The result of what was recorded."""
        return score(self.case(task, rules), evaluators or default_evaluators())

    def answer(self, response: Any, wanted: dict[str, Any], rules="default") -> EvaluatorResult:
        """What the response evaluator says about a response."""
        self.record(response)
        return self.score(self.task(wanted), rules).evaluators_results[0]

    def network(self, wanted: dict[str, Any], *events, kind="MUTATE", rules="default", sites=("shopping",), **config):
        """What the network evaluator says about some events."""
        self.record({"task_type": kind, "status": "SUCCESS"}, events)
        network = {"evaluator": "NetworkEventEvaluator", "expected": wanted, **config}
        task = self.task(expecting(kind, schema={"type": "null"}), network, sites=sites)
        return self.score(task, rules).evaluators_results[1]


def har(*events: dict[str, Any]) -> bytes:
    """A HAR file."""
    return json.dumps({"log": {"entries": [har_entry(**event) for event in events]}}).encode()
