"""Contracts: what imports what, scoring without pytest, and files that other tools can read."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict

import pytest_webeval
from pytest_webeval.reports.failure_text import failure_text
from pytest_webeval.storage import to_json_bytes
from pytest_webeval.summary.summarize import summarize

PACKAGE = Path(pytest_webeval.__file__).parent
WITHOUT_PYTEST = """
import importlib, sys
from pathlib import Path

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"pytest", "_pytest", "pluggy"}:
            raise ImportError(f"{name} is not installed")

sys.meta_path.insert(0, Absent())
root = Path(sys.argv[1])
for path in sorted(root.rglob("*.py")):
    if "plugin" not in path.relative_to(root).parts:
        importlib.import_module(".".join(path.relative_to(root.parent).with_suffix("").parts))
from pytest_webeval import find_runs, load_tasks, score
print([score(run, load_tasks(sys.argv[3])).status.value for run in find_runs(sys.argv[2])])
"""


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def test_only_the_plugin_imports_pytest_and_nothing_imports_its_private_parts():
    """One test, and only of modules that have the word: the contracts of `lint-imports` are about all of them."""
    paths = [
        path for path in PACKAGE.rglob("*.py") if "pytest" in path.read_text("utf-8").replace("pytest_webeval", "")
    ]
    found = {path.relative_to(PACKAGE): {"pytest", "_pytest"} & set(imported(path)) for path in paths}
    assert any(found.values())
    assert [path for path, names in found.items() if names - ({"pytest"} if "plugin" in path.parts else set())] == []


def test_runs_are_scored_where_pytest_is_not_installed(bench, tmp_path):
    bench.record()
    (tmp_path / "tasks.json").write_text(json.dumps([bench.task(bench.expecting(data=["Blue Mug"]))]))
    command = [sys.executable, "-c", WITHOUT_PYTEST, str(PACKAGE), str(tmp_path), str(tmp_path / "tasks.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("['success']\n", "")


# Written after the published description of the files, not after our models.
class Told(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class ToldAssertion(Told):
    assertion_name: str
    status: Literal["success", "failure", "error"]
    assertion_msgs: list[str] | None
    error_msg: str | None


class ToldEvaluator(Told):
    evaluator_name: str
    status: Literal["success", "failure", "error"]
    score: float
    actual: dict[str, Any] | None
    actual_normalized: dict[str, Any] | None
    expected: dict[str, Any] | None
    assertions: list[ToldAssertion] | None
    error_msg: str | None


class ToldResult(Told):
    task_id: int
    intent_template_id: int
    sites: list[str]
    task_revision: int
    status: Literal["success", "failure", "partial_match", "error"]
    score: float
    evaluators_results: list[ToldEvaluator]
    error_msg: str | None
    webarena_verified_version: str
    webarena_verified_evaluator_checksum: str
    webarena_verified_data_checksum: str
    webeval: dict[str, Any]


POST = {"url": "__SHOPPING__/a", "http_method": "POST"}
BROKEN = {**POST, "url": "__MAP__/a"}


@pytest.mark.parametrize(
    ("data", "wanted", "status"),
    [
        (["Blue Mug"], {"url": "__SHOPPING__/"}, "success"),
        (["Red Mug"], POST, "failure"),
        (["Red Mug"], BROKEN, "error"),
    ],
)
def test_a_result_has_the_published_shape(bench, data, wanted, status):
    bench.record()
    network = {"evaluator": "NetworkEventEvaluator", "expected": wanted}
    result = bench.score(bench.task(bench.expecting(data=data), network))
    assert ToldResult.model_validate(json.loads(to_json_bytes(result.to_json()))).status == status
    assert bool(failure_text(result)) is (status != "success")


def test_a_summary_is_sorted_and_adds_up(bench):
    bench.record()
    tasks = [bench.task(bench.expecting(data=[text]), sites=["shopping", "map"]) for text in ("Blue Mug", "x")]
    results = [bench.score(task) for task in tasks]
    first = [summarize(order, "now") for order in (results, results[::-1])]
    assert [(one.total, one.success_count, one.failed_count, one.error_count) for one in first] == [(2, 1, 1, 0)] * 2
    assert list(first[0].per_site_summary) == ["map-shopping"]


@pytest.mark.parametrize("depth", [90, 300, 600])
def test_a_deeply_nested_answer_costs_neither_its_verdict_nor_its_result_file(bench, depth):
    bench.record(f'{{"task_type": "MUTATE", "status": "SUCCESS", "retrieved_data": {"[" * depth}{"]" * depth}}}')
    result = bench.score(bench.task(bench.expecting("MUTATE", schema={"type": "null"})))
    assert result.status == "success"
    assert json.loads(to_json_bytes(result.to_json()))["status"] == "success"
