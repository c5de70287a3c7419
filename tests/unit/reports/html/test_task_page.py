"""The data of a task's page: which sentence and answer it has, and how much of the definition."""

# ruff: noqa: E501  (rows of data read best in one line)

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from pytest_webeval.reports.html.task_page import LONGEST_DEFINITION, PageTexts, ReportPaths, task_definition, task_view
from pytest_webeval.results import EvaluatorResult, Status, TaskResult
from pytest_webeval.summary.record import Record
from pytest_webeval.tasks.task import TrajectoryTask, read_task, undefined_task
from tests.support.runs import Runs

DIFFERENCE = {"path": "retrieved_data[0]", "kind": "different", "expected": "a", "actual": "b"}
SENTENCE = 'The answer lacks "a" and has "b" instead.'


def failure(**webeval: Any) -> TaskResult:
    """The result of a task with a wrong answer."""
    answer = {"action": "retrieve", "status": "SUCCESS", "results": ["b"]}
    evaluated = EvaluatorResult(
        evaluator_name="AgentResponseEvaluator", status=Status.FAILURE, score=0.0, actual_normalized=answer,
        assertions=[{"assertion_name": "retrieved_data[0]_mismatch", "status": "failure"}],
    )  # fmt: skip
    fields = json.loads(json.dumps(evaluated.to_json()))
    explanations = [{"differences": [DIFFERENCE], "nearest": None, "candidates": []}]
    unread = TaskResult(
        task_id=7, intent_template_id=1, sites=[], task_revision=1, status=Status.FAILURE, score=0.0, error_msg=None,
        evaluators_results=[EvaluatorResult.read(fields)], webarena_verified_version="",
        webarena_verified_evaluator_checksum="", webarena_verified_data_checksum="",
        webeval={"run": "runs/7", "rules": "default", "version": "1", "wall_time": 0.0, "explanations": explanations, **webeval},
    )  # fmt: skip
    return TaskResult.read(unread.to_json())


@pytest.fixture
def view(tmp_path):
    """The page of a result; changes of the record came after scoring."""
    paths = ReportPaths(tmp_path, tmp_path / "7", None, tmp_path)

    def read(result: TaskResult, parts: Any = None, words: Any = None, **changes: Any) -> dict[str, Any]:
        record = replace(Record.of(result, "retrieve", "the reason"), **changes)
        return task_view(result, record, parts or {}, paths, PageTexts(None, words or {}))

    return read


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, SENTENCE),
        ({"status": "success"}, None),
        ({"status": "error"}, None),
        ({"skipped": True, "excluded": "not today"}, None),
    ],
)
def test_a_sentence_stands_for_the_outcome_of_scoring_only(view, changes, sentence):
    assert view(failure(), **changes)["sentence"] == sentence


def test_an_error_of_the_run_has_its_own_message(view):
    assert view(failure().with_changes(error_msg="no such file"))["sentence"] is None


def test_the_reason_has_the_check_of_an_event_in_words(view):
    reason = "missing_navigation_event: no matching POST /cart"
    assert view(failure(), reason=reason)["reason"] == "missing request: no matching POST /cart"
    assert view(failure(), skipped=True, excluded="aborted")["reason"] == "aborted"


def test_answer_and_differences_have_the_words_of_the_agent(view):
    (evaluator,) = view(failure(), words={"retrieved_data": "results"})["evaluators"]
    assert evaluator["differences"] == [DIFFERENCE | {"path": "results[0]"}]
    assert evaluator["actual"] == {"task_type": "retrieve", "status": "SUCCESS", "results": ["b"]}


def test_a_final_answer_stands_at_the_top_and_not_among_the_facts(view):
    page = view(failure(trajectory={"answer": "b", "steps": 3}), parts={"answer": None})
    assert page["answer"] == {"value": "b"}
    assert page["about"]["trajectory"] == {"steps": 3}


def test_a_recorded_answer_counts_before_that(view):
    answer = {"fields": [], "more": 0}
    assert view(failure(trajectory={"answer": "b"}), parts={"answer": answer})["answer"] == answer


def test_the_definition_is_that_of_the_file():
    definition = Runs.definition(107)
    assert task_definition(read_task(definition, "tasks.json")) == definition


@pytest.mark.parametrize("task", [None, undefined_task("shop-1", "Find it.")])
def test_a_task_without_a_definition_has_none(task):
    assert task_definition(task) is None


def test_a_trajectory_task_has_its_rubric_and_none_of_our_notes():
    task = TrajectoryTask(task_id="t", benchmark="om2w", rubric={"items": [1]}, warnings=("w",), rephrasings=("r",))
    definition = task_definition(task)
    assert definition["rubric"] == {"items": [1]}
    assert not {"warnings", "rephrasings"} & definition.keys()


def test_a_huge_definition_is_cut():
    task = read_task(Runs.definition(107) | {"instantiation_dict": {"x": ["A" * 1_000] * 1_000}}, "tasks.json")
    assert len(json.dumps(task_definition(task))) < 1.2 * LONGEST_DEFINITION
