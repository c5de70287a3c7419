"""What a Fara trajectory is made of: steps and screenshots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.trajectory.target import Target

NO_ANSWER = "<no_answer>"  # what the answer is as long as the agent has given none


class UnreadableTrajectory(RecordingError):
    """An unreadable trajectory. `code` is the reason code of `fara_webeval.md` §4.2."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Screenshot(Struct, frozen=True):
    """An image of the run. `name` is its path below the trajectory's directory, `number` the integer it ends in.

    One that is embedded is a part of another file, whose name and a number it has.
    """

    name: str
    number: int
    is_embedded: bool = False


class Step(Struct, frozen=True):
    """One action of the agent, whatever dialect the log is in (`fara_webeval.md` §3.2).

    `action` is the renamed action, `raw_action` what the log calls it, `tool` the logged top-level name. `arguments`
    come without the action and without what the agent thought. `line` counts from 1. `before` and `after` are the
    screenshots of the page before and after the action, where there are any. `target` is what the action pointed at on
    the former, where the recorder says so.
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
    target: Target | None = None
