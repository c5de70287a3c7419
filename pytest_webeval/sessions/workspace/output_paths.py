"""Paths that a session is to write to. They are checked before it scores anything."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path

from pytest_webeval.errors import SettingsError
from pytest_webeval.safety.files import is_dir
from pytest_webeval.sessions.settings.settings import Settings
from pytest_webeval.sessions.workspace.workspace import Workspace


def list_result_directories(workspace: Workspace) -> list[Path]:
    """The directories of summaries and of rows: the output directory, or else the run roots.

    A root that is itself a run has neither: an agent could have written what lies in it.
    """
    settings = workspace.settings
    if settings.output is not None:
        return [settings.output]
    return [root for root in settings.roots if workspace.format_of(root) is None]


def check_output_paths(settings: Settings) -> None:
    """Raise `SettingsError` that names the option, the path and the reason if one of them cannot be written.

    The same for a package that is missing, and `StoreError` for a location.
    """
    if settings.results == "parquet":
        from pytest_webeval.summary.results.parquet_shards import require_pyarrow  # only for this format

        require_pyarrow()  # an hour later it would be too late
    if settings.results != "files":
        _check_manifests(settings)
    if settings.staging is not None:
        settings.staging.check_writable()
    directories = {
        "--webeval-output": settings.output,
        "--webeval-report": settings.report,
        "--webeval-metrics": settings.metrics,
    }
    for option, path in directories.items():
        if path is not None:
            _check(option, path, "choose another directory")
    if (file := settings.gitlab_metrics) is not None:
        _check_file("--webeval-gitlab-metrics", file)
    if settings.output is None:
        for mirror in settings.mirrors:
            problem = f"--webeval-runs: results cannot be written to {mirror.store.location}"
            raise SettingsError(f"{problem}; choose a directory or another location with --webeval-output")
        for root in settings.roots:
            _check("--webeval-runs", root, "choose a directory for the results with --webeval-output")


def _check_manifests(settings: Settings) -> None:
    """Raise `SettingsError` if results in shards would take the place of a file of somebody else."""
    from pytest_webeval.summary.store.result_manifest import is_manifest, name_manifest  # only for shards

    name = name_manifest(settings.shard)
    for directory in settings.roots if settings.output is None else (settings.output,):
        if os.path.lexists(directory / name) and not is_manifest(directory, name):
            problem = f"--webeval-results: {directory / name} is not a manifest of results"
            raise SettingsError(f"{problem}; move it, or choose another directory with --webeval-output")


def check_report(workspace: Workspace) -> None:
    """Raise `SettingsError` if the report would lie among the runs, or cannot be one file."""
    report, embed = workspace.settings.report, workspace.settings.report_embed
    if report in workspace.settings.roots:
        raise SettingsError(f"--webeval-report: {report} is a run root; choose a separate directory")
    if report is not None:
        _refuse_runs("--webeval-report", (report, *report.parents), workspace)
    if embed is not None:
        from pytest_webeval.reports.html.screenshots import pillow  # only for this option

        pillow()


def check_output(workspace: Workspace) -> None:
    """Raise `SettingsError` if results are to be written into a run, which would no longer be found."""
    output, roots = workspace.settings.output, workspace.settings.roots
    if output is not None:
        places = (path for path in (output, *output.parents) if path not in roots)
        _refuse_runs("--webeval-output", places, workspace)


def check_replies(replies: Path, workspace: Workspace) -> None:
    """Raise `SettingsError` if replies of a judge lie in a run, whose agent could have written them."""
    places = (place for path in (replies, replies.resolve()) for place in (path, *path.parents))
    _refuse_runs("--webeval-judge-replies", places, workspace)


def _refuse_runs(option: str, places: Iterable[Path], workspace: Workspace) -> None:
    for path in places:
        is_inside = workspace.labels.root_of(path) is not None
        if is_inside and is_dir(path) and workspace.format_of(path) is not None:
            raise SettingsError(f"{option}: {path} is a recorded run; choose a separate directory")


def check_copy(settings: Settings, count: int) -> None:
    """Raise `SettingsError` if a report of so many runs is to be one file, which has no room for them."""
    if settings.report_embed is None:
        return
    from pytest_webeval.reports.html.index_page import MOST_ROWS  # only for this option
    from pytest_webeval.reports.html.writer import refuse_copy  # same

    if count > MOST_ROWS:
        raise refuse_copy(count)


def _check_file(option: str, path: Path) -> None:
    if is_dir(path):
        raise SettingsError(f"{option}: cannot write {path}: {os.strerror(errno.EISDIR)}; choose another file")
    _check(option, path.parent, "choose another file")


def _check(option: str, directory: Path, advice: str) -> None:
    reason = _obstacle(directory)
    if reason is not None:
        raise SettingsError(f"{option}: cannot write into {directory}: {os.strerror(reason)}; {advice}")


def _obstacle(directory: Path) -> int | None:
    """The error number with which writing would fail, as far as it can be known without writing."""
    existing = directory
    while not os.path.lexists(existing) and existing != existing.parent:
        existing = existing.parent
    try:
        if not existing.is_dir():
            return errno.ENOTDIR
        if os.access(existing, os.W_OK | os.X_OK):
            return None
        return errno.EROFS if os.statvfs(existing).f_flag & os.ST_RDONLY else errno.EACCES
    except OSError as error:
        return error.errno or errno.EACCES
