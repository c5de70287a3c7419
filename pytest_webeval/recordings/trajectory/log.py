"""The log of a trajectory, `web_surfer.log`, of which every line that is whole is kept (`fara_webeval.md` §2.1, §3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_webeval.recordings.trajectory.actions import FARA
from pytest_webeval.recordings.trajectory.actions import GPT_SOLVER
from pytest_webeval.recordings.trajectory.actions import SUMMARY
from pytest_webeval.recordings.trajectory.actions import TEXT
from pytest_webeval.recordings.trajectory.actions import Action
from pytest_webeval.recordings.trajectory.layout import LOG
from pytest_webeval.recordings.trajectory.log_lines import Line
from pytest_webeval.recordings.trajectory.log_lines import read_lines
from pytest_webeval.recordings.trajectory.log_steps import LoggedStep
from pytest_webeval.recordings.trajectory.log_steps import read_steps
from pytest_webeval.recordings.trajectory.step import Step
from pytest_webeval.safety.warning_log import WarningLog

MIXED, EMPTY = "mixed", "empty"


@dataclass(frozen=True, slots=True)
class Log:
    """What a log tells.

    `dialect` is `fara`, `gpt_solver`, `text`, `mixed` if steps of several kinds are in it, or `empty` if none is.
    `events`, `actions` and `thoughts` are those that the original loader has (§3.1), with these exceptions. What it
    loses with a damaged line or text is there. For gpt-solver logs it leaves actions and thoughts empty (Q7), and here
    they are the normal form: the renamed action, then its arguments. `actions` and `thoughts` go with `steps`.
    """

    dialect: str
    steps: tuple[Step, ...]
    events: tuple[dict[str, Any], ...]
    actions: tuple[str, ...]
    thoughts: tuple[str, ...]
    warnings: tuple[str, ...]


def read_log(content: bytes) -> Log:
    """The log in the bytes of its file, whatever they are. What is damaged is left out or mended, with a warning."""
    in_lines, in_steps = WarningLog(LOG), WarningLog(LOG)
    lines = read_lines(content, in_lines)
    found = read_steps(lines, in_steps)
    dialect = _dialect(lines, found)
    return Log(
        dialect=dialect,
        steps=tuple(one.step for one in found),
        events=_events(dialect, lines, found),
        actions=tuple(one.action.json for one in found),
        thoughts=tuple(one.action.thought for one in found),
        warnings=(*in_steps.texts, *in_lines.texts),
    )


def _dialect(lines: Sequence[Line], found: Sequence[LoggedStep]) -> str:
    dialects = {one.action.dialect for one in found}
    if not dialects:
        return GPT_SOLVER if any(line.event.get("source") == SUMMARY for line in lines) else EMPTY
    return dialects.pop() if len(dialects) == 1 else MIXED


def _events(dialect: str, lines: Sequence[Line], found: Sequence[LoggedStep]) -> tuple[dict[str, Any], ...]:
    """The events as the original has them in each of its modes (§3.1)."""
    if dialect in {FARA, MIXED}:
        return tuple(line.event for line in lines)
    return tuple(_converted(one.action) if dialect == TEXT else _solved(one.action, one.line.event) for one in found)


def _converted(action: Action) -> dict[str, Any]:
    return {"action": action.name, "arguments": {**action.logged, "thoughts": action.thought}}


def _solved(action: Action, event: dict[str, Any]) -> dict[str, Any]:
    return {**event, "arguments": {**action.logged, "action": action.name}}
