"""Which changed tasks have details, under which ids, and how their answers are written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_webeval.reports.html.side_by_side import entries
from pytest_webeval.reports.html.side_by_side.entries import SessionFiles, format_answer, select_tasks
from pytest_webeval.summary.comparison.session_comparison import SessionComparison
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession

STATUSES = {"+": "success", "-": "failure", "!": "error", "x": "excluded"}


def session(name, text, task_ids=None):
    """Runs such as `1+ 2-`: tasks and how they ended."""
    runs = [ScoredRun(run=f"{name}/{word[:-1]}", task_id=word[:-1], status=STATUSES[word[-1]]) for word in text.split()]
    for run, task_id in zip(runs, task_ids or (), strict=False):
        runs[runs.index(run)] = ScoredRun(run=run.run, task_id=task_id, status=run.status)
    return ScoredSession(name, runs)


def choose(*sessions):
    comparisons = [SessionComparison(sessions[0], later).to_json() for later in sessions[1:]]
    files = [SessionFiles(each, Path(), Path()) for each in sessions]
    return select_tasks({"comparisons": comparisons}, files)


def test_tasks_whose_verdict_changed_have_details_and_those_that_got_worse_come_first():
    tasks = choose(session("a", "1- 2+ 3+ 4+ 5- 6+ 7!"), session("b", "1+ 2- 3! 4+ 5- 6x 8+"))
    assert [(key, task.anchor) for key, task in tasks.items()] == [
        ((0, "b/2"), "task-2"),
        ((0, "b/3"), "task-3"),
        ((0, "b/1"), "task-1"),
    ]
    assert [run.run for run in tasks[0, "b/2"].runs] == ["a/2", "b/2"]


def test_of_too_many_tasks_those_that_got_worse_have_details(monkeypatch):
    monkeypatch.setattr(entries, "MOST_TASKS", 2)
    assert [run for _, run in choose(session("a", "1- 2+ 3+"), session("b", "1+ 2- 3!"))] == ["b/2", "b/3"]


def test_a_task_has_one_entry_with_the_runs_of_all_sessions():
    tasks = choose(session("a", "1+ 2+ 3+"), session("b", "1- 2+ 3-"), session("c", "1! 2+"), session("d", "1+ 3+"))
    assert list(tasks) == [(0, "b/1"), (0, "b/3"), (1, "c/1")]
    assert tasks[0, "b/1"] is tasks[1, "c/1"]
    assert [run and run.run for run in tasks[0, "b/1"].runs] == ["a/1", "b/1", "c/1", "d/1"]
    assert [run and run.run for run in tasks[0, "b/3"].runs] == ["a/3", "b/3", None, "d/3"]


def test_a_task_that_changed_in_a_later_session_has_its_run_in_that_column():
    tasks = choose(session("a", "1+"), session("b", "1+"), session("c", "1-"))
    assert [run and run.run for run in tasks[1, "c/1"].runs] == ["a/1", "b/1", "c/1"]


@pytest.mark.parametrize("task_id", [107, "108", "books.find_7-x", "x" * 80])
def test_the_id_of_an_entry_is_that_of_its_task(task_id):
    (task,) = choose(session("a", "1+", [task_id]), session("b", "1-", [task_id])).values()
    assert task.anchor == f"task-{task_id}"


@pytest.mark.parametrize("task_id", ["a b", '"><img src=x>', "x" * 81, "", "ä", "\ud800"])
def test_the_id_of_a_task_with_other_characters_is_a_checksum(task_id):
    (task,) = choose(session("a", "1+", [task_id]), session("b", "1-", [task_id])).values()
    assert re.fullmatch(r"task-[0-9a-f]{16}", task.anchor)


def test_each_id_is_there_once():
    ids = [7, "7-2", 7]
    tasks = choose(session("a", "1+ 2+ 3+", ids), session("b", "1- 2- 3-", ids))
    anchors = [task.anchor for task in tasks.values()]
    assert len(set(anchors)) == len(anchors) == 3
    assert "task-7" in anchors


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (None, ""),
        ("12 EUR", "12 EUR"),
        ({"status": "SUCCESS"}, '{"status": "SUCCESS"}'),
        (["x" * 60], f'[\n "{"x" * 60}"\n]'),
        (0, "0"),
        ("x" * 9_999, f"{'x' * 1_999}…"),
        (["y" * 9_999], f'[\n "{"y" * 1_995}…'),
        ({1: {2}}, ""),
    ],
)
def test_an_answer_is_a_bounded_text(answer, text):
    assert format_answer(answer) == text
