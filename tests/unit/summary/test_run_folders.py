"""Run folders: their names, and which of them hold the same tasks."""

from __future__ import annotations

import pytest

from pytest_webeval.summary.run_folders import find_run_folder, group_folders


@pytest.mark.parametrize(
    ("label", "is_named_by_run", "folder"),
    [
        ("runs/try-1/107", False, "runs/try-1"),
        ("runs/try-1/traj/107", False, "runs/try-1"),
        ("runs/first/tea_success/2026-11-24T05", True, "runs/first"),
        ("runs/first/traj/tea_success/2026-11-24T05", True, "runs/first"),
        ("tea_success/2026-11-24T05", True, ""),
        ("107", False, ""),
        ("107", True, ""),
    ],
)
def test_a_run_folder_is_the_directory_above_the_task(label, is_named_by_run, folder):
    assert find_run_folder(label, is_named_by_run=is_named_by_run) == folder


@pytest.mark.parametrize(
    ("places", "groups"),
    [
        ("", []),
        ("a1", [["a"]]),
        ("a1 a2 b3 b4", [["a"], ["b"]]),
        ("b1 a1", [["a", "b"]]),
        ("a1 a2 b2 b3 c3 d9", [["a", "b", "c"], ["d"]]),
        ("a1 b2 c1 d2", [["a", "c"], ["b", "d"]]),
        ("a1 a1", [["a"]]),
        ("a1 b1 c2 b2", [["a", "b", "c"]]),
        ("c1 d1 a2 b2 d3 a3", [["a", "b", "c", "d"]]),
    ],
)
def test_folders_with_a_task_in_common_are_together(places, groups):
    assert group_folders((place[0], place[1:]) for place in places.split()) == groups


@pytest.mark.parametrize(
    "find_places",
    [
        lambda number: [(number, number), (number, number + 1)],
        lambda number: [(number, number), (0, number)],  # each folder stands for all before it
    ],
    ids=["chain", "star"],
)
def test_very_many_folders_are_grouped_in_linear_time(find_places):
    count = 100_000
    places = [(f"{folder:06}", task) for number in range(count) for folder, task in find_places(number)]
    (group,) = group_folders(places)
    assert len(group) == count
