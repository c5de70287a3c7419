"""Scores for inspect_ai: one for each run with a verdict, and epochs where a task has several runs."""

from __future__ import annotations

import json

import pytest

from pytest_webeval import load_results
from pytest_webeval.exports.inspect_scores import format_inspect_scores
from pytest_webeval.exports.settings import ExportSettings
from tests.support.stored_results import result, row, write_results, write_summary

pytestmark = pytest.mark.unchecked_files("results have only what the exports read")


def scores(path):
    (content,) = format_inspect_scores(load_results(path), ExportSettings()).values()
    return [json.loads(line) for line in content.splitlines()]


def test_a_run_is_a_score_with_answer_explanation_and_metadata(tmp_path):
    write_results(tmp_path, result(1, "r/1", score=0.5), result("b", "r/b", "error", error_msg="cannot parse it"))
    success, error = scores(tmp_path)
    common = {"score": 0.5, "sites": "map-shopping", "attempt": "r", "rules": "default", "evaluators_checksum": "e0e0"}
    assert success == {
        "id": "1",
        "value": 1,
        "answer": '["lamp", 2]',
        "explanation": None,
        "metadata": {"run": "r/1", "status": "success", **common},
    }
    assert (error["id"], error["value"], error["explanation"]) == ("b", 0, "cannot parse it")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([row(1, "a/1"), row(2, "a/2", "failure")], [("1", None, 1), ("2", None, 0)]),
        ([row(1, "a/1"), row("1", "b/1", "failure"), row(2, "a/2")], [("1", 1, 1), ("1", 2, 0), ("2", None, 1)]),
        ([row(1, "a/1", "excluded"), row(1, "b/1")], [("1", 2, 1)]),
        ([row(1, "a/1", "error"), row(2, "a/2", "partial_match")], [("1", None, 0), ("2", None, 0)]),
    ],
    ids=["single", "several", "excluded", "error"],
)
def test_several_runs_of_a_task_are_epochs(tmp_path, rows, expected):
    listed = scores(write_summary(tmp_path, *rows))
    assert [(score["id"], score.get("epoch"), score["value"]) for score in listed] == expected
