"""What the analysis takes of the verdict in a result."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic import ConfigDict
from pydantic import Field


class ToolFailure(BaseModel):
    """A step that the agent could not take."""

    code: str


class Judged(BaseModel):
    """What the analysis takes of a verdict. Anybody may override the evaluator, so nothing is taken for granted."""

    model_config = ConfigDict(extra="ignore", strict=True)

    status: str | None = None
    criterion: str | None = None
    flags: list[str] = Field(default_factory=list)
    process_score: float | None = None
    process: bool | None = None
    outcome: bool | None = None
    violation: bool | None = None
    degraded_steps: list[str] = Field(default_factory=list)
    generation: str | None = None
    failure: dict[str, Any] | None = None
    tool_failures: list[ToolFailure] = Field(default_factory=list)
    reason: str | None = None
