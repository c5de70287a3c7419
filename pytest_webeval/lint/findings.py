"""What the lint reports: a finding, with its place in a task file."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any

from msgspec import Struct

Steps = tuple[str | int, ...]
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


class Severity(StrEnum):
    """Whether a finding decides the exit code."""

    WARNING = "warning"
    HINT = "hint"


class Problem(Struct, frozen=True):
    """What a check reports of one task: `steps` lead from the task's object to the place.

    One that is not fatal is no error of runs, although its check may be. `severity` is that of the check without one.
    """

    steps: Steps
    text: str
    is_fatal: bool = True
    severity: Severity | None = None


class Finding(Struct, frozen=True):
    """One mistake. `location` is that of the row, `line` the line of the place, or None where it is unknown."""

    source: str
    location: str
    steps: Steps
    check: str
    severity: Severity
    text: str
    line: int | None = None

    @property
    def place(self) -> str:
        """The place in the file: `[6].eval[1].expected.url`."""
        return f"{self.location}{format_steps(self.steps)}"

    def __str__(self) -> str:
        return f"{self.source} @ {self.place}: {self.text}"

    def to_json(self) -> dict[str, Any]:
        return {
            "file": self.source,
            "line": self.line,
            "place": self.place,
            "check": self.check,
            "severity": self.severity.value,
            "text": self.text,
        }


def format_steps(steps: Steps) -> str:
    """Steps as a path: `.eval[1].expected.post_data["$.a.b"]`."""
    return "".join(map(_format_step, steps))


def _format_step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN_NAME.fullmatch(step) else f'["{step:.80}"]'
