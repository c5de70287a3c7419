"""Tasks of ClawBench: a directory with a `task.json` for each, a file with rows, or an installed suite."""

from __future__ import annotations

import json
import sys

import pytest

from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.tasks import dataset
from pytest_webeval.tasks.dataset import load_tasks, parse_tasks

SCHEMA = {"url_pattern": "/cart$", "method": "POST", "body": {"quantity": "2"}, "params": {"page": "1"}}
TASK = {
    "$schema": "../../task.schema.json",
    "metadata": {"task_id": 47, "metaclass": "shopping", "platform": "shop"},
    "instruction": "Order two mugs.",
    "eval_schema": SCHEMA,
    "time_limit": 30,
    "extra_info": [{"path": "extra_info/a.json", "description": "An address"}],
}


def write(directory, name, **changes):
    path = directory / name / "task.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(TASK | changes))
    return path


def test_the_directories_of_a_suite_are_tasks_by_their_names(tmp_path):
    write(tmp_path, "v2-047-shop")
    write(tmp_path, "001-shop", instruction="Order a lamp.")
    tasks = load_tasks(str(tmp_path))
    assert (tasks.task_ids, tasks.origin, len(tasks.checksum)) == (("001-shop", "v2-047-shop"), tmp_path.name, 64)
    task = tasks.get("v2-047-shop")
    assert (task.intent, task.benchmark, task.group, task.start_urls) == (
        "Order two mugs.",
        "clawbench",
        "shopping",
        [],
    )
    assert task.eval == [{"evaluator": "RequestPatternEvaluator", "expected": SCHEMA}, {"evaluator": "RubricEvaluator"}]
    assert tasks.get("001-shop").intent == "Order a lamp."


def test_the_directory_and_the_file_of_one_task_are_the_same_task(tmp_path):
    path = write(tmp_path, "v2-047-shop")
    for name in (path, path.parent):
        assert load_tasks(str(name)).task_ids == ("v2-047-shop",)


def test_the_checksum_of_a_directory_is_that_of_all_its_tasks(tmp_path):
    checksums = set()
    for text in ("a", "b"):
        write(tmp_path / text, "001-shop")
        write(tmp_path / text, "002-shop", instruction=text)
        checksums.add(load_tasks(str(tmp_path / text)).checksum)
    assert len(checksums) == 2


@pytest.mark.parametrize(
    ("row", "task_id"),
    [
        ({"test_case": "v2-047-shop"}, "v2-047-shop"),
        ({}, "47"),
        ({"metadata": None}, None),
        ({"metadata": {"task_id": True}}, None),
        ({"test_case": " "}, None),
    ],
)
def test_a_row_of_another_file_names_its_test_case_or_has_a_number(row, task_id):
    tasks = parse_tasks(json.dumps([TASK | row]).encode(), "tasks.json")
    assert tasks.task_ids == (() if task_id is None else (task_id,))
    assert bool(tasks.warnings) is (task_id is None)


def test_json_lines_are_read_too():
    lines = [json.dumps(TASK | {"test_case": name}) for name in "ab"]
    assert parse_tasks("\n".join(lines).encode(), "tasks.jsonl").task_ids == ("a", "b")


def test_a_pattern_that_stands_for_none_is_a_warning():
    row = TASK | {"eval_schema": SCHEMA | {"url_pattern": "__PLACEHOLDER_WILL_NOT_MATCH__"}}
    (warning,) = parse_tasks(json.dumps([row]).encode(), "t.json").get("47").warnings
    assert "url_pattern is ClawBench's placeholder __PLACEHOLDER_WILL_NOT_MATCH__: no request fits" in warning


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"eval_schema": []}, "invalid task in t.json: [] is not an object @ [0].eval_schema; fix the definition"),
        ({"instruction": 5}, "invalid task in t.json: 5 is not a string @ [0].instruction; fix the definition"),
    ],
)
def test_a_mistake_in_a_row_is_an_error(changes, message):
    tasks = parse_tasks(json.dumps([TASK | changes]).encode(), "t.json")
    with pytest.raises(TaskDefinitionError) as caught:
        tasks.get("47")
    assert str(caught.value) == message


def test_an_installed_suite_goes_by_its_name(tmp_path, monkeypatch):
    (tmp_path / "clawbench").mkdir()
    (tmp_path / "clawbench" / "__init__.py").write_text("raise ImportError('must not be imported')")
    write(tmp_path / "clawbench" / "_bundled" / "test-cases" / "v2", "v2-047-shop")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "clawbench", raising=False)
    tasks = load_tasks("clawbench-v2")
    assert (tasks.task_ids, tasks.origin) == (("v2-047-shop",), "clawbench-v2")
    with pytest.raises(
        TaskDefinitionError, match="clawbench-eval with the tasks clawbench-v1 is not installed; install"
    ):
        load_tasks("clawbench-v1")


def test_without_the_package_a_suite_is_an_error(monkeypatch):
    monkeypatch.setattr(dataset, "find_spec", lambda _: None)
    with pytest.raises(TaskDefinitionError, match="clawbench-eval with the tasks clawbench-v2 is not installed"):
        load_tasks("clawbench-v2")
