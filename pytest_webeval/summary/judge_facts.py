"""What a result says of the judge that was asked in its session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct, field

from pytest_webeval.results import TaskResult
from pytest_webeval.tasks.expectations import RUBRIC_EVALUATOR

_IDENTITY = ("model", "text_model", "method", "version", "votes", "threshold", "criterion")


class JudgeFacts(Struct, frozen=True):
    """What a result says of its judge. `failure` says why there is no verdict: see `JudgeFailed`."""

    model: str
    text_model: str | None
    method: str
    version: str
    votes: int
    threshold: str
    criterion: str | None = None
    calls: int = 0
    usage: dict[str, dict[str, int]] = field(default_factory=dict)
    cost_usd: float | None = None
    degraded: dict[str, str] = field(default_factory=dict)
    agreement: float | None = None
    failure: str | None = None
    success: bool | None = None
    replied_by: list[str] = field(default_factory=list)

    @property
    def identity(self) -> dict[str, Any]:
        """What tells this judge from others."""
        return {name: getattr(self, name) for name in _IDENTITY}


class ProposalFacts(Struct, frozen=True):
    """What a result says of the replies behind a proposal."""

    calls: int
    usage: dict[str, dict[str, int]]
    cost_usd: float | None


def list_proposals(result: TaskResult) -> list[dict[str, Any]]:
    """The facts of all proposals of a judge about requests in a result."""
    rows = result.webeval.get("proposals")
    try:
        facts = [msgspec.convert(row["judge"], ProposalFacts) for row in rows or ()]
    except (KeyError, TypeError, ValueError):  # a hook of users may write anything there
        return []
    return [msgspec.to_builtins(each) for each in facts]


def find_judge(result: TaskResult) -> dict[str, Any] | None:
    """What a result says of the judge that was asked in its session; None if none was."""
    values = [each.actual for each in result.evaluators_results if each.evaluator_name == RUBRIC_EVALUATOR]
    candidates = [value.get("judge") for value in values if isinstance(value, Mapping)]
    raw = next((value for value in (*candidates, result.webeval.get("judge")) if value is not None), None)
    try:
        return None if raw is None else msgspec.to_builtins(msgspec.convert(raw, JudgeFacts))
    except ValueError:  # an evaluator of users may write anything there
        return None
