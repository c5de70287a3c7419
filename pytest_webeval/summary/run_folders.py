"""Run folders: the directory that a run belongs to, and which of these directories hold the same tasks."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

_TRAJECTORIES = "/traj"  # the folder of webeval between a run of an agent and its tasks


def find_run_folder(label: str, *, is_named_by_run: bool = False) -> str:
    """The directory above the task of a run, from the label of the run: it names the attempt or agent.

    A run that `is_named_by_run` lies in a directory of its own below that of its task.
    """
    task = _find_directory(label) if is_named_by_run else label
    return _find_directory(task)


def _find_directory(label: str) -> str:
    return label.rpartition("/")[0].removesuffix(_TRAJECTORIES)


def group_folders(places: Iterable[tuple[str, Hashable]]) -> list[list[str]]:
    """The run folders that hold runs of the same tasks together, sorted, from the folder and the task of each run.

    A folder that shares a task with one of a group belongs to it. One that shares none is alone.
    """
    parents: dict[str, str] = {}
    first_of_task: dict[Hashable, str] = {}
    for folder, task in places:
        parents.setdefault(folder, folder)
        _join(parents, first_of_task.setdefault(task, folder), folder)
    groups: dict[str, list[str]] = {}
    for folder in sorted(parents):
        groups.setdefault(_find_first(parents, folder), []).append(folder)
    return list(groups.values())


def _join(parents: dict[str, str], folder: str, other: str) -> None:
    first, second = _find_first(parents, folder), _find_first(parents, other)
    parents[second] = first


def _find_first(parents: dict[str, str], folder: str) -> str:
    """The folder that stands for the group. Paths to it are halved, so that long ones do not slow down a session."""
    while parents[folder] != folder:
        parents[folder] = parents[parents[folder]]
        folder = parents[folder]
    return folder
