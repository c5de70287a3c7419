"""The data of a result that the summary uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from pytest_webeval.diagnostics.failure_groups import group_of
from pytest_webeval.results import PARTIAL_SCORE, Status, TaskResult
from pytest_webeval.summary.result_facts import (
    build_trajectory_facts,
    find_claim,
    find_grade,
    find_judge,
    find_reported,
    format_digests,
    list_proposals,
    to_text,
)
from pytest_webeval.summary.run_folders import find_run_folder

_NO_FORMAT = "unknown"  # of a directory that no format recognizes


class Record(Struct, frozen=True):
    """The data of one run for the summary, in plain JSON values that processes can exchange."""

    run: str
    task_id: int | str
    status: str
    score: float
    sites: list[str]
    template: int
    task_type: str | None
    reason: str | None
    warnings: Sequence[list[Any]]  # kind, text, and whether it decided the verdict: see `ResultWarning`
    wall_time: float
    rules: str
    version: str
    evaluator_checksum: str
    data_checksum: str
    excluded: str | None = None  # why the run is excluded from rates
    excluded_as: str | None = None  # what it is counted as then: see `RunExcluded`
    skipped: bool = False  # whether it is excluded
    missing: bool = False  # an expected task without a recording
    unpassable: str | None = None  # why no natural recording passes the task
    failure: list[str] | None = None  # evaluator, field and kind of its failure group
    evaluators: Sequence[str] = ()  # names of those that did not succeed
    capture: Sequence[str] = ()  # kinds of what is wrong with the recording itself
    trajectory: dict[str, Any] | None = None  # what a trajectory contributes; its texts are those that an agent wrote
    reported: str | None = None  # how the agent reports that the task went
    claim: str | None = None  # how that compares with the verdict: a `Claim`
    checksums: str | None = None  # digests of recording, judge files and task: see `format_digests`
    today: str | None = None  # the day on which the verdict depends, if it does
    tags: Sequence[str] = ()  # names of markers that users added
    format: str | None = None  # of the recording, if it is known
    judge: dict[str, Any] | None = None  # which judge was asked in the session, and what it cost: a `JudgeFacts`
    proposals: Sequence[dict[str, Any]] = ()  # of the judge about requests that came near: `ProposalFacts`
    grade: dict[str, Any] | None = None  # mean score of a run that users' evaluators checked: see `find_grade`
    impossible: str | None = None  # what a task that people could not execute counts as: `exclude` or `zero`

    @classmethod
    def of(cls, result: TaskResult, task_type: str | None, reason: str | None = None) -> Self:
        """The record of a result."""
        reported, group = find_reported(result), group_of(result)
        unsuccessful = (each for each in result.evaluators_results if each.status is not Status.SUCCESS)
        return cls(
            run=result.webeval["run"],
            task_id=result.task_id,
            status=result.status.value,
            score=result.score,
            sites=result.sites,
            template=result.intent_template_id,
            task_type=task_type,
            reason=reason or result.error_msg,
            warnings=[[row.kind, str(row.text), row.decided] for row in result.warnings],  # users may add some
            wall_time=result.webeval.get("wall_time", 0.0),
            rules=result.webeval["rules"],
            version=result.webarena_verified_version,
            evaluator_checksum=result.webarena_verified_evaluator_checksum,
            data_checksum=result.webarena_verified_data_checksum,
            excluded=result.webeval.get("excluded"),
            excluded_as=to_text(result.webeval.get("excluded_as")),
            skipped=bool(result.webeval.get("skipped")) or result.webeval.get("excluded") is not None,
            unpassable=result.webeval.get("unpassable"),
            failure=None if group is None else list(astuple(group)),
            evaluators=list(dict.fromkeys(each.evaluator_name for each in unsuccessful)),
            capture=[str(problem["kind"]) for problem in result.webeval.get("capture") or ()],
            trajectory=build_trajectory_facts(result),
            reported=reported,
            claim=find_claim(result, reported),
            today=result.webeval.get("today"),
            checksums=format_digests(result.webeval),
            format=None if (name := to_text(result.webeval.get("format"))) == _NO_FORMAT else name,
            judge=find_judge(result),
            proposals=list_proposals(result),
            grade=find_grade(result),
            impossible=_find_impossible(result.webeval),
        )

    @property
    def is_rated(self) -> bool:
        """Whether the run counts in rates: all do that are not excluded, errors included."""
        return not self.skipped and self.excluded is None

    @property
    def site_key(self) -> str:
        """Sites sorted and joined by ``-``."""
        return "-".join(sorted(self.sites))

    @property
    def attempt(self) -> str:
        """The run folder, which names the attempt or agent."""
        return find_run_folder(self.run, is_named_by_run=self.is_named_by_run)

    @property
    def is_named_by_run(self) -> bool:
        """Whether the directory is named after the run, and the one above it after the task."""
        return self.trajectory is not None and self.trajectory.get("is_named_by_run") is True

    @property
    def benchmark(self) -> str | None:
        """The benchmark that the recording names, if any."""
        return to_text((self.trajectory or {}).get("benchmark"))

    def to_json(self) -> dict[str, Any]:
        """All fields as plain JSON."""
        return {name: getattr(self, name) for name in self.__struct_fields__}


def _find_impossible(webeval: Mapping[str, Any]) -> str | None:
    """What the first verdict of a file says of an impossible task, which is the one that counts."""
    rows = webeval.get("external_verdicts")
    first = rows[0] if isinstance(rows, list) and rows else None
    return to_text(first.get("impossible")) if isinstance(first, Mapping) else None


def build_task_row(record: Record, *, is_mixed: bool = False, partial_score: float | None = None) -> dict[str, Any]:
    """The row of a run in a summary. Where runs of a session were scored in several ways, it names its own."""
    row = {
        "task_id": record.task_id,
        "run": record.run,
        "status": record.status if record.is_rated else "excluded",
        "score": record.score,
        "sites": record.sites,
        "intent_template_id": record.template,
        "reason": record.reason if record.is_rated else record.excluded,
        "type": record.task_type,
    }
    optional: dict[str, Any] = {
        "checksums": record.checksums,
        "today": record.today,
        "excluded_as": None if record.is_rated else record.excluded_as,
        "tags": list(record.tags),
        "format": record.format,
        "benchmark": record.benchmark,
        "is_named_by_run": record.is_named_by_run,
        "group": to_text((record.trajectory or {}).get("group")),
    }
    optional |= {"wall_time": record.wall_time}
    if is_mixed:
        optional |= {"rules": record.rules, "evaluators": record.evaluator_checksum}
    score = {} if partial_score is None else {PARTIAL_SCORE: partial_score}
    return row | {name: value for name, value in optional.items() if value} | score


def label_warnings(result: TaskResult, rows: object) -> TaskResult:
    """The result with the labels of its warnings from a record, where the record has as many warnings."""
    try:
        labelled = msgspec.convert(rows, list[tuple[str, str, bool]])
    except ValueError:
        return result
    if len(labelled) != len(result.warnings):
        return result
    return result.with_changes(warning_labels=[(kind, decided) for kind, _, decided in labelled])
