"""What is written to disk: the shapes of eval_result.json and eval_summary.json (frozen names and types)."""

from __future__ import annotations

from enum import StrEnum
from typing import Any
from typing import Self

from pydantic import BaseModel
from pydantic import ConfigDict
from pydantic import Field


class Status(StrEnum):
    """Outcome of a task, an evaluator or an assertion. `partial_match` is read, never produced."""

    SUCCESS = "success"
    FAILURE = "failure"
    PARTIAL_MATCH = "partial_match"
    ERROR = "error"


_WORST_FIRST = (Status.ERROR, Status.FAILURE, Status.PARTIAL_MATCH, Status.SUCCESS)


def worst(statuses: list[Status]) -> Status:
    """Error outranks failure outranks success; nothing checked is a success (spec §0)."""
    return next((status for status in _WORST_FIRST if status in statuses), Status.SUCCESS)


class _Written(BaseModel):
    model_config = ConfigDict(frozen=True)


class Assertion(_Written):
    """One thing that was checked, passed or not."""

    assertion_name: str
    status: Status
    assertion_msgs: list[str] | None = None
    error_msg: str | None = None

    @classmethod
    def of(cls, name: str, holds: bool, *messages: str) -> Self:  # noqa: FBT001  (whether it holds is what it is)
        """An assertion that holds or not, with messages that say what was expected and what was found."""
        status = Status.SUCCESS if holds else Status.FAILURE
        return cls(assertion_name=name, status=status, assertion_msgs=list(messages) or None)


class EvaluatorResult(_Written):
    """What one evaluator found: compared values, and an assertion for each check."""

    evaluator_name: str
    status: Status
    score: float
    actual: Any = None
    actual_normalized: Any = None
    expected: Any = None
    assertions: list[Assertion] | None = None
    error_msg: str | None = None


class TaskResult(_Written):
    """The content of eval_result.json. `webeval` holds what other tools for WebArena-Verified do not know."""

    task_id: int | str
    intent_template_id: int
    sites: list[str]
    task_revision: int
    status: Status
    score: float
    evaluators_results: list[EvaluatorResult]
    error_msg: str | None
    webarena_verified_version: str
    webarena_verified_evaluator_checksum: str
    webarena_verified_data_checksum: str
    webeval: dict[str, Any] = Field(default_factory=dict)


class Summary(_Written):
    """The content of eval_summary.json. `total` is the sum of the three counts."""

    timestamp: str
    webarena_verified_version: str
    webarena_verified_evaluator_checksum: str
    webarena_verified_data_checksum: str
    total: int
    success_count: int
    failed_count: int
    error_count: int
    per_site_summary: dict[str, list[dict[str, Any]]]
    task_results: list[dict[str, Any]]
    webeval: dict[str, Any] = Field(default_factory=dict)
