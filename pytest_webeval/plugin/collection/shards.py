"""The items of other shards, with --webeval-shard: they are left out before anything else selects items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.plugin.collection.nodes import run_path
from pytest_webeval.plugin.workspace import PytestWorkspace
from pytest_webeval.safety.files import is_file
from pytest_webeval.sessions.workspace.output_paths import list_result_directories
from pytest_webeval.summary.comparison.session_reading import read_session
from pytest_webeval.summary.shards import Shard, Split, split_runs
from pytest_webeval.summary.summary_file import find_summary


def select_shard(items: Sequence[pytest.Item], workspace: PytestWorkspace) -> tuple[list[pytest.Item], Split]:
    """The items about runs of other shards, and how all runs are split. A test that is about no run is in all shards.

    Raises `pytest.UsageError` if the file with recorded times cannot be read.
    """
    shard = workspace.settings.shard or Shard(1, 1)
    labels = {item: label for item in items if (label := _find_label(item, workspace)) is not None}
    try:
        split = split_runs(set(labels.values()), shard.count, read_times(workspace))
    except SettingsError as error:
        raise pytest.UsageError(str(error)) from error
    selected = split.select(shard.index)
    return [item for item, label in labels.items() if label not in selected], split


def _find_label(item: pytest.Item, workspace: PytestWorkspace) -> str | None:
    path = run_path(item)
    return None if path is None or workspace.labels.root_of(path) is None else workspace.labels.of(path)


def read_times(workspace: PytestWorkspace) -> Mapping[str, float]:
    """Seconds by run: of the file that the user names, or else of the summaries that earlier sessions left.

    Shards write no such summary, so the times are the same for all of them. Raises `SettingsError`.
    """
    if workspace.settings.shard_times is not None:
        return _read_times(workspace.settings.shard_times)
    times: dict[str, float] = {}
    for directory in list_result_directories(workspace):
        summary = find_summary(directory)
        if summary is not None and is_file(summary):
            times |= _read_times(summary)
    return times


def _read_times(path: Path) -> dict[str, float]:
    return {run.run: run.wall_time for run in read_session(path).runs if run.wall_time > 0}
