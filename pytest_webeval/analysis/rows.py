"""One trajectory as an analysis sees it, in plain JSON values that can travel between processes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import field
from typing import Any

KINDS = ("completed", "over_budget", "aborted", "unreadable")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one trajectory contributes.

    A `score` of None is in no mean, and nothing else keeps a trajectory out of one. `experiment` is what several runs
    of the same thing share, empty where nobody knows. `criterion` is what the score was given for. `duration` is in
    seconds, `process_share` the fraction of points. A number that no run can have, such as NaN in a file of a stranger,
    counts as missing.
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
            object.__setattr__(self, name, number_or_none(getattr(self, name)))


def number_or_none(raw: Any) -> Any:
    """The number, or None where it is none that can be counted or measured."""
    return raw if isinstance(raw, int | float) and abs(raw) <= MAX_NUMBER else None


def in_order(rows: Iterable[Row]) -> list[Row]:
    """The rows by task, then run, so that nothing depends on who was first."""
    return sorted(rows, key=lambda row: (row.task_id, row.run, row.label))


def scored(rows: Iterable[Row]) -> list[Row]:
    """The rows that are in the headline mean (`fara_webeval.md` §4.4)."""
    return [row for row in rows if row.score is not None]
