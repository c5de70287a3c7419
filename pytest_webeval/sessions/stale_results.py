"""Results in the output directory that are about runs which are no longer there."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from pathlib import Path

from pytest_webeval.recordings.labels import quote_path
from pytest_webeval.results import RESULT
from pytest_webeval.sessions.workspace import Workspace

MOST_VISITED = 10_000  # directories; those of runs of this session are not visited
MOST_NAMED = 100


def stale_results(workspace: Workspace, runs: Container[Path]) -> list[str]:
    """Directories in `--webeval-output` with the result of a run that is gone, relative to it, in ASCII and sorted.

    `runs` are the directories for results of this session. Nothing is opened, removed or followed.
    """
    output = workspace.settings.output
    if output is None:
        return []
    skipped = {workspace.settings.report, workspace.settings.metrics, *workspace.settings.roots}
    stale = [path for path in _result_directories(output, runs, skipped) if _is_gone(path, workspace)]
    return sorted(quote_path(path.relative_to(output).as_posix()) for path in stale)[:MOST_NAMED]


def _result_directories(output: Path, runs: Container[Path], skipped: Container[Path | None]) -> Iterator[Path]:
    """Directories below one that hold a result, but for those of this session."""
    for visited, (directory, subdirectories, files) in enumerate(os.walk(output), 1):
        path = Path(directory)
        if RESULT in files and path not in runs:
            yield path
        inner = (path / name for name in subdirectories)
        subdirectories[:] = [child.name for child in inner if child not in runs and child not in skipped]
        if visited == MOST_VISITED:
            return


def _is_gone(path: Path, workspace: Workspace) -> bool:
    """Whether no run of the session could have that place: a run outside a subset keeps its earlier result."""
    if workspace.tasks.subset is None:
        return True
    roots = workspace.settings.roots
    sources = (root / path.relative_to(place) for root in roots if path.is_relative_to(place := workspace.place(root)))
    return not any(os.path.lexists(source) for source in sources)
