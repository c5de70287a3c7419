"""What a Fara trajectory is made of: steps, screenshots, and warnings that say where in which file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from typing import Any

from pytest_webeval.errors import RecordingError

NO_ANSWER = "<no_answer>"  # what the answer is as long as the agent has given none
MAX_WARNINGS = 20


class Unreadable(RecordingError):
    """A trajectory that nothing can be said about. `code` is the reason code of `fara_webeval.md` §4.2."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class Warnings:
    """What was odd in one file and what was done about it; beyond the first 20 they are counted, not kept."""

    file: str
    _kept: list[str] = field(default_factory=list)
    _left_out: int = 0

    def add(self, text: str, line: int | None = None) -> None:
        """One warning, with the number of the line (from 1) where there is one."""
        if len(self._kept) == MAX_WARNINGS:
            self._left_out += 1
        else:
            self._kept.append(f"{self.file}: {text}" if line is None else f"{self.file} line {line}: {text}")

    @property
    def texts(self) -> tuple[str, ...]:
        """All warnings, with a last one that counts those left out."""
        more = (f"{self.file}: {self._left_out} more such warnings",) if self._left_out else ()
        return (*self._kept, *more)


@dataclass(frozen=True, slots=True)
class Screenshot:
    """An image of the run. `name` is its path below the trajectory's directory, `number` the integer it ends in."""

    name: str
    number: int


@dataclass(frozen=True, slots=True)
class Step:
    """One action of the agent, whatever dialect the log is in (`fara_webeval.md` §3.2).

    `action` is the renamed action, `raw_action` what the log calls it, `tool` the logged top-level name. `arguments`
    come without the action and without what the agent thought. `line` counts from 1. `before` and `after` are the
    screenshots of the page before and after the action, where there are any.
    """

    index: int
    action: str
    raw_action: str
    tool: str | None
    arguments: Mapping[str, Any]
    thought: str
    url: str | None
    timestamp: str | None
    source: str | None
    observation: str | None
    line: int
    before: Screenshot | None = None
    after: Screenshot | None = None
