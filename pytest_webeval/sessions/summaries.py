"""The summaries of a session: what the session adds to the records of its runs, and where each summary goes."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_webeval.recordings.labels import quote_path
from pytest_webeval.results import EVALUATOR_CHOICE, RESULT, Summary
from pytest_webeval.scoring.provenance import libraries
from pytest_webeval.sessions.runs.session_rows import Rows
from pytest_webeval.sessions.session import Session
from pytest_webeval.sessions.workspace.output_paths import list_result_directories
from pytest_webeval.sessions.workspace.workspace import Workspace
from pytest_webeval.summary.store.row_file import RowFile
from pytest_webeval.summary.summarize import summarize_records

WITHOUT_RUNS_LISTED = 100  # directories in a summary
MOST_VISITED = 10_000  # directories with results; those of runs of this session are not visited
MOST_NAMED = 100


def build_summary(session: Session, records: Rows) -> Summary:
    """The summary of some records."""
    workspace, details = session.workspace, describe_session_details(session, records)
    if not details["partial"] and (stale := _list_stale_results(session)):
        details["stale_results"] = stale
    attempts, known = workspace.settings.attempts, workspace.known_failures
    expected = list_expected(workspace)
    summary = summarize_records(records, details, expected=expected, attempts=attempts, known_failures=known)
    has_certificate = workspace.settings.judge_certificate is not None and "judging" in summary.webeval
    return workspace.add_certificate(summary) if has_certificate else summary


def describe_session_details(session: Session, records: Rows) -> dict[str, Any]:
    """What the session adds under `webeval` of the summary of some records."""
    workspace, collected, settings = session.workspace, session.collected, session.workspace.settings
    tasks, shard, is_live = workspace.tasks.configured, settings.shard, settings.is_live
    has_all = not (session.unscored or collected.is_chosen or shard or (is_live and session.stopped))
    is_whole = has_all and (collected.run_count > 0 or (is_live and len(session.records) > 0))
    external = {} if workspace.external is None else workspace.external.to_json()
    return {
        "unscored_count": len(session.unscored),
        "unscored": list(session.unscored),
        "stopped": session.stopped,
        "deselected_count": collected.counts.deselected,
        "partial": not is_whole,
        "subset": _describe_subset(session),
        "policy": settings.policy.to_json() | external,  # of stored verdicts, and files that count before them
        **({EVALUATOR_CHOICE: list(choice)} if (choice := settings.evaluators) else {}),
        "task_warnings": list(tasks.warnings) if tasks else [],
        "without_runs_count": len(collected.without_runs),
        "without_runs": list(collected.without_runs[:WITHOUT_RUNS_LISTED]),
        "nested_runs": list(collected.nested_runs[:WITHOUT_RUNS_LISTED]),
        "today": settings.today.isoformat(),
        "libraries": libraries(),
        **({"shard": f"{shard}", "shard_run_count": collected.counts.split} if shard else {}),
        **({"reused_count": records.count_reused()} if settings.reuse else {}),
    }


def _describe_subset(session: Session) -> dict[str, Any] | None:
    """The subset in the summary. A session that scores all of it is complete."""
    subset = session.workspace.tasks.subset
    if subset is None:
        return None
    counts = {"task_count": len(subset.task_ids), "outside_count": session.collected.counts.outside}
    return {"name": subset.name, "checksum": subset.checksum} | counts


def list_expected(workspace: Workspace) -> list[str] | None:
    """The tasks that should have a trajectory, from --webeval-tasks or the subset."""
    tasks = workspace.tasks.subset or workspace.tasks.configured
    return [task_id for task_id in (tasks.task_ids if tasks else ()) if isinstance(task_id, str)] or None


def list_places(session: Session) -> Mapping[Path, RowFile]:
    """The directories of summaries: the output directory, otherwise each root for its own runs.

    A root that is itself a trajectory gets its result alone. A shard may be empty, and says so.
    """
    records, labels, settings = session.records, session.workspace.labels, session.workspace.settings
    if settings.output is not None:
        return {settings.output: records.find_file(settings.output)}
    paths = filter(None, map(labels.path_of, session.unscored))
    first = records.list_first()
    places = [root for root, record in first if not (record.trajectory and record.run == labels.of(root))]
    places += [root for path in paths if (root := labels.root_of(path)) not in (None, path)]
    places += list_result_directories(session.workspace) if settings.shard is not None else []
    return {root: records.find_file(root) for root in dict.fromkeys(places)}


def write_session_metrics(directory: Path, session: Session) -> None:
    """Write a metrics.json for each run of trajectories. Raises `SettingsError`."""
    from pytest_webeval.summary.trajectories.metrics_json import write_metrics  # with all of the analysis

    settings = session.workspace.settings
    trajectories = [record for record in session.records if record.trajectory is not None]
    write_metrics(trajectories, directory, settings.rules, settings.sync)


def _list_stale_results(session: Session) -> list[str]:
    """Directories in `--webeval-output` with the result of a run that is gone, relative to it, in ASCII and sorted.

    Nothing is opened, removed or followed.
    """
    workspace = session.workspace
    output, settings = workspace.settings.output, workspace.settings
    if output is None:
        return []
    labels = (record.run for record in session.records if not record.missing)
    runs = {workspace.place(path) for path in map(workspace.labels.path_of, labels) if path is not None}
    skipped = {settings.report, settings.metrics, *settings.roots}
    stale = [path for path in _list_results(output, runs, skipped) if _is_gone(path, workspace)]
    return sorted(quote_path(path.relative_to(output).as_posix()) for path in stale)[:MOST_NAMED]


def _list_results(output: Path, runs: Container[Path], skipped: Container[Path | None]) -> Iterator[Path]:
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
