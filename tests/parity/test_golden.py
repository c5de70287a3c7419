"""Recordings made from a task's own expectations: what passes, and what nobody can pass (spec §10.2)."""

from __future__ import annotations

from tests.parity.harness.goldens import golden

FAILURES = {319, 429, *range(562, 571), 742, 743, 745, 746}
ERRORS = {699, 700, 811}


def test_every_task_gets_the_verdict_that_the_reference_gives_its_own_expectation(dataset, agree):
    pairs = agree(map(golden, dataset.tasks))
    found = {pair.recording.task["task_id"]: pair.ours.status for pair in pairs}
    assert len(found) == 812
    assert {task for task, status in found.items() if status == "failure"} == FAILURES
    assert {task for task, status in found.items() if status == "error"} == ERRORS


def test_the_subsets_divide_the_tasks(dataset):
    sizes = {name: len(ids) for name, ids in dataset.subsets.items()}
    assert sizes == {"webarena-verified-hard": 258, "webarena-verified-non-hard": 554}
    divided = [task_id for ids in dataset.subsets.values() for task_id in ids]
    assert sorted(divided) == [task["task_id"] for task in dataset.tasks]
