"""Results of many tasks become one summary: counts, rates with intervals, tables per site, template and type."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from datetime import UTC
from datetime import datetime
from typing import Any

from msgspec.structs import asdict

from pytest_webeval.diagnostics.failure_groups import FailureGroup
from pytest_webeval.results import SCHEMA_VERSION
from pytest_webeval.results import Status
from pytest_webeval.results import Summary
from pytest_webeval.results import TaskResult
from pytest_webeval.results import WarningKind
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.record import build_task_row
from pytest_webeval.summary.self_report import build_self_report
from pytest_webeval.summary.statistics import wilson_over_tasks
from pytest_webeval.summary.task_identity import count_tasks

SLOWEST = 10


def summarize(results: Iterable[TaskResult], timestamp: str | None = None) -> Summary:
    """The summary of some results, as eval_summary.json holds it."""
    return summarize_records([Record.of(result, None) for result in results], timestamp=timestamp)


def summarize_records(
    records: Iterable[Record],
    about: Mapping[str, Any] | None = None,
    timestamp: str | None = None,
    expected: Collection[str] | None = None,
    attempts: str | None = None,
) -> Summary:
    """The summary of some records; `about` adds what the session knows under `webeval`.

    `expected` are the ids of the tasks that should have a trajectory, where they are known. `attempts` is a pattern of
    the names of directories with one attempt each.
    """
    ordered = sorted(records, key=lambda record: (str(type(record.task_id)), record.task_id, record.run))
    counted = [record for record in ordered if not record.skipped]
    judged = (record for record in counted if record.status != Status.ERROR)  # an error may precede all evaluators
    is_mixed = len({(record.rules, record.evaluator_checksum) for record in judged}) > 1
    means, scores = _scores(ordered)
    success, failure, error = (_count(counted, status) for status in (Status.SUCCESS, Status.FAILURE, Status.ERROR))
    return Summary(
        timestamp=timestamp or datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        webarena_verified_version=_join_values(ordered, "version"),
        webarena_verified_evaluator_checksum=_join_values(ordered, "evaluator_checksum"),
        webarena_verified_data_checksum=_join_values(ordered, "data_checksum"),
        total=success + failure + error,
        success_count=success,
        failed_count=failure,
        error_count=error,
        per_site_summary=_group_by_site(counted),
        task_results=[
            build_task_row(record, is_mixed=is_mixed, partial_score=scores.get(record.run)) for record in ordered
        ],
        webeval=_webeval_fields(ordered, counted, success)
        | _trajectories(ordered, expected)
        | _judging(ordered)
        | _attempts(ordered, attempts)
        | means
        | dict(about or {}),
    )


def _trajectories(records: Sequence[Record], expected: Collection[str] | None) -> dict[str, Any]:
    """The analysis of the runs that are trajectories, if there are any."""
    trajectories = [record for record in records if record.trajectory is not None]
    if not trajectories:
        return {}
    from pytest_webeval.summary.trajectory_analysis import analyse
    from pytest_webeval.summary.trajectory_rows import build_row  # no other session needs the analysis

    return {"trajectories": analyse([build_row(record) for record in trajectories], expected)}


def _scores(records: Sequence[Record]) -> tuple[dict[str, Any], Mapping[str, float]]:
    """Means of scores, and the scores by run, if an evaluator gave partial ones."""
    if all(record.grade is None for record in records):
        return {}, {}
    from pytest_webeval.summary.partial_scores import build_scores  # few sessions have partial scores
    from pytest_webeval.summary.partial_scores import list_scores

    scores = list_scores(records)
    return ({"scores": build_scores(records, scores)} if scores else {}), scores


def _judging(records: Sequence[Record]) -> dict[str, Any]:
    """The judges that were asked, if there are any."""
    if all(record.judge is None and not record.proposals for record in records):
        return {}
    from pytest_webeval.summary.judging import build_judging  # few sessions ask a judge

    return {"judging": build_judging(records)}


def _attempts(records: Sequence[Record], pattern: str | None) -> dict[str, Any]:
    """The analysis of repeated runs, if there are any."""
    if pattern is None and not _has_repeats(records):
        return {}
    from pytest_webeval.summary.attempts import build_attempts  # few sessions have several runs of a task

    analysis = build_attempts(records, pattern)
    return {"attempts": analysis} if analysis["agents"] else {}


def _has_repeats(records: Sequence[Record]) -> bool:
    """Whether a task has several runs."""
    return count_tasks(records) < len(records)


def _count(records: Sequence[Record], status: Status) -> int:
    return sum(record.status == status for record in records)


def _join_values(records: Sequence[Record], name: str) -> str:
    """The value that all records share; several different ones are joined by commas."""
    return ",".join(sorted({getattr(record, name) for record in records if getattr(record, name)}))


def _group_by_site(records: Sequence[Record]) -> dict[str, list[dict[str, Any]]]:
    rows_by_site: dict[str, list[dict[str, Any]]] = {}
    is_repeated = _has_repeats(records)
    for record in records:
        row = {"task_id": record.task_id, "status": record.status, "score": record.score}
        if is_repeated:
            row["run"] = record.run
        rows_by_site.setdefault(record.site_key, []).append(row)
    return dict(sorted(rows_by_site.items()))


def _webeval_fields(ordered: Sequence[Record], counted: Sequence[Record], success: int) -> dict[str, Any]:
    rated = [record for record in counted if record.excluded is None]
    tasks = count_tasks(rated)
    low, high = wilson_over_tasks(success, len(rated), tasks)
    warnings = {record.run: [text for _, text, _ in record.warnings] for record in ordered if record.warnings}
    slowest = sorted(counted, key=lambda record: -record.wall_time)[:SLOWEST]
    return {
        "schema_version": SCHEMA_VERSION,
        "rules": _join_values(ordered, "rules"),
        "excluded_count": len(ordered) - len(counted),
        "missing_count": sum(record.missing for record in counted),
        "success_rate": success / len(rated) if rated else None,
        "success_rate_denominator": len(rated),
        "success_rate_task_count": tasks,
        "success_rate_interval_95": [low, high],
        "per_template": _table(counted, "template"),
        "per_type": _table(counted, "task_type"),
        "failures": _list_failure_groups(counted),
        "slowest": [{"run": record.run, "wall_time": record.wall_time} for record in slowest],
        "self_report": build_self_report(counted),
        "unpassable": {str(record.task_id): record.unpassable for record in counted if record.unpassable},
        "warning_count": sum(len(record.warnings) for record in ordered),
        "warning_kinds": _list_warning_groups(ordered),
        "warnings": warnings,
    }


def _list_failure_groups(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Groups of runs that failed in the same way, the largest first."""
    runs_by_group: dict[FailureGroup, list[str]] = {}
    for record in records:
        if record.failure is not None:
            runs_by_group.setdefault(FailureGroup(*record.failure), []).append(record.run)
    ordered = sorted(runs_by_group.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    return [asdict(group) | {"text": group.text, "count": len(runs), "runs": runs} for group, runs in ordered]


def _list_warning_groups(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Warnings by kind: first those that decided verdicts, then the most frequent, `other` last."""
    rows_by_kind: dict[str, list[tuple[str, str, bool]]] = {}
    for record in records:
        for kind, text, decided in record.warnings:
            rows_by_kind.setdefault(kind, []).append((record.run, text, decided))
    groups = [_warning_group(kind, rows) for kind, rows in rows_by_kind.items()]
    other = WarningKind.OTHER
    return sorted(groups, key=lambda row: (not row["decided"], row["kind"] == other, -row["count"], row["kind"]))


def _warning_group(kind: str, rows: Sequence[tuple[str, str, bool]]) -> dict[str, Any]:
    """The warnings of one kind, with the first as an example."""
    run, text, _ = rows[0]
    return {
        "kind": kind,
        "count": len(rows),
        "decided": sum(decided for _, _, decided in rows),
        "runs": list(dict.fromkeys(run for run, _, _ in rows)),
        "example": {"run": run, "text": text},
    }


def _table(records: Sequence[Record], name: str) -> dict[str, dict[str, int]]:
    table: dict[str, dict[str, int]] = {}
    tasks = [record for record in records if record.trajectory is None]  # trajectories have neither template nor type
    for record in sorted(tasks, key=lambda record: str(getattr(record, name))):
        row = table.setdefault(str(getattr(record, name)), {"total": 0, "success_count": 0})
        row["total"] += 1
        row["success_count"] += record.status == Status.SUCCESS
    return table
