"""Results of many tasks become one summary: counts, rates with intervals, tables per site, template and type."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pytest_webeval.results import Status, Summary, TaskResult
from pytest_webeval.summary.record import Record, build_task_row
from pytest_webeval.summary.session_totals import Rows, SessionTotals, new_rows
from pytest_webeval.summary.store.row_file import sort_records
from pytest_webeval.summary.store.spooled_list import ScratchFile
from pytest_webeval.summary.task_identity import TaskCounter

if TYPE_CHECKING:
    from pytest_webeval.summary.comparison.baseline import KnownFailures
    from pytest_webeval.summary.partial_scores import ScoreMeans

MOST_IN_MEMORY = 20_000  # records whose rows in the summary are in memory


def summarize(results: Iterable[TaskResult], timestamp: str | None = None) -> Summary:
    """The summary of some results, as eval_summary.json holds it."""
    return summarize_records([Record.of(result, None) for result in results], timestamp=timestamp)


def summarize_records(  # noqa: PLR0913  (all that a session knows)
    records: Iterable[Record],
    about: Mapping[str, Any] | None = None,
    timestamp: str | None = None,
    expected: Collection[str] | None = None,
    attempts: str | None = None,
    *,
    known_failures: KnownFailures | None = None,
) -> Summary:
    """The summary of some records; `about` adds what the session knows under `webeval`.

    `expected` are the ids of the tasks that should have a trajectory, where they are known. `attempts` is a pattern of
    the names of directories with one attempt each. Failures that are in `known_failures` have groups of their own.
    """
    ordered = sort_records(records)
    scratch = ScratchFile() if len(ordered) > MOST_IN_MEMORY else None
    totals = SessionTotals(scratch, known_failures)
    for record in ordered:
        totals.add(record)
    rows = _Rows(totals, scratch, ordered)
    success, failure, error = (totals.statuses[status] for status in (Status.SUCCESS, Status.FAILURE, Status.ERROR))
    return Summary(
        timestamp=timestamp or datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        webarena_verified_version=totals.join_values("version"),
        webarena_verified_evaluator_checksum=totals.join_evaluators(),
        webarena_verified_data_checksum=totals.join_values("data_checksum"),
        total=success + failure + error,
        success_count=success,
        failed_count=failure,
        error_count=error,
        per_site_summary=dict(sorted(rows.by_site.items())),
        task_results=rows.of_all,
        webeval=totals.build()
        | _build_analyses(ordered, totals, expected, attempts)
        | (rows.scores.build() if rows.scores is not None else {})
        | dict(about or {}),
    )


class _Rows:
    """The rows of runs, which need what all runs have in common."""

    def __init__(self, totals: SessionTotals, scratch: ScratchFile | None, records: Iterable[Record]) -> None:
        self.by_site: dict[str, Rows] = {}
        self.of_all = new_rows(scratch)
        self.scores: ScoreMeans | None = None
        if totals.graders:
            from pytest_webeval.summary.partial_scores import ScoreMeans  # few sessions have partial scores

            self.scores = ScoreMeans(totals.graders)
        is_repeated = _has_repeats(totals.counted)
        for record in records:
            score = self.scores.add(record) if self.scores is not None else None
            self.of_all.append(build_task_row(record, is_mixed=totals.is_mixed, partial_score=score))
            if record.is_rated:
                row = {"task_id": record.task_id, "status": record.status, "score": record.score}
                row |= {"run": record.run} if is_repeated else {}
                self.by_site.setdefault(record.site_key, new_rows(scratch)).append(row)


def _has_repeats(counter: TaskCounter) -> bool:
    """Whether a task has several runs."""
    return counter.tasks < counter.runs


def _build_analyses(
    records: Iterable[Record], totals: SessionTotals, expected: Collection[str] | None, attempts: str | None
) -> dict[str, Any]:
    """What few sessions have: an analysis of trajectories, of judges and of repeated runs."""
    analyses: dict[str, Any] = {}
    if totals.has_trajectories:
        from pytest_webeval.summary.trajectories.trajectory_analysis import analyse
        from pytest_webeval.summary.trajectories.trajectory_rows import build_slim_rows

        analyses["trajectories"] = analyse(build_slim_rows(records), expected)
    if totals.has_judge:
        from pytest_webeval.summary.judges.judging import build_judging

        analyses["judging"] = build_judging(records)
    if attempts is not None or _has_repeats(totals.tasks):
        from pytest_webeval.summary.attempts import build_attempts

        repeated = build_attempts(records, attempts)
        analyses |= {"attempts": repeated} if repeated["agents"] else {}
    return analyses
