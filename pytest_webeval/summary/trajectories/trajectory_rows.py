"""One row for each trajectory, from which the analysis of all trajectories is computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from pytest_webeval.recordings.trajectory.layout import RunLocation
from pytest_webeval.summary.result_facts import StoredJudgement
from pytest_webeval.summary.store.shared_values import SharedValues

if TYPE_CHECKING:
    from pytest_webeval.summary.record import Record

KINDS = ("completed", "over_budget", "aborted", "unreadable")  # always counted; others where there are some
STATUSES = ("success", "failure", "error", "excluded", "not_scored")
MAX_NUMBER = 10**18  # nothing that is counted or measured here comes near it
_NUMBERS = (
    "score",
    "steps",
    "screenshots",
    "max_rounds",
    "duration",
    "prompt_tokens",
    "completion_tokens",
    "attempts",
    "process_share",
)


class TrajectoryRow(Struct, frozen=True, kw_only=True, gc=False):
    """What one trajectory contributes.

    The `score` is 1 or 0, 0 of an error as well, and None of an excluded run alone. `experiment` is the name that
    several runs of the same experiment share, empty if unknown. `criterion` is what the score was given for. `duration`
    is in seconds, `process_share` the fraction of points. A number that no run can have, such as NaN in an untrusted
    file, counts as missing.
    """

    task_id: str
    run: str
    label: str
    kind: str
    experiment: str = ""
    score: float | None = None
    reasons: list[str] = field(default_factory=list)
    status: str = "not_scored"
    flags: list[str] = field(default_factory=list)
    group: str | None = None  # split, web_name or level, whichever the benchmark has
    benchmark: str | None = None
    format: str | None = None
    steps: int | None = None
    screenshots: int | None = None
    max_rounds: int | None = None
    duration: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    attempts: int | None = None
    process_share: float | None = None
    process: bool | None = None
    outcome: bool | None = None
    violation: bool | None = None
    criterion: str | None = None
    verdict_status: str | None = None
    is_inconsistent: bool = False
    degraded: bool = False
    generation: str | None = None
    failure: dict[str, Any] | None = None
    tool_failures: list[str] = field(default_factory=list)  # codes of steps that the agent could not take
    last_error: str | None = None
    is_long: bool = False
    answer: str | None = None
    reasoning: str | None = None  # what the judge wrote, or why there was nothing to judge

    def __post_init__(self) -> None:
        for name in _NUMBERS:
            force_setattr(self, name, number_or_none(getattr(self, name)))


def number_or_none(raw: Any) -> Any:
    """The number, or None where it is not a possible count or measurement."""
    return raw if isinstance(raw, int | float) and abs(raw) <= MAX_NUMBER else None


def sort_rows(rows: Iterable[TrajectoryRow]) -> list[TrajectoryRow]:
    """The rows sorted by task, then run, for a deterministic order."""
    return sorted(rows, key=lambda row: (row.task_id, row.run, row.label))


def select_rated(rows: Iterable[TrajectoryRow]) -> list[TrajectoryRow]:
    """The rows that rates are of: all but those of excluded runs."""
    return [row for row in rows if row.score is not None]


def select_scored(rows: Iterable[TrajectoryRow]) -> list[TrajectoryRow]:
    """The rows that Fara's own mean is of: those with a verdict, so no errors (`fara_webeval.md` §4.4)."""
    return [row for row in select_rated(rows) if row.status != "error"]


_OF_FACTS = ("group", "steps", "max_rounds", "duration", "attempts", "last_error", "is_long")
_OF_VERDICT = {
    "criterion": "criterion",
    "process_share": "process_score",
    "process": "process",
    "outcome": "outcome",
    "violation": "violation",
    "verdict_status": "status",
    "generation": "generation",
    "failure": "failure",
    "reasoning": "reason",
}


def build_row(record: Record) -> TrajectoryRow:
    """What one trajectory contributes."""
    facts = record.trajectory or {}
    verdict, usage = msgspec.convert(facts["verdict"], StoredJudgement), facts["usage"] or {}
    return TrajectoryRow(
        task_id=str(record.task_id),
        run=_find_run(record, facts),
        label=record.run,
        experiment=_find_experiment(facts),
        kind=facts["class"],
        score=record.score if record.is_rated else None,
        reasons=facts["reasons"],
        status=_find_status(record, facts),
        flags=[*facts["flags"], *verdict.flags],
        benchmark=record.benchmark,
        format=record.format,
        prompt_tokens=usage.get("prompt_tokens"),
        completion_tokens=usage.get("completion_tokens"),
        is_inconsistent=verdict.status == "inconsistent",
        degraded=bool(verdict.degraded_steps),
        tool_failures=[failure.code for failure in verdict.tool_failures],
        screenshots=facts.get("screenshots"),
        answer=facts.get("answer"),
        **{name: facts[name] for name in _OF_FACTS},
        **{name: getattr(verdict, source) for name, source in _OF_VERDICT.items()},
    )


_UNLIKE = ("label", "failure", "answer", "reasoning")  # fields that few rows have in common
_FAILURE_TEXTS = ("summary", "categories")


def build_slim_rows(records: Iterable[Record]) -> Iterator[TrajectoryRow]:
    """The rows of the trajectories without the texts that no statistic needs. They share equal values."""
    shared = SharedValues([name for name in TrajectoryRow.__struct_fields__ if name not in _UNLIKE])
    for record in records:
        if record.trajectory is not None:
            row = build_row(record)
            failure = row.failure
            if failure is not None:  # without what only people read
                failure = {name: value for name, value in failure.items() if name not in _FAILURE_TEXTS}
            yield shared.share(replace(row, answer=None, reasoning=None, failure=failure))


def _find_status(record: Record, facts: dict[str, Any]) -> str:
    if not record.skipped:
        return record.status
    return "excluded" if facts["class"] == "aborted" else "not_scored"


def _find_run(record: Record, facts: dict[str, Any]) -> str:
    """The run folder that a trajectory belongs to: the one that holds it, `traj` around it, or its task's directory.

    Where the root is a trajectory itself only its path on the disk says more.
    """
    if record.is_named_by_run and "/" in record.run:
        return record.attempt
    return record.attempt or "/".join(filter(None, (_find_experiment(facts), facts["run_id"])))


def _find_experiment(facts: dict[str, Any]) -> str:
    """The name of the experiment of repeated runs; empty if unknown."""
    location = RunLocation(system=facts["system"], model=facts["model"], benchmark=facts["benchmark"])
    return location.experiment or ""


def trajectory_labels(record: Record) -> dict[str, str]:
    """The outcome and the success criterion of a trajectory, in words; empty for any other run."""
    if record.trajectory is None:
        return {}
    row = build_row(record)
    return {"class": row.kind, "criterion": row.criterion or "", "benchmark": row.benchmark or ""}
