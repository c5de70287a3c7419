"""Tiny synthetic runs for sessions under `pytester`: what a run must have to be scored, and nothing else."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HOME = "http://shop.test/"


def navigation(url: str = HOME, method: str = "GET", status: int = 200) -> dict[str, Any]:
    """One HAR entry that a person would call a visit to a page."""
    headers = {
        "Accept": "text/html",
        "Sec-Fetch-Dest": "document",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-User": "?1",
    }
    request = {"method": method, "url": url, "headers": [{"name": key, "value": headers[key]} for key in headers]}
    return {"request": request, "response": {"status": status, "cookies": []}}


def definition(task_id: int, *, site: str = "shopping", kind: str = "retrieve", template: int = 1) -> dict[str, Any]:
    """A task whose answer is one lamp, or for a mutating and navigating task no answer at all."""
    data, schema = (["lamp"], "string") if kind == "retrieve" else (None, "null")
    return {
        "sites": site.split("-"),
        "task_id": task_id,
        "intent_template_id": template,
        "start_urls": ["__SHOPPING__"],
        "intent": "Find the lamp.",
        "intent_template": "Find the {{thing}}.",
        "instantiation_dict": {"thing": "lamp"},
        "revision": 1,
        "eval": [
            {
                "evaluator": "AgentResponseEvaluator",
                "expected": {"task_type": kind, "status": "SUCCESS", "retrieved_data": data},
                "results_schema": {"type": "array", "items": {"type": schema}},
            }
        ],
    }


def visited(url: str = "__SHOPPING__/") -> dict[str, Any]:
    """An expectation that the network-event evaluator answers."""
    return {"evaluator": "NetworkEventEvaluator", "expected": {"url": url, "http_method": "GET"}}


@dataclass
class Runs:
    """A run root that tests fill; `tasks.json` is written anew with each run."""

    root: Path
    tasks: list[dict[str, Any]] = field(default_factory=list)

    def add(
        self,
        task_id: int,
        *,
        passes: bool = True,
        expects: tuple[dict[str, Any], ...] = (),
        defined: bool = True,
        name: str | None = None,
        **about: Any,
    ) -> Path:
        """A run of a task; its answer is right or wrong."""
        task = definition(task_id, **about)
        task["eval"] += expects
        kind = task["eval"][0]["expected"]["task_type"]
        answer = task["eval"][0]["expected"]["retrieved_data"]
        response = {
            "task_type": kind.upper(),
            "status": "SUCCESS" if passes else "NOT_FOUND_ERROR",
            "retrieved_data": answer if passes else None,
            "error_details": None,
        }
        path = self.root / (name or str(task_id))
        path.mkdir(parents=True)
        (path / "agent_response.json").write_text(json.dumps(response))
        (path / "network.har").write_text(json.dumps({"log": {"entries": [navigation()]}}))
        if defined:
            self.define(task)
        return path

    definition = staticmethod(definition)
    navigation = staticmethod(navigation)
    visited = staticmethod(visited)

    def define(self, *tasks: dict[str, Any]) -> None:
        """Add definitions to tasks.json."""
        self.tasks += tasks
        self.root.mkdir(parents=True, exist_ok=True)
        (self.root / "tasks.json").write_text(json.dumps(self.tasks))

    def result(self, name: object) -> Any:
        """The eval_result.json of a run."""
        return json.loads((self.root / str(name) / "eval_result.json").read_bytes())

    @property
    def summary(self) -> Any:
        """The summary of the last session: a complete one leaves no eval_summary.partial.json."""
        partial = self.root / "eval_summary.partial.json"
        return json.loads((partial if partial.exists() else self.root / "eval_summary.json").read_bytes())

    @property
    def counts(self) -> tuple[int, int, int]:
        """Successes, failures, errors as the summary counts them."""
        summary = self.summary
        return summary["success_count"], summary["failed_count"], summary["error_count"]

    @property
    def reasons(self) -> dict[str, str]:
        """Why each task that is no success is none, by the name of its run."""
        rows = self.summary["task_results"]
        return {row["run"].rpartition("/")[2]: row["reason"] for row in rows if row["status"] != "success"}

    @property
    def written(self) -> list[str]:
        """All files that a session wrote below the root, but its rows."""
        paths = [path for path in self.root.rglob("*eval_*") if path.suffix != ".sqlite"]
        return sorted(path.relative_to(self.root).as_posix() for path in paths)
