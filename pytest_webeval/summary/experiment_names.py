"""Names of experiments that recordings do not name: of run folders in one directory that hold the same tasks."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from pytest_webeval.summary.repeated_runs import find_original, is_rephrased
from pytest_webeval.summary.run_folders import group_folders
from pytest_webeval.summary.task_identity import TaskKeys
from pytest_webeval.summary.trajectory_rows import TrajectoryRow


def name_experiments(rows: list[TrajectoryRow]) -> None:
    """Give those without an experiment the name of the directory above their run folder.

    Run folders that share no task are no runs of one experiment, even in one directory.
    """
    names = _find_names(rows)
    for position, row in enumerate(rows):
        if not row.experiment and row.run in names:
            rows[position] = replace(row, experiment=names[row.run])


def _find_names(rows: Sequence[TrajectoryRow]) -> dict[str, str]:
    """The experiments by run folder."""
    by_directory: dict[str, list[TrajectoryRow]] = {}
    for row in rows:
        if not row.experiment:
            by_directory.setdefault(row.run.rpartition("/")[0], []).append(row)
    keys = TaskKeys(rows)
    return {
        folder: name
        for directory, inside in by_directory.items()
        for folder, name in _name_folders(directory, inside, keys).items()
    }


def _name_folders(directory: str, rows: Sequence[TrajectoryRow], keys: TaskKeys) -> dict[str, str]:
    """The experiments of the run folders in a directory: its name, or that of the first folder if it has several."""
    places = [(row.run, find_original(keys.find(row))) for row in rows]
    groups = group_folders(places)
    if len(groups) == 1:
        return dict.fromkeys(groups[0], directory)
    rephrased = {row.run for row in rows if is_rephrased(row)}
    repeated = [group for group in groups if len(group) > 1 or group[0] in rephrased]
    names = [directory] if len(repeated) == 1 else map(_name_group, repeated)
    return {folder: name for name, group in zip(names, repeated, strict=True) for folder in group}


def _name_group(folders: Sequence[str]) -> str:
    return f"{folders[0]} and {len(folders) - 1} more" if len(folders) > 1 else folders[0]
