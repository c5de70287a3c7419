"""Directories of results as a session leaves them, without a session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pytest_webeval.results import RESULT, SUMMARY, EvaluatorResult, Status, TaskResult, read_explanations
from pytest_webeval.storage import to_json_bytes
from pytest_webeval.summary.results.result_shards import ResultShardWriter, ShardLayout

MOMENT = "2026-01-15T12:00:00Z"


def build(evaluations: list[EvaluatorResult], webeval: dict[str, Any], status: Status = Status.FAILURE) -> TaskResult:
    """A result of some evaluators as it is read from a file."""
    explanations = read_explanations(webeval.get("explanations"), len(evaluations))
    pairs = zip(evaluations, explanations, strict=True)
    return TaskResult(
        task_id=1,
        intent_template_id=1,
        sites=[],
        task_revision=1,
        status=status,
        score=0.0,
        evaluators_results=[each.with_changes(explanation=explanation) for each, explanation in pairs],
        error_msg=None,
        webarena_verified_version="",
        webarena_verified_evaluator_checksum="",
        webarena_verified_data_checksum="",
        webeval={name: value for name, value in webeval.items() if name != "explanations"},
    )


def assertion(name: str, *messages: str, status: str = "failure", error: str | None = None) -> dict[str, Any]:
    """An assertion of an evaluator."""
    return {"assertion_name": name, "status": status, "assertion_msgs": list(messages) or None, "error_msg": error}


def evaluated(*assertions: dict[str, Any], status: str = "success", **changed: Any) -> dict[str, Any]:
    """What the evaluator of responses says."""
    answer = {"retrieved_data": ["lamp", 2], "status": "SUCCESS"}
    named = {"evaluator_name": "AgentResponseEvaluator", "status": status, "score": float(status == "success")}
    return named | {"actual": answer, "assertions": list(assertions)} | changed


def result(task_id: int | str, run: str, status: str = "success", **changed: Any) -> dict[str, Any]:
    """The content of a result file; `webeval` adds to what is there under that name."""
    webeval = {
        "run": run,
        "rules": "default",
        "version": "0.1.0",
        "format": "webarena-verified",
        "wall_time": 0.5,
        "inputs": {"network.har": "aa", "scores/x.json": "bb"},
        "task_checksum": "0123456789abcdef0000",
    }
    content = {
        "task_id": task_id,
        "intent_template_id": 7,
        "sites": ["shopping", "map"],
        "task_revision": 1,
        "status": status,
        "score": float(status == "success"),
        "evaluators_results": [evaluated(status=status)],
        "error_msg": None,
        "webarena_verified_version": "1.2.3",
        "webarena_verified_evaluator_checksum": "e0e0",
        "webarena_verified_data_checksum": "d0d0",
    }
    return content | changed | {"webeval": webeval | changed.get("webeval", {})}


def write_results(root: Path, *results: dict[str, Any]) -> Path:
    """Write each result below the directory that its label names. Returns the root."""
    for content in results:
        path = root / content["webeval"]["run"] / RESULT
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), "utf-8")
    return root


def write_shards(root: Path, *results: dict[str, Any], layout: ShardLayout | None = None) -> Path:
    """The same in shards. The results are in the order of their labels."""
    with ResultShardWriter(root, layout or ShardLayout()) as writer:
        for content in results:
            writer.add(content["webeval"]["run"], to_json_bytes(content))
    return root


def row(task_id: int | str, run: str, status: str = "success", **changed: Any) -> dict[str, Any]:
    """A row of a summary."""
    content = {"task_id": task_id, "run": run, "status": status, "score": float(status == "success")}
    return content | {"sites": ["shopping"], "intent_template_id": 7, "reason": None, "type": "retrieve"} | changed


def write_summary(root: Path, *rows: Any, **changed: Any) -> Path:
    """Write a summary with these rows. Returns its path."""
    content = {
        "timestamp": MOMENT,
        "webarena_verified_version": "1.2.3",
        "webarena_verified_evaluator_checksum": "e1e1",
        "webarena_verified_data_checksum": "d1d1",
        "task_results": list(rows),
        "webeval": {"rules": "strict", "libraries": {"pytest-webeval": "0.2.0"}},
    }
    root.mkdir(parents=True, exist_ok=True)
    path = root / SUMMARY
    path.write_text(json.dumps(content | changed), "utf-8")
    return path
